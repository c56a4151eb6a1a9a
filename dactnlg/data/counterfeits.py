"""Counterfeit pairs: pairs of other domains, with their slots replaced by slots of the corpus itself.

A corpus of a new domain is small, but other domains often word their slots in the same way: "has a SLOT_AUDIO audio"
becomes "has a SLOT_BATTERY battery". Each slot that the corpus lacks is replaced by one of its own of the same class,
in the act and in the sentence (data counterfeiting: Wen et al. 2016, "Multi-domain Neural Network Language Generation
for Spoken Dialogue Systems", section 4). The paper defines the classes: informable slots, requestable slots, and yes or
no. Here they are learned: slots of a class occur in the same acts, with values of the same kind.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from math import sqrt

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.text.example import Pair
from dactnlg.text.nearness import names_slot
from dactnlg.text.placeholders import is_placeholder, placeholder_name, without_ordinal
from dactnlg.text.sentences import Tokens
from dactnlg.text.surface import strip_joiner

SEED = 1
"""Fixed seed, so that models with different seeds learn the same pairs and can form an ensemble."""
ALIKE = 0.1
"""A slot belongs to a class if its cosine similarity is within this of the best one's."""
LEAST = 0.5
"""Minimum cosine similarity of slots of a class."""
Profile = Mapping[tuple[str, str], float]
"""(act type, kind of value) -> relative frequency of a slot there, as a vector of length 1."""


def counterfeit(pairs: Iterable[Pair], own: Sequence[Pair]) -> list[Pair]:
    """Return the pairs of another domain with slots of the corpus.

    Args:
        pairs: pairs of the other domain; a pair is left out if the corpus lacks an act type of it, or has fewer slots
            of a class than the pair needs.
        own: pairs of the corpus.
    """
    acts, ours = {act.act_type for pair in own for act in pair.turn}, _profiles(own)
    pairs = [pair for pair in pairs if all(act.act_type in acts for act in pair.turn)]
    theirs, always = _profiles(pairs), _nearly_always(own)
    free = {name: profile for name, profile in ours.items() if name not in always}
    new = {name: profile for name, profile in free.items() if name not in theirs}
    classes = {name: _class(each, new) or _class(each, free) for name, each in theirs.items() if name not in ours}
    phrases, chance = _phrases(own), random.Random(SEED)
    found = []
    for pair in pairs:
        names = _drawn(pair.turn, classes, chance)
        if names is not None:
            tokens = _renamed(_rephrased(pair.tokens, names, phrases), names)
            found.append(Pair(_of_slots(pair.turn, names), pair.corpus, tokens, pair.context))
    return found


def _profiles(pairs: Sequence[Pair]) -> dict[str, Profile]:
    """Return the profile of each slot that occurs in pairs."""
    counts: dict[str, Counter[tuple[str, str]]] = {}
    for pair in pairs:
        for act, slot in pair.turn.slots():
            counts.setdefault(slot.name, Counter())[act.act_type, _kind(slot)] += 1
    return {name: {key: n / _length(each) for key, n in each.items()} for name, each in counts.items()}


def _nearly_always(pairs: Sequence[Pair]) -> set[str]:
    """Return the slots of more than half of the pairs, such as the name of the entity, which no other slot is like."""
    counts = Counter(name for pair in pairs for name in {slot.name for _, slot in pair.turn.slots()})
    return {name for name, count in counts.items() if count > len(pairs) / 2}


def _kind(slot: Slot) -> str:
    return "" if slot.value is None else slot.special or "value"


def _length(counts: Mapping[tuple[str, str], float]) -> float:
    return sqrt(sum(count * count for count in counts.values()))


def _class(profile: Profile, ours: Mapping[str, Profile]) -> list[str]:
    """Return the slots of a corpus whose use is most similar to the profile of a slot of another domain."""
    alike = {name: sum(profile.get(key, 0.0) * n for key, n in each.items()) for name, each in ours.items()}
    best = max(alike.values(), default=0.0)
    return sorted(name for name, value in alike.items() if value >= max(LEAST, best - ALIKE))


def _drawn(turn: Turn, classes: Mapping[str, Sequence[str]], chance: random.Random) -> dict[str, str] | None:
    """Return slot -> a distinct new name for the slots of a turn that are replaced; None if there are too few."""
    names = dict.fromkeys(slot.name for _, slot in turn.slots())
    found: dict[str, str] = {}
    for name in names:
        if name in classes:
            choices = [each for each in classes[name] if each not in names and each not in found.values()]
            if not choices:
                return None
            found[name] = chance.choice(choices)
    return found


def _of_slots(turn: Turn, names: Mapping[str, str]) -> Turn:
    acts = (
        DialogueAct(act.act_type, tuple(Slot(names.get(slot.name, slot.name), slot.value) for slot in act.slots))
        for act in turn
    )
    return Turn(tuple(acts))


def _phrases(pairs: Sequence[Pair]) -> dict[str, Tokens]:
    """Return slot -> the words that most often name it in a corpus."""
    counts: dict[str, Counter[Tokens]] = {}
    for pair in pairs:
        for name, start, end in _named(pair.tokens, [slot.name for _, slot in pair.turn.slots()]):
            counts.setdefault(name, Counter())[pair.tokens[start:end]] += 1
    return {name: max(each, key=lambda phrase: (each[phrase], phrase)) for name, each in counts.items()}


def _named(tokens: Tokens, slots: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Yield (slot, start, end) for each span of words of a sentence that name a slot."""
    places = {placeholder_name(name): name for name in slots}
    at = [(place, places[held]) for place, held in enumerate(map(_held, tokens)) if held in places]
    owners = [_nearest(token, place, slots, at) for place, token in enumerate(tokens)]
    for owner, group in groupby(range(len(tokens)), lambda place: owners[place]):
        own = [*group]
        if owner:
            yield owner, own[0], own[-1] + 1


def _held(token: str) -> str:
    """Return the placeholder that a token holds, without its number; "" if it holds none."""
    return without_ordinal(strip_joiner(token)) if is_placeholder(token) else ""


def _nearest(token: str, place: int, slots: Sequence[str], at: Sequence[tuple[int, str]]) -> str:
    """Return the slot that a word names, if several the one whose value is nearest; "" for none."""
    named = [name for name in slots if token.isalpha() and names_slot(token, name)]
    distances = {
        name: min((abs(place - own) for own, each in at if each == name), default=len(slots)) for name in named
    }
    return min(named, key=lambda name: distances[name], default="")


def _rephrased(tokens: Tokens, names: Mapping[str, str], phrases: Mapping[str, Tokens]) -> Tokens:
    """Return a sentence in which the words that name replaced slots name the new ones."""
    found: list[str] = []
    done = 0
    for name, start, end in _named(tokens, list(names)):
        found += [*tokens[done:start], *phrases.get(names[name], ())]
        done = end
    return (*found, *tokens[done:])


def _renamed(tokens: Tokens, names: Mapping[str, str]) -> Tokens:
    """Return a sentence with the placeholders of the new slots."""
    others = {placeholder_name(name): placeholder_name(other) for name, other in names.items()}
    return tuple(token.replace(held, others[held]) if (held := _held(token)) in others else token for token in tokens)
