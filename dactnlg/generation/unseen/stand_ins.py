"""Stand-ins: an act with unseen values is said by way of a similar act with seen ones.

A model that lexicalises food has no word for Ethiopian food, and no placeholder for it either. It is asked for Indian
food, and its sentence is used for Ethiopian food: the value is copied from the act, as in copying networks (Gu et al.
2016), to where the known one was. The same helps with a known value that its sentences do not say. A game of four
genres, if training has at most three, is said as one of three, and the fourth is added next to them. A hotel without
internet, if all those in training have it, is said as one of these, and "with internet" is replaced by "without
internet".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.generation.candidates import Candidate
from dactnlg.generation.unseen.further_values import FurtherValues
from dactnlg.text import owners
from dactnlg.text.placeholders import Required
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.requests import Request
from dactnlg.text.sentences import Tokens
from dactnlg.text.surface import JOINER, detokenize, strip_joiner, tokenize
from dactnlg.text.tallies import SlotReport, Tally
from dactnlg.text.traits import Trait, canonical, read_trait
from dactnlg.text.values.delexicalization import LexicalizedSlot, ParaphrasedSlot

MOST = 4
"""Maximum number of values tried as stand-ins for one, most similar first."""
OFTEN = 0.1
"""Minimum number of texts that say a value for it to stand in, relative to the most frequent value of the slot."""


class StandIn(NamedTuple):
    """A request that replaces that for an act.

    Attributes:
        request: for an act with seen values.
        known: the slots of the act whose value is replaced in `request`, each with the known value there. Lexicalised
            ones have an empty placeholder.
        surplus: values that are left out in `request`; each comes after another one of its slot. Lexicalised ones have
            an empty placeholder.
        opposed: the slots with an unseen yes or no; `request` has the opposite.
    """

    request: Request
    known: Mapping[Required, str]
    surplus: Sequence[Required]
    opposed: Sequence[Slot] = ()


class StandIns:
    """Finds stand-ins for acts, and turns their sentences into sentences for the acts. Several threads may use one.

    Args:
        preprocessor: the preprocessor of a run.
    """

    def __init__(self, preprocessor: Preprocessor) -> None:
        self._preprocessor, self._delexicalizer = preprocessor, preprocessor.delexicalizer
        self._further = FurtherValues(preprocessor)

    def of(self, request: Request, lost: Sequence[Required] = ()) -> list[StandIn]:
        """Return the stand-ins of an act, best first; empty if it has no unseen values, or there is no stand-in.

        Args:
            request: an act.
            lost: lexicalised values that no sentence for it says, see `lost`.
        """
        act, turn = request.act, request.turn
        in_words, opposed = self._surplus_in_words(turn), self._preprocessor.new_values.opposed(turn)
        known = not (act.unknown or in_words or opposed or lost)
        if known and not any("#" in item.placeholder for item in act.required):
            return []
        # The delexicalised act has the slots of another turn: pair its placeholders with this turn's.
        pairs = zip(act.required, request.slots, strict=True)
        required = [Required(item.placeholder, item.act_type, slot) for item, slot in pairs]
        # In a comparison, several values of a slot belong to different things.
        surplus = [] if owners.compared(turn) else [*in_words, *self._surplus(turn, required)]
        lacked = {item.placeholder for item in act.unknown}
        unknown = [each for each in required if each.placeholder in lacked and each not in surplus]
        values = {item: alike for item in [*unknown, *lost] if (alike := self._alike(request, item))}
        tries = max(map(len, values.values()), default=1) if values or surplus or opposed else 0
        return [self._stand_in(request, values, surplus, opposed, number) for number in range(tries)]

    def lost(self, candidate: Candidate) -> list[Required]:
        """Return the lexicalised values of an act that a sentence lacks, or whose slots it gives another value."""
        turn = candidate.request.turn
        count = Counter(slot.name for _, slot in turn.slots())
        single = [(act, slot) for act, slot in turn.slots() if _in_words(slot) and count[slot.name] == 1]
        report = candidate.report if single else SlotReport(Tally())
        named = {name.partition("=")[0] for name in (*report.missing, *report.extra)}
        return [Required("", act.act_type, slot) for act, slot in single if slot.name in named]

    def _stand_in(
        self,
        request: Request,
        values: Mapping[Required, Sequence[str]],
        surplus: Sequence[Required],
        opposed: Mapping[Slot, Slot],
        number: int,
    ) -> StandIn:
        """Return the stand-in that uses the `number`-th value of each slot, modulo the number of its values."""
        known = {item: alike[number % len(alike)] for item, alike in values.items()}
        replaced = {item.slot: Slot(item.slot.name, value) for item, value in known.items()} | dict(opposed)
        left = {item.slot for item in surplus}
        acts = [
            DialogueAct(act.act_type, tuple(replaced.get(slot, slot) for slot in act.slots if slot not in left))
            for act in request.turn
        ]
        return StandIn(self._preprocessor.request(Turn(tuple(acts)), request.context), known, surplus, (*opposed,))

    def said(
        self, request: Request, stand_in: StandIn, candidates: Sequence[Candidate], *, ask: bool
    ) -> list[Candidate]:
        """Turn a stand-in's candidates into candidates for the act, and return those that are right.

        Args:
            request: the act.
            stand_in: one of its stand-ins.
            candidates: the candidates for the stand-in.
            ask: whether lost questions count as errors.
        """
        wanted = [
            Required(item.placeholder, item.act_type, Slot(item.slot.name, value))
            for item, value in stand_in.known.items()
            if item.placeholder
        ]
        found = []
        for each in candidates:
            copied = self._delexicalizer.replaced(wanted, self._opposed(stand_in, each.tokens))
            tokens = self._exchanged(stand_in, copied.tokens)
            if copied.missing or tokens is None:
                continue
            # Without the plural, too: the reader may mistake it for another value ("in all product families").
            turn, more = stand_in.request.turn, stand_in.surplus
            both = (self._further.added(turn, tokens, more, several=several) for several in (True, False))
            # "Moderate, £20-25" says a value twice, of which only one would be replaced.
            texts = [text for text in dict.fromkeys(both) if not self._says_again(wanted, text)]
            score, origin = each.score, "inserted"
            made = (Candidate(self._preprocessor, request, text, score, origin=origin, ask=ask) for text in texts)
            found += [*islice((candidate for candidate in made if candidate.right), 1)]
        if not found and stand_in.opposed:
            # Few texts have words that can be turned into the opposite, and the model may not choose them.
            known = self._preprocessor.new_values.texts(stand_in.request.turn)
            texts = [self._opposed(stand_in, text) for text in known]
            made = (Candidate(self._preprocessor, request, text, None, origin="composed", ask=ask) for text in texts)
            found += [*islice((candidate for candidate in made if candidate.right), 1)]
        return found

    def _exchanged(self, stand_in: StandIn, tokens: Tokens) -> Tokens | None:
        """Replace the known values of lexicalised slots with the act's own; None if the text lacks one of them."""
        for item, known in stand_in.known.items():
            if item.placeholder:
                continue
            standing = Required("", item.act_type, Slot(item.slot.name, known))
            mentions, _ = self._delexicalizer.mentions([standing], tokens)
            if not mentions:
                return None
            for start, end, *_ in reversed(mentions):
                if tokens[start].startswith(JOINER) or tokens[end - 1].endswith(JOINER):
                    return None
                tokens = (*tokens[:start], *tokenize(item.slot.folded), *tokens[end:])
        return tokens

    def _opposed(self, stand_in: StandIn, tokens: Tokens) -> Tokens:
        """Return a text with each yes or no of `opposed` turned into its opposite."""
        for slot in stand_in.opposed:
            tokens = self._preprocessor.new_values.turned(tokens, slot) or tokens
        return tokens

    def _says_again(self, items: Sequence[Required], tokens: Tokens) -> bool:
        """Whether a text says values of slots in words besides their placeholders."""
        shown = self._preprocessor.checker.shown(tokens)
        again = [item for item in items if item.slot.name in shown]
        return any(
            item.slot.name not in self._delexicalizer.paraphrased or self._has_opinion(item, tokens) for item in again
        )

    def _has_opinion(self, item: Required, tokens: Tokens) -> bool:
        """Whether a text's other words express any opinion for a paraphrased slot, as its cues alone are too vague.

        "I like such games" does, "it is not on Steam" does not.
        """
        words = tuple(token for token in tokens if strip_joiner(token) != item.placeholder)
        name, known = item.slot.name, self._delexicalizer.lexicalized[item.slot.name]
        values = (ParaphrasedSlot(name, value) for value in sorted(known))
        acts = ((Turn((DialogueAct(item.act_type, (slot,)),)), slot) for slot in values)
        return not all(self._preprocessor.lacks(turn, slot, words) for turn, slot in acts)

    def _surplus(self, turn: Turn, required: Sequence[Required]) -> list[Required]:
        """Return further values of slots for which training has no text of the act type with that many."""
        found, before = list[Required](), {(act.act_type, slot.name) for act, slot in turn.slots() if _in_words(slot)}
        has_further = self._preprocessor.templates.has_further
        for item in required:
            if (item.act_type, item.slot.name) in before and not has_further(item.act_type, item.placeholder):
                found.append(item)
            before.add((item.act_type, item.slot.name))
        return found

    def _surplus_in_words(self, turn: Turn) -> list[Required]:
        """Return further values of closed classes for which training has no text of the act type with several."""
        found, first = list[Required](), dict[tuple[str, str], Slot]()
        for act, slot in turn.slots() if self._delexicalizer.lexicalized else ():
            if _in_words(slot):
                key = act.act_type, slot.name
                if first.setdefault(key, slot).special != slot.special and Trait(*key) not in self._with_several:
                    found.append(Required("", act.act_type, slot))
        return found

    @cached_property
    def _with_several(self) -> set[Trait]:
        """The slots, such as `inform|food`, of which some training text says several values in words."""
        rows = [row for rows in self._preprocessor.templates.specials.values() for row in rows]
        counts = (Counter(read_trait(value)._replace(value=None) for value in row) for row in rows)
        return {trait for count in counts for trait, number in count.items() if number > 1}

    def _alike(self, request: Request, item: Required) -> list[str]:
        """Return known values of an unknown value's slot that the act does not have, most similar first."""
        name, value = item.slot.name, item.slot.value or ""
        own = {slot.folded for _, slot in request.turn.slots() if slot.name == name}
        known = [other for other in self._often_said.get(name, ()) if other not in own]
        return sorted(known, key=lambda other: _likeness(value, other), reverse=True)[:MOST]

    @cached_property
    def _often_said(self) -> dict[str, list[str]]:
        """The values of lexicalised slots that enough training texts contain verbatim."""
        counts = {
            name: Counter(dict.fromkeys(sorted(known), 0)) for name, known in self._delexicalizer.lexicalized.items()
        }
        for (_, text), rows in self._preprocessor.templates.specials.items() if counts else ():
            words = detokenize(list(text)).casefold()
            for _, name, value in map(canonical, {value for row in rows for value in row}):
                if value and value in counts.get(name, ()) and value in words:
                    counts[name][value] += 1
        least = {name: OFTEN * max(known.values(), default=0) for name, known in counts.items()}
        return {name: [value for value in known if known[value] >= least[name]] for name, known in counts.items()}


def _in_words(slot: Slot) -> bool:
    """Whether a slot's value is lexicalised, in the same words everywhere (not an opinion)."""
    return isinstance(slot, LexicalizedSlot) and not isinstance(slot, ParaphrasedSlot)


def _likeness(value: str, other: str) -> tuple[bool, float]:
    """Return how similar two values are: whether they have the same number of words, and the ratio of shared letters.

    "more than £40" is like "more than £30", "old town" like "city centre".
    """
    own, its = (re.sub(r"\d", "0", each.casefold()) for each in (value, other))
    return len(value.split()) == len(other.split()), SequenceMatcher(None, own, its).ratio()
