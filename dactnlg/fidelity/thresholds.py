"""Thresholds of a reader, chosen on human sentences that it has not learned from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import bdtrc

from dactnlg.fidelity.facts import ACT, VALUE
from dactnlg.fidelity.logistic import break_even
from dactnlg.fidelity.reader import NEVER, Limits, Misplacing, Reader
from dactnlg.fidelity.samples import Sample

Logits = Mapping[str, float]
RARE = 0.0005
"""Human sentences without a fact that may seem to state it."""
LENIENT = 0.75
"""Below the threshold at which as many are wrong on either side, a special value is surely unsaid."""
SURE = 1.0
"""Between the threshold of a fact and the logit above which it is surely said."""
LOOSE = 0.02
"""Human sentences that may seem not to have a value in any words, of those that do not have it as it is."""
UNSURE = 0.005
"""Human questions that may seem to be lost."""
SILENT = ("=dontcare", "=none")
"""Kinds of facts that a sentence can hardly state without naming the slot."""
FEW, UNRELIABLE = 3, 1 / 3
"""A fact that at least so many human sentences should state, and more than this share seem not to, is not checked."""
CONFUSED = 0.001
"""Human sentences that may seem to do another act or ask another question, or placeholders to be in the wrong place."""
EXCHANGED = 0.005
"""Human sentences in which two placeholders may seem to be in each other's place."""
MANY = 20
"""Sentences of an act type among which one may be another's."""
ALIKE, CHANCE = 0.05, 0.05
"""Where more human sentences of an act type seem to do another one, the two are worded alike; if by chance, with such a
probability at most: two slips among twenty sentences show nothing."""
MOVED = 6.0
"""Logits by which another placeholder has to suit a place better than its own."""
LEAST_MARGIN = 2.5
"""Logits by which something else has to be more probable, however few sentences there are to choose a margin on."""


def silence(reader: Reader, rows: Sequence[Sample], logits: Sequence[Logits]) -> dict[str, float]:
    """Return by how much the logits of kinds of facts have to fall where no word of their slot stands.

    "If you do not care about the family" says much of indifference, and nothing of the price: in such sentences the
    threshold at which as many are wrong on either side is another one.
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

    Special values and questions are unsaid below the threshold at which, for all slots together, as many human
    sentences that should state them lie below as others lie above.
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
            if kind[:1] != "=" and len(pos):
                least = min(least, float(np.quantile(pos, LOOSE if kind == VALUE else UNSURE)))
            even |= dict.fromkeys(names, least)
        else:
            even |= {n: float(np.quantile(positive[n], UNSURE)) if n in positive else -3.0 for n in names}
    limits = []
    for name, fact in reader.facts.items():
        rare = float(np.quantile(negative[name], 1 - RARE)) if name in negative else 0.0
        least = min(even[name], 0.0) - (LENIENT if fact.kind[:1] == "=" else 0.0)
        own = np.array(positive.get(name, ()))
        if len(own) >= FEW and np.mean(own < least) > UNRELIABLE:
            # People word it as something else: `dogsallowed=none` as "does not allow dogs".
            least = NEVER
        limits.append(Limits(least, max(rare, least + SURE, 0.0)))
    return tuple(limits)


def choose_margins(reader: Reader, rows: Sequence[Sample], logits: Sequence[Logits]) -> dict[str, dict[str, float]]:
    """Return by how much another act type, or another question of the same act type, has to be more probable."""
    groups: dict[str, list[str]] = {}
    for name, fact in reader.facts.items():
        if fact.kind[:1] != "=" and fact.kind != VALUE:
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
    """Return a margin between two kinds of sentences; None where people use one for the other."""
    # A single one of many may be a slip.
    share = max(CONFUSED, 1.5 / len(gains)) if len(gains) >= MANY else CONFUSED
    return None if alike(sum(gain > 0 for gain in gains), len(gains)) else _quantile(gains, share, LEAST_MARGIN)


def alike(mistaken: int, count: int) -> bool:
    """Whether two kinds of sentences are worded alike: so many of one seem to be of the other, more than by chance."""
    return mistaken > ALIKE * count and bool(bdtrc(mistaken - 1, count, ALIKE) < CHANCE)


def choose_misplacing(reader: Reader, rows: Sequence[Sample]) -> Misplacing:
    """Return when a placeholder is surely in the wrong place."""
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
    """Return what only so small a share of gains is above, but no less than `least`."""
    return max(float(np.quantile(gains, 1 - share)), least) if gains else 2 * least
