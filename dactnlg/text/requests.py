"""Requests: turns ready for generation, separated from what turns of one kind share.

`inform(name='red door cafe';food=thai)` and `inform(name=loroco;food=basque)` are one act when delexicalised. It
determines the DA vector, the placeholders, the questions and the special values, so whatever depends on these alone is
computed once per delexicalised act, not per turn: a template is searched for, checked and made readable once, and for
each turn only the values are filled in. The sentence is not processed after that: values stay as they are.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from dactnlg._utils.memory import Memory
from dactnlg.acts import Slot, Turn
from dactnlg.text.placeholders import Required, is_placeholder
from dactnlg.text.slots import Expected
from dactnlg.text.style import Style
from dactnlg.text.surface import strip_joiner, unused_mark
from dactnlg.text.tallies import Tally
from dactnlg.text.values.delexicalization import lexicalize
from dactnlg.text.values.joins import Joint, find_edits, find_joints, refit, undoubled
from dactnlg.text.values.realization import Form, Value, realize_around

Key = tuple[Any, ...]

MARKS = frozenset(".,;:!?()'\"-&/")
"""Words of a template that express no value."""
_fitted: Memory[tuple[tuple[str, ...], Form]] = Memory(1 << 20, 4 << 20)


@dataclass(frozen=True, slots=True)
class Template:
    """A sentence with placeholders for turns of one delexicalised act.

    Attributes:
        tokens: the sentence, with placeholders.
        delexicalized: the same as a string.
        raw: the raw sentence before, between and after the values.
        joined: the same without doubled words; the words next to the values may still have to be fitted to these. If
            `raw` is the same object, it is fitted as well.
        form: the same for readers.
        names: the placeholders.
        places: which of a turn's values, in the order of the act's placeholders, replaces each; None for a placeholder
            that the act does not have.
        tally: of the placeholders; None if there are faults, since these are named by their values.
        cues: tally of the special values.
        unasked: the questions that it lacks and that could be appended.
        unsaid: slots that it should express and does not, besides those in the tallies: questions.
        question: whether it is a question; None to decide by its words.
        joints: the words next to its values, where anything could depend on these.
        words: its own words, folded.
    """

    tokens: tuple[str, ...]
    delexicalized: str
    raw: tuple[str, ...]
    joined: tuple[str, ...]
    form: Form
    names: tuple[str, ...]
    places: tuple[int | None, ...]
    tally: Tally | None
    cues: Tally
    unasked: tuple[str, ...]
    unsaid: tuple[str, ...]
    question: bool | None
    joints: tuple[Joint, ...]
    words: frozenset[str]

    def raw_with(self, values: Sequence[Value]) -> str:
        """Return the raw sentence with its values."""
        raw = self._fitted(values)[0] if self.raw is self.joined else self.raw
        return "".join(chain(*zip(raw, [value.raw for value in values], strict=False), raw[-1:]))

    def text_with(self, values: Sequence[Value]) -> str:
        """Return the sentence with its values as a user reads it."""
        _, form = self._fitted(values)
        return form.filled(values)

    def _fitted(self, values: Sequence[Value]) -> tuple[tuple[str, ...], Form]:
        """Return `joined` and `form`, with the words next to values fitted to these."""
        edits = find_edits(self.joints, [value.edges for value in values]) if self.joints else ()
        if not edits:
            return self.joined, self.form
        # Few values change anything, and their templates recur.
        key = self.joined, self.question, edits
        found = _fitted.get(key)
        if found is None:
            raw = refit(self.joined, edits)
            found = _fitted.put(key, (raw, realize_around(raw, question=self.question)), 2000 + 200 * len(self.tokens))
        return found


@dataclass(frozen=True, eq=False, slots=True)
class DelexicalizedAct:
    """What is left of a turn when its values are taken out.

    Attributes:
        turn: one of its turns, with "A or B" split into two slots.
        required: the slots that a sentence for that turn must express.
        places: the index of each of them among a turn's ordinary slots.
        unknown: those of them whose placeholders are not in the vocabulary.
        expected: what cues can show of its special values.
        asks: whether one of its acts is a question by its type (`?request`).
    """

    turn: Turn
    required: tuple[Required, ...]
    places: tuple[int, ...]
    unknown: tuple[Required, ...]
    expected: Expected
    asks: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "asks", any(act.is_question for act in self.turn.acts))


@dataclass(frozen=True, slots=True)
class Request:
    """A turn ready for generation.

    Attributes:
        turn: with "A or B" split into two slots.
        act: the turn without its values.
        slots: those that the sentence must express, in the order of the act's required ones.
        values: the values of `slots`.
        context: what the user said before, as text.
    """

    turn: Turn
    act: DelexicalizedAct
    slots: tuple[Slot, ...]
    values: tuple[Value, ...]
    context: str = ""

    def own(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return names of faults with the act's values replaced by those of this turn (`price=5`)."""
        pairs = zip(self.act.required, self.slots, strict=True)
        values = {str(item.slot): str(slot) for item, slot in pairs}
        return tuple(values.get(name, name) for name in names)


