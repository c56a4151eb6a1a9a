"""Acts for a study: few of many, in the proportions of the whole."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dactnlg.acts import Turn
from dactnlg.studies.study import StudyError
from dactnlg.text.example import Example

SIZES = (1, 3, 5)
"""The most slots of acts of each size; the last size has more."""


class Stratum(NamedTuple):
    """Acts that are alike: their types, and how many slots they have, by the bounds of `SIZES`."""

    types: tuple[str, ...]
    size: int


class PickedAct(NamedTuple):
    """An act of a split: the rows that have it, its sentences in the corpus, each once."""

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
    """Return the acts of a split that have a sentence, each once, in the order of their first rows."""
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
    """Return some of the acts, every stratum in its proportion (largest remainder), in the order of the split.

    Args:
        acts: the acts to choose from.
        count: how many are chosen.
        seed: decides which ones of a stratum, and between equal remainders.

    Raises:
        StudyError: there are fewer acts than that.
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
    # Equal remainders in an order of their own, or rare strata late in the alphabet would never be asked about.
    order = sorted(range(len(names)), key=lambda at: (shares[at] - exact[at], generator.random()))
    for at in order[: count - int(shares.sum())]:
        shares[at] += 1
    chosen = [
        int(place)
        for name, share in zip(names, shares, strict=True)
        for place in generator.choice(strata[name], share, replace=False)
    ]
    return [acts[place] for place in sorted(chosen)]
