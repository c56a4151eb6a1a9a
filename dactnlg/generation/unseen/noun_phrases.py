"""Noun phrases: how training describes kinds of things, with modifiers before and after the noun."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from dactnlg.generation.unseen.pieces import Said, Text
from dactnlg.text.grammar.english import (
    ARTICLES,
    BEING,
    COORDINATING,
    FUNCTION_WORDS,
    INDEFINITE,
    PREPOSITIONS,
    RELATIVES,
    SUBJECTS,
    listed,
)
from dactnlg.text.grammar.lexicon import PLURALS, Lexicon
from dactnlg.text.grammar.plurals import pluralized
from dactnlg.text.placeholders import is_placeholder, values_alike, without_ordinal
from dactnlg.text.sentences import ENDS, Tokens
from dactnlg.text.surface import JOINER, strip_joiners

BEFORE, BEHIND, WITH, THAT, WHERE = "before", "behind", "with", "that", "where"
"""The place of a modifier: before the noun, after it, or there in a list or clause that it may share with others."""
COMMON = 0.02
"""Minimum frequency of a noun that says what kind a thing is, relative to the most frequent such noun."""
BEHIND_NOUNS = 0.05
"""Minimum share of a participle's occurrences that follow such a noun for it to count as a modifier."""
THING = "something"
"""Stands for any noun: "something in the south"."""
_QUALITIES = listed("available good suitable open perfect ideal")
"""Adjectives that can follow a noun: "pubs good for lunch"."""
_NO_QUALITY = COORDINATING | RELATIVES | PREPOSITIONS | SUBJECTS | FUNCTION_WORDS | {*ENDS, ":", ";"}
_PARTICIPLES = ("ed", "ing")
_NEAR = 3
"""Number of words after a noun among which a name belongs to it."""


class Modifier(NamedTuple):
    """Words that say one item about a noun: their place, and whether they are in the plural."""

    place: str
    tokens: Tokens
    many: bool = False


class NounPhrase(NamedTuple):
    """A noun of a sentence with its modifiers; positions are indices of tokens.

    Attributes:
        start: where it begins, including its article.
        own: after the article, and after words that mean nothing for the act: "a nice ...", "play ...".
        noun: position of the noun.
        end: after the noun.
        stop: after the last modifier.
        many: whether the noun is plural.
        described: the items said about the noun, each with the modifier that says it.
    """

    start: int
    own: int
    noun: int
    end: int
    stop: int
    many: bool
    described: list[tuple[str, Modifier]]


