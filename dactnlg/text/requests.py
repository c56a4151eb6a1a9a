"""Requests: turns ready to be generated, apart from what turns of one kind share.

`inform(name='red door cafe';food=thai)` and `inform(name=loroco;food=basque)` are one act when delexicalised. It
decides the DA vector, the placeholders, the questions and the special values, so whatever depends on these alone is
computed once for a delexicalised act and not for every turn: a template is searched for, checked and put together
once, and for each turn only the values are filled in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from dactnlg.acts import Slot, Turn
from dactnlg.text.delexicalization import lexicalize
from dactnlg.text.placeholders import Required, is_placeholder
from dactnlg.text.slots import Expected, Tally
from dactnlg.text.surface import JOINER, detokenize, strip_joiner

Key = tuple[Any, ...]
MARK = "\ue000"
"""Stands where a value will be while a template is put together; a character that no sentence has."""


@dataclass(frozen=True, slots=True)
class Template:
    """A sentence with placeholders for turns of one delexicalised act.

    Attributes:
        tokens: the sentence, with placeholders.
        delexicalized: the same as a string.
        form: the raw sentence as a format, with `%s` for each value; None where a placeholder is not of the act, and
            what stands for it depends on the turn.
        pick: takes the values of `form` from those of a turn, given in the order of the act's placeholders.
        tally: of the placeholders; None where there are faults, which are named by their values.
        unasked: the questions that it has lost.
    """

    tokens: tuple[str, ...]
    delexicalized: str
    form: str | None
    pick: Callable[[tuple[str, ...]], Any]
    tally: Tally | None
    unasked: tuple[str, ...]


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
        object.__setattr__(self, "asks", any(act.act_type.startswith("?") for act in self.turn.acts))


@dataclass(frozen=True, slots=True)
class Request:
    """A turn ready to be generated.

    Attributes:
        turn: with the values of "A or B" as slots of their own.
        act: what is left of it without its values.
        raw: the value of each of the act's required slots as raw sentences have it.
        text: the same in sentences for readers.
    """

    turn: Turn
    act: DelexicalizedAct
    raw: tuple[str, ...]
    text: tuple[str, ...]


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
    if len(turn.acts) > 1:
        # A value of one act need not stand again for another, so it matters which values are equal.
        for values in ([slot.value or "" for slot in ordinary], [(slot.value or "").casefold() for slot in ordinary]):
            first: dict[str, int] = {}
            key += [first.setdefault(value, place) for place, value in enumerate(values)]
    return tuple(key), ordinary


def required_places(required: tuple[Required, ...], ordinary: list[Slot]) -> tuple[int, ...]:
    """Return which of a turn's ordinary slots each required slot is."""
    places = iter(range(len(ordinary)))
    # Required slots stand in the turn's order; those between them need not be in the sentence, or are there already.
    return tuple(next(place for place in places if ordinary[place] == item.slot) for item in required)


def make_template(
    act: DelexicalizedAct, tokens: tuple[str, ...], restored: list[str], tally: Tally, unasked: tuple[str, ...]
) -> Template:
    """Put a template together.

    Args:
        act: of the turns.
        tokens: the sentence, with placeholders.
        restored: its tokens in their usual casing.
        tally: of its placeholders.
        unasked: the questions that it has lost.
    """
    places = {item.placeholder: place for place, item in enumerate(act.required)}
    held = [strip_joiner(token) for token in tokens if is_placeholder(token)]
    form: str | None = None
    pick: Callable[[tuple[str, ...]], Any] = _nothing
    if all(name in places for name in held) and MARK not in "".join(tokens):
        form = lexicalize(restored, dict.fromkeys(held, (MARK,))).replace("%", "%%").replace(MARK, "%s")
        pick = itemgetter(*(places[name] for name in held)) if held else _nothing
    return Template(tokens, " ".join(tokens), form, pick, None if tally.errors else tally, unasked)


def _nothing(values: tuple[str, ...]) -> tuple[()]:
    return ()


def one_string(filler: Sequence[str]) -> str:
    """Return a value's tokens as one string; its placeholder's joiners decide about the spaces around it."""
    if not filler:
        return ""
    tokens = [*filler]
    tokens[0] = tokens[0].lstrip(JOINER)
    tokens[-1] = tokens[-1].rstrip(JOINER)
    return detokenize(tokens)