def outline(turn: Turn) -> tuple[Key, list[Slot]]:
    """Return a key that identifies the delexicalised act, and the turn's ordinary slots, whose values it leaves out."""
    key: list[Any] = []
    ordinary: list[Slot] = []
    for act in turn.acts:
        key += (act.act_type, len(act.slots))
        for slot in act.slots:
            special = slot.special
            key.append(slot.name)
            if special is not None or slot.value is None:
                key.append(special)
            elif slot.delexicalizable:
                key.append(True)
                ordinary.append(slot)
            else:
                key.append(False)
    if len(turn.acts) > 1 or len({slot.name for slot in ordinary}) < len(ordinary):
        # A value that recurs in another act need not be said again, and one that two things share does not tell them
        # apart: it matters which values are equal.
        for values in ([slot.value or "" for slot in ordinary], [slot.folded for slot in ordinary]):
            first: dict[str, int] = {}
            key += [first.setdefault(value, place) for place, value in enumerate(values)]
    return tuple(key), ordinary


def required_places(required: tuple[Required, ...], ordinary: list[Slot]) -> tuple[int, ...]:
    """Return the index of each required slot among a turn's ordinary slots."""
    places = iter(range(len(ordinary)))
    # Required slots are in the turn's order; those skipped need not be said, or are said already.
    return tuple(next(place for place in places if ordinary[place] == item.slot) for item in required)


def parts(tokens: Sequence[str]) -> tuple[str, ...]:
    """Return the raw sentence before, between and after the placeholders of its tokens."""
    mark = unused_mark("".join(tokens))
    held = {strip_joiner(token): (mark,) for token in tokens if is_placeholder(token)}
    return tuple(lexicalize(tokens, held).split(mark))


def make_template(
    act: DelexicalizedAct,
    tokens: tuple[str, ...],
    restored: Sequence[str],
    tallies: tuple[Tally, Tally],
    questions: tuple[tuple[str, ...], tuple[str, ...]],
    *,
    asks: bool,
    style: Style,
    known: Container[str],
) -> Template:
    """Build a template.

    Args:
        act: of the turns.
        tokens: the sentence, with placeholders.
        restored: its tokens in their usual casing.
        tallies: of its placeholders, and of its special values.
        questions: `Template.unasked` and `Template.unsaid`.
        asks: whether it is a question, whatever its words.
        style: of the corpus.
        known: the words of the corpus.
    """
    places = {item.placeholder: place for place, item in enumerate(act.required)}
    names = tuple(strip_joiner(token) for token in tokens if is_placeholder(token))
    raw, question, english = parts(restored), True if asks else None, style.english
    joined = undoubled(raw)
    return Template(
        tokens,
        " ".join(tokens),
        # RNNLG's protocol fills in templates to obtain more references, doubled words and all: what it scores is
        # filled in likewise.
        raw if style.spaced else joined,
        joined,
        realize_around(joined, question=question, english=english, spaced=style.spaced),
        names,
        tuple(map(places.get, names)),
        None if tallies[0].errors else tallies[0],
        tallies[1],
        *questions,
        question,
        find_joints(joined, known) if english else (),
        frozenset([strip_joiner(token).casefold() for token in tokens if not is_placeholder(token)]) - MARKS,
    )
