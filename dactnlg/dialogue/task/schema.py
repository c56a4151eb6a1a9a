"""The schema of a task: entities with their values, slots, and the act types of the system.

Nothing is written by hand: entities are the values of the slot `name`, and for each slot an entity has the value that
it has most often in the acts of the train split.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.data.corpus import Corpus
from dactnlg.errors import CorpusError

NAME, COUNT = "name", "count"
"""The slots that name and count entities; neither can be wished for."""
DONTCARE = "dontcare"
"""The value of a wish that any value meets."""
ROLES: Mapping[str, tuple[str, ...]] = {
    "inform": ("inform",),
    "recommend": ("recommend", "offer"),
    "only_match": ("inform_only_match",),
    "no_match": ("inform_no_match", "canthelp"),
    "request": ("?request", "request"),
    "select": ("?select", "select"),
    "confirm": ("?confirm", "expl-conf"),
    "reqmore": ("?reqmore", "reqmore"),
    "goodbye": ("goodbye", "bye"),
}
"""Role in the policy -> the act types that corpora use for it, the most common one first."""
ENTITY_ROLES = ("inform", "recommend", "only_match")
WISH_ROLES = ("no_match", "request", "select", "confirm")
LEAST_SLOTS = 2
"""Minimum number of known slots of an entity."""
OWN = 0.7
"""A slot with at least this many distinct values per entity cannot be wished for, such as a telephone number."""
USUAL = 0.5
"""A single-valued slot in at least this share of an act type's acts belongs to the type: `type=restaurant`."""


@dataclass(frozen=True)
class Entity:
    """Something that the system can recommend.

    Attributes:
        name: the value of the slot `name`.
        values: slot -> value.
    """

    name: str
    values: Mapping[str, str]

    def matches(self, wishes: Mapping[str, str]) -> bool:
        """Return whether it meets all wishes; `dontcare` is met by anything."""
        return all(self.values.get(slot) == value for slot, value in wishes.items() if value != DONTCARE)


@dataclass(frozen=True)
class Schema:
    """The schema of a task.

    Attributes:
        corpus: the name of the corpus.
        entities: sorted by name.
        informable: slots that a user can have a wish for, sorted.
        questions: slots that the system asks for in the corpus, most frequent first.
        choices: slots for which it offers a choice of values.
        roles: role in the policy -> the corpus's act type for it.
        fixed: act type -> slots that it always has.
        joined: whether the name shares an act with other slots (`inform(name=x;food=y)`); otherwise these have acts of
            their own (`offer(name=x)&inform(food=y)`, as in DSTC2).
    """

    corpus: str
    entities: tuple[Entity, ...]
    informable: tuple[str, ...]
    questions: tuple[str, ...]
    choices: frozenset[str]
    roles: Mapping[str, str]
    fixed: Mapping[str, tuple[Slot, ...]]
    joined: bool

    def matches(self, wishes: Mapping[str, str]) -> list[Entity]:
        """Return the entities that meet all wishes, those with the most known slots first."""
        found = [entity for entity in self.entities if entity.matches(wishes)]
        return sorted(found, key=lambda entity: (-len(entity.values), entity.name))

    def entity(self, name: str | None) -> Entity | None:
        """Return the entity with a name; None if there is none."""
        return next((entity for entity in self.entities if entity.name == name), None)

    def values(self, slot: str) -> list[str]:
        """Return the values that a slot has in entities, sorted."""
        if slot == NAME:
            return [entity.name for entity in self.entities]
        return sorted({entity.values[slot] for entity in self.entities if slot in entity.values})

    def act(self, role: str, slots: Iterable[Slot] = ()) -> DialogueAct:
        """Return the act for a role, including the fixed slots of its type."""
        act_type = self.roles[role]
        return DialogueAct(act_type, (*self.fixed.get(act_type, ()), *slots))

    def about(self, role: str, entity: Entity, names: Iterable[str]) -> Turn:
        """Return the turn that says slots of an entity, structured as in the corpus (see `joined`)."""
        slots = [Slot(name, entity.values[name]) for name in names]
        named = Slot(NAME, entity.name)
        if self.joined:
            return Turn((self.act(role, (named, *slots)),))
        return Turn((self.act("recommend", [named]), *(self.act("inform", [slot]) for slot in slots)))


