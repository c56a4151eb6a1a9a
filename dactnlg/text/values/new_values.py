"""New values: special values unseen in training for their slots, about which a model knows nothing.

A model leaves them out, and no cue or reader can tell. Whether they are said plainly can be checked: by whether
a sentence names the slot, and whether it denies. They can be said by changing a few words of a text for the opposite.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.text.encoding import ActEncoder
from dactnlg.text.grammar.denials import denies
from dactnlg.text.grammar.english import FUNCTION_WORDS, listed
from dactnlg.text.grammar.indifference import INDIFFERENT
from dactnlg.text.nearness import names_slot
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.report_names import special_name
from dactnlg.text.sentences import Tokens, split_sentences
from dactnlg.text.slots import OPPOSITES
from dactnlg.text.templates import Templates
from dactnlg.text.traits import canonical, canonical_values, combination
from dactnlg.text.values.opposites import denied_at, folded_words, thing, turned

_OPEN = listed("care mind matter matters preference whatever regardless")
"""One of these words occurs with what does not matter."""
_NO_INFORMATION = ("there", "is", "no", "information", "about", "the")


class NewValues:
    """Knows the special values of training. Thread-safe.

    Args:
        encoder: knows the slots and values of training.
        templates: the training sentences; without any, nothing counts as new.
        trigger_words: the words that express special values.
        silent: "act.slot" combinations that no sentence expresses.
        english: whether the rules of English apply.
    """

    def __init__(
        self,
        encoder: ActEncoder,
        templates: Templates,
        trigger_words: Mapping[str, Sequence[str]],
        silent: frozenset[str],
        *,
        english: bool,
    ) -> None:
        self._encoder, self._templates, self._triggers = encoder, templates, trigger_words
        self._silent, self._english = silent, english
        self._known = {name.removeprefix("slot:") for name in encoder.features if name.startswith("slot:")}

    def of(self, turn: Turn) -> list[Slot]:
        """Return the slots of a turn with special values that training does not have for them.

        Slots with several values in the turn do not count: either may be meant, so that is no statement.
        """
        found = [(act, slot) for act, slot in turn.slots() if type(slot) is Slot and slot.special not in (None, "?")]
        new = [(act, slot) for act, slot in found if special_name(slot) not in self._known]
        if not new or not self._templates.sentences:
            return []
        counts = Counter(slot.name for _, slot in turn.slots())
        silent = self._silent
        return [slot for act, slot in new if counts[slot.name] == 1 and f"{act.act_type}.{slot.name}" not in silent]

    def opposed(self, turn: Turn) -> dict[Slot, Slot]:
        """Return the new values of a turn whose opposites occur in training, each with its opposite."""
        return {slot: other for slot in self.of(turn) if (other := self._opposite(slot)) is not None}

    def unsaid(self, turn: Turn, tokens: Sequence[str]) -> list[str]:
        """Return the new values of a turn that a text does not plainly say, as named in reports."""
        new = self.of(turn)
        sentences = [folded_words(each) for each in split_sentences(tokens)] if new else []
        return [special_name(slot) for slot in new if not self._says(slot, sentences)]

    def turned(self, tokens: Tokens, slot: Slot) -> Tokens | None:
        """Return a text for the opposite of a new value, changed to say that value; None if that is impossible."""
        return turned(tokens, self._names(slot.name), slot.special or "") if self._english else None

    def statements(self, act_type: str, slot: Slot, opposite: Callable[[str, Slot], list[Tokens]]) -> list[Tokens]:
        """Return sentences that say a new value of an act and nothing else.

        Args:
            act_type: of the act.
            slot: the value.
            opposite: returns such sentences for a value seen in training.
        """
        if not self._english or not self.of(Turn((DialogueAct(act_type, (slot,)),))):
            return []
        other = self._opposite(slot)
        if other is not None:
            made = [self.turned(tokens, slot) for tokens in opposite(act_type, other)]
            return [*filter(None, made)] or self._having(slot, other)
        words = tuple(self._templates.spelt_out(slot.name).split())
        unknown = slot.special == "none" and self._templates.names_thing(words, slot.name)
        return [(*_NO_INFORMATION, *words)] if unknown else []

    def texts(self, turn: Turn) -> list[Tokens]:
        """Return the training texts for a turn's slots and special values, the most frequent first."""
        key, special = combination(turn)
        weights, specials = self._templates.sentences.get(key, {}), self._templates.specials
        own = (text for text in weights if any(canonical_values(row) == special for row in specials[key, text]))
        return sorted(own, key=lambda text: (-weights[text], text))

    def _having(self, slot: Slot, other: Slot) -> list[Tokens]:
        """Return a sentence that denies having what training names where something has it: "free wifi"."""
        if slot.special != "no":
            return []
        found, own = Counter[Tokens](), (other.name, other.special)
        for (_, text), rows in self._templates.specials.items():
            if any(canonical(value)[1:] == own for row in rows for value in row):
                found.update(thing(sentence, self._names(slot.name)) for sentence in split_sentences(text))
        named = {words: count for words, count in found.items() if words and not any(map(is_placeholder, words))}
        return [("it", "has", "no", *max(named, key=lambda words: (named[words], words)))] if named else []

    def _opposite(self, slot: Slot) -> Slot | None:
        value = OPPOSITES.get(slot.special or "")
        return Slot(slot.name, value) if value and f"{slot.name}={value}" in self._known else None

    def _says(self, slot: Slot, sentences: Sequence[Sequence[str]]) -> bool:
        names = self._names(slot.name)
        named = [(words, at) for words in sentences for at, word in enumerate(words) if names(word)]
        if slot.special in OPPOSITES and slot.name in self._known and self._opposite(slot) is None:
            # "The price range is no": it is unclear what that would mean.
            return False
        if not named or not self._english:
            # Denials are not recognised in other languages; where training has the opposite, the model may say that.
            return bool(named) and self._opposite(slot) is None
        if slot.special == INDIFFERENT:
            # "It does not have any garden" means no.
            return any(not _OPEN.isdisjoint(words) or ("any" in words and not denies(words)) for words, _ in named)
        if slot.special == "none":
            return any(denies(words) for words, _ in named)
        return all(denied_at(words, at) == (slot.special == "no") for words, at in named)

    def _names(self, slot_name: str) -> Callable[[str], bool]:
        """Return a test for whether a folded word names a slot and no other slot: not "allowed"."""
        others = self._encoder.slot_names - {slot_name}
        triggers = frozenset(self._triggers.get(slot_name, ())) - FUNCTION_WORDS

        def names(word: str) -> bool:
            if is_placeholder(word) or not any(map(str.isalpha, word)):
                return False
            own = names_slot(word, slot_name) or word in triggers
            return own and not any(names_slot(word, other) for other in others)

        return names
