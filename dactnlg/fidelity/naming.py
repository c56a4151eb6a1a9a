"""Naming: slots that a sentence must name, and slots that it names although its act lacks them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Set

from dactnlg.acts import Turn
from dactnlg.fidelity.facts import INDIFFERENT_KIND, UNKNOWN_KIND, facts, told_of
from dactnlg.fidelity.plainly import any_of, careless, indifferent, matters, unknowing
from dactnlg.fidelity.reader import Reader
from dactnlg.text.grammar.english import QUESTION_WORDS
from dactnlg.text.nearness import names_slot
from dactnlg.text.sentences import split_sentences
from dactnlg.text.slots import OPPOSITES

CARING = "care"
"""If the reader knows this word, its training data express in English that something does not matter."""
_ASKING_WHICH = QUESTION_WORDS | {"or", "any"}
"""Words with which a question asks for a slot, even if it also mentions that the slot may not matter."""


class Naming:
    """Knows the words by which sentences name slots.

    Args:
        reader: the reader learned from the corpus.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        # Whether the training data express indifference in English.
        self._english = CARING in reader.parts.grams.features
        self._slots = {fact.slot or "" for fact in reader.facts.values()}
        slots = {fact.slot or "" for fact in reader.facts.values() if fact.kind == INDIFFERENT_KIND}
        # The words of each slot that may be `dontcare`, without those that may name another such slot, as "range" may.
        self._own = {
            slot: frozenset(w for w in reader.words(slot) if not any(names_slot(w, other) for other in slots - {slot}))
            for slot in slots
        }

    def does_not_matter(self, words: Sequence[str], slot: str) -> bool:
        """Return whether folded words name a slot after an expression of indifference, or after "any" and the like."""
        return _is_among(indifferent(words), self._own[slot]) or any(map(self._names_alone(slot), any_of(words)))

    def _names_alone(self, slot: str) -> Callable[[str], bool]:
        """Return a predicate: a word names only this one of the slots that may not matter; never for yes/no slots."""
        others = [other for other in self._own if other != slot]
        if any(f"{slot}={value}" in self._reader.facts for value in OPPOSITES):
            # "For any business" means yes.
            return lambda word: False
        return lambda word: names_slot(word, slot) and not any(names_slot(word, other) for other in others)

    def leaves_open(self, sentences: Iterable[Sequence[str]]) -> bool:
        """Return whether sentences of folded words may express indifference; always true if not in English."""
        return not self._english or any(careless(words) or "whether" in words for words in sentences)

    def others_do_not_matter(self, words: Sequence[str], slot: str) -> bool:
        """Return whether a sentence names a slot and expresses indifference, but not to this slot."""
        own = self._own.get(slot, frozenset())
        about = (list(indifferent(each)) for each in split_sentences(words) if not own.isdisjoint(each))
        return any(behind and not _is_among(behind, own) for behind in about)

    def indifferent_to(self, turn: Turn, words: Sequence[str]) -> list[str]:
        """Return the slots of a turn to which folded words wrongly express indifference, as `area=dontcare`."""
        behind = list(indifferent(words, denied=True))
        if not behind:
            return []
        wanted = {slot.name for _, slot in turn.slots()}
        wanted -= {slot.name for _, slot in turn.slots() if not slot.delexicalizable}
        # "You do not care about the area?" does not ask for it; "what area would you like, or do you not care?" does.
        if not _ASKING_WHICH.intersection(words):
            wanted |= {slot.name for _, slot in turn.slots() if slot.value is None}
        # Only words of the slot's name: "type", a word of food, may be that of a meal, which does not matter.
        named = {slot: {word for word in self._own[slot] if names_slot(word, slot)} for slot in wanted & {*self._own}}
        known = {fact.slot or "": fact.name for fact in self._reader.facts.values() if fact.kind == INDIFFERENT_KIND}
        return [name for slot, name in known.items() if slot in named and _is_among(behind, named[slot])]

    def faults(self, turn: Turn, words: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return (`none` and `dontcare` facts of a turn not expressed for their slot, those of other slots expressed).

        People may say that they know nothing "about that", which the user asked for; in generated sentences the slot
        must be named.
        """
        stated = facts(turn).values()
        unknown = {fact.slot or "": fact.name for fact in stated if fact.kind == UNKNOWN_KIND}
        free = {fact.slot or "": fact.name for fact in stated if fact.kind == INDIFFERENT_KIND}
        chosen = {slot.name for _, slot in turn.slots() if slot.value is not None and slot.special is None}
        # "There are 37 inns" does not express indifference to anything.
        told = len(free) < 2 and (not self._english or careless(words))
        # Facts that are too rare in training for the reader to detect.
        unread = {slot: name for slot, name in free.items() if self._english and not self._reader.reads(name)}
        named = unknown | ({} if told else free) | unread
        unnamed = [name for slot, name in named.items() if not any(map(self._names(slot), words))]
        unnamed += [] if careless(words) else unread.values()
        # The sentence must say that it is unknown: one in training has "now information is available".
        for slot, name in unknown.items() if self._english else ():
            about = [each for each in split_sentences(words) if any(map(self._names(slot), each))]
            # "It serves none food" does not say that the food is unknown.
            known = (_without_none(each, slot) for each in about)
            unnamed += [name] if about and not any(map(unknowing, known)) else []
        # Except a slot that also has a value: "Thai food, or don't you care?"
        alone = {slot: name for slot, name in free.items() if slot not in chosen}
        unnamed += [name for slot, name in alone.items() if matters(words, self._own.get(slot, frozenset()))]
        own = {slot.name for _, slot in turn.slots()}
        kinds = {UNKNOWN_KIND} if unknown and own == unknown.keys() else set[str]()
        kinds |= {INDIFFERENT_KIND} if free else set()
        others = [fact for fact in self._reader.facts.values() if fact.kind in kinds and fact.slot not in own]
        rest = [word for word in words if not any(names_slot(word, slot) for slot in own)] if others or unknown else []
        # "No information about the price range" says nothing about the price.
        longer = {slot: [name for name in self._slots - own if name.startswith(slot)] for slot in unknown}
        unnamed += [unknown[s] for s, names in longer.items() if any(names_slot(w, n) for w in rest for n in names)]
        return unnamed, [fact.name for fact in others if any(names_slot(word, fact.slot or "") for word in rest)]

    def unasked(self, turn: Turn, words: Sequence[str]) -> list[str]:
        """Return the facts of slots without a value that training does not have and whose slot no word names.

        A slot that training never asks for must be named, unlike in "What area are you looking for?" for
        `?request(phone)`.
        """
        old = {*self._reader.facts, *self._reader.parts.unlearned}
        new = [fact for fact in facts(turn).values() if fact.bare and fact.name not in old]
        return [fact.name for fact in new if not any(map(self._names(fact.slot or ""), words))]

    def told(self, turn: Turn, words: Sequence[str], extra: Iterable[str]) -> list[str]:
        """Return the slots, or kinds of special values, that words of a sentence indicate and its turn lacks.

        Those already in `extra`, such as `food=dontcare`, are not repeated.
        """
        telling, counts = self._reader.parts.telling, Counter(slot.name for _, slot in turn.slots())
        held = told_of(facts(turn).values(), counts)
        # Words for several values of a slot do not count: "the L2 and L5 product families".
        several = [name for name, count in counts.items() if count > 1]
        said = (word for word in words if word in telling and not any(names_slot(word, name) for name in several))
        told = dict.fromkeys(telling[word] for word in said if telling[word] not in held)
        known = {part for name in extra for part in name.split("=")}
        return [name for name in (each.removeprefix("=") for each in told) if name not in known]

    def trigger_words(self) -> dict[str, tuple[str, ...]]:
        """Return fact -> words, at least one of which a sentence needs to state it; `none` facts must name the slot."""
        found = {name: tuple(words) for name, words in self._reader.parts.triggers.items()}
        words = [feature for feature in self._reader.parts.grams.features if feature.isalpha()]
        for fact in self._reader.facts.values():
            if fact.kind == UNKNOWN_KIND and (naming := tuple(filter(self._names(fact.slot or ""), words))):
                found[fact.name] = naming
        return found

    def _names(self, slot: str) -> Callable[[str], bool]:
        """Return a predicate: a word names a slot, as a part of its name or as learned to be specific to it."""
        own = frozenset(self._reader.parts.slot_words.get(slot, ()))
        return lambda word: word in own or names_slot(word, slot)


def _is_among(behind: Iterable[Sequence[str]], own: Set[str]) -> bool:
    """Return whether any of the parts of a text contains one of these words."""
    return not all(map(own.isdisjoint, behind))


def _without_none(words: Sequence[str], slot: str) -> list[str]:
    """Return words without each "none" that stands, like a value, before the name of a slot."""
    following = [*words[1:], ""]
    return [word for word, after in zip(words, following, strict=True) if word != "none" or not names_slot(after, slot)]
