"""METEOR 1.5's alignment of a hypothesis to a reference (Denkowski and Lavie 2014, section 2.1).

Four matchers propose matches between stretches of words: exact, stem, synonym, paraphrase. Matches that nothing
contests are taken; a beam over the reference's words decides the rest: most words matched, then fewest chunks, then
the shortest way between the places of matched words.

The jar's beam counts in whole numbers with half credit for the inexact matchers, and adds the way of a chosen match to
the path that did not choose it. Both are kept: its scores are the definition.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from dactnlg.metrics.meteor_data import LONGEST, MeteorData, extend
from dactnlg.metrics.meteor_text import split_meteor

BEAM = 40
EXACT, STEM, SYNONYM, PARAPHRASE = range(4)


class Match(NamedTuple):
    """A stretch of the reference matched to one of the hypothesis; `used_*` are the same as bits."""

    module: int
    start: int
    length: int
    other_start: int
    other_length: int
    used: int
    other_used: int


class Sentence:
    """A sentence as the matchers need it.

    Attributes:
        words: the tokens.
        function: for each, whether it is a function word.
        places: word -> its positions.
        stretches: the number of each stretch of words -> where it stands.
        sources: (start, length, paraphrases in the table's order, the same as a set) of stretches in the table.
    """

    __slots__ = ("function", "places", "sources", "stretches", "words")

    def __init__(self, words: Sequence[str], data: MeteorData) -> None:
        self.words = tuple(words)
        self.function = [word in data.function_words for word in words]
        self.places: dict[str, list[int]] = {}
        self.stretches: dict[int, list[tuple[int, int]]] = {}
        self.sources: list[tuple[int, int, tuple[int, ...], frozenset[int]]] = []
        numbers = [data.number(word) for word in words]
        for start, word in enumerate(words):
            self.places.setdefault(word, []).append(start)
            phrase, in_table = 0, True
            for length, number in enumerate(numbers[start : start + LONGEST], start=1):
                phrase = extend(phrase, number)
                self.stretches.setdefault(phrase, []).append((start, length))
                if in_table:
                    found = data.paraphrases(phrase)
                    in_table = found is not None
                    if found:
                        self.sources.append((start, length, found, _as_set(found)))


@lru_cache(maxsize=1 << 15)
def _as_set(numbers: tuple[int, ...]) -> frozenset[int]:
    return frozenset(numbers)


class Aligner:
    """Aligns sentences; keeps what it learnt about words and sentences.

    Args:
        data: METEOR's data.
    """

    def __init__(self, data: MeteorData) -> None:
        self._data = data
        self._related: dict[str, dict[str, tuple[int, ...]]] = {}
        self._synsets: dict[str, frozenset[int]] = {}
        self.sentence = lru_cache(maxsize=1 << 14)(self._read)

    def align(self, hypothesis: Sentence, reference: Sentence) -> list[float]:
        """Return the counts of the best alignment.

        They are 21: words and function words of hypothesis and reference (4), matched content words by matcher in
        the hypothesis (4) and the reference (4), matched function words likewise (8), chunks. Sentences that match
        whole in one chunk are not fragmented: they count no chunk.
        """
        chosen, chunks = _resolve(self._matches(hypothesis, reference), len(reference.words))
        counts = [0.0] * 21
        counts[0], counts[1] = len(hypothesis.words), len(reference.words)
        counts[2], counts[3] = sum(hypothesis.function), sum(reference.function)
        for match in chosen:
            for function in hypothesis.function[match.other_start : match.other_start + match.other_length]:
                counts[(12 if function else 4) + match.module] += 1
            for function in reference.function[match.start : match.start + match.length]:
                counts[(16 if function else 8) + match.module] += 1
        whole = sum(m.other_length for m in chosen) == counts[0] and sum(m.length for m in chosen) == counts[1]
        counts[20] = 0 if whole and chunks == 1 else chunks
        return counts

    def _read(self, text: str) -> Sentence:
        return Sentence(split_meteor(text, self._data.abbreviations), self._data)

    def _matches(self, hypothesis: Sentence, reference: Sentence) -> list[list[Match]]:
        """Return all matches that start at each word of the reference, in the matchers' order."""
        found: list[list[Match]] = [[] for _ in reference.words]
        only_exact = hypothesis.words == reference.words
        for at, word in enumerate(reference.words):
            here = found[at]
            here += [Match(EXACT, at, 1, i, 1, 1 << at, 1 << i) for i in hypothesis.places.get(word, ())]
            if not only_exact:
                stems: list[Match] = []
                synonyms: list[Match] = []
                known = self._related.setdefault(word, {})
                for other, places in hypothesis.places.items():
                    modules = known.get(other)
                    if modules is None:
                        modules = known[other] = self._compare(word, other)
                    for module in modules:
                        matches = [Match(module, at, 1, i, 1, 1 << at, 1 << i) for i in places]
                        (stems if module == STEM else synonyms).extend(matches)
                here += sorted(stems, key=itemgetter(3)) + sorted(synonyms, key=itemgetter(3))
        if not only_exact:
            self._paraphrases(hypothesis, reference, found)
        return found

    def _compare(self, word: str, other: str) -> tuple[int, ...]:
        if word == other:
            return ()
        stem = self._data.stemmer
        modules = (STEM,) if stem(word) == stem(other) else ()
        if self._synsets_of(word).isdisjoint(self._synsets_of(other)):
            return modules
        return (*modules, SYNONYM)

    def _synsets_of(self, word: str) -> frozenset[int]:
        if word not in self._synsets:
            self._synsets[word] = self._data.synsets(word)
        return self._synsets[word]

    def _paraphrases(self, hypothesis: Sentence, reference: Sentence, found: list[list[Match]]) -> None:
        """Add matches of reference stretches to their paraphrases, then the other way round."""
        for start, length, ordered, paraphrases in reference.sources:
            for other_start, other_length in _said(ordered, paraphrases, hypothesis):
                found[start].append(_match(start, length, other_start, other_length))
        for other_start, other_length, ordered, paraphrases in hypothesis.sources:
            for start, length in _said(ordered, paraphrases, reference):
                found[start].append(_match(start, length, other_start, other_length))


def _match(start: int, length: int, other_start: int, other_length: int) -> Match:
    used, other_used = ((1 << length) - 1) << start, ((1 << other_length) - 1) << other_start
    return Match(PARAPHRASE, start, length, other_start, other_length, used, other_used)


def _said(ordered: tuple[int, ...], paraphrases: frozenset[int], sentence: Sentence) -> list[tuple[int, int]]:
    """Return where a sentence says one of the paraphrases, in the table's order."""
    hits = [number for number in sentence.stretches if number in paraphrases]
    if len(hits) > 1:
        hits.sort(key=ordered.index)
    return [place for number in hits for place in sentence.stretches[number]]


class _Path(NamedTuple):
    """A partial alignment; the first three fields are what paths are ranked by."""

    unmatched: int
    chunks: int
    distance: int
    at: int
    last_end: int
    used: int
    other_used: int
    chosen: tuple[Match, object] | None


_rank = itemgetter(0, 1, 2)


def _resolve(matches: list[list[Match]], length: int) -> tuple[list[Match], int]:
    """Return the best set of matches that do not overlap, and its number of chunks."""
    fixed = _uncontested(matches)
    used = other_used = 0
    for match in fixed.values():
        used, other_used = used | match.used, other_used | match.other_used
    paths = [_Path(0, 0, 0, 0, -1, used, other_used, None)]
    for at in range(length):
        if len(paths) > 1:
            paths.sort(key=_rank)
        following: list[_Path] = []
        for path in paths[:BEAM]:
            if path.used >> at & 1:
                if at < path.at:
                    following.append(path)
                elif at in fixed:
                    match = fixed[at]
                    way = abs(match.start - match.other_start)
                    following.append(_take(path, match, path.distance + way, path.used, path.other_used))
                continue
            distance = path.distance
            for match in matches[at]:
                if match.used & path.used or match.other_used & path.other_used:
                    continue
                following.append(
                    _take(path, match, distance, path.used | match.used, path.other_used | match.other_used)
                )
                distance += abs(match.start - match.other_start)
            following.append(
                _Path(
                    path.unmatched,
                    path.chunks + (path.last_end != -1),
                    distance,
                    path.at + 1,
                    -1,
                    path.used,
                    path.other_used,
                    path.chosen,
                )
            )
        paths = following or paths[:1]
    paths.sort(key=_rank)
    closed = [path._replace(chunks=path.chunks + (path.last_end != -1)) for path in paths[:BEAM]]
    best = min(closed, key=_rank)
    chosen: list[Match] = []
    link = best.chosen
    while link is not None:
        chosen.append(link[0])
        link = link[1]  # type: ignore[assignment]
    return chosen, best.chunks


def _take(path: _Path, match: Match, distance: int, used: int, other_used: int) -> _Path:
    credit = match.length + match.other_length
    if match.module != EXACT:
        credit = match.length // 2 + match.other_length // 2
    broken = path.last_end not in (-1, match.other_start)
    return _Path(
        path.unmatched - credit,
        path.chunks + broken,
        distance,
        match.start + match.length,
        match.other_start + match.other_length,
        used,
        other_used,
        (match, path.chosen),
    )


def _uncontested(matches: list[list[Match]]) -> dict[int, Match]:
    """Return the matches that are alone at their start and share no word with another."""
    once = twice = other_once = other_twice = 0
    for here in matches:
        for match in here:
            twice |= once & match.used
            once |= match.used
            other_twice |= other_once & match.other_used
            other_once |= match.other_used
    return {
        start: here[0]
        for start, here in enumerate(matches)
        if len(here) == 1 and not (here[0].used & twice or here[0].other_used & other_twice)
    }
