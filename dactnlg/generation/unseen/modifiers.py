"""Modifiers: a noun is described with everything that an act has to say, each modifier in a wording from training.

"Why do you like M rated shooters for the PlayStation that came out in 2010?" is a frame that asks, with a noun and its
modifiers; training has the frame and each modifier, but hardly ever all of them together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import combinations, takewhile
from typing import NamedTuple

from dactnlg.generation.unseen.noun_phrases import (
    BEFORE,
    BEHIND,
    THAT,
    THING,
    WHERE,
    WITH,
    Modifier,
    NounPhrase,
    NounPhrases,
)
from dactnlg.generation.unseen.pieces import Said, Text, bare
from dactnlg.generation.unseen.seams import ALONE, LED, Opening, Seams, opening
from dactnlg.text.corrections.agreement import plural, singular
from dactnlg.text.grammar.english import ARTICLES, AUXILIARIES, RELATIVES, SUBJECTS, listed
from dactnlg.text.grammar.indifference import is_indifferent
from dactnlg.text.grammar.lexicon import Lexicon
from dactnlg.text.grammar.verbs import finite
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.sentences import PRONOUN, Tokens, split_sentences
from dactnlg.text.surface import strip_joiner, strip_joiners
from dactnlg.text.traits import read_trait

LEAST_SHARE = 0.05
"""Share of the occurrences of an item from which a wording is not an exception."""
OFTEN = 0.25
"""Share from which wordings in another place (`BEFORE`, `BEHIND`, ...) are tried as well."""
MOST_FRAMES, MOST_BEHIND = 16, 2
"""Maximum number of frames that are tried, and of consecutive phrases after a noun without conjunction."""
LEAST_LEADS = 3
"""Minimum number of frames with the same meaningless words before the modifiers of a noun: "a nice ..."."""
UNSURE = 4
"""Smoothing: added to the number of times that the order of two modifiers has been observed."""
_ONE = listed("no only any every each other")
"""Words with which a singular noun needs no article."""
_VOWELS, _THEM = tuple("aeiou"), "them"
_BEFORE_IT = AUXILIARIES - listed("have do let")
"""Words after which "it" is a subject: "is it new?", but "do you have it?"."""
_NEAR = 3
"""Number of words after a noun among which a clause of the frame may begin."""


class Frame(NamedTuple):
    """A training text without the modifiers of one of its nouns."""

    start: Tokens
    article: Tokens
    noun: Tokens
    many: bool
    end: Tokens

    @property
    def lead(self) -> Tokens:
        """The words after the article that mean nothing for the act: "nice"."""
        return self.article[1:] if self.article[:1] and self.article[0] in ARTICLES else self.article

    @property
    def opening(self) -> Opening:
        """The words before the modifiers of the noun."""
        words = strip_joiners((*self.start, *self.article))
        return opening(words, self.noun[0], many=self.many, words=LED if self.lead else ALONE)


class Modifiers:
    """Composes texts in which a noun is described by modifiers from training.

    Args:
        texts: the training texts.
        lexicon: the lexicon of their English.
        says: takes what a text says, and some of its words; returns which of that the words say, or None if unknown.
    """

    def __init__(self, texts: Sequence[Text], lexicon: Lexicon, says: Callable[[Said, Tokens], Said | None]) -> None:
        self._lexicon = lexicon
        self._wordings: dict[str, dict[Modifier, float]] = {}
        # How often an item precedes another in the same place, precedes any other, and occurs with any other.
        self._before: Counter[tuple[str, str]] = Counter()
        self._first, self._together = Counter[str](), Counter[str]()
        self._frames: dict[frozenset[str], dict[tuple[Frame, Said], float]] = {}
        commas = Counter(token for text in texts for token in text.tokens if strip_joiner(token) == ",")
        self._comma = max(commas, key=lambda token: (commas[token], token), default=",")
        self._phrases = NounPhrases(texts, lexicon, says)
        for text in texts:
            self._take_apart(text)
        # The rare words of "a truly excellent survival horror game" may mean something that no act of training has.
        leads = Counter(frame.lead for frames in self._frames.values() for frame, _ in frames)
        for frames in self._frames.values():
            for each in [each for each in frames if each[0].lead and leads[each[0].lead] < LEAST_LEADS]:
                del frames[each]

    def made(self, acts: frozenset[str], wanted: Said) -> Iterator[tuple[Tokens, int]]:
        """Yield texts that say what is wanted, each with its doubts.

        These are consecutive phrases beyond `MOST_BEHIND`, and one if the frame itself says an item that has modifiers.
        """
        fitting = [
            (-weight, frame, said) for (frame, said), weight in self._frames.get(acts, {}).items() if said < wanted
        ]
        for _, frame, said in sorted(fitting)[:MOST_FRAMES]:
            # A frame with its own clause, "pubs that I like", takes no further one such as "that have beer".
            described = any(self._describes(item) for item in said)
            clause = not RELATIVES.isdisjoint([*takewhile(str.isalpha, strip_joiners(frame.end)[:_NEAR])])
            for chosen in self._choices(frame, wanted - said):
                if not (clause and any(modifier.place in (THAT, WHERE) for _, modifier in chosen)):
                    yield self._filled(frame, chosen), max(0, _in_a_row(chosen) - MOST_BEHIND) + described

    @cached_property
    def seams(self) -> Seams:
        """Finds the seams between modifiers, across which unseen runs of words are no fault."""
        wordings = {each for found in self._wordings.values() for each in found}
        numbers = (self._of_number(each, many=many) for each in wordings for many in (False, True))
        openings = (frame.opening for frames in self._frames.values() for frame, _ in frames)
        return Seams(self._phrases, (each for each in numbers if each is not None), openings)

    def _describes(self, item: str) -> bool:
        """Whether an item has modifiers in training, and is not the name, number or kind of what is described."""
        names = (self._lexicon.subject, *self._lexicon.counts, *self._phrases.nouns)
        return item not in names and _name(item) in self._wordings

    def _take_apart(self, text: Text) -> None:
        start = 0
        for sentence in split_sentences(text.tokens):
            for phrase in self._phrases.of(sentence, text.said):
                self._add(text, start, sentence, phrase)
            start += len(sentence)

    def _add(self, text: Text, start: int, sentence: Tokens, phrase: NounPhrase) -> None:
        """Record the modifiers of a noun, and the rest of its text as a frame."""
        for item, modifier in phrase.described:
            wordings = self._wordings.setdefault(_name(item), {})
            wordings[modifier] = wordings.get(modifier, 0.0) + text.weight
        for (one, first), (other, second) in combinations(phrase.described, 2):
            if first.place == second.place:
                self._before[_name(one), _name(other)] += 1
                self._first[_name(one)] += 1
                self._together.update((_name(one), _name(other)))
        rest, left = text.tokens[start + len(sentence) :], text.said.difference(item for item, _ in phrase.described)
        end = (*sentence[phrase.stop :], *rest)
        if phrase.many and self._lexicon.subject not in left:
            end = self._of_them(end)
        noun = sentence[phrase.noun : phrase.end]
        article = sentence[phrase.start : phrase.own]
        frame = Frame(text.tokens[: start + phrase.start], article, noun, phrase.many, end)
        # Not without a finite verb: "all pubs in SLOT_AREA" is no sentence.
        told = finite(strip_joiners((*sentence[: phrase.start], *noun, *sentence[phrase.stop :])), self._lexicon.verbs)
        if told and self._fits(frame, left):
            frames = self._frames.setdefault(text.acts, {})
            frames[frame, left] = frames.get((frame, left), 0) + text.weight

    def _of_them(self, tokens: Tokens) -> Tokens:
        """Replace "it" by "them" after a plural noun, unless it is a subject: "have you played it?"."""
        words = ["", *strip_joiners(tokens), ""]
        around = zip(words, tokens, words[2:], strict=False)
        verbs = self._lexicon.verbs
        return tuple(
            _THEM if token == PRONOUN and before not in _BEFORE_IT and more not in verbs and "'" not in more else token
            for before, token, more in around
        )

    def _fits(self, frame: Frame, said: Said) -> bool:
        """Whether a frame can take another noun phrase."""
        counted = any(map(str.isdecimal, strip_joiners((*frame.start, *frame.article, *frame.noun, *frame.end))))
        bare_noun = not (
            frame.many or frame.article or frame.noun == (THING,) or {*strip_joiners(frame.start)[-1:]} & _ONE
        )
        # "The best pub you have ever seen" may be the best because of its modifiers.
        known = not SUBJECTS.isdisjoint(strip_joiners(frame.end)[:1])
        return not (counted or bare_noun or known or any(map(is_indifferent, said)))

    def _choices(self, frame: Frame, items: Said) -> Iterator[list[tuple[str, Modifier]]]:
        """Yield choices of modifiers for all items to be said of a noun: the most frequent ones, then some variants."""
        # The name of a thing, and how many there are, must be said by the frame.
        unfit = (self._lexicon.subject, *self._lexicon.counts)
        ways = {item: self._ways(_name(item), many=frame.many) for item in sorted(items)}
        if frame.noun[:1] == (THING,):
            # Not "cheap something".
            ways = {item: {m: share for m, share in way.items() if m.place != BEFORE} for item, way in ways.items()}
        if not all(ways.values()) or any(item in unfit or bare(item) or is_indifferent(item) for item in items):
            return
        usual = {item: next(iter(way)) for item, way in ways.items()}
        # Avoids "... for SLOT_PLATFORMS on Mac on Steam" by means of clauses.
        row = [item for item, modifier in usual.items() if modifier.place == BEHIND]
        special = [item for item in row if not is_placeholder(item)]
        clauses = {item: each for item in (*special, *row) for each in ways[item] if each.place == THAT}
        moved = [*clauses][: max(0, len(row) - MOST_BEHIND, len(special) - 1)]
        usual |= {item: clauses[item] for item in moved}
        yield [*usual.items()]
        for item, way in ways.items():
            for other, share in way.items():
                if item not in moved and other != usual[item] and share >= OFTEN:
                    yield [*(usual | {item: other}).items()]

    def _ways(self, name: str, *, many: bool) -> dict[Modifier, float]:
        """Return an item's most frequent modifier in each place, with the share of its modifiers in this place."""
        wordings = sorted(self._wordings.get(name, {}).items(), key=lambda each: (-each[1], each[0]))
        total = sum(weight for _, weight in wordings)
        shares, best = dict[str, float](), dict[str, Modifier]()
        for modifier, weight in wordings:
            own = self._of_number(modifier, many=many)
            shares[modifier.place] = shares.get(modifier.place, 0.0) + weight / total
            if own is not None and weight >= LEAST_SHARE * total:
                best.setdefault(modifier.place, own)
        return {best[place]: shares[place] for place in sorted(best, key=lambda place: -shares[place])}

    def _of_number(self, modifier: Modifier, *, many: bool) -> Modifier | None:
        """Return a modifier in the singular or plural; None for a clause whose verb cannot be changed accordingly."""
        if modifier.place != THAT or modifier.many == many:
            return modifier
        verb = modifier.tokens[0]
        other = plural(verb) if many else singular(verb, self._lexicon.verbs)
        return modifier._replace(many=many, tokens=(other, *modifier.tokens[1:])) if other != verb else None

    def _filled(self, frame: Frame, chosen: Sequence[tuple[str, Modifier]]) -> Tokens:
        """Return a frame with modifiers of its noun, in the order that is most usual in training."""
        groups: dict[str, list[tuple[str, Tokens]]] = {}
        for item, modifier in chosen:
            groups.setdefault(modifier.place, []).append((item, modifier.tokens))
        phrase = [token for tokens in self._in_order(groups.get(BEFORE, [])) for token in tokens]
        phrase += frame.noun
        behind = groups.get(BEHIND, [])
        for values in (True, False):
            for tokens in self._in_order([each for each in behind if is_placeholder(each[0]) == values]):
                phrase += tokens
        for place in (WITH, THAT):
            if parts := self._in_order(groups.get(place, [])):
                phrase += [place, *self._listed(parts)]
        if parts := self._in_order(groups.get(WHERE, [])):
            phrase += ["and"] if THAT in groups else []
            phrase += self._listed(parts)
        article = frame.article
        if article in (("a",), ("an",)):
            article = ("an" if phrase[0].startswith(_VOWELS) else "a",)
        return (*frame.start, *article, *phrase, *frame.end)

    def _in_order(self, parts: Sequence[tuple[str, Tokens]]) -> list[Tokens]:
        names = [_name(item) for item, _ in parts]
        ranked = sorted(parts, key=lambda part: (-self._earliness(_name(part[0]), names), part[0]))
        return [tokens for _, tokens in ranked]

    def _earliness(self, name: str, others: Iterable[str]) -> float:
        """Return how early an item's modifiers come in training, relative to the others given, and in general."""
        before = {other: (self._before[name, other], self._before[other, name]) for other in others}
        alone = self._first[name] / (self._together[name] + UNSURE)
        return sum((own - other) / (own + other + UNSURE) for own, other in before.values()) + alone

    def _listed(self, parts: Sequence[Tokens]) -> list[str]:
        """Return phrases as a list: "beer, wine and a garden"."""
        found = [*parts[0]]
        for number, tokens in enumerate(parts[1:], 2):
            found += ["and" if number == len(parts) else self._comma, *tokens]
        return found


def _in_a_row(chosen: Iterable[tuple[str, Modifier]]) -> int:
    return sum(modifier.place == BEHIND for _, modifier in chosen)


def _name(item: str) -> str:
    """Return an item without its act type: `kidsallowed=no`."""
    trait = read_trait(item)
    return str(trait._replace(act_type="")) if trait.slot else item
