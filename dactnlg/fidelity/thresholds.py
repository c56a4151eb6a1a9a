"""Thresholds of a reader, chosen on held-out human sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import bdtrc

from dactnlg.fidelity.facts import ACT, INDIFFERENT_KIND, UNKNOWN_KIND, VALUE
from dactnlg.fidelity.logistic import break_even
from dactnlg.fidelity.reader import NEVER, Limits, Misplacing, Reader
from dactnlg.fidelity.samples import Sample

Logits = Mapping[str, float]
RARE = 0.0005
"""Tolerated share of human sentences without a fact that seem to state it."""
LENIENT = 0.75
"""Logits below the break-even threshold at which a special value is surely unsaid."""
SURE = 1.0
"""Minimum difference of the logits at which a fact is surely said and surely unsaid."""
LOOSE = 0.02
"""Tolerated share of human sentences with a reworded value that seem not to have it."""
UNSURE = 0.005
"""Tolerated share of human sentences that seem to lack their question or act type."""
SILENT = (INDIFFERENT_KIND, UNKNOWN_KIND)
"""Kinds of facts that a sentence can hardly state without naming the slot."""
FEW, UNRELIABLE = 3, 1 / 3
"""A fact is not checked if at least this many human sentences should state it and more than this share seem not to."""
CONFUSED = 0.001
"""Tolerated share of human sentences that seem to express another act or question, or of placeholders that seem
misplaced."""
EXCHANGED = 0.005
"""Tolerated share of human sentences in which two placeholders seem to be exchanged."""
MANY = 20
"""Number of sentences of an act type from which on one confused with another is tolerated."""
ALIKE, CHANCE = 0.05, 0.05
"""Two act types are worded alike if more than this share of the human sentences of one seem to be of the other, which
must have less than the given probability by chance: two slips among twenty sentences show nothing."""
MOVED = 6.0
"""Minimum margin, in logits, by which another placeholder must suit a place better than its own."""
LEAST_MARGIN = 2.5
"""Minimum margin, in logits, by which something else must be more probable, however few sentences there are."""


def silence(reader: Reader, rows: Sequence[Sample], logits: Sequence[Logits]) -> dict[str, float]:
    """Return kind of facts -> the reduction of its logits for sentences without a word of the slot.

    "If you do not care about the family" expresses indifference, but not to the price: such sentences have another
    break-even threshold.
    """
    found = {}
    for kind in SILENT:
        facts = [fact for fact in reader.facts.values() if fact.kind == kind]
        named: dict[bool, tuple[list[float], list[float]]] = {True: ([], []), False: ([], [])}
        for row, logit in zip(rows, logits, strict=True):
            for fact in facts:
                named[reader.names(row.sentence.words, fact.slot or "")][fact not in row.facts].append(logit[fact.name])
        high, low = (break_even(*map(np.array, named[key])) for key in (False, True))
        found[kind] = max(high - low, 0.0) if named[False][0] and named[False][1] else 0.0
    return found


def choose_limits(reader: Reader, rows: Sequence[Sample], logits: Sequence[Logits]) -> tuple[Limits, ...]:
    """Return the limits of every fact.

    The lower limit of special values and questions is derived from the threshold at which, over all slots together, as
    many human sentences that should state them lie below as others lie above.
    """
    positive: dict[str, list[float]] = {}
    negative: dict[str, list[float]] = {}
    for row, found in zip(rows, logits, strict=True):
        stated = {fact.name for fact in row.facts}
        for name in found:
            if name not in row.found:
                (positive if name in stated else negative).setdefault(name, []).append(found[name])
    even: dict[str, float] = {}
    for kind in {fact.kind for fact in reader.facts.values()}:
        names = [name for name, fact in reader.facts.items() if fact.kind == kind]
        if kind != ACT:
            pos, neg = (np.array([x for n in names for x in d.get(n, ())]) for d in (positive, negative))
            least = break_even(pos, neg)
            if not kind.startswith("=") and len(pos):
                least = min(least, float(np.quantile(pos, LOOSE if kind == VALUE else UNSURE)))
            even |= dict.fromkeys(names, least)
        else:
            even |= {n: float(np.quantile(positive[n], UNSURE)) if n in positive else -3.0 for n in names}
    limits = []
    for name, fact in reader.facts.items():
        rare = float(np.quantile(negative[name], 1 - RARE)) if name in negative else 0.0
        least = min(even[name], 0.0) - (LENIENT if fact.special else 0.0)
        own = np.array(positive.get(name, ()))
        if len(own) >= FEW and np.mean(own < least) > UNRELIABLE:
            # People word it like another fact: `dogsallowed=none` as "does not allow dogs".
            least = NEVER
        limits.append(Limits(least, max(rare, least + SURE, 0.0)))
    return tuple(limits)


def choose_margins(reader: Reader, rows: Sequence[Sample], logits: Sequence[Logits]) -> dict[str, dict[str, float]]:
    """Return the margins for another act type, or another question of the same act type; see `ReaderParts`."""
    groups: dict[str, list[str]] = {}
    for name, fact in reader.facts.items():
        if not fact.special and fact.kind != VALUE:
            groups.setdefault(fact.kind, []).append(name)
    gains: dict[str, dict[str, list[float]]] = {
        name: {other: [] for other in names if other != name} for names in groups.values() for name in names
    }
    for row, found in zip(rows, logits, strict=True):
        stated = {fact.name for fact in row.facts}
        for name in stated & gains.keys():
            for other, more in gains[name].items():
                if other not in stated:
                    more.append(found[other] - found[name])
    return {
        name: {other: margin for other, more in others.items() if (margin := _margin(more)) is not None}
        for name, others in gains.items()
    }


def _margin(gains: Sequence[float]) -> float | None:
    """Return a margin between two kinds of sentences; None if people use one for the other."""
    # One of many may be a slip.
    share = max(CONFUSED, 1.5 / len(gains)) if len(gains) >= MANY else CONFUSED
    return None if alike(sum(gain > 0 for gain in gains), len(gains)) else _quantile(gains, share, LEAST_MARGIN)


def alike(mistaken: int, count: int) -> bool:
    """Return whether two kinds of sentences are worded alike, as `mistaken` of `count` seem to be of the other kind."""
    return mistaken > ALIKE * count and bool(bdtrc(mistaken - 1, count, ALIKE) < CHANCE)


def choose_misplacing(reader: Reader, rows: Sequence[Sample]) -> Misplacing:
    """Return the margins above which placeholders are surely in the wrong places."""
    slots = reader.parts.place_slots
    alone: dict[str, list[float]] = {slot: [] for slot in slots}
    swapped = []
    for row in rows:
        places = reader.places(row.sentence.words)
        for own, _, gain in places.moves():
            alone[slots[own]].append(gain)
        swapped.append(max((gain for _, _, gain in places.swaps()), default=0.0))
    limits = {slot: _quantile(gains, CONFUSED, MOVED) for slot, gains in alone.items()}
    return Misplacing(limits, _quantile(swapped, EXCHANGED, LEAST_MARGIN))


def _quantile(gains: Sequence[float], share: float, least: float) -> float:
    """Return the value exceeded by only this share of gains, but at least `least`; twice that if there are none."""
    return max(float(np.quantile(gains, 1 - share)), least) if gains else 2 * least
