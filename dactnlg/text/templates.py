"""Training sentences as templates: the random baseline samples from them, and no act is left without a sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from dactnlg._utils.memory import Memory
from dactnlg.acts import Turn
from dactnlg.text.placeholders import Required, is_placeholder, placeholder_name, without_ordinal
from dactnlg.text.sentences import Tokens, join_sentences, last_sentence
from dactnlg.text.surface import strip_joiner, tokenize
from dactnlg.text.traits import Key, Trait, act_types, kind, read_trait, special_values

_PREPOSITIONS = frozenset({"at", "by", "for", "from", "in", "near", "on", "to"})
REMEMBERED = 1_000, 1 << 20
"""Slot names for which it is cached whether they are nouns, at most, and their bytes."""
_BEFORE_NOUNS = ("the", "what", "of")
_SHORTEST, _RAREST = 3, 5
"""The fewest letters of a word that may be part of a slot's name, and how often training must have it."""


class Templates:
    """Delexicalised training sentences by the acts and slots that they express.

    Args:
        sentences: for each kind of turn (see `kind`), its sentences with their weights.
        specials: for each kind and sentence, the special values (see `special_values`) of each turn that it expressed;
            None if there were none.
    """

    def __init__(
        self,
        sentences: dict[Key, dict[Tokens, float]],
        specials: dict[tuple[Key, Tokens], list[Key]] | None = None,
    ) -> None:
        self.sentences, self.specials = sentences, specials or {}
        self._things: Memory[bool] = Memory(*REMEMBERED)
        # By the set of their placeholders: for each kind with its special values, the sentence with the most weight.
        self._by_placeholders: dict[frozenset[str], dict[frozenset[str], tuple[float, Tokens]]] = {}
        for key, templates in sentences.items():
            for template, weight in templates.items():
                held = Counter(strip_joiner(token) for token in template if is_placeholder(token))
                if any(count > 1 for count in held.values()):
                    continue
                group = self._by_placeholders.setdefault(frozenset(held), {})
                rank = (-weight, template)
                for values in self.specials.get((key, template), [()]):
                    traits = frozenset((*key, *values))
                    group[traits] = min(rank, group.get(traits, rank))

    @classmethod
    def collect(cls, pairs: Iterable[tuple[Turn, Sequence[str]]]) -> Templates:
        """Collect templates from delexicalised training pairs.

        An example is an act with the set of its sentences. Every example has weight 1, divided among its sentences.
        """
        examples: dict[Turn, dict[Tokens, None]] = {}
        for turn, tokens in pairs:
            examples.setdefault(turn, {})[tuple(tokens)] = None
        sentences: dict[Key, dict[Tokens, float]] = {}
        specials: dict[tuple[Key, Tokens], dict[Key, None]] = {}
        for turn, templates in examples.items():
            key = kind(turn)
            weights = sentences.setdefault(key, {})
            for template in templates:
                weights[template] = weights.get(template, 0.0) + 1.0 / len(templates)
                specials.setdefault((key, template), {})[special_values(turn)] = None
        return cls(sentences, {place: list(found) for place, found in specials.items()})

    def same(self, turn: Turn) -> dict[Tokens, float]:
        """Return the training sentences with the same acts and slots (Sharma et al. 2017, section 4.1).

        For a combination unseen in training, those of the combination that shares most with it. Each sentence comes
        with its weight, the number of examples that could have been drawn to express it.
        """
        key = kind(turn)
        if key not in self.sentences:
            wanted = frozenset(key)
            # Most shared entries first, then the fewest others; the key itself breaks ties.
            key = min(self.sentences, key=lambda other: _distance(wanted, other), default=())
        return self.sentences.get(key, {})

    def cover(self, turn: Turn, required: Sequence[Required], *, english: bool = True) -> list[str]:
        """Return tokens that express every required slot once, composed of whole training sentences.

        The sentence of the nearest acts that expresses most of the slots comes first, then further ones for the rest; a
        slot that no sentence expresses by itself is named plainly, in a full sentence if `english`. A final question
        stays final. There is always at least one token.
        """
        wanted = frozenset((*kind(turn), *special_values(turn)))
        owed = {item.placeholder: item for item in required}
        tokens: list[str] = []
        while True:
            left = frozenset(owed)
            best = self._best(wanted, left, first=not tokens)
            if best is None and not tokens:
                best = self._best(wanted, left, first=True, strange=True)
            if best is None:
                break
            tokens = join_sentences(tokens, best)
            for token in best:
                owed.pop(strip_joiner(token), None)
            if not owed:
                return tokens
        for item in owed.values():
            words = self.spelt_out(item.slot.name)
            statement = f"it is {words}" if words in _PREPOSITIONS else f"the {words} is"
            naming = statement if english else f"{words}:"
            tokens = join_sentences(tokens, [*tokenize(naming), item.placeholder])
        # Without slots to express, and with no sentence that has none, the acts themselves are named.
        return tokens or tokenize(" ".join(_plainly(turn)))

    def _best(
        self, wanted: frozenset[str], owed: frozenset[str], *, first: bool, strange: bool = False
    ) -> Tokens | None:
        """Return a sentence for some of what is owed; with `strange`, even one of acts that are not wanted."""
        ranked = []
        for said, group in self._by_placeholders.items():
            # Only the first sentence may express no slot ("goodbye"); if slots are owed, only if the acts include it.
            if said <= owed and (said or first):
                for key, rank in group.items():
                    known = strange or wanted.issuperset(act_types(key))
                    if known and (said or not owed or key <= wanted):
                        ranked.append((-len(said), -len(wanted & key), len(key - wanted), rank))
        return min(ranked)[-1][-1] if ranked else None

    def spelt_out(self, slot_name: str) -> str:
        """Return the words of a slot's name, as in training: "price range" for `pricerange` or `pub-pricerange`."""
        first, *rest = slot_name.casefold().replace("_", " ").split("-")
        parts = rest if rest and first in self._domains else [first, *rest]
        return " ".join(word for name in " ".join(parts).split() for word in _segments(name, self._words))

    @cached_property
    def _words(self) -> Counter[str]:
        return Counter(word for sentence in self.texts() for word in sentence)

    @cached_property
    def _domains(self) -> set[str]:
        """The prefixes of slot names that are domains, `hotel` in `hotel-area`: act types begin with them, too."""
        traits = {read_trait(printed.casefold()) for key in self.sentences for printed in key}
        begun = {(trait.act_type, trait.slot.partition("-")[0]) for trait in traits if "-" in trait.slot}
        return {first for act, first in begun if act.startswith(first)}

    def names_thing(self, words: Tokens, slot_name: str) -> bool:
        """Whether training has the words of a slot's name as a noun: "the price range", "what area", "kind of food"."""
        found = self._things.get((words, slot_name))
        if found is None:
            runs = {(before, *words) for before in (*_BEFORE_NOUNS, placeholder_name(slot_name))}
            long = len(words) + 1
            found = any(text[at : at + long] in runs for text in self.texts() for at in range(len(text)))
            self._things.put((words, slot_name), found, 4 * len(slot_name))
        return found

    def has_further(self, act_type: str, placeholder: str) -> bool:
        """Whether training has the placeholder of a further value (`SLOT_FOOD#2`) in texts of an act type.

        Turns in which several acts have the slot do not count: the value may be another act's.
        """
        return (act_type, placeholder) in self._further

    @cached_property
    def _further(self) -> set[tuple[str, str]]:
        held = {(key, strip_joiner(t)) for key, text in self.specials for t in text if is_placeholder(t)}
        rows = ((_having(key, without_ordinal(name)), name) for key, name in held if "#" in name)
        return {(acts[0], name) for acts, name in rows if len(acts) == 1}

    @cached_property
    def subject(self) -> str:
        """The placeholder with which most texts begin, of what they are about; empty if none does."""
        subjects = Counter(strip_joiner(text[0]) for text in self.texts() if is_placeholder(text[0]))
        return max(subjects, key=lambda name: (subjects[name], name), default="")

    def texts(self) -> Iterator[Tokens]:
        """Yield the distinct sentences of each kind of turn."""
        for group in self.sentences.values():
            yield from group

    def endings(self, trait: Trait) -> list[Tokens]:
        """Return the last sentences, if without placeholders, of training texts for turns with a trait (see `kind`)."""
        printed = str(trait)
        found = {
            tuple(last): None
            for key, templates in self.sentences.items()
            if printed in key
            for template in templates
            if not any(map(is_placeholder, last := last_sentence(template)))
        }
        return list(found)

    def to_json(self) -> list[Any]:
        """Return a list that `from_json` reads: [kind, [[sentence, weight, special values of each turn], ...]] each."""
        return [
            [list(key), [[" ".join(t), weight, self.specials.get((key, t), [])] for t, weight in templates.items()]]
            for key, templates in self.sentences.items()
        ]

    @classmethod
    def from_json(cls, data: list[Any]) -> Templates:
        """Read what `to_json` wrote."""
        rows = [(tuple(key), tuple(line.split()), *rest) for key, lines in data for line, *rest in lines]
        sentences: dict[Key, dict[Tokens, float]] = {}
        for key, template, weight, _ in rows:
            sentences.setdefault(key, {})[template] = weight
        return cls(sentences, {(key, template): [tuple(v) for v in values] for key, template, _, values in rows})


