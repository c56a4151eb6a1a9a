"""Stand-ins: an act with values that training never had is said as one that training could have had.

A model that says food in words of its own has no word for Ethiopian food, and no placeholder for it either. It is
asked for Indian food, and what it says of that is said of Ethiopian food: the value is copied from the act, as in
copying networks (Gu et al. 2016), to where the known one stood. A game of four genres, where training has three at
most, is said to be one of three, and the fourth is put beside them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from typing import NamedTuple

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.generation.candidates import Candidate
from dactnlg.text import owners
from dactnlg.text.grammar.denials import denies
from dactnlg.text.grammar.english import VERBS_OF_MANY
from dactnlg.text.placeholders import Required
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.requests import Request
from dactnlg.text.segments import ARTICLE
from dactnlg.text.sentences import ENDS, Tokens, split_sentences
from dactnlg.text.surface import JOINER, detokenize, strip_joiner

MOST = 4
"""Values that are tried in the place of one, the most alike first."""
OFTEN = 0.1
"""Share of the texts that say the most frequent value of a slot which another one needs to stand in for a new one."""
CONJUNCTIONS = frozenset({"and", "or"})


class StandIn(NamedTuple):
    """What is asked for in the place of an act.

    Attributes:
        request: for an act whose values training had.
        known: the slots of the act whose value is another one there, each with that.
        surplus: values that are left out there; each has another one of its slot before it.
    """

    request: Request
    known: Mapping[Required, str]
    surplus: Sequence[Required]


class StandIns:
    """Finds stand-ins for acts, and says the acts as they are said. Several threads may use one.

    Args:
        preprocessor: of a run.
    """

    def __init__(self, preprocessor: Preprocessor) -> None:
        self._preprocessor, self._delexicalizer = preprocessor, preprocessor.delexicalizer

    def of(self, request: Request) -> list[StandIn]:
        """Return the stand-ins of an act, the best first; none where training could have had it, or nothing helps."""
        act = request.act
        if not act.unknown and not any("#" in item.placeholder for item in act.required):
            return []
        # The act stands for all that are alike but for their values.
        pairs = zip(act.required, request.slots, strict=True)
        required = [Required(item.placeholder, item.act_type, slot) for item, slot in pairs]
        # What is told of several things is told of each by itself.
        surplus = [] if owners.compared(request.turn) else self._surplus(required)
        lacked = {item.placeholder for item in act.unknown}
        unknown = [each for each in required if each.placeholder in lacked and each not in surplus]
        values = {item: alike for item in unknown if (alike := self._alike(request, item))}
        tries = max(map(len, values.values()), default=1) if values or surplus else 0
        return [self._stand_in(request, values, surplus, number) for number in range(tries)]

    def _stand_in(
        self, request: Request, values: Mapping[Required, Sequence[str]], surplus: Sequence[Required], number: int
    ) -> StandIn:
        """Return the stand-in that has the value of this number, of each slot as many as it has."""
        known = {item: alike[number % len(alike)] for item, alike in values.items()}
        replaced = {item.slot: Slot(item.slot.name, value) for item, value in known.items()}
        left = {item.slot for item in surplus}
        acts = [
            DialogueAct(act.act_type, tuple(replaced.get(slot, slot) for slot in act.slots if slot not in left))
            for act in request.turn
        ]
        return StandIn(self._preprocessor.request(Turn(tuple(acts)), request.context), known, surplus)

    def said(
        self, request: Request, stand_in: StandIn, candidates: Sequence[Candidate], *, ask: bool
    ) -> list[Candidate]:
        """Return an act as its stand-in is said, as far as that is right.

        Args:
            request: the act.
            stand_in: one of those of the act.
            candidates: what is said for that.
            ask: whether lost questions count.
        """
        wanted = [
            Required(item.placeholder, item.act_type, Slot(item.slot.name, value))
            for item, value in stand_in.known.items()
        ]
        names = {item.slot.name for item in wanted}
        found = []
        for each in candidates:
            copied = self._delexicalizer.replaced(wanted, each.tokens)
            tokens = copied.tokens
            for item in stand_in.surplus:
                tokens = self._beside_others(tokens, item)
            # "Moderate, £20-25" says a value twice, and one of them would stay.
            if not (copied.missing or self._preprocessor.checker.shown(tokens).keys() & names):
                score, origin = each.score, "inserted"
                found.append(Candidate(self._preprocessor, request, tokens, score, origin=origin, ask=ask))
        return [each for each in found if each.right]

    def _surplus(self, required: Sequence[Required]) -> list[Required]:
        """Return further values of a slot, where training has no text of the act type with so many."""
        found, before = list[Required](), set[tuple[str, str]]()
        has_further = self._preprocessor.templates.has_further
        for item in required:
            if (item.act_type, item.slot.name) in before and not has_further(item.act_type, item.placeholder):
                found.append(item)
            before.add((item.act_type, item.slot.name))
        return found

    def _alike(self, request: Request, item: Required) -> list[str]:
        """Return known values of an unknown value's slot that the act does not have, the most alike first."""
        name, value = item.slot.name, item.slot.value or ""
        own = {(slot.value or "").casefold() for _, slot in request.turn.slots() if slot.name == name}
        known = [other for other in self._often_said.get(name, ()) if other not in own]
        return sorted(known, key=lambda other: _likeness(value, other), reverse=True)[:MOST]

    @cached_property
    def _often_said(self) -> dict[str, list[str]]:
        """The values of slots that stay in words, without those that few of training's texts have as they are."""
        counts = {
            name: Counter(dict.fromkeys(sorted(known), 0)) for name, known in self._delexicalizer.lexicalized.items()
        }
        for (_, text), rows in self._preprocessor.templates.specials.items() if counts else ():
            words = detokenize(list(text)).casefold()
            for trait in {trait for row in rows for trait in row}:
                name, _, printed = trait.partition("|")[2].partition("=")
                value = printed.strip("'").casefold()
                if value in counts.get(name, ()) and value in words:
                    counts[name][value] += 1
        least = {name: OFTEN * max(known.values(), default=0) for name, known in counts.items()}
        return {name: [value for value in known if known[value] >= least[name]] for name, known in counts.items()}

    def _beside_others(self, tokens: Tokens, item: Required) -> Tokens:
        """Return a text with one more value of a slot beside the last one of it."""
        base = item.placeholder.partition("#")[0]
        own = [place for place, token in enumerate(tokens) if strip_joiner(token).partition("#")[0] == base]
        # What is joined to the word beside it stays as it is.
        if not own or tokens[own[-1]] != strip_joiner(tokens[own[-1]]):
            return tokens
        last, before = own[-1], own[-2] if len(own) > 1 else -1
        joint = strip_joiner(tokens[last - 1]) if before == last - 2 else ""
        start, between, rest = tokens[: last + 1], self._conjunction(tokens[:last], item), tokens[last + 1 :]
        if before == last - 1 and before >= 0:
            # "An arcade party game" has no commas.
            between = ()
        elif joint in CONJUNCTIONS:
            # "Arcade and party" becomes "arcade, party and puzzle".
            start, between = tokens[: last - 1], (f"{JOINER},", tokens[last], tokens[last - 1])
        elif joint == ",":
            between = (f"{JOINER},",)
        elif between == ("and",) and (last == 0 or tokens[last - 1] in (ARTICLE, *ENDS)):
            # "The Laurel Inn and the Marina Inn have internet."
            rest = (VERBS_OF_MANY.get(rest[0], rest[0]), *rest[1:]) if rest else rest
        return (*start, *between, item.placeholder, *rest)

    def _conjunction(self, before: Tokens, item: Required) -> Tokens:
        """Return what joins one more value to the only one of its slot, behind some words."""
        if self._preprocessor.style.language != "en":
            return (f"{JOINER},",)
        denied = denies(split_sentences((*before, item.placeholder))[-1])
        either = denied or self._preprocessor.manners.is_question(item.act_type)
        return ("or",) if either else ("and",)


def _likeness(value: str, other: str) -> tuple[bool, float]:
    """Return whether two values have as many words, and the share of letters that they have in the same order.

    "more than £40" is like "more than £30", "old town" like "city centre".
    """
    own, its = (re.sub(r"\d", "0", each.casefold()) for each in (value, other))
    return len(value.split()) == len(other.split()), SequenceMatcher(None, own, its).ratio()
