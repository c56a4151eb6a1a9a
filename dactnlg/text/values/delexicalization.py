"""Delexicalisation: placeholders replace values in a sentence, so that a model learns wordings rather than names.

`inform(name='red door cafe';food=thai)` with "red door cafe serves thai food" becomes "SLOT_NAME serves SLOT_FOOD
food". Values are found at token boundaries, longest first, regardless of case, in every spelling that
`values.spellings` generates; special values (yes, no, dontcare, none) stay in the act. Every delexicalisable slot of a
turn has a placeholder of its own: the second `near` is `SLOT_NEAR#2`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from dactnlg._utils.memory import Memory
from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.text.placeholders import Required, is_placeholder, required_slots, said_once, silenced_slots
from dactnlg.text.surface import JOINER, detokenize, strip_joiner, tokenize
from dactnlg.text.values.inflection import Forms, Inflection
from dactnlg.text.values.mentions import Mention, find_mentions
from dactnlg.text.values.spellings import alternatives, fold, inflected, loose_spellings, spellings

Fillers = dict[str, tuple[str, ...]]
"""Placeholder -> the surface tokens that it stands for."""
SPELLINGS = 32 << 20
"""The most bytes of spellings that a delexicaliser caches."""
# Elisions before nouns, in French and Catalan (l', d', qu') and in Italian (dell', quell', un'); the others precede
# verbs: "c'est" and "qu'est-ce que" say nothing about the east.
_ELISION = re.compile(r"((?:[dl]|jusqu|(?:lors|puis)?qu(?!['’]est\b)|(?:a|da|de|ne|que|su)ll|un)['’])(?=\w)", re.I)


@dataclass(frozen=True, slots=True)
class LexicalizedSlot(Slot):
    """A slot of a closed class (area, price range), whose value stays in sentences and is worded by the model.

    Models and checks treat its value as a special value: one of few, each with its own entry in the DA vector.
    """

    plain: ClassVar[bool] = True
    """Whether the words of its value alone show that a sentence says it."""

    @property
    def special(self) -> str | None:
        """The value, folded."""
        return None if self.value is None else self.folded

    @property
    def delexicalizable(self) -> bool:
        """False: no placeholder stands for the value."""
        return False


@dataclass(frozen=True, slots=True)
class ParaphrasedSlot(LexicalizedSlot):
    """A lexicalised slot all of whose values are ordinary words (good, poor), which people replace by many others.

    What shows such a value shows little more than that there is one; the reader learns which.
    """

    plain: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class SharedSlot(LexicalizedSlot):
    """A lexicalised slot with a value that another one has, too: "high" is a price and a rating.

    The word shows that it is one of the two; the reader learns which.
    """

    plain: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class Delexicalized:
    """A sentence with placeholders.

    Attributes:
        tokens: tokens and placeholders, cased as in the sentence.
        fillers: for each placeholder, the surface tokens of its first mention.
        mentions: the surface tokens of every mention in order; with them `lexicalize` restores the sentence exactly.
        missing: the required slots whose values are not in the sentence.
        ambiguous: the number of mentions that could belong to several slots.
    """

    tokens: tuple[str, ...]
    fillers: Fillers
    mentions: tuple[tuple[str, ...], ...]
    missing: tuple[Required, ...]
    ambiguous: int = 0

    @property
    def raw(self) -> str:
        """The sentence in raw form, values included."""
        return lexicalize(self.tokens, iter(self.mentions))


def lexicalize(tokens: Sequence[str], fillers: Mapping[str, Sequence[str]] | Iterator[Sequence[str]]) -> str:
    """Return the raw sentence, with values instead of placeholders.

    Args:
        tokens: tokens with placeholders.
        fillers: the surface tokens for each placeholder, or one filler per mention in order.
    """
    out: list[str] = []
    for token in tokens:
        if not is_placeholder(token):
            out.append(token)
            continue
        name = strip_joiner(token)
        filler = list(fillers.get(name, ()) if isinstance(fillers, Mapping) else next(fillers))
        # The joiners of the placeholder decide how the value is attached to its neighbours.
        if filler:
            filler[0] = (JOINER if token.startswith(JOINER) else "") + filler[0].lstrip(JOINER)
            filler[-1] = filler[-1].rstrip(JOINER) + (JOINER if token.endswith(JOINER) else "")
        out.extend(filler)
    return detokenize(out)


class Delexicalizer:
    """Replaces the values of a turn in a sentence by placeholders.

    Args:
        aliases: other fixed wordings of values: `{slot: {value: [wording, ...]}}`.
        silent: "act.slot" combinations that no sentence of the corpus expresses.
        apart: slots whose value "A or B", or "A, B", is split into two values, each with a placeholder.
        ordinary: slot -> the values that are also ordinary words; see `find_mentions`.
        lexicalized: slot -> the (folded) values that stay in the sentences. Slots all of whose values are ordinary are
            `paraphrased`.
        shared: (slot, value) of lexicalised values whose words alone do not tell of which slot they are.
        forms: the forms of values; see `inflection`.
        english: whether the sentences are English; in others, values may follow elisions ("l'entrée").
    """

    def __init__(
        self,
        aliases: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
        silent: Iterable[str] = (),
        apart: Iterable[str] = (),
        ordinary: Mapping[str, Sequence[str]] | None = None,
        lexicalized: Mapping[str, Iterable[str]] | None = None,
        forms: Forms | None = None,
        *,
        shared: Collection[tuple[str, str]] = (),
        english: bool = True,
    ) -> None:
        self._english, self.shared = english, frozenset(shared)
        self.silent, self.apart = frozenset(silent), frozenset(apart)
        self.lexicalized = {slot: frozenset(values) for slot, values in (lexicalized or {}).items()}
        self.ordinary = {(slot, value.casefold()) for slot, values in (ordinary or {}).items() for value in values}
        self.paraphrased = frozenset(
            slot
            for slot, values in self.lexicalized.items()
            if values and all((slot, value) in self.ordinary for value in values)
        )
        self._aliases = {
            (slot, value.casefold()): tuple(wordings)
            for slot, values in (aliases or {}).items()
            for value, wordings in values.items()
        }
        self._inflection = Inflection(forms or {})
        self._spellings: Memory[list[tuple[str, ...]]] = Memory(1 << 20, SPELLINGS)
        self._loose: Memory[list[tuple[str, ...]]] = Memory(1 << 16, SPELLINGS // 8)

    def required(self, turn: Turn) -> tuple[Required, ...]:
        """Return the slots that a sentence for the turn must express."""
        return required_slots(self.prepared(turn), self.silent)

    def silenced(self, turn: Turn) -> list[Required]:
        """Return the slots of a turn that no sentence of the corpus expresses."""
        return silenced_slots(self.prepared(turn), self.silent) if self.silent else []

    def prepared(self, turn: Turn) -> Turn:
        """Return the turn as it is learned and generated.

        Repetitions are dropped. Each value "A or B", or "A, B", of the slots in `apart` becomes two slots, and each
        value in `lexicalized` a `LexicalizedSlot`.
        """
        if not (self.apart or self.lexicalized):
            return said_once(turn)
        acts = []
        for act in turn.acts:
            slots = [part for slot in act.slots for part in self.parts(slot)]
            acts.append(act if all(map(operator.is_, slots, act.slots)) else DialogueAct(act.act_type, tuple(slots)))
        return said_once(turn if all(map(operator.is_, acts, turn.acts)) else Turn(tuple(acts)))

    def parts(self, slot: Slot) -> Iterable[Slot]:
        """Return the slots that replace a slot in a prepared turn: nearly always itself."""
        value = slot.value
        if value is None or not slot.delexicalizable:
            return (slot,)
        if slot.folded in self.lexicalized.get(slot.name, ()):
            return (self._lexicalized(slot.name, value),)
        if slot.name in self.apart and len(values := alternatives(value)) > 1:
            return [Slot(slot.name, value) for value in values]
        return (slot,)

    def _lexicalized(self, name: str, value: str) -> LexicalizedSlot:
        if name in self.paraphrased:
            return ParaphrasedSlot(name, value)
        return (SharedSlot if (name, value.casefold()) in self.shared else LexicalizedSlot)(name, value)

    def spellings(self, slot: Slot) -> list[tuple[str, ...]]:
        """Return the token sequences (folded, joiners stripped) that express the slot's value, longest first."""
        value = slot.value or ""
        key = (slot.name, slot.folded)
        known = self._spellings.get(key)
        if known is None:
            texts = [value, *self._aliases.get(key, ()), *self._inflection.of(slot.name, value)]
            found = {spelling for text in texts for spelling in spellings(text, english=self._english)}
            known = sorted(found, key=lambda s: (-len(s), -sum(map(len, s)), s))
            self._spellings.put(key, known, 400 + sum([100 + 70 * len(spelling) for spelling in known]))
        return known

    def _loose_spellings(self, slot: Slot) -> list[tuple[str, ...]]:
        """Return the token sequences of ordinary words that may express the slot's value, longest first."""
        value = slot.value or ""
        known = self._loose.get(value)
        if known is None:
            known = sorted(loose_spellings(value), key=lambda s: (-len(s), s))
            self._loose.put(value, known, 300 + sum([100 + 70 * len(spelling) for spelling in known]))
        return known

    def mentions(self, required: Sequence[Required], tokens: Sequence[str]) -> tuple[list[Mention], int]:
        """Return the mentions of required slots among tokens, and how many could belong to several slots."""
        return find_mentions(required, tokens, self.spellings, self.ordinary, self._loose_spellings)

    def delexicalize(self, turn: Turn, sentence: str) -> Delexicalized:
        """Replace the values of the turn in a sentence, written by the corpus or a model, with placeholders."""
        required = self.required(turn)
        return self.replaced(required, self.tokens(required, sentence))

    def tokens(self, required: Sequence[Required], sentence: str) -> list[str]:
        """Return the tokens of a sentence; an elision before a value is a separate token: "l'", "entrée"."""
        tokens = tokenize(sentence)
        places = [] if self._english else [at for at, token in enumerate(tokens) if _ELISION.match(token)]
        if not places:
            return tokens
        # A value such as "chambre d'amis" is not taken apart.
        whole = {at for mention in self.mentions(required, tokens)[0] for at in range(mention.start, mention.end)}
        firsts = {
            form
            for item in required
            for first, *more in self.spellings(item.slot)
            for form in (first, *(inflected(first) if not more else ()))
        }
        for at in reversed(places):
            _, elision, rest = _ELISION.split(tokens[at], maxsplit=1)
            if at not in whole and fold(rest) in firsts:
                tokens[at : at + 1] = [elision + JOINER, rest]
        return tokens

    def replaced(self, required: Sequence[Required], tokens: Sequence[str]) -> Delexicalized:
        """Replace the values of required slots among tokens with their placeholders."""
        found, ambiguous = self.mentions(required, tokens)
        out: list[str] = []
        mentions: list[tuple[str, ...]] = []
        fillers: Fillers = {}
        at = 0
        for start, end, stem, placeholder in found:
            out.extend(tokens[at:start])
            mentions += _lookalikes(tokens[at:start])
            mention = list(tokens[start:end])
            before = JOINER if mention[0].startswith(JOINER) else ""
            after = JOINER if mention[-1].endswith(JOINER) and len(mention[-1]) > 1 else ""
            plural = mention[-1][stem:] if stem else ""
            if plural:
                mention[-1] = mention[-1][:stem]
            mentions.append(tuple(mention))
            fillers.setdefault(placeholder, tuple(mention))
            out.append(before + placeholder + ("" if plural else after))
            if plural:
                out.append(JOINER + plural)
            at = end
        out.extend(tokens[at:])
        mentions += _lookalikes(tokens[at:])
        missing = tuple(item for item in required if item.placeholder not in fillers)
        return Delexicalized(tuple(out), fillers, tuple(mentions), missing, ambiguous)


def _lookalikes(tokens: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the tokens of a sentence that only look like placeholders, each as a mention of itself."""
    return [(token,) for token in tokens if is_placeholder(token)]
