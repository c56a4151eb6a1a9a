"""Inflection: the form of a value that a sentence requires.

In many languages a value cannot be put into a sentence as the act has it: `area=Karlín` is "na Karlíně", "z Karlína".
A card gives the forms of each value with their morphological tags; training sentences show which tags occur in which
contexts, so the form is chosen by the words around its placeholder (Dušek and Jurčíček 2019, section 4.3, use a
language model). A value unseen in training is inflected like others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import exp, log
from typing import Any, NamedTuple

from dactnlg._utils.memory import Memory
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.surface import strip_joiner

Forms = Mapping[str, Mapping[str, Mapping[str, Sequence[str]]]]
"""Slot -> value -> form -> its tags. A `_` in value and form stands for the same numbers in both."""

EDGE = "|"
"""Stands for the edges of a sentence."""
ROUNDS = 3
"""Rounds of expectation maximisation, which decides which of its tags an ambiguous form has."""
WIDER = 0.5
"""The number of observations of a context that the share in the next wider one is worth."""
UNSEEN = 0.1
"""The count of a form unseen in training."""
RAREST = 1e-3
"""The share of a trait unseen in any context."""
CHOICES = 10_000, 4 << 20
"""Choices that are cached, at most, and their bytes."""
_NUMBER = re.compile(r"\d+")


class Observation(NamedTuple):
    """A value in a training sentence.

    Attributes:
        slot: its slot.
        value: as the act has it.
        form: as the sentence has it.
        before: the tokens before its placeholder.
        after: the tokens after it.
    """

    slot: str
    value: str
    form: str
    before: Sequence[str]
    after: Sequence[str]


class Inflection:
    """Chooses the form of a value by the words around it.

    Args:
        forms: from the corpus's card.
        contexts: how often traits of tags occurred in contexts; from `learn`.
        uses: `slot=value` -> form, both in lower case -> its count in training.
    """

    def __init__(
        self,
        forms: Forms,
        contexts: Mapping[str, Mapping[str, float]] | None = None,
        uses: Mapping[str, Mapping[str, int]] | None = None,
    ) -> None:
        self.forms = forms
        # The empty trait counts all tags.
        self._contexts = {context: dict(traits) for context, traits in (contexts or {}).items()}
        self._uses = {name: dict(counts) for name, counts in (uses or {}).items()}
        self._folded = {slot: {_folded(value): value for value in values} for slot, values in forms.items()}
        self._chosen: Memory[str] = Memory(*CHOICES)

    @classmethod
    def learn(cls, forms: Forms, observations: Iterable[Observation]) -> Inflection:
        """Count the traits of tags in the contexts of training sentences.

        Most forms have several tags: each is weighted by its probability in the contexts, as of the previous round.
        """
        known = cls(forms)
        rows: Counter[tuple[tuple[str, ...], tuple[str, ...]]] = Counter()
        uses: dict[str, Counter[str]] = {}
        for seen in observations:
            own, said = known.of(seen.slot, seen.value), seen.form.casefold()
            fitting = tuple(tag for form, tags in own.items() if form.casefold() == said for tag in tags)
            uses.setdefault(_name(seen.slot, seen.value), Counter())[said] += 1
            if fitting and len(own) > 1:
                rows[tuple(_contexts(seen.slot, seen.before, seen.after)), fitting] += 1
        found = known
        for _ in range(ROUNDS):
            counts: dict[str, dict[str, float]] = {}
            for (contexts, fitting), times in rows.items():
                logs = [found._score(contexts, tag) for tag in fitting]
                # Scaled so that the best is 1: a tag has many traits, and their product may underflow.
                scores = [exp(each - max(logs)) for each in logs]
                for tag, score in zip(fitting, scores, strict=True):
                    for context in contexts:
                        traits = counts.setdefault(context, {})
                        for trait in ("", *_traits(tag)):
                            traits[trait] = traits.get(trait, 0.0) + times * score / sum(scores)
            found = cls(forms, counts, uses)
        return found

    def of(self, slot: str, value: str) -> dict[str, Sequence[str]]:
        """Return the forms of a value with their tags; empty if the card gives none."""
        folded = self._folded.get(slot)
        if not folded:
            return {}
        if (known := folded.get(_folded(value))) is not None:
            return dict(self.forms[slot][known])
        numbers = _NUMBER.findall(value)
        pattern = folded.get(_folded(_NUMBER.sub("_", value))) if numbers else None
        if pattern is None:
            return {}
        forms = self.forms[slot][pattern].items()
        return {_with_numbers(form, numbers): tags for form, tags in forms if form.count("_") == len(numbers)}

    def choose(self, slot: str, value: str, before: Sequence[str], after: Sequence[str]) -> str | None:
        """Return the form of a value between tokens; None if the card gives no forms of it."""
        contexts = tuple(_contexts(slot, before, after))
        key = (value, contexts)
        found = self._chosen.get(key)
        if found is None:
            forms = self.of(slot, value)
            if not forms:
                return None
            uses = self._uses.get(_name(slot, value), {})
            ranked = {
                form: log(uses.get(form.casefold(), 0) + UNSEEN)
                + max((self._gain(contexts, tag) for tag in tags), default=0.0)
                for form, tags in forms.items()
            }
            found = max(ranked, key=lambda form: (ranked[form], form))
            self._chosen.put(key, found, 100 * (len(contexts) + 1))
        return found

    def to_json(self) -> dict[str, Any]:
        """Return what `Inflection(forms, **data)` takes."""
        rounded = {
            context: {trait: round(count, 3) for trait, count in traits.items() if count > 0.001}
            for context, traits in self._contexts.items()
        }
        return {"contexts": rounded, "uses": self._uses}

    def _gain(self, contexts: Sequence[str], tag: str) -> float:
        """Return how much more probable the contexts make a tag than the slot alone does."""
        return self._score(contexts, tag) - self._score(contexts[-1:], tag)

    def _score(self, contexts: Sequence[str], tag: str) -> float:
        """Return the log probability of a tag: of its traits, interpolated from the widest context to the narrowest."""
        return sum(log(self._share(contexts, trait)) for trait in _traits(tag))

    def _share(self, contexts: Sequence[str], trait: str) -> float:
        share = RAREST
        for context in reversed(contexts):
            if (traits := self._contexts.get(context)) is not None:
                share = (traits.get(trait, 0.0) + WIDER * share) / (traits.get("", 0.0) + WIDER)
        return share


def _traits(tag: str) -> Iterator[str]:
    """Yield the traits of a tag: its parts at `|` (Universal Dependencies), or else its characters with positions."""
    if "|" in tag or "=" in tag:
        yield from (part.replace("=", ":", 1) for part in tag.split("|"))
    else:
        yield from (f"{place}:{char}" for place, char in enumerate(tag))


def _contexts(slot: str, before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """Yield the contexts of a value, the narrowest first."""
    words = [*(EDGE, EDGE), *map(_word, before[-2:])][-2:]
    behind = _word(after[0]) if after else EDGE
    yield f"{slot} {words[0]} {words[1]} _ {behind}"
    yield f"{slot} {words[1]} _ {behind}"
    yield f"{slot} {words[0]} {words[1]} _"
    yield f"{slot} {words[1]} _"
    yield f"{words[1]} _ {behind}"
    yield f"{words[1]} _"
    yield f"{slot} _ {behind}"
    yield f"{slot} _"


def _word(token: str) -> str:
    return strip_joiner(token) if is_placeholder(token) else strip_joiner(token).casefold()


def _name(slot: str, value: str) -> str:
    return f"{slot}={_folded(value)}"


def _folded(value: str) -> str:
    return " ".join(value.casefold().split())


def _with_numbers(form: str, numbers: Sequence[str]) -> str:
    parts = form.split("_")
    return "".join(part + (numbers[place] if place < len(parts) - 1 else "") for place, part in enumerate(parts))