class NounPhrases:
    """Finds the noun phrases of sentences.

    Args:
        texts: the training texts.
        lexicon: the lexicon of their English.
        says: see `Modifiers`.
    """

    def __init__(self, texts: Iterable[Text], lexicon: Lexicon, says: Callable[[Said, Tokens], Said | None]) -> None:
        self._lexicon, self._says = lexicon, says
        every = [strip_joiners(text.tokens) for text in texts]
        one, self._many = _kinds(every, lexicon.plurals)
        self.nouns = one | self._many | {THING}
        self._participles = _participles(every, self.nouns)

    def of(self, sentence: Tokens, said: Said) -> Iterator[NounPhrase]:
        """Yield the noun phrases of a sentence, as far as it can be determined what their words say.

        Args:
            sentence: the tokens.
            said: what the whole text says.
        """
        words = strip_joiners(sentence)
        for at in self.heads(words):
            end, many = self.end_of(words, at)
            first, own, before = self._before(words, sentence, at, said)
            if first is not None:
                stop, behind = self._behind(words, sentence, end, said, many=many)
                start = first - (first > 0 and words[first - 1] in ARTICLES)
                yield NounPhrase(start, own, at, end, stop, many, [*before, *behind])

    def begins(self, word: str) -> bool:
        """Whether a word may begin a modifier after a noun."""
        return word in PREPOSITIONS | RELATIVES | COORDINATING | _QUALITIES or word in self._participles

    def heads(self, words: Sequence[str]) -> list[int]:
        """Return the positions of head nouns: "games", and not "shooter", in "shooter games"."""
        words = values_alike(words)
        ends = zip(words, [*words[1:], ""], strict=True)
        return [at for at, (word, more) in enumerate(ends) if word in self.nouns and more not in self.nouns]

    def end_of(self, words: Sequence[str], at: int) -> tuple[int, bool]:
        """Return where a noun ends, with a name after it ("pub other than SLOT_NAME"), and whether it is plural."""
        end = at + 2 if words[at + 1 : at + 2] and words[at + 1] in PLURALS else at + 1
        many = words[at] in self._many or end > at + 1
        near = words[end : end + _NEAR]
        name = near.index(self._lexicon.subject) if self._lexicon.subject in near else 0
        apart = any(word in RELATIVES | {*ENDS, ","} or word in self._lexicon.verbs for word in near[:name])
        return (end if not name or apart else end + name + 1), many

    def _before(
        self, words: Sequence[str], sentence: Tokens, at: int, said: Said
    ) -> tuple[int | None, int, list[tuple[str, Modifier]]]:
        """Return where a noun's phrase begins (without article), where its modifiers begin, and those before the noun.

        The two positions differ if words that mean nothing for the act come first: "a nice cheap pub", "do you play
        cheap games". The first is None if it is not known what the words before the noun say.
        """
        first, parts = at, list[list[int]]()
        others = _NO_QUALITY | self._lexicon.verbs | self._lexicon.counts | {self._lexicon.subject}
        while first and words[at] != THING and words[first - 1] not in others:
            first -= 1
        for place in range(first, at):
            if is_placeholder(words[place]) or not parts:
                parts.append([place])
            else:
                parts[-1].append(place)
        found, own = [], first
        for part in parts:
            start, end = part[0], part[-1] + 1
            shown = self._says(said, sentence[start:end])
            if shown is None or len(shown) > 1 or (not shown and part is not parts[0]):
                return None, first, []
            if not any(map(is_placeholder, words[start:end])):
                own = self._quality(sentence, start, end, said) if shown else end
                start = own
            if shown:
                found.append((min(shown), Modifier(BEFORE, sentence[start:end])))
        return first, own, found

    def _quality(self, sentence: Tokens, start: int, end: int, said: Said) -> int:
        """Return the start of the shortest suffix that says as much as all words: "play | multiplayer"."""
        shown = self._says(said, sentence[start:end])
        for at in range(end - 1, start, -1):
            if JOINER not in sentence[at - 1] + sentence[at] and self._says(said, sentence[at:end]) == shown:
                return at
        return start

    def _behind(
        self, words: Sequence[str], sentence: Tokens, place: int, said: Said, *, many: bool
    ) -> tuple[int, list[tuple[str, Modifier]]]:
        """Return where a noun's phrase ends, and its modifiers after the noun, in order, with the items they say."""
        found = list[tuple[str, Modifier]]()
        stop = len(words) - (words[-1] in ENDS)
        while place < stop and self.begins(words[place]):
            part = self._part(words, sentence, place, stop, said)
            if part is None:
                break
            end, item = part
            start = place
            while start < end and words[start] in COORDINATING:
                start += 1
            modifier = self._modifier(words[start:end], sentence[start:end], many=many)
            if modifier is None or "or" in words[place:start]:
                break
            found.append((item, modifier))
            place = end
        return place, found

    def _part(
        self, words: Sequence[str], sentence: Tokens, place: int, stop: int, said: Said
    ) -> tuple[int, str] | None:
        """Return where the words after a noun that say one item end, and the item; None if there are none."""
        clause = any(word in RELATIVES or word in self._lexicon.verbs for word in words[place : place + 2])
        for end in (*(at for at in range(place + 2, stop) if self._ends(words, at, clause=clause)), stop):
            shown = self._says(said, sentence[place:end])
            if shown is None or len(shown) > 1 or not SUBJECTS.isdisjoint(words[place:end]):
                return None
            if shown:
                # Not "... has no garden or bar", "... does or does not allow dogs".
                if "or" in words[place:end] and not any(map(is_placeholder, shown)):
                    return None
                return (end, min(shown)) if end == stop or self._goes_on(words, end) else None
        return None

    def _ends(self, words: Sequence[str], place: int, *, clause: bool) -> bool:
        """Whether a modifier may end before a word: not in "where dogs are | allowed"."""
        if clause:
            return self.begins(words[place]) and words[place - 1] not in BEING | {"not"}
        return self.begins(words[place]) or words[place] in self._lexicon.verbs | {":", ";"}

    def _goes_on(self, words: Sequence[str], place: int) -> bool:
        """Whether the words from `place` go on with something else, instead of coordinating with what precedes them."""
        if words[place] not in COORDINATING:
            return True
        more = next((word for word in words[place:] if word not in COORDINATING), "")
        own = more in PREPOSITIONS | RELATIVES | SUBJECTS | _QUALITIES or more in self._participles
        return "or" not in words[place : place + 2] and (own or more in self._lexicon.verbs or more in PLURALS)

    def _modifier(self, words: Sequence[str], tokens: Tokens, *, many: bool) -> Modifier | None:
        first = words[0] if words else ""
        if first == WHERE:
            return Modifier(WHERE, tokens)
        if first in RELATIVES:
            told = words[1:2] and (words[1] in self._lexicon.verbs or words[1].endswith("n't"))
            return Modifier(THAT, tokens[1:], many) if told else None
        if first in self._lexicon.verbs:
            return Modifier(THAT, tokens, many)
        if first == WITH:
            return Modifier(WITH, tokens[1:]) if words[1:] else None
        fits = first in PREPOSITIONS | _QUALITIES or first in self._participles
        return Modifier(BEHIND, tokens) if fits else None


def _kinds(texts: Iterable[Sequence[str]], plurals: Collection[str]) -> tuple[set[str], set[str]]:
    """Return the nouns that say what kind a thing is, in the singular and in the plural: "game", "games"."""
    counts, every, counted = Counter[str](), set[str](), {*plurals}
    for words in texts:
        every.update(words)
        counted.update(word for word, more in pairwise(words) if more in PLURALS and not is_placeholder(word))
        for place, (verb, article) in enumerate(pairwise(words)):
            if verb in BEING and article in INDEFINITE:
                end = place + 2
                while end < len(words) and words[end] not in _NO_QUALITY:
                    end += 1
                while end > place + 2 and words[end - 1].endswith(_PARTICIPLES):
                    end -= 1
                if end > place + 2:
                    counts[without_ordinal(words[end - 1])] += 1
    least = COMMON * max(counts.values(), default=0)
    one = {word for word, count in counts.items() if count >= least and (pluralized(word) in every or word in counted)}
    return one, {pluralized(word) for word in one if not is_placeholder(word)} & every


def _participles(texts: Iterable[Sequence[str]], nouns: Collection[str]) -> frozenset[str]:
    """Return the participles that follow nouns in training, "a game developed by"; not other words of this form."""
    counts, behind = Counter[str](), Counter[str]()
    for text in texts:
        words = [word for word in text if word not in PLURALS]
        counts.update(word for word in words if word.endswith(_PARTICIPLES))
        behind.update(word for noun, word in pairwise(words) if noun in nouns and word.endswith(_PARTICIPLES))
    return frozenset(word for word, count in behind.items() if count >= BEHIND_NOUNS * counts[word])
