"""Language understanding: what a person types, turned into acts for the policy by the fidelity checker.

The checker is built to find a known act in a sentence. Here it looks for all values of the schema at once, in any
spelling; cues and the learned reader recognise special values, and words of a slot's name show what a question is
about. If nothing is understood, the policy repeats its last question or offer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.dialogue.task.schema import DONTCARE, NAME, Schema
from dactnlg.dialogue.task.user import AFFIRM, BYE, NEGATE, inform, request
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.fidelity.samples import evidence
from dactnlg.text.nearness import related, stems
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.surface import detokenize, strip_joiner

NOTHING = DialogueAct("null")
"""The act for a text that is not understood."""
_BYE = re.compile(
    r"\b(?:good)?bye\b|\bsee you\b|\bthat(?:'s| is| was) (?:all|it)\b|^(?:\w+\W+)?thank(?:s| you)\b[^?]*$"
)
_ANY = re.compile(
    r"\bany(?:thing|where| time| one)?\b|\b(?:does not|doesn'?t|don'?t|do not) (?:matter|care|mind)\b"
    r"|\bno preference\b|\bwhatever\b|\bdon't know\b|\beither\b"
)
_SOME = re.compile(
    r"\b(?:there|has|have|got|without) any\b(?!(?: \w+)? preference)|^\W*any (?!(?:thing|time|one)\b)\w[^?]*\?"
)
"""An "any" that is about whether there is some: "does it have any toilets?", "without any dogs"."""
_YES = re.compile(r"^\W*(?:yes|yeah|yep|yup|sure|right|correct|of course|exactly|ok|okay|please)\b")
_NO = re.compile(r"^\W*(?:no|nope|nah|not really|wrong)\b")
_NOT = re.compile(r"\b(?:no|not|without|never)\b|n't\b")
_PARTS = frozenset({",", ".", "!", "?", ";", ":", "but"})
"""Tokens that end the scope of a negation."""
_BOUNDS = frozenset({"care", "far", "just", "matter", "mind", "only", "than"})
"""Words after which a negation refuses nothing: "no more than 3 hours", "not far from the lake"."""
_ASKING = frozenset({"there", "they", "we", "you"})
"""Words that turn a negation right before them into a question: "don't you have an easy walk?"."""
_QUESTION = re.compile(r"\?|^\W*(?:what|which|how|when|where|who|does|do|is|are|can|could|may|tell me|give me)\b")
_CALLED = re.compile(r"\b(?:name|called)\b")
_WORD = re.compile(r"[^\W\d_]+")
_ENDS = frozenset(".!?;")
_FUNCTION = frozenset(
    re.findall(
        r"\w+",
        "about all and any are but can did does for from get good goodbye had has have hello her him his how its let "
        "may not one our out please see she some tell than thank thanks that the them then there they this too use was "
        "way what when where which who why will with you",
    )
)
"""Words that never match the name of a slot, even if it begins with them."""
_ASKED = {
    "addr": ("where",),
    "area": ("where",),
    "duration": ("long", "take", "takes"),
    "length": ("long", "far"),
    "near": ("close", "nearby"),
    "phone": ("number", "call", "telephone"),
    "price": ("cost", "costs", "expensive"),
    "region": ("where",),
    "season": ("when",),
}
"""Beginning of a slot's name -> other words that people use for the slot."""


