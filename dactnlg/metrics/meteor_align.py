"""METEOR 1.5's alignment of a hypothesis to a reference (Denkowski and Lavie 2014, section 2.1).

Four matchers propose matches between stretches of words: exact, stem, synonym, paraphrase; `meteor_beam` chooses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dactnlg.metrics.meteor_beam import Match, resolve
from dactnlg.metrics.meteor_data import LONGEST, STEP, MeteorData, among
from dactnlg.metrics.meteor_text import split_meteor

EXACT, STEM, SYNONYM, PARAPHRASE = range(4)
IntArray = NDArray[np.int64]


class Word:
    """What the matchers know of a word.

    Attributes:
        text: the word.
        number: its number in METEOR's data.
        function: whether it is a function word.
        related: other words that have been read -> the word matchers that match them.
    """

    __slots__ = ("function", "number", "related", "text")

    def __init__(self, text: str, number: int, function: bool) -> None:
        self.text, self.number, self.function = text, number, function
        self.related: dict[str, tuple[int, ...]] = {}


class Vocabulary(dict[str, Word]):
    """All words that have been read; a new one is related to them once.

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
        word = self[text] = Word(text, data.number(text), text in data.function_words)
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


class Sentence:
    """A sentence as the matchers need it.

    Attributes:
        words: the tokens.
        function: which of them are function words, as bits.
        places: word -> its positions.
        sources: (start, length, paraphrases in the table's order) of stretches that have any among the sentences that
            were read with this one.
        stretches: number of such a paraphrase -> (start, length) of each place where it stands.
    """

    __slots__ = ("function", "places", "sources", "stretches", "words")

    def __init__(self, words: Sequence[Word]) -> None:
        self.words = words
        self.places: dict[str, list[int]] = {}
        self.function = 0
        for at, word in enumerate(words):
            self.places.setdefault(word.text, []).append(at)
            if word.function:
                self.function |= 1 << at
        self.sources: list[tuple[int, int, Mapping[int, None]]] = []
        self.stretches: dict[int, list[tuple[int, int]]] = {}


class Aligner:
    """Aligns sentences; keeps what it learnt about words.

    Args:
        data: METEOR's data.
    """

    def __init__(self, data: MeteorData) -> None:
        self._data = data
        self._words = Vocabulary(data)

    def forget(self, more_than: int) -> None:
        """Drop what was learnt, if it is about more words than this.

        Sentences that were read before must not be aligned with later ones.
        """
        if len(self._words) > more_than:
            self._words.clear()

    def read(self, texts: Sequence[str]) -> list[Sentence]:
        """Return sentences that can be aligned with one another."""
        known, abbreviations = self._words, self._data.abbreviations
        sentences = [Sentence([known[word] for word in split_meteor(text, abbreviations)]) for text in texts]
        if not sentences:
            return []
        stretches, words, starts, lengths = _stretches(sentences)
        paraphrases = self._data.paraphrases(np.unique(stretches))
        targets = {phrase for found in paraphrases.values() for phrase in found}
        useful = np.array(sorted(targets.union(paraphrases)), np.uint64)
        chosen = np.flatnonzero(among(stretches, useful))
        rows = (column[chosen].tolist() for column in (stretches, words, starts, lengths))
        for phrase, number, start, length in zip(*rows, strict=True):
            sentence = sentences[number]
            if phrase in paraphrases:
                sentence.sources.append((start, length, paraphrases[phrase]))
            if phrase in targets:
                sentence.stretches.setdefault(phrase, []).append((start, length))
        return sentences

    def align(self, hypothesis: Sentence, reference: Sentence) -> tuple[float, ...]:
        """Return the counts of the best alignment.

        They are 21: words and function words of hypothesis and reference (4), matched content words by matcher in
        the hypothesis (4) and the reference (4), matched function words likewise (8), chunks. Sentences that match
        whole in one chunk are not fragmented: they count no chunk.
        """
        words, others = len(reference.words), len(hypothesis.words)
        chosen, chunks = resolve(_matches(hypothesis, reference), words)
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


def _stretches(sentences: Sequence[Sentence]) -> tuple[NDArray[np.uint64], IntArray, IntArray, IntArray]:
    """Return the numbers of all stretches of words, and of each its sentence, start and length, in this order."""
    sizes = np.array([len(sentence.words) for sentence in sentences])
    numbers = np.array([word.number for sentence in sentences for word in sentence.words], np.uint64)
    owners = np.repeat(np.arange(len(sentences)), sizes)
    starts = np.arange(len(numbers)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    left = sizes[owners] - starts
    phrases, found = numbers, []
    for length in range(1, LONGEST + 1):
        found.append((phrases, np.flatnonzero(left[: len(phrases)] >= length)))
        phrases = phrases[:-1] * np.uint64(STEP) + numbers[length:]
    places = np.concatenate([inside for _, inside in found])
    lengths = np.repeat(np.arange(1, LONGEST + 1), [len(inside) for _, inside in found])
    order = np.lexsort((lengths, places))
    stretches = np.concatenate([row[inside] for row, inside in found])[order]
    return stretches, owners[places][order], starts[places][order], lengths[order]


def _matches(hypothesis: Sentence, reference: Sentence) -> list[list[Match]]:
    """Return all matches that start at each word of the reference, in the matchers' order."""
    found: list[list[Match]] = []
    places, after = hypothesis.places, len(reference.words)
    texts = places.keys()
    only_exact = hypothesis.words == reference.words
    for at, word in enumerate(reference.words):
        bit = 1 << at
        here = []
        if word.text in places:
            here = [Match(EXACT, at, 1, i, 1, bit | 1 << after + i, 2) for i in places[word.text]]
        related = word.related
        if related and not only_exact and not texts.isdisjoint(related.keys()):
            by_word = [
                (module, i) for other in related.keys() & texts for module in related[other] for i in places[other]
            ]
            here += [Match(module, at, 1, i, 1, bit | 1 << after + i, 0) for module, i in sorted(by_word)]
        found.append(here)
    if not only_exact:
        _paraphrases(hypothesis, reference, found)
    return found


def _paraphrases(hypothesis: Sentence, reference: Sentence, found: list[list[Match]]) -> None:
    """Add matches of reference stretches to their paraphrases, then the other way round."""
    after = len(reference.words)
    said = hypothesis.stretches
    for start, length, paraphrases in reference.sources:
        if not said.keys().isdisjoint(paraphrases.keys()):
            for place in [place for phrase in paraphrases for place in said.get(phrase, ())]:
                found[start].append(_match(start, length, *place, after))
    said = reference.stretches
    for other_start, other_length, paraphrases in hypothesis.sources:
        if not said.keys().isdisjoint(paraphrases.keys()):
            for start, length in [place for phrase in paraphrases for place in said.get(phrase, ())]:
                found[start].append(_match(start, length, other_start, other_length, after))


def _match(start: int, length: int, other_start: int, other_length: int, after: int) -> Match:
    used = ((1 << length) - 1) << start | ((1 << other_length) - 1) << after + other_start
    credit = length // 2 + other_length // 2
    return Match(PARAPHRASE, start, length, other_start, other_length, used, credit)
