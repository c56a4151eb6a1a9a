"""Requests: turns ready to be generated, apart from what turns of one kind share.

`inform(name='red door cafe';food=thai)` and `inform(name=loroco;food=basque)` are one act when delexicalised. It
decides the DA vector, the placeholders, the questions and the special values, so whatever depends on these alone is
computed once for a delexicalised act and not for every turn: a template is searched for, checked and made readable
once, and for each turn only the values are put in. Nothing looks at the sentence after that: values stay as they are.
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
"""Words of a template that say no value."""
_fitted: Memory[tuple[tuple[str, ...], Form]] = Memory(1 << 20, 4 << 20)


@dataclass(frozen=True, slots=True)
class Template:
    """A sentence with placeholders for turns of one delexicalised act.

    Attributes:
        tokens: the sentence, with placeholders.
        delexicalized: the same as a string.
        raw: the raw sentence before, between and behind the values.
        joined: the same without words that stand twice; the words beside the values may still have to be fitted to
            these. Where `raw` is the same, it is fitted as well.
        form: the same for readers.
        names: the placeholders.
        places: which of a turn's values, in the order of the act's placeholders, stands for each; None for a
            placeholder that is not of the act.
        tally: of the placeholders; None where there are faults, which are named by their values.
        cues: of the special values.
        unasked: the questions that it has lost and that could be put behind it.
        unsaid: slots that it should say and does not, beside those in the tallies: questions.
        question: whether it is a question; None to decide by its words.
        joints: the words beside its values, as far as anything could depend on these.
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
        """Return `joined` and `form` with the words beside values as these want them."""
        edits = find_edits(self.joints, [value.edges for value in values]) if self.joints else ()
        if not edits:
            return self.joined, self.form
        # Few values change anything, and their templates come again and again.
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
        turn: one of its turns, with the values of "A or B" as slots of their own.
        required: the slots that a sentence for that turn has to say.
        places: which of a turn's ordinary slots each of them is.
        unknown: those of them whose placeholders the vocabulary lacks.
        expected: what cues can show of its special values.
        asks: whether an act of it is a question by its type (`?request`).
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
    """A turn ready to be generated.

    Attributes:
        turn: with the values of "A or B" as slots of their own.
        act: what is left of it without its values.
        slots: those that the sentence has to say, in the order of the act's required ones.
        values: theirs.
        context: what the user has said before, as text.
    """

    turn: Turn
    act: DelexicalizedAct
    slots: tuple[Slot, ...]
    values: tuple[Value, ...]
    context: str = ""

    def own(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return names of what a sentence lacks, those of the act's values as this turn has them (`price=5`)."""
        pairs = zip(self.act.required, self.slots, strict=True)
        values = {str(item.slot): str(slot) for item, slot in pairs}
        return tuple(values.get(name, name) for name in names)


def outline(turn: Turn) -> tuple[Key, list[Slot]]:
    """Return what tells a delexicalised act from others, and the turn's ordinary slots, whose values it lacks."""
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
        # A value of one act need not stand again for another, nor does one that two things share tell them apart: it
        # matters which values are equal.
        for values in ([slot.value or "" for slot in ordinary], [(slot.value or "").casefold() for slot in ordinary]):
            first: dict[str, int] = {}
            key += [first.setdefault(value, place) for place, value in enumerate(values)]
    return tuple(key), ordinary


def required_places(required: tuple[Required, ...], ordinary: list[Slot]) -> tuple[int, ...]:
    """Return which of a turn's ordinary slots each required slot is."""
    places = iter(range(len(ordinary)))
    # Required slots stand in the turn's order; those between them need not be in the sentence, or are there already.
    return tuple(next(place for place in places if ordinary[place] == item.slot) for item in required)


def parts(tokens: Sequence[str]) -> tuple[str, ...]:
    """Return the raw sentence before, between and behind the placeholders of its tokens."""
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
    """Put a template together.

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
    raw, question, english = parts(restored), True if asks else None, style.language == "en"
    joined = undoubled(raw)
    return Template(
        tokens,
        " ".join(tokens),
        # RNNLG's protocol fills templates to have more references, doubled words and all: what it scores is filled
        # likewise.
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
