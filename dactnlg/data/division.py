"""Division of data that come as one file into training, validation and test splits.

Equal acts stay together, so that no test act occurs in training. Acts without values, such as `request(area)`, are the
exception: no other act teaches a model to say them, so their sentences are divided instead. Each part gets its share of
the pairs of every act type, as far as possible. The part of an act depends on the act and the seed alone, not on the
order of the file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from dactnlg.acts import Turn
from dactnlg.text.example import Example

FEWEST = 20
"""Minimum number of pairs to divide."""


def divide(examples: Sequence[Example], shares: Mapping[str, int], seed: int = 1) -> dict[str, list[Example]]:
    """Return the examples of each split, in file order; training gets the rest.

    Args:
        examples: all examples.
        shares: split -> its percentage of the pairs, such as `{"valid": 10, "test": 10}`.
        seed: determines the division.
    """
    groups: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for index, example in enumerate(examples):
        key = _key(example.turn)
        if any(slot.value for act in example.turn for slot in act.slots):
            kind = tuple(sorted(act.act_type for act in example.turn))
        else:
            kind, key = (key,), "\n".join(example.references).casefold()
        groups.setdefault(kind, {}).setdefault(key, []).append(index)
    chosen = dict.fromkeys(range(len(examples)), "train")
    owed = dict.fromkeys(shares, 0.0)
    for kind in sorted(groups):
        acts = groups[kind]
        sizes = {key: sum(len(examples[index].references) for index in indices) for key, indices in acts.items()}
        for split, percent in shares.items():
            owed[split] += sum(sizes.values()) * percent / 100
        # The last one stays: what only the test split has would never be learned.
        for key in sorted(acts, key=lambda key: _order(key, seed))[:-1]:
            split = max(owed, key=lambda name: owed[name], default="train")
            if split != "train" and 2 * owed[split] >= sizes[key]:
                owed[split] -= sizes[key]
                chosen |= dict.fromkeys(acts[key], split)
    parts: dict[str, list[Example]] = {split: [] for split in ("train", *shares)}
    for index, example in enumerate(examples):
        parts[chosen[index]].append(example)
    return parts


def _key(turn: Turn) -> str:
    """Return a key shared by equal acts, regardless of the order of their slots and the case of their values."""
    return " & ".join(sorted(f"{act.act_type}{sorted(str(slot).casefold() for slot in act.slots)}" for act in turn))


def _order(key: str, seed: int) -> str:
    return hashlib.sha256(f"{seed}|{key}".encode()).hexdigest()