def read_schema(corpus: Corpus) -> Schema:
    """Derive the schema of a corpus from its train split.

    Raises:
        CorpusError: no tasks can be made from the corpus; the message says what it lacks.
    """
    turns = [example.turn for example in corpus.split("train")]
    known = {act.act_type for turn in turns for act in turn}
    roles = {role: next(name for name in names if name in known) for role, names in ROLES.items() if known & {*names}}
    for role, what in (("inform", "informs"), ("request", "asks the user for a slot")):
        if role not in roles:
            raise _impossible(corpus, f"no act type that {what} ({' or '.join(ROLES[role])})")
    if not any(slot.name == NAME for turn in turns for _, slot in turn.slots()):
        raise _impossible(corpus, f"no slot '{NAME}', so nothing to recommend")
    joined = any(NAME in (names := {slot.name for slot in act.slots}) and len(names) > 1 for t in turns for act in t)
    single = _single(turns)
    entities = _entities(turns, {*corpus.style().apart}, {roles[r] for r in ENTITY_ROLES if r in roles}, {*single})
    wishes = Counter(
        slot.name
        for turn in turns
        for act in turn
        if act.act_type in {roles[role] for role in WISH_ROLES if role in roles}
        for slot in act.slots
        if slot.value is not None
    )
    has = {slot for entity in entities for slot in entity.values}
    informable = tuple(sorted(slot for slot in set(wishes) & has if _shared(entities, slot)))
    asked = Counter(s.name for t in turns for act in t if act.act_type == roles["request"] for s in act.slots
                    if s.value is None)  # fmt: skip
    questions = tuple(slot for slot, _ in asked.most_common() if slot in has)
    if not questions:
        raise _impossible(corpus, f"no {roles['request']} about a slot that is known of what it recommends")
    select = roles.get("select")
    choices = frozenset(slot.name for turn in turns for act in turn if act.act_type == select for slot in act.slots)
    if not entities or not informable or len(has) < 2:
        raise _impossible(corpus, "too few entities with slots that its users could wish for or ask about")
    return Schema(corpus.name, entities, informable, questions, choices, roles, _fixed(turns, single), joined)


def _shared(entities: Iterable[Entity], slot: str) -> bool:
    values = [entity.values[slot] for entity in entities if slot in entity.values]
    return len(set(values)) < OWN * len(values)


def _impossible(corpus: Corpus, why: str) -> CorpusError:
    return CorpusError(f"corpus '{corpus.name}' cannot be played: it has {why}")


def _entities(turns: Iterable[Turn], apart: set[str], act_types: set[str], left_out: set[str]) -> tuple[Entity, ...]:
    said: dict[str, dict[str, Counter[str]]] = {}
    for turn in turns:
        names = {slot.value for _, slot in turn.slots() if slot.name == NAME and slot.delexicalizable}
        # In acts about two entities it is unclear whose values are whose.
        if len(names) != 1 or not {act.act_type for act in turn} <= act_types:
            continue
        known = said.setdefault(next(iter(names)) or "", {})
        for slot in _attributes(turn, apart, left_out):
            known.setdefault(slot.name, Counter())[slot.special or slot.value or ""] += 1
    found = []
    for name in sorted(said):
        values = {slot: min(counts, key=lambda v: (-counts[v], v)) for slot, counts in sorted(said[name].items())}
        if len(values) >= LEAST_SLOTS:
            found.append(Entity(name, values))
    return tuple(found)


def _attributes(turn: Turn, apart: set[str], left_out: set[str]) -> Iterator[Slot]:
    for _, slot in turn.slots():
        if slot.value is None or slot.name in (NAME, COUNT) or slot.name in left_out:
            continue
        choice = slot.name in apart and " or " in slot.value
        if not choice and slot.special in (None, "yes", "no"):
            yield slot


def _single(turns: Iterable[Turn]) -> dict[str, str]:
    """Return the slots with a single value in the train split, such as `type`, with that value."""
    values: dict[str, set[str]] = {}
    for turn in turns:
        for _, slot in turn.slots():
            values.setdefault(slot.name, set()).add(slot.value or "")
    return {name: next(iter(found)) for name, found in values.items() if len(found) == 1 and "" not in found}


def _fixed(turns: Iterable[Turn], single: Mapping[str, str]) -> dict[str, tuple[Slot, ...]]:
    total, having = Counter[str](), Counter[tuple[str, str]]()
    for turn in turns:
        for act in turn:
            total[act.act_type] += 1
            having.update((act.act_type, name) for name in {slot.name for slot in act.slots} & single.keys())
    usual = sorted(key for key, count in having.items() if count >= USUAL * total[key[0]])
    found: dict[str, tuple[Slot, ...]] = {}
    for act_type, name in usual:
        found[act_type] = (*found.get(act_type, ()), Slot(name, single[name]))
    return found
