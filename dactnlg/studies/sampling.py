"""Stratified sampling of acts for a study."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dactnlg.acts import Turn
from dactnlg.studies.study import StudyError
from dactnlg.text.example import Example

SIZES = (1, 3, 5)
"""Upper bounds on the number of slots of each size class; a further class has more than the last."""


class Stratum(NamedTuple):
    """A group of similar acts: their act types, and their size class (see `SIZES`)."""

    types: tuple[str, ...]
    size: int


class PickedAct(NamedTuple):
    """An act of a split, with the rows that have it and its distinct sentences in the corpus."""

    turn: Turn
    rows: tuple[int, ...]
    references: tuple[str, ...]


def stratum(turn: Turn) -> Stratum:
    """Return the stratum of a turn.

    >>> from dactnlg import parse
    >>> stratum(parse("inform(name='Ivy Cutting';length='7 km')"))
    Stratum(types=('inform',), size=1)
    """
    slots = sum(len(act.slots) for act in turn)
    size = sum(slots > bound for bound in SIZES)
    return Stratum(tuple(act.act_type for act in turn), size)


def distinct_acts(examples: Sequence[Example]) -> list[PickedAct]:
    """Return the distinct acts of a split that have a sentence, in the order of their first rows."""
    rows: dict[str, list[int]] = defaultdict(list)
    for row, example in enumerate(examples):
        rows[str(example.turn)].append(row)
    found = []
    for places in rows.values():
        references = dict.fromkeys(text for row in places for text in examples[row].references)
        if references:
            found.append(PickedAct(examples[places[0]].turn, tuple(places), tuple(references)))
    return found


def pick(acts: Sequence[PickedAct], count: int, seed: int) -> list[PickedAct]:
    """Return a sample of the acts, each stratum in proportion (largest remainder), in the order of the split.

    Args:
        acts: the acts to choose from.
        count: how many to choose.
        seed: of the choice within a stratum and between equal remainders.

    Raises:
        StudyError: there are fewer than `count` acts.
    """
    if count > len(acts):
        raise StudyError(f"--acts {count}: there are {len(acts)} different acts with a sentence in the split")
    generator = np.random.default_rng(seed)
    strata: dict[Stratum, list[int]] = defaultdict(list)
    for place, act in enumerate(acts):
        strata[stratum(act.turn)].append(place)
    names = sorted(strata)
    exact = np.array([count * len(strata[name]) / len(acts) for name in names])
    shares = np.floor(exact).astype(int)
    # Equal remainders in random order, or rare strata late in the alphabet would never be chosen.
    order = sorted(range(len(names)), key=lambda at: (shares[at] - exact[at], generator.random()))
    for at in order[: count - int(shares.sum())]:
        shares[at] += 1
    chosen = [
        int(place)
        for name, share in zip(names, shares, strict=True)
        for place in generator.choice(strata[name], share, replace=False)
    ]
    return [acts[place] for place in sorted(chosen)]
