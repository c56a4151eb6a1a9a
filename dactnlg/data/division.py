"""Division of data that come as one file into training, validation and test splits.

Equal acts stay together, so that no test act occurs in training. Acts without values, such as `request(area)`, are the
exception: no other act teaches a model to say them, so their sentences are divided instead. Each part gets its share of
the pairs of every act type, as far as possible. The part of an act depends on the act and the seed alone, not on the
order of the file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

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
    # A place is (example, sentence): which sentences are in one example depends on the format and order of a file.
    groups: dict[tuple[str, ...], dict[str, list[tuple[int, int]]]] = {}
    for index, example in enumerate(examples):
        key = _key(example.turn)
        valued = any(slot.value for act in example.turn for slot in act.slots)
        kind = tuple(sorted(act.act_type for act in example.turn)) if valued else (key,)
        for number, sentence in enumerate(example.references):
            unit = key if valued else sentence.casefold()
            groups.setdefault(kind, {}).setdefault(unit, []).append((index, number))
    chosen: dict[tuple[int, int], str] = {}
    owed = dict.fromkeys(shares, 0.0)
    for kind in sorted(groups):
        acts = groups[kind]
        for split, percent in shares.items():
            owed[split] += sum(map(len, acts.values())) * percent / 100
        # The last one stays: what only the test split has would never be learned.
        for key in sorted(acts, key=lambda key: _order(key, seed))[:-1]:
            split = max(owed, key=lambda name: owed[name], default="train")
            if split != "train" and 2 * owed[split] >= len(acts[key]):
                owed[split] -= len(acts[key])
                chosen |= dict.fromkeys(acts[key], split)
    parts: dict[str, list[Example]] = {split: [] for split in ("train", *shares)}
    for index, example in enumerate(examples):
        sentences: dict[str, list[str]] = {}
        for number, sentence in enumerate(example.references):
            sentences.setdefault(chosen.get((index, number), "train"), []).append(sentence)
        for split, own in sentences.items():
            parts[split].append(replace(example, references=tuple(own)))
    return parts


def _key(turn: Turn) -> str:
    """Return a key shared by equal acts, regardless of the order of their slots and the case of their values."""
    return " & ".join(sorted(f"{act.act_type}{sorted(str(slot).casefold() for slot in act.slots)}" for act in turn))


def _order(key: str, seed: int) -> str:
    return hashlib.sha256(f"{seed}|{key}".encode()).hexdigest()
