"""Parts of an act that are searched for separately, and the texts for the whole act that are made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.generation.candidates import Candidate
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.report_names import special_name
from dactnlg.text.requests import Request
from dactnlg.text.surface import strip_joiner

MOST = 4
"""Maximum number of texts kept, of conjunctions tried, and of slots in a sentence that goes on about something."""
Text = Sequence[str]


def shown(slot: Slot) -> str:
    """Return the name of a special value, or of a slot without value, in reports."""
    return slot.name if slot.value is None else special_name(slot)


def stated(turn: Turn) -> set[str]:
    """Return the names of a turn's special values, and of its slots without value, in reports."""
    return {shown(slot) for _, slot in turn.slots() if slot.value is None or slot.special is not None}


def renamed(token: str, names: Mapping[str, str]) -> str:
    """Return a token, with its placeholder renamed if it is in `names`."""
    name = strip_joiner(token)
    return token.replace(name, names[name]) if name in names else token


class Parts(NamedTuple):
    """The parts of an act.

    Attributes:
        requests: one for each part.
        join: takes the sentences for some parts, by their index, and returns texts for the whole act.
        all_needed: whether `join` needs all parts.
        whole: whether the parts alone express and perform the act.
    """

    requests: list[Request]
    join: Callable[[dict[int, Candidate]], list[Text]]
    all_needed: bool
    whole: bool = False


def part(preprocessor: Preprocessor, whole: Request, act_type: str, slots: Iterable[Slot]) -> Request:
    """Return a request for some slots of `whole`, as an act of the given type."""
    return preprocessor.request(Turn((DialogueAct(act_type, tuple(slots)),)), whole.context)