class Understanding:
    """Reads what people type.

    Args:
        schema: the schema of the task.
        checker: the checker of its corpus.
    """

    def __init__(self, schema: Schema, checker: FidelityChecker) -> None:
        self._schema, self._checker = schema, checker
        self._slots = sorted({slot for entity in schema.entities for slot in entity.values})
        self._closed = [slot for slot in self._slots if set(schema.values(slot)) <= {"yes", "no"}]
        # All values at once: the longest match wins, and words inside a name are not matched again.
        names = [NAME, *(slot for slot in self._slots if slot not in self._closed)]
        slots = [Slot(slot, value) for slot in names for value in schema.values(slot)]
        self._values = checker.delexicalizer.prepared(Turn((DialogueAct("inform", tuple(slots)),)))
        self._wishes = {item.placeholder: item.slot for item in checker.delexicalizer.required(self._values)}
        # Cached: for every answer the whole conversation is read again.
        self._known = lru_cache(maxsize=1 << 14)(self._read)

    def read(self, text: str, before: Turn | None) -> Turn:
        """Return the acts of a text.

        Args:
            text: what the person typed.
            before: the preceding system turn; None at the beginning.
        """
        return self._known(text, before)

    def _read(self, text: str, before: Turn | None) -> Turn:
        done = self._checker.delexicalizer.delexicalize(self._values, text)
        found, refused = self._wanted(done.tokens)
        asked = self._asked(before)
        offered = any(slot.name == NAME for act in before or () for slot in act.slots)
        requests = [request(slot) for slot in self._degrees(done.tokens) if found.pop(slot, None)]
        for sentence in _sentences(done.tokens):
            requests += self._sentence(sentence, found, asked, offered=offered)
        wishes = [inform(slot, value) for slot, value in found.items() if slot in self._schema.informable]
        acts = [*wishes, *dict.fromkeys(requests)]
        folded = _folded(text)
        if not acts:
            # "No easy walks" does not answer a yes/no question.
            acts = [BYE] if _BYE.search(folded) else [] if refused else self._short(folded, before, asked)
        return Turn(tuple(acts) or (NOTHING,))

    def _wanted(self, tokens: Sequence[str]) -> tuple[dict[str, str], set[str]]:
        """Return slot -> value wished for (the last, if several), and the slots whose values are refused."""
        found, refused = dict[str, str](), set[str]()
        # The scope of a negation: None for none, "" for the next value, or the name of a slot.
        denied: str | None = None
        asks = False
        for token in map(strip_joiner, tokens):
            slot, word = self._wishes.get(token), _folded(token)
            if slot is not None and denied in ("", slot.name):
                refused.add(slot.name)
                denied = slot.name
            elif slot is not None:
                found[slot.name] = slot.value or ""
            elif _NOT.search(word):
                denied = ""
            elif word in _PARTS | _BOUNDS or (asks and word in _ASKING) or {*self._named([word])} & {*self._closed}:
                denied = None
            asks = _NOT.search(word) is not None
        return found, refused

    def _sentence(
        self, tokens: Sequence[str], found: dict[str, str], asked: list[str], *, offered: bool
    ) -> list[DialogueAct]:
        """Add the special values of a sentence to `found`, and return its requests."""
        values = self._special(tokens)
        plain = [strip_joiner(token) for token in tokens if not is_placeholder(token)]
        folded = _folded(detokenize([token for token in tokens if not is_placeholder(token)]))
        plain += ["cost"] if "how much" in folded else []
        named = [slot for slot in self._named(plain) if slot not in found and slot not in values]
        question = _QUESTION.search(folded) is not None
        requests = [request(NAME)] if question and _CALLED.search(folded) else []
        if _ANY.search(_SOME.sub("", folded)):
            # "Any" is about the slot that was asked for, unless another one is named.
            others = [] if values or len(plain) < len(tokens) else asked
            values |= dict.fromkeys(named or others, DONTCARE)
        else:
            closed = [slot for slot in named if slot in self._closed and slot in self._schema.informable]
            if closed and not (question and offered):
                values |= dict.fromkeys(closed, "no" if _NOT.search(folded) else "yes")
            else:
                # Before an offer only a question can be a request: "a moderately priced place" is none.
                requests += [request(slot) for slot in named if question or offered]
        for slot, value in values.items():
            found.setdefault(slot, value)
        return requests

    def _degrees(self, tokens: Sequence[str]) -> Iterator[str]:
        """Yield the slots whose value is part of a question about them: "how expensive is it?"."""
        for before, token in pairwise(map(strip_joiner, tokens)):
            if before.casefold() == "how" and token in self._wishes:
                yield self._wishes[token].name

    def _special(self, tokens: Sequence[str]) -> dict[str, str]:
        """Return slot -> special value, as far as cues or the reader are sure."""
        checker, found = self._checker, dict[str, str]()
        seen = evidence(Turn((DialogueAct("inform"),)), tokens, checker.checker.shown(tokens))
        for slot, shown in seen.shown.items():
            values = [value for value in shown if value in (*self._schema.values(slot), DONTCARE)]
            if slot in self._slots and len(values) == 1:
                found[slot] = values[0]
        if checker.reader is not None:
            for name, logit in checker.reader.logits(seen).items():
                fact = checker.reader.facts[name]
                value = fact.kind.removeprefix("=")
                if fact.slot in self._closed and value in ("yes", "no") and logit > checker.reader.limits[name].most:
                    found.setdefault(fact.slot, value)
        return found

    def _named(self, words: Iterable[str]) -> list[str]:
        """Return the slots that words refer to; of several candidates for a word, the one with exactly that name."""
        found = []
        for word in (part for each in words for part in _WORD.findall(each.casefold())):
            named = [slot for slot in self._slots if _names(word, slot.casefold())]
            found += [slot for slot in named if slot.casefold() == word] or named
        return [slot for slot in self._slots if slot in found]

    def _short(self, folded: str, before: Turn | None, asked: list[str]) -> list[DialogueAct]:
        """Return the acts of a plain yes or no, interpreted by the preceding system turn."""
        answer = "yes" if _YES.search(folded) else "no" if _NO.search(folded) else None
        if answer is None or before is None:
            return []
        if before.acts[0].act_type == self._schema.roles.get("reqmore"):
            return [BYE] if answer == "no" else []
        closed = [slot for slot in dict.fromkeys(asked) if slot in self._closed]
        return [inform(slot, answer) for slot in closed] or [AFFIRM if answer == "yes" else NEGATE]

    def _asked(self, before: Turn | None) -> list[str]:
        """Return the slots that a system turn asks for; if it found no match, the last wish that it names."""
        roles = self._schema.roles
        found = []
        for act in before or ():
            if act.act_type in (roles.get("request"), roles.get("select")):
                found += [slot.name for slot in act.slots]
            elif act.act_type == roles.get("no_match"):
                found += [slot.name for slot in act.slots[-1:]]
        return found


def _names(word: str, slot: str) -> bool:
    more = next((more for start, more in _ASKED.items() if slot.startswith(start)), ())
    if len(word) < 3 or word in _FUNCTION:
        return word in more
    return word in more or any(related(word, stem, slot) for stem in stems(slot))


def _folded(text: str) -> str:
    return " ".join(text.casefold().replace("’", "'").split())


def _sentences(tokens: Sequence[str]) -> Iterator[list[str]]:
    """Split tokens into sentences, each with its closing punctuation."""
    sentence: list[str] = []
    for token in tokens:
        sentence.append(token)
        if strip_joiner(token) in _ENDS:
            yield sentence
            sentence = []
    if sentence:
        yield sentence
