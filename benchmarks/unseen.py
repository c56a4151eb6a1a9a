"""Acts that training lacks, drawn from a corpus with a seed; values are drawn as often as they occur in training."""

from __future__ import annotations

import random

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.data.corpus import Corpus

MOST_SLOTS = 8

NEW = {
    "area": ["old town", "harbour", "north of the river", "university quarter", "docklands"],
    "customer rating": ["4 out of 5", "excellent", "2 stars", "above average", "9.1"],
    "eatType": ["wine bar", "bistro", "food truck", "tea room", "canteen"],
    "food": ["Ethiopian", "Korean", "vegan", "Middle Eastern", "seafood", "ice cream"],
    "priceRange": ["under £10", "more than £45", "£30-40", "very cheap", "luxury"],
    "rating": ["superb", "mediocre", "overrated", "worth a try", "terrible"],
}
"""Values that E2E, hotel and ViGGO lack, for slots whose values are said in words by a shipped configuration.

Restaurants and DSTC2 have some of the foods, but there food is a placeholder, whatever its value.
"""

Values = dict[str, dict[str, list[str | None]]]


def values_of(corpus: Corpus) -> Values:
    """Return the values of each act type's slots in training, each as often as it occurs."""
    found: Values = {}
    for example in corpus.split("train"):
        for act in example.turn:
            for slot in act.slots:
                found.setdefault(act.act_type, {}).setdefault(slot.name, []).append(slot.value)
    return found


def subsets(corpus: Corpus, number: int, seed: int) -> list[Turn]:
    """Return acts with a random subset of the slots that their act type takes in training, and values of training."""
    values, chance, found = values_of(corpus), random.Random(seed), list[Turn]()
    while len(found) < number:
        act_type = chance.choice(sorted(values))
        names = sorted(values[act_type])
        chosen = chance.sample(names, chance.randint(1, min(len(names), MOST_SLOTS)))
        slots = [Slot(name, chance.choice(values[act_type][name])) for name in chosen]
        found.append(Turn((DialogueAct(act_type, tuple(slots)),)))
    return found


def one_away(corpus: Corpus, number: int, seed: int) -> list[Turn]:
    """Return turns of training with one slot more, less, or replaced, whose combination training lacks."""
    values, chance, found = values_of(corpus), random.Random(seed), dict[Turn, None]()
    turns = _distinct(corpus)
    seen = {combination(turn) for turn in turns}
    # A corpus with few combinations may have fewer such acts.
    for _ in range(200 * number):
        turn = _changed(chance.choice(turns), values, chance)
        if turn is not None and combination(turn) not in seen:
            found[turn] = None
        if len(found) == number:
            break
    return list(found)


def of_test_split(corpus: Corpus, number: int, seed: int) -> list[Turn]:
    """Return turns of the test split whose combination training lacks; fewer if there are not so many."""
    seen = {combination(turn) for turn in _distinct(corpus)}
    turns = dict.fromkeys(example.turn for example in corpus.split("test"))
    found = [turn for turn in turns if combination(turn) not in seen]
    return random.Random(seed).sample(found, min(number, len(found)))


def new_values(corpus: Corpus, number: int, seed: int) -> list[Turn]:
    """Return turns of training with a value of `NEW` in place of their own; none if the corpus has no such slots."""
    chance, found = random.Random(seed), dict[Turn, None]()
    turns = [turn for turn in _distinct(corpus) if any(_new(slot) for _, slot in turn.slots())]
    for _ in range(200 * number if turns else 0):
        if len(found) == number:
            break
        turn = chance.choice(turns)
        old = chance.choice([slot for _, slot in turn.slots() if _new(slot)])
        new = Slot(old.name, chance.choice(NEW[old.name]))
        acts = [DialogueAct(act.act_type, tuple(new if slot == old else slot for slot in act.slots)) for act in turn]
        found[Turn(tuple(acts))] = None
    return list(found)


def one_more_value(corpus: Corpus, number: int, seed: int) -> list[Turn]:
    """Return turns of training in which a slot with an ordinary value has one more value, taken from training."""
    values, chance, found = values_of(corpus), random.Random(seed), dict[Turn, None]()
    turns = _distinct(corpus)
    for _ in range(200 * number):
        turn = chance.choice(turns)
        place = chance.randrange(len(turn.acts))
        act = turn.acts[place]
        own = [at for at, slot in enumerate(act.slots) if slot.delexicalizable]
        if own and len(found) < number:
            at = chance.choice(own)
            more = Slot(act.slots[at].name, chance.choice(values[act.act_type][act.slots[at].name]))
            if more.delexicalizable and more not in act.slots:
                slots = (*act.slots[: at + 1], more, *act.slots[at + 1 :])
                found[Turn((*turn.acts[:place], DialogueAct(act.act_type, slots), *turn.acts[place + 1 :]))] = None
    return list(found)


def several_acts(corpus: Corpus, number: int, seed: int) -> list[Turn]:
    """Return pairs of acts of training that it never has in one turn: of types never combined, or about two names."""
    chance, found = random.Random(seed), dict[Turn, None]()
    turns = _distinct(corpus)
    together = {frozenset(act.act_type for act in turn) for turn in turns}
    acts = sorted({act.act_type: None for turn in turns for act in turn})
    by_type = {name: sorted({act for turn in turns for act in turn if act.act_type == name}, key=str) for name in acts}
    for _ in range(200 * number):
        first, second = (chance.choice(by_type[chance.choice(acts)]) for _ in range(2))
        names = [{slot.value for slot in act.slots if slot.name == "name"} for act in (first, second)]
        two = all(names) and names[0].isdisjoint(names[1])
        if len(found) < number and (two or frozenset((first.act_type, second.act_type)) not in together):
            found[Turn((first, second))] = None
    return list(found)


def _distinct(corpus: Corpus) -> list[Turn]:
    return list(dict.fromkeys(example.turn for example in corpus.split("train")))


def _new(slot: Slot) -> bool:
    return slot.name in NEW and slot.delexicalizable


def combination(turn: Turn) -> tuple[object, ...]:
    """Return a turn's combination of act types, slots and special values, whatever their order."""
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
