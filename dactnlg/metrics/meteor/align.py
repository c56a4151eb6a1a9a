"""METEOR 1.5's alignment of a hypothesis to a reference (Denkowski and Lavie 2014, section 2.1).

Four matchers propose matches between spans of words: exact, stem, synonym, paraphrase; `meteor.beam` chooses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dactnlg.metrics.meteor.beam import Match, plan
from dactnlg.metrics.meteor.data import LONGEST, STEP, MeteorData, among, word_number
from dactnlg.metrics.meteor.lockstep import search_all
from dactnlg.metrics.meteor.text import Splitter

WORDS = 1 << 17
"""Distinct words in the cache; beyond that it is emptied."""
EXACT, STEM, SYNONYM, PARAPHRASE = range(4)
IntArray = NDArray[np.int64]


class Word:
    """A word as the matchers need it.

    Attributes:
        text: the word.
        number: its number in METEOR's data.
        function: whether it is a function word.
        related: other words read so far -> the matchers that match them with this one.
    """

    __slots__ = ("function", "number", "related", "text")

    def __init__(self, text: str, number: int, *, function: bool) -> None:
        self.text, self.number, self.function = text, number, function
        self.related: dict[str, tuple[int, ...]] = {}


class WordCache(dict[str, Word]):
    """All words read so far; a new word is related to them when it is first looked up.

    Args:
        data: METEOR's data.
    """

    def __init__(self, data: MeteorData) -> None:
        super().__init__()
        self._data = data
        self._by_stem: dict[int, list[Word]] = {}
        self._by_synset: dict[int, list[Word]] = {}

    def __missing__(self, text: str) -> Word:
        data = self._data
        word = self[text] = Word(text, word_number(text), function=text in data.function_words)
        same_stem = self._by_stem.setdefault(data.stem(text), [])
        for other in same_stem:
            word.related[other.text] = other.related[text] = (STEM,)
        same_stem.append(word)
        for synset in data.synsets(text):
            sharing = self._by_synset.setdefault(synset, [])
            for other in sharing:
                modules = word.related.get(other.text, ())
                if SYNONYM not in modules:
                    word.related[other.text] = other.related[text] = (*modules, SYNONYM)
            sharing.append(word)
        return word

    def clear(self) -> None:
        """Forget all words."""
        super().clear()
        self._by_stem.clear()
        self._by_synset.clear()


class ReadSentence:
    """A sentence as the matchers need it.

    Attributes:
        words: the tokens.
        function: which of them are function words, as bits.
        sources: (start, length, paraphrases in the table's order) of the spans that have paraphrases in the sentences
            read together with this one.
        stretches: number of such a paraphrase -> (start, length) of each of its occurrences here.
    """

    __slots__ = ("_answers", "function", "sources", "stretches", "words")

    def __init__(self, words: Sequence[Word]) -> None:
        self.words = words
        self.function = sum([1 << at for at, word in enumerate(words) if word.function])
        self.sources: list[tuple[int, int, Mapping[int, None]]] = []
        self.stretches: dict[int, list[tuple[int, int]]] = {}
        self._answers: dict[str, list[tuple[int, int]]] = {}

    @property
    def answers(self) -> dict[str, list[tuple[int, int]]]:
        """Word of a reference -> (matcher, position) of each word here that matches it, in the matchers' order.

        Must not be used before all sentences have been read.
        """
        if not self._answers:
            found = self._answers
            for at, word in enumerate(self.words):
                found.setdefault(word.text, []).append((EXACT, at))
                for other, modules in word.related.items():
                    found.setdefault(other, []).extend([(module, at) for module in modules])
            for matching in found.values():
                matching.sort()
        return self._answers


class Aligner:
    """Aligns sentences; caches what it has looked up about words.

    Args:
        data: METEOR's data.
    """

    def __init__(self, data: MeteorData) -> None:
        self._data = data
        self._words = WordCache(data)
        self._splitter = Splitter(data.abbreviations)

    def forget(self, more_than: int) -> None:
        """Empty the caches if they hold more words than this.

        Sentences read before must not be aligned with later ones.
        """
        self._splitter.forget(more_than)
        if len(self._words) > more_than:
            self._words.clear()

    def read(self, texts: Sequence[str]) -> list[ReadSentence]:
        """Read sentences, which can then be aligned with one another."""
        known, split = self._words, self._splitter.split
        sentences = [ReadSentence([known[word] for word in split(text)]) for text in texts]
        if not any(sentence.words for sentence in sentences):
            return sentences
        stretches, places, lengths = _stretches(sentences)
        paraphrases = self._data.paraphrases(_distinct(stretches))
        targets = {phrase for found in paraphrases.values() for phrase in found}
        useful = np.array(sorted(targets.union(paraphrases)), np.uint64)
        chosen = np.flatnonzero(among(stretches, useful))
        chosen = chosen[np.lexsort((lengths[chosen], places[chosen]))]
        sizes = np.array([len(sentence.words) for sentence in sentences])
        owners = np.repeat(np.arange(len(sentences)), sizes)[places[chosen]]
        starts = places[chosen] - (np.cumsum(sizes) - sizes)[owners]
        rows = (column.tolist() for column in (stretches[chosen], owners, starts, lengths[chosen]))
        for phrase, owner, start, length in zip(*rows, strict=True):
            sentence = sentences[owner]
            if phrase in paraphrases:
                sentence.sources.append((start, length, paraphrases[phrase]))
            if phrase in targets:
                sentence.stretches.setdefault(phrase, []).append((start, length))
        return sentences

    def align_texts(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[float, ...]]:
        """Read the texts of each pair, and return what `align` does."""
        self.forget(WORDS)
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        read = dict(zip(texts, self.read(texts), strict=True))
        return self.align([(read[hypothesis], read[reference]) for hypothesis, reference in pairs])

    def align(self, pairs: Sequence[tuple[ReadSentence, ReadSentence]]) -> list[tuple[float, ...]]:
        """Return the counts of the best alignment of each hypothesis and reference.

        There are 21: words and function words of hypothesis and reference (4), matched content words by matcher in
        the hypothesis (4) and the reference (4), matched function words likewise (8), chunks. Sentences that match
        completely in one chunk have 0 chunks, since they are not fragmented.
        """
        found = search_all([plan(_matches(hypothesis, reference)) for hypothesis, reference in pairs])
        return [_counts(*pair, *best) for pair, best in zip(pairs, found, strict=True)]


def _counts(
    hypothesis: ReadSentence, reference: ReadSentence, chosen: Sequence[Match], chunks: int
) -> tuple[float, ...]:
    """Return the counts described in `Aligner.align`."""
    words, others = len(reference.words), len(hypothesis.words)
    used = [0, 0, 0, 0]
    for match in chosen:
        used[match[0]] |= match[5]
    function = reference.function | hypothesis.function << words
    reference_words = (1 << words) - 1
    counts = [others, words, hypothesis.function.bit_count(), reference.function.bit_count()]
    for kind in (~function, function):
        counts += [(bits & kind & ~reference_words).bit_count() for bits in used]
        counts += [(bits & kind & reference_words).bit_count() for bits in used]
    whole = sum(counts[4:]) == words + others
    return (*counts, 0 if whole and chunks == 1 else chunks)


def _stretches(sentences: Sequence[ReadSentence]) -> tuple[NDArray[np.uint64], IntArray, IntArray]:
    """Return the numbers of all spans of words, their starts in the concatenated sentences, and their lengths."""
    sizes = np.array([len(sentence.words) for sentence in sentences])
    numbers = np.array([word.number for sentence in sentences for word in sentence.words], np.uint64)
    left = np.repeat(np.cumsum(sizes), sizes) - np.arange(len(numbers))
    phrases, found = numbers, []
    for length in range(1, LONGEST + 1):
        inside = np.flatnonzero(left[: len(phrases)] >= length)
        found.append((phrases[inside], inside))
        phrases = phrases[:-1] * np.uint64(STEP) + numbers[length:]
    lengths = np.repeat(np.arange(1, LONGEST + 1), [len(inside) for _, inside in found])
    return np.concatenate([row for row, _ in found]), np.concatenate([inside for _, inside in found]), lengths


def _distinct(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return what `np.unique` does, which is slower here since it builds a hash table."""
    ordered = np.sort(numbers)
    distinct: NDArray[np.uint64] = ordered[np.append(True, ordered[1:] != ordered[:-1])]
    return distinct


def _matches(hypothesis: ReadSentence, reference: ReadSentence) -> list[list[Match]]:
    """Return the matches that start at each word of the reference, in the matchers' order."""
    found: list[list[Match]] = []
    after = len(reference.words)
    if hypothesis.words == reference.words:
        for at, word in enumerate(reference.words):
            places = [i for i, other in enumerate(hypothesis.words) if other is word]
            found.append([Match(EXACT, at, 1, i, 1, 1 << at | 1 << after + i, 2) for i in places])
        return found
    answers = hypothesis.answers
    for at, word in enumerate(reference.words):
        bit = 1 << at
        found.append(
            [
                Match(module, at, 1, i, 1, bit | 1 << after + i, 0 if module else 2)
                for module, i in answers.get(word.text, ())
            ]
        )
    _paraphrases(hypothesis, reference, found)
    return found


def _paraphrases(hypothesis: ReadSentence, reference: ReadSentence, found: list[list[Match]]) -> None:
    """Add matches of reference spans with their paraphrases, then the other way round."""
    after = len(reference.words)
    stretches = hypothesis.stretches
    for start, length, paraphrases in reference.sources:
        if not stretches.keys().isdisjoint(paraphrases.keys()):
            for place in [place for phrase in paraphrases for place in stretches.get(phrase, ())]:
                found[start].append(_match(start, length, *place, after))
    stretches = reference.stretches
    for other_start, other_length, paraphrases in hypothesis.sources:
        if not stretches.keys().isdisjoint(paraphrases.keys()):
            for start, length in [place for phrase in paraphrases for place in stretches.get(phrase, ())]:
                found[start].append(_match(start, length, other_start, other_length, after))


def _match(start: int, length: int, other_start: int, other_length: int, after: int) -> Match:
    used = ((1 << length) - 1) << start | ((1 << other_length) - 1) << after + other_start
    credit = length // 2 + other_length // 2
    return Match(PARAPHRASE, start, length, other_start, other_length, used, credit)
