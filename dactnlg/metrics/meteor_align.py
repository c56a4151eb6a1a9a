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
from typing import Any, NamedTuple

from dactnlg.metrics.meteor_data import LONGEST, MASK, STEP, MeteorData
from dactnlg.metrics.meteor_text import split_meteor

BEAM = 40
EXACT, STEM, SYNONYM, PARAPHRASE = range(4)


class Match(NamedTuple):
    """A stretch of the reference matched to one of the hypothesis.

    `used` and `other_used` are their words as bits, `credit` what the match counts in the beam.
    """

    module: int
    start: int
    length: int
    other_start: int
    other_length: int
    used: int
    other_used: int
    credit: int


class Sentence:
    """A sentence as the matchers need it.

    Attributes:
        words: the tokens.
        function: for each, whether it is a function word.
        places: word -> its positions.
        stretches: the number of each stretch of words -> where it stands; `all_stretches` are the numbers.
        sources: (start, length, paraphrases in the table's order, the same as a set) of stretches in the table.
    """

    __slots__ = ("all_stretches", "function", "places", "sources", "stretches", "words")

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
                phrase = (phrase * STEP + number) & MASK
                if phrase in self.stretches:
                    self.stretches[phrase].append((start, length))
                else:
                    self.stretches[phrase] = [(start, length)]
                if in_table:
                    found = data.paraphrases(phrase)
                    in_table = found is not None
                    if found:
                        self.sources.append((start, length, found, _as_set(found)))
        self.all_stretches = frozenset(self.stretches)


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
        # Reference word -> (hypothesis words that a word matcher matches, all that were compared).
        self._known: dict[str, tuple[dict[str, tuple[int, ...]], set[str]]] = {}
        self._synsets: dict[str, frozenset[int]] = {}
        self.sentence = lru_cache(maxsize=1 << 14)(self._read)
        # Dialogue corpora say the same again and again.
        self.align = lru_cache(maxsize=1 << 16)(self._align)

    def _align(self, hypothesis: Sentence, reference: Sentence) -> tuple[float, ...]:
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
        return tuple(counts)

    def _read(self, text: str) -> Sentence:
        return Sentence(split_meteor(text, self._data.abbreviations), self._data)

    def _matches(self, hypothesis: Sentence, reference: Sentence) -> list[list[Match]]:
        """Return all matches that start at each word of the reference, in the matchers' order."""
        found: list[list[Match]] = [[] for _ in reference.words]
        only_exact = hypothesis.words == reference.words
        for at, word in enumerate(reference.words):
            here = found[at]
            here += [Match(EXACT, at, 1, i, 1, 1 << at, 1 << i, 2) for i in hypothesis.places.get(word, ())]
            if not only_exact:
                here += self._by_word(word, at, hypothesis)
        if not only_exact:
            self._paraphrases(hypothesis, reference, found)
        return found

    def _by_word(self, word: str, at: int, hypothesis: Sentence) -> list[Match]:
        """Return the stem matches of a reference word, then its synonym matches, each from left to right."""
        related, compared = self._known.setdefault(word, ({}, set()))
        for other in hypothesis.places.keys() - compared:
            modules = self._compare(word, other)
            if modules:
                related[other] = modules
            compared.add(other)
        found = [
            Match(module, at, 1, i, 1, 1 << at, 1 << i, 0)
            for other in related.keys() & hypothesis.places.keys()
            for module in related[other]
            for i in hypothesis.places[other]
        ]
        return sorted(found, key=_by_module_and_place) if len(found) > 1 else found

    def _compare(self, word: str, other: str) -> tuple[int, ...]:
        """Return which of the two word matchers match two words."""
        if word == other:
            return ()
        # Stemming leaves the first letter alone, and drops an apostrophe before it.
        stem = self._data.stemmer
        alike = word[:1] == other[:1] or "'" in (word[:1], other[:1])
        modules = (STEM,) if alike and stem(word) == stem(other) else ()
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


_by_module_and_place = itemgetter(0, 3)


def _match(start: int, length: int, other_start: int, other_length: int) -> Match:
    used, other_used = ((1 << length) - 1) << start, ((1 << other_length) - 1) << other_start
    credit = length // 2 + other_length // 2
    return Match(PARAPHRASE, start, length, other_start, other_length, used, other_used, credit)


def _said(ordered: tuple[int, ...], paraphrases: frozenset[int], sentence: Sentence) -> list[tuple[int, int]]:
    """Return where a sentence says one of the paraphrases, in the table's order."""
    if paraphrases.isdisjoint(sentence.all_stretches):
        return []
    hits = sorted(paraphrases & sentence.all_stretches, key=ordered.index)
    return [place for number in hits for place in sentence.stretches[number]]


# A partial alignment is a plain tuple, since hundreds are made for one pair of sentences: (credit with its sign turned,
# chunks, distance, reference word that it has come to, end of the last match in the hypothesis or -1, reference words
# used, hypothesis words used, (last match, the matches before it)). The first three are what paths are ranked by.
_Path = tuple[int, int, int, int, int, int, int, Any]
_rank = itemgetter(0, 1, 2)


def _resolve(matches: list[list[Match]], length: int) -> tuple[list[Match], int]:
    """Return the best set of matches that do not overlap, and its number of chunks."""
    fixed = _uncontested(matches)
    used = other_used = 0
    for match in fixed.values():
        used, other_used = used | match.used, other_used | match.other_used
    paths: list[_Path] = [(0, 0, 0, 0, -1, used, other_used, None)]
    for at in range(length):
        if len(paths) > 1:
            paths.sort(key=_rank)
            del paths[BEAM:]
        paths = _advance(paths, at, matches[at], fixed.get(at)) or paths[:1]
    paths.sort(key=_rank)
    best = min(((path[0], path[1] + (path[4] != -1), path[2], path[7]) for path in paths[:BEAM]), key=_rank)
    chosen: list[Match] = []
    link = best[3]
    while link is not None:
        chosen.append(link[0])
        link = link[1]
    return chosen, best[1]


def _advance(paths: list[_Path], at: int, here: list[Match], fixed: Match | None) -> list[_Path]:
    """Return what paths become over one word of the reference: each match that is free, and none."""
    following: list[_Path] = []
    bit = 1 << at
    for path in paths:
        unmatched, chunks, distance, come_to, last_end, used, other_used, chosen = path
        if used & bit:
            if at < come_to:
                following.append(path)
            elif fixed is not None:
                following.append(_take(path, fixed, distance + abs(at - fixed.other_start)))
            continue
        for match in here:
            if not (match.used & used or match.other_used & other_used):
                following.append(_take(path, match, distance))
                distance += abs(at - match.other_start)
        following.append((unmatched, chunks + (last_end != -1), distance, come_to + 1, -1, used, other_used, chosen))
    return following


def _take(path: _Path, match: Match, distance: int) -> _Path:
    unmatched, chunks, _, _, last_end, used, other_used, chosen = path
    _, start, length, other_start, other_length, more, other_more, credit = match
    return (
        unmatched - credit,
        chunks if last_end == -1 or last_end == other_start else chunks + 1,
        distance,
        start + length,
        other_start + other_length,
        used | more,
        other_used | other_more,
        (match, chosen),
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
