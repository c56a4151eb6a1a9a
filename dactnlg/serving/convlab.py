"""ConvLab: a run as the generator of a ConvLab-3 pipeline agent.

ConvLab's modules pass actions to `NLG.generate` in three forms (`convlab/nlg/nlg.py`, `scbart/scbart.py`): the unified
format, a dictionary of categorical, non-categorical and binary lists; a list of dictionaries; and ConvLab-2's list of
`[intent, domain, slot, value]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.errors import ActError, UnknownNameError
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions

KINDS = ("categorical", "non-categorical", "binary")
"""Keys of the unified format."""
_NO_SLOT, _NO_VALUE = ("", "none"), ("", "?", "none")
_ASKS = ("request", "select", "reqmore")


class Item(NamedTuple):
    """One entry of an action; missing parts are empty."""

    intent: str
    domain: str
    slot: str
    value: str


class ConvLabNLG:
    """Says ConvLab's actions with a run, through `generate(action)`, all that a pipeline agent calls.

    An act type is looked up in the run as `domain-intent`, `intent-domain` and `intent`, a slot as `domain-slot` and
    `slot`, ignoring case, spaces, hyphens and underscores; `names` takes precedence.

    Args:
        run: a run folder, or a generator.
        names: intent or slot -> its name in the run, such as `{"nooffer": "inform_no_match", "price range":
            "pricerange"}`; a slot that is mapped to "" is left out.
        options: how sentences are generated; by default no slot is dropped or invented.
    """

    def __init__(
        self,
        run: str | Path | Generator,
        names: Mapping[str, str] | None = None,
        options: GenerationOptions | None = None,
    ) -> None:
        self.generator = run if isinstance(run, Generator) else Generator.load(run)
        self.options = options or GenerationOptions(constraint="hard")
        self._names = {_plain(name): other for name, other in (names or {}).items()}
        encoder = self.generator.preprocessor.encoder
        self._acts = {_plain(name): name for name in encoder.act_types}
        self._slots = {_plain(name): name for name in encoder.slot_names}

    def init_session(self) -> None:
        """Begin a conversation; does nothing, as there is no state."""

    def generate(self, action: Any) -> str:
        """Return the sentence for an action; "" for an empty one.

        Raises:
            ActError: the action is in none of the three forms.
            UnknownNameError: the run has no such act type or slot under any of the names tried.
        """
        turn = self.turn(action)
        return "" if turn is None else self.generator.generate(turn, self.options)[0].text

    def turn(self, action: Any) -> Turn | None:
        """Return an action as acts with the run's names; None for an empty one."""
        acts: dict[str, list[Slot]] = {}
        for item in items(action):
            slots = acts.setdefault(self._act(item), [])
            name = self._slot(item)
            if name is None:
                continue
            asks = item.intent.casefold() in _ASKS
            bare = item.value.casefold() in _NO_VALUE and (asks or item.value in ("", "?"))
            slot = Slot(name) if bare else Slot(name, item.value)
            if slot not in slots:
                slots.append(slot)
        return Turn(tuple(DialogueAct(name, tuple(slots)) for name, slots in acts.items())) if acts else None

    def _act(self, item: Item) -> str:
        tried = [
            f"{item.domain}-{item.intent}",
            f"{item.intent}-{item.domain}",
            item.intent,
        ]
        return self._find("act type", tried, self._acts, item.intent)

    def _slot(self, item: Item) -> str | None:
        if item.slot.casefold() in _NO_SLOT:
            return None
        return self._find("slot", [f"{item.domain}-{item.slot}", item.slot], self._slots, item.slot) or None

    def _find(self, kind: str, tried: Sequence[str], known: Mapping[str, str], name: str) -> str:
        for each in tried:
            if (given := self._names.get(_plain(each))) is not None:
                return "" if kind == "slot" and not given else self._known(kind, given, known)
        for each in tried:
            if _plain(each) in known:
                return known[_plain(each)]
        raise UnknownNameError(kind, name, known.values(), "names")

    @staticmethod
    def _known(kind: str, name: str, known: Mapping[str, str]) -> str:
        if name not in known.values():
            raise UnknownNameError(kind, name, known.values(), "names")
        return name


def items(action: Any) -> Iterator[Item]:
    """Yield the entries of an action in any of the three forms.

    Raises:
        ActError: it has another form.
    """
    if isinstance(action, Mapping):
        if not set(action) <= set(KINDS):
            raise ActError(f"an action has the lists {', '.join(KINDS)}, not {', '.join(map(str, action))!s:.100}")
        entries: Iterable[Any] = [entry for kind in KINDS for entry in action.get(kind) or ()]
    elif isinstance(action, Sequence) and not isinstance(action, str):
        entries = action
    else:
        raise ActError(f"an action is a dictionary or a list, not {type(action).__name__}")
    for entry in entries:
        if isinstance(entry, Mapping):
            parts = [entry.get(name, "") for name in Item._fields]
        elif isinstance(entry, Sequence) and not isinstance(entry, str) and 2 <= len(entry) <= 4:
            parts = [*entry, "", ""][:4]
        else:
            raise ActError(f"an entry of an action is [intent, domain, slot, value] or a dictionary, not {entry!r:.80}")
        texts = [_text(part) for part in parts]
        if not texts[0]:
            raise ActError(f"an entry of an action has no intent: {entry!r:.80}")
        yield Item(*texts)


def _text(part: Any) -> str:
    if part is None:
        return ""
    if isinstance(part, bool):
        return "yes" if part else "no"
    if not isinstance(part, str | int | float):
        raise ActError(f"a part of an action is text or a number, not {type(part).__name__}")
    return str(part).strip()


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name).casefold().lstrip("?")