def _having(key: Key, placeholder: str) -> list[str]:
    """Return the act types in a kind of turns that have a slot."""
    traits = map(read_trait, key)
    return [trait.act_type for trait in traits if trait.slot and placeholder_name(trait.slot) == placeholder]


def _segments(name: str, counts: Counter[str]) -> list[str]:
    """Return the words that a name is composed of, in the split whose rarest word is most frequent."""
    # For each prefix of the name: how often its rarest word occurs, and the words.
    best: list[tuple[int, list[str]]] = [(sum(counts.values()), []), *((0, []) for _ in name)]
    for end in range(_SHORTEST, len(name) + 1):
        for start in range(end - _SHORTEST + 1):
            before, words = best[start]
            least = min(before, counts[name[start:end]])
            if least >= _RAREST and least > best[end][0]:
                best[end] = least, [*words, name[start:end]]
    return best[-1][1] or [name]


def _plainly(turn: Turn) -> list[str]:
    names = [name for act in turn for name in (act.act_type.strip("?"), *(slot.name for slot in act.slots))]
    return [name.replace("_", " ").casefold() for name in names]


def _distance(wanted: frozenset[str], key: Key) -> tuple[int, int, Key]:
    return -len(wanted.intersection(key)), len(frozenset(key) - wanted), key
