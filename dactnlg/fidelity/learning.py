"""Learns a reader from a corpus's own pairs, assuming that a sentence nearly always states what its act does.

Every fact is learned from all sentences: those whose acts lack it are its negatives. Thresholds are chosen on
validation sentences, if there are any.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, vstack

from dactnlg.acts import Turn
from dactnlg.fidelity.facts import ACT, VALUE, Fact
from dactnlg.fidelity.features import UNNAMED, SlotWords, around_name, around_placeholders, n_grams
from dactnlg.fidelity.inventions import learn_told
from dactnlg.fidelity.logistic import Vector, count_features, fit, matrix
from dactnlg.fidelity.reader import Limits, Misplacing, Reader, ReaderParts, as_weights
from dactnlg.fidelity.samples import Sample, joined, known_values, learn_slot_words, read_rows
from dactnlg.fidelity.table import Table, Weights
from dactnlg.fidelity.thresholds import choose_limits, choose_margins, choose_misplacing, silence
from dactnlg.fidelity.words import learn_telling, learn_triggers
from dactnlg.text.slots import SlotChecker

FEWEST = 5
"""Minimum number of sentences from which an act type or a kind of facts is learned."""
FEWEST_VALUES = 20
"""Minimum number of sentences with a value in other words from which such a fact is learned."""
MANY = 20_000
"""Number of rows below which features are kept from two occurrences on, instead of four, and joined rows are added."""
THINNED = 10
"""One in this many of the sentences that do not name a slot is kept to learn facts about it."""
STRENGTH = 0.5
"""Strength of the L2 penalty."""
LONGEST_VALUE, MOST_VALUES = 60, 500
"""Maximum characters of a known value, and maximum known values of a slot."""


class FactProgress(Protocol):
    """A progress bar with the interface of tqdm."""

    def reset(self, total: float | None = None) -> None:
        """Restart with a new total."""

    def update(self, n: float | None = 1) -> bool | None:
        """Advance by `n`."""


def learn_reader(
    train: Sequence[tuple[Turn, str]],
    valid: Sequence[tuple[Turn, str]],
    checker: SlotChecker,
    *,
    progress: FactProgress | None = None,
) -> Reader:
    """Return a reader learned from (turn, human sentence) pairs; it knows only the facts that can be learned.

    Args:
        train: pairs to learn from.
        valid: pairs to choose thresholds on; without them every fifth of `train` is held out for that.
        checker: the slot checker of the corpus.
        progress: counts facts; its total is set.
    """
    rows, held_out = read_rows(train, checker), read_rows(valid, checker)
    asked = {fact for row in rows for fact in row.facts if fact.bare}
    if not held_out:
        rows, held_out = [row for n, row in enumerate(rows) if n % 5], rows[::5]
    groups = _groups(rows)
    # Joined sentences are added, so that recognising a fact does not depend on the rest of a text.
    data = _Data.of([*rows, *joined(rows[::2], random.Random(1))] if len(rows) < MANY else rows, groups)
    columns: dict[Fact, Vector] = {}
    bias: dict[Fact, float] = {}
    kinds: dict[str, tuple[Vector, Vector]] = {}
    if progress is not None:
        progress.reset(sum(map(len, groups)))
    for group in groups:
        own, shared, names, bias_of = data.fit(group)
        columns |= own
        bias |= bias_of
        if shared is not None:
            kinds[group[0].kind] = shared, names
        if progress is not None:
            progress.update(len(group))
    known = list(columns)
    grams = _columns([*columns.values(), *(shared for shared, _ in kinds.values())], len(data.grams))
    around = _columns([names for _, names in kinds.values()], len(data.names))
    places, place_slots, place_bias = _learn_places(rows)
    values: dict[str, list[str]] = {}
    for slot, value in known_values(train):
        if len(value) <= LONGEST_VALUE and len(values.setdefault(slot, [])) < MOST_VALUES:
            values[slot].append(value)
    none = Limits(0.0, 0.0)
    parts = ReaderParts(
        facts=tuple(known),
        kinds=tuple(kinds),
        bias=as_weights(bias.values()),
        limits=(none,) * len(known),
        grams=Table.pruned(list(data.grams), grams),
        names=Table.pruned(list(data.names), around),
        slot_words=data.slot_words,
        places=places,
        place_slots=place_slots,
        place_bias=place_bias,
        misplacing=Misplacing({}, 0.0),
        margins={},
        triggers={},
        telling=learn_telling(rows),
        values=values,
        told=learn_told(dict.fromkeys((*train, *valid)), values),
        unlearned=tuple(sorted(fact.name for fact in asked - columns.keys())),
    )
    return _with_limits(parts, rows, held_out)


def _columns(found: Sequence[Vector], length: int) -> Vector:
    return np.column_stack(found) if found else np.zeros((length, 0))


def _with_limits(parts: ReaderParts, rows: Sequence[Sample], held_out: Sequence[Sample]) -> Reader:
    reader = Reader(parts)
    logits = [reader.logits(row.sentence) for row in held_out]
    parts = replace(parts, names=_lowered(parts, silence(reader, held_out, logits)))
    reader = Reader(parts)
    logits = [reader.logits(row.sentence) for row in held_out]
    limits, margins = choose_limits(reader, held_out, logits), choose_margins(reader, held_out, logits)
    misplacing = choose_misplacing(reader, held_out)
    reader = Reader(replace(parts, limits=limits, margins=margins, misplacing=misplacing))
    return Reader(replace(reader.parts, triggers=learn_triggers(reader, rows)))


def _lowered(parts: ReaderParts, falls: Mapping[str, float]) -> Table:
    """Return the table `names` with the weight of `UNNAMED` lowered for each kind of facts by its entry in `falls`."""
    features, weights = list(parts.names.features), parts.names.weights.copy()
    if UNNAMED in features:
        for column, kind in enumerate(parts.kinds):
            weights[features.index(UNNAMED), column] -= falls.get(kind, 0.0)
    return Table(features, weights.astype(np.float16).astype(np.float32))


def _groups(rows: Sequence[Sample]) -> list[list[Fact]]:
    """Return the facts that can be learned, grouped by shared weights."""
    counts = Counter(fact for row in rows for fact in row.facts)
    kinds = Counter(fact.kind for row in rows for fact in row.facts)
    alone, together = [], []
    for fact in sorted(counts, key=lambda fact: (fact.kind, fact.name)):
        if counts[fact] == len(rows):
            continue
        if fact.kind in (ACT, VALUE):
            if counts[fact] >= (FEWEST if fact.kind == ACT else FEWEST_VALUES):
                alone.append([fact])
        elif kinds[fact.kind] >= FEWEST:
            together.append(fact)
    return [list(group) for _, group in groupby(together, key=lambda fact: fact.kind)] + alone


@dataclass(frozen=True, slots=True)
class _Data:
    rows: Sequence[Sample]
    grams: dict[str, int]
    names: dict[str, int]
    slot_words: dict[str, list[str]]
    of_rows: csr_array
    of_slots: dict[str, csr_array]
    named: dict[str, NDArray[np.bool_]]

    @classmethod
    def of(cls, rows: Sequence[Sample], groups: Sequence[Sequence[Fact]]) -> _Data:
        """Return rows with the feature matrices for groups of facts."""
        least = 2 if len(rows) < MANY else 4
        found = [n_grams(row.sentence.words) for row in rows]
        grams = count_features(found, least)
        slots = sorted({fact.slot for group in groups for fact in group if fact.slot and fact.kind != VALUE})
        slot_words = learn_slot_words(rows, slots)
        around = {slot: [_around(row, SlotWords.of(slot, slot_words[slot]), slot) for row in rows] for slot in slots}
        names = count_features((features for each in around.values() for features in each), least)
        of_slots = {slot: matrix(each, names) for slot, each in around.items()}
        named = {slot: np.array([features != [UNNAMED] for features in each]) for slot, each in around.items()}
        return cls(rows, grams, names, slot_words, matrix(found, grams), of_slots, named)

    def fit(self, group: Sequence[Fact]) -> tuple[dict[Fact, Vector], Vector | None, Vector, dict[Fact, float]]:
        """Return for a group (weights by fact, shared weights or None, weights around names, bias by fact)."""
        features, size = self.of_rows, len(self.grams)
        if group[0].kind in (ACT, VALUE):
            (fact,) = group
            kept = np.array([fact.kind == ACT or fact.name not in row.found for row in self.rows])
            targets = np.array([float(fact in row.facts) for row in self.rows])
            weights, bias = fit(features[kept], targets[kept], STRENGTH)
            return {fact: weights}, None, np.zeros(0), {fact: bias}
        blocks, stating, counts = [], [], []
        for place, fact in enumerate(group):
            stated = np.array([fact in row.facts for row in self.rows])
            # Of the many sentences that do not even name the slot, a sample with larger weights is enough.
            near = stated | self.named[fact.slot or ""]
            kept = np.flatnonzero(near | (np.arange(len(near)) % THINNED == 0))
            counts.append(np.where(near[kept], 1.0, THINNED))
            stating.append(stated[kept].astype(float))
            here = features[kept]
            own = [here if n == place else csr_array(here.shape) for n in range(len(group))]
            # With a single slot, shared weights would duplicate its own.
            own += [here] if len(group) > 1 else []
            blocks.append(hstack([*own, self.of_slots[fact.slot or ""][kept]], format="csr"))
        weights, bias = fit(vstack(blocks, format="csr"), np.concatenate(stating), STRENGTH, np.concatenate(counts))
        owned = {fact: weights[n * size : (n + 1) * size] for n, fact in enumerate(group)}
        rest = weights[len(group) * size :]
        shared = rest[:size] if len(group) > 1 else np.zeros(size)
        return owned, shared, rest[len(rest) - len(self.names) :], dict.fromkeys(group, bias)


def _around(row: Sample, words: SlotWords, slot: str) -> list[str]:
    sentence = row.sentence
    return around_name(sentence.words, words, sentence.shown.get(slot, ()), sentence.acts)


def _learn_places(rows: Sequence[Sample]) -> tuple[Table, tuple[str, ...], Weights]:
    words = [row.sentence.words for row in rows]
    found = [(each[at], features) for each in words for at, features in around_placeholders(each)]
    counts = Counter(name for name, _ in found)
    slots = tuple(sorted(name for name, count in counts.items() if count >= FEWEST))
    if len(slots) < 2:
        return Table([], np.zeros((0, 0), np.float32)), (), np.zeros(0, np.float32)
    numbers = count_features((features for _, features in found), 2 if len(rows) < MANY else 4)
    features = matrix([each for _, each in found], numbers)
    fits = [fit(features, np.array([float(name == slot) for name, _ in found]), STRENGTH) for slot in slots]
    weights = np.column_stack([each for each, _ in fits])
    return Table.pruned(list(numbers), weights), slots, as_weights(bias for _, bias in fits)
