"""Invented acts: those of training with other slots, for teachers to say what the corpus lacks.

A corpus has few of the combinations of slots that its acts may take. Acts that are a few slots away from its own, said
by models and kept where the reader finds nothing wrong and all reads like training, are the rest of them to learn from
(noise injection sampling and self-training: Kedzie and McKeown 2019, section 3).
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.text.example import Pair
from dactnlg.text.templates import Key, combination

MOST_TRIES = 10
"""For each act that is wanted."""
FURTHER = 0.5
"""How often one change follows another."""


def invent(pairs: Sequence[Pair], number: int, seed: int) -> list[Pair]:
    """Return pairs without a sentence, whose combinations of acts, slots and special values are new.

    Args:
        pairs: whose turns are changed; their values are drawn as often as they have them.
        number: how many; fewer where few can be made.
        seed: decides on all of them.
    """
    chance, inventor = random.Random(seed), _Inventor([pair.turn for pair in pairs])
    changed = [pair for pair in pairs if any(pair.turn.slots())]
    found: dict[tuple[Key, Key], Pair] = {}
    for _ in range(MOST_TRIES * number if changed else 0):
        if len(found) == number:
            break
        pair = chance.choice(changed)
        made = inventor.changed(pair.turn, chance)
        if made is not None and (key := combination(made)) not in inventor.known:
            found.setdefault(key, Pair(made, pair.corpus, (), pair.context))
    return list(found.values())


class _Inventor:
    """Draws turns that are some slots away from given ones.

    Attributes:
        known: the combinations of the given ones.
    """

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._values: dict[str, dict[str, list[str | None]]] = {}
        for turn in turns:
            for act, slot in turn.slots():
                self._values.setdefault(act.act_type, {}).setdefault(slot.name, []).append(slot.value)
        self.known = set(map(combination, turns))

    def changed(self, turn: Turn, chance: random.Random) -> Turn | None:
        """Return a turn with some changes, or None where one that was drawn cannot be made."""
        made = self._once(turn, chance)
        while made is not None and chance.random() < FURTHER:
            made = self._once(made, chance)
        return made

    def _once(self, turn: Turn, chance: random.Random) -> Turn | None:
        """Return a turn with one slot more, one less, or another one."""
        acts = list(turn.acts)
        place = chance.choice([number for number, act in enumerate(acts) if act.slots])
        slots = list(acts[place].slots)
        values = self._values[acts[place].act_type]
        others = sorted(values.keys() - {slot.name for slot in slots})
        change = chance.choice(("more", "less", "other"))
        if (change != "more" and len(slots) == 1) or (change != "less" and not others):
            return None
        if change != "more":
            slots.pop(chance.randrange(len(slots)))
        if change != "less":
            name = chance.choice(others)
            slots.insert(chance.randint(0, len(slots)), Slot(name, chance.choice(values[name])))
        acts[place] = DialogueAct(acts[place].act_type, tuple(slots))
        return Turn(tuple(acts))
