"""Acts that training never had, drawn from a corpus with a seed: values are drawn as often as training has them."""

from __future__ import annotations

import random

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.data.corpus import Corpus

MOST_SLOTS = 8

Values = dict[str, dict[str, list[str | None]]]


def values_of(corpus: Corpus) -> Values:
    """Return the values that each act type's slots have in training, as often as they stand there."""
    found: Values = {}
    for example in corpus.split("train"):
        for act in example.turn:
            for slot in act.slots:
                found.setdefault(act.act_type, {}).setdefault(slot.name, []).append(slot.value)
    return found


def subsets(corpus: Corpus, number: int, seed: int) -> list[Turn]:
    """Return acts of one act type of training each, with some of the slots that it takes, in values of training."""
    values, chance, found = values_of(corpus), random.Random(seed), list[Turn]()
    while len(found) < number:
        act_type = chance.choice(sorted(values))
        names = sorted(values[act_type])
        chosen = chance.sample(names, chance.randint(1, min(len(names), MOST_SLOTS)))
        slots = [Slot(name, chance.choice(values[act_type][name])) for name in chosen]
        found.append(Turn((DialogueAct(act_type, tuple(slots)),)))
    return found


def one_away(corpus: Corpus, number: int, seed: int) -> list[Turn]:
    """Return turns of training with one slot more, one less, or another one, whose combination training never had."""
    values, chance, found = values_of(corpus), random.Random(seed), dict[Turn, None]()
    turns = list(dict.fromkeys(example.turn for example in corpus.split("train")))
    seen = {combination(turn) for turn in turns}
    # A corpus of few combinations may have fewer than are asked for.
    for _ in range(200 * number):
        turn = _changed(chance.choice(turns), values, chance)
        if turn is not None and combination(turn) not in seen:
            found[turn] = None
        if len(found) == number:
            break
    return list(found)


def combination(turn: Turn) -> tuple[object, ...]:
    """Return what of a turn training may have had: act types, slots and special values, in whatever order."""
    return tuple(sorted((act.act_type, *sorted(f"{s.name}={s.special}" for s in act.slots)) for act in turn.acts))


def _changed(turn: Turn, values: Values, chance: random.Random) -> Turn | None:
    place = chance.randrange(len(turn.acts))
    act, slots = turn.acts[place], list(turn.acts[place].slots)
    others = sorted(values.get(act.act_type, {}).keys() - {slot.name for slot in slots})
    change = chance.choice(("more", "less", "other"))
    if change != "more":
        if len(slots) < 2:
            return None
        slots.pop(chance.randrange(len(slots)))
    if change != "less":
        if not others:
            return None
        name = chance.choice(others)
        slots.insert(chance.randint(0, len(slots)), Slot(name, chance.choice(values[act.act_type][name])))
    acts = list(turn.acts)
    acts[place] = DialogueAct(act.act_type, tuple(slots))
    return Turn(tuple(acts))
