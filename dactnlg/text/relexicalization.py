"""Relexicalisation: values are put back into sentences, in their usual casing and, in inflecting languages, in the form
that the surrounding words require.
"""

from __future__ import annotations

import re

from dactnlg._utils.memory import Memory
from dactnlg.acts import Slot, Turn
from dactnlg.text.placeholders import is_placeholder, placeholder_name, silenced_slots
from dactnlg.text.requests import Request, Template
from dactnlg.text.style import Style
from dactnlg.text.values.capitals import capitalize_names, has_capitals, title
from dactnlg.text.values.casing import Casing, respaced
from dactnlg.text.values.inflection import Inflection
from dactnlg.text.values.realization import Value
from dactnlg.text.values.spellings import in_sentence

_COMMA_APART = re.compile(r"(?<=\w) (?=[,;] \w)")
VALUES, MANY = 8 << 20, 1 << 20
"""The most bytes of values that are cached; and more values than fit into them."""


class Relexicalizer:
    """Puts values into templates. Thread-safe.

    Args:
        casing: gives values their usual forms.
        inflection: chooses among their inflected forms.
        style: from the corpus's card.
    """

    def __init__(self, casing: Casing, inflection: Inflection, style: Style) -> None:
        self.casing, self.inflection, self._style = casing, inflection, style
        self._silent = frozenset(style.silent)
        self._values: Memory[Value] = Memory(MANY, VALUES)

    def value(self, slot: Slot) -> Value:
        """Return an ordinary value as sentences write it, uninflected."""
        key = slot.name, slot.value
        found = self._values.get(key)
        if found is None:
            value = slot.value or ""
            raw = self.casing.value(slot.name, value)
            text = respaced(raw, value)
            # Where marks are set apart, they are in values, too: "steel grey , matt black keyboard".
            text = _COMMA_APART.sub("", text) if self._style.spaced else text
            text = in_sentence(text) if slot.name in self._style.listed and self._style.english else text
            # Up to four bytes a character, stored in four forms.
            found = self._values.put(key, self._written(slot.name, raw, text, value), 400 + 16 * len(value))
        return found

    def raw(self, request: Request, template: Template) -> str:
        """Return the raw sentence of a template with a request's values."""
        return template.raw_with(self._filling(request, template))

    def text(self, request: Request, template: Template) -> str:
        """Return the sentence as a user reads it: a template with a request's values."""
        return template.text_with(self._filling(request, template))

    def _filling(self, request: Request, template: Template) -> list[Value]:
        """Return the value that replaces each placeholder of a template."""
        values = request.values
        found = [
            self._stand_in(request.turn, name) if place is None else values[place]
            for name, place in zip(template.names, template.places, strict=True)
        ]
        if self._style.forms:
            tokens = template.tokens
            holes = [at for at, token in enumerate(tokens) if is_placeholder(token)]
            for hole, (at, place) in enumerate(zip(holes, template.places, strict=True)):
                if place is not None:
                    inflected = self._inflected(request.slots[place], tokens[:at], tokens[at + 1 :])
                    found[hole] = inflected or found[hole]
        return found

    def _inflected(self, slot: Slot, before: tuple[str, ...], after: tuple[str, ...]) -> Value | None:
        """Return a value in the form that its neighbours require; None if the card gives no forms of it."""
        form = self.inflection.choose(slot.name, slot.value or "", before, after)
        if form is None:
            return None
        key = slot.name, slot.value, form
        return self._values.get(key) or self._values.put(
            key, self._written(slot.name, form, form, form), 400 + 32 * len(form)
        )

    def _written(self, slot_name: str, raw: str, text: str, given: str) -> Value:
        """Return a value, given as `given`, as raw sentences have it (`raw`) and as readers see it."""
        named = slot_name in self._style.proper
        if self._style.english:
            # "Hotel de Paris" is kept as given.
            kept = text == given and has_capitals(given)
            text = capitalize_names(title(text) if named and not kept else text)
        return Value.of(raw, text, named=named)

    def _stand_in(self, turn: Turn, placeholder: str) -> Value:
        """Return what replaces a placeholder that the turn does not require: a silent or special value, or a name."""
        silent = next((item for item in silenced_slots(turn, self._silent) if item.placeholder == placeholder), None)
        if silent is not None:
            return self.value(silent.slot)
        base = placeholder.split("#")[0]
        special = [s for _, s in turn.slots() if placeholder_name(s.name) == base and s.value is not None]
        raw = ((special[0].value or "") if special else base.removeprefix("SLOT_").lower()).replace("_", " ")
        return Value.of(raw, "any" if special and special[0].special == "dontcare" else capitalize_names(raw))
