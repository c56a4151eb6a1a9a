"""Composition: texts for combinations of slots that training never had, put together from texts that it had.

Whole training texts and sentences stand behind each other, word for word; phrases are left out of a text or put into
it where training has the words at both sides together; a noun has all the modifiers that training has of its kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from dactnlg._utils.memory import Memory
from dactnlg.acts import Turn
from dactnlg.generation.unseen.modifiers import Modifiers
from dactnlg.generation.unseen.phrases import Phrases
from dactnlg.generation.unseen.piece_finder import PieceFinder
from dactnlg.generation.unseen.pieces import Alternatives, Piece, Pieces, Said, asked_for, bare, wanted
from dactnlg.text.grammar.fluency import Fluency
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.sentences import PRONOUN, Tokens, join_sentences, split_sentences
from dactnlg.text.templates import kind

MOST_PIECES, MANY = 4, 6
"""Pieces of a text; one more for acts that have more than so many slots."""
MOST_COVERS = 200
"""Ways to say an act in pieces that are looked at."""
MOST_EACH = 4
"""Texts of the same contents that are tried."""
MOST_COMPOSED = 60
"""Texts returned."""
JOINT = 3
"""Doubts about a further sentence where training says all in one."""
ASKED = 1
"""The same where each is a question."""
SEAMS = 1
"""Doubts, at most, about words between modifiers of a noun that training never has together."""
MOST_TEXTS = 50_000
"""Training texts that modifiers are learned from, the most frequent ones: seconds."""
REMEMBERED = 64, 64 << 20
"""Combinations of act types whose pieces are remembered, at most, and their bytes."""
MADE = 10_000, 16 << 20
"""Acts of which the texts are remembered, at most, and their bytes."""


class _Known(NamedTuple):
    """The pieces of some act types, the phrases of their texts, and those of what is stated before questions."""

    pieces: Pieces
    phrases: Phrases
    stated: Phrases


class _Way(NamedTuple):
    """A way to say an act: what a text begins with, and what the sentences behind it say."""

    joints: int
    base: Said
    more: tuple[Said, ...]
    texts: list[Piece]


_Beginning = tuple[Said, list[Piece]]


class Composer:
    """Puts texts together. Several threads may use one.

    Args:
        preprocessor: of a run.
    """

    def __init__(self, preprocessor: Preprocessor) -> None:
        self._preprocessor, self._finder = preprocessor, PieceFinder(preprocessor)
        self._known: Memory[_Known] = Memory(*REMEMBERED)
        self._made: Memory[list[tuple[Tokens, int]]] = Memory(*MADE)
        self._modifiers: Modifiers | None = None

    @property
    def subject(self) -> str:
        """The placeholder with which most texts begin, if any does."""
        return self._finder.subject

    def forget(self) -> None:
        """Drop the texts composed so far; the pieces of training stay."""
        self._made.clear()

    def prepare(self, act_type: str, fluency: Fluency) -> None:
        """Take the training texts for an act type apart now, which else the first of its acts waits for."""
        if not self._in_words:
            self._of(frozenset({act_type}), fluency)
        if self._shown:
            self._described(fluency)

    @property
    def _in_words(self) -> bool:
        """Whether values stand in the texts themselves, so that it is not known what their parts say."""
        return bool(self._preprocessor.delexicalizer.lexicalized)

    @property
    def _shown(self) -> bool:
        """Whether whole texts say what their acts do at least, as opinions are in words of their own."""
        delexicalizer = self._preprocessor.delexicalizer
        return delexicalizer.lexicalized.keys() <= delexicalizer.paraphrased

    def seams(self, text: Tokens, fluency: Fluency) -> int:
        """Return how many runs of a text training never had because it has other modifiers together, but the first."""
        found = 0
        for sentence in split_sentences(text) if self._shown else ():
            across = fluency.strange_across(sentence, self._described(fluency).seams.of(sentence))
            found += min(across, fluency.strange_runs(sentence)) if across else 0
        return max(0, found - SEAMS)

    def _described(self, fluency: Fluency) -> Modifiers:
        if self._modifiers is None:
            texts = self._finder.texts
            if len(texts) > MOST_TEXTS:
                texts = sorted(texts, key=lambda text: -text.weight)[:MOST_TEXTS]
            self._modifiers = Modifiers(texts, fluency.lexicon, self._finder.said_here)
        return self._modifiers

    def composed(self, turn: Turn, fluency: Fluency) -> list[tuple[Tokens, int]]:
        """Return texts that say a turn, as far as their pieces show, each with its doubts, the fewest first.

        What training says of an act without values needs no pieces: "goodbye".

        Args:
            turn: the acts.
            fluency: of the training texts.
        """
        own = self._preprocessor.templates.sentences.get(kind(turn), {})
        if own and all(slot.value is None for _, slot in turn.slots()):
            return [(text, 0) for text in own]
        said = wanted(self._preprocessor, turn) if self._shown else None
        if not said or f"{self.subject}#2" in said:
            return []
        act_types = frozenset(act.act_type for act in turn.acts)
        known = self._made.get((act_types, said))
        if known is None:
            found = {} if self._in_words else self._compose(act_types, said, fluency)
            if min(found.values(), default=1):
                for tokens, apart in self._described(fluency).made(act_types, said):
                    found.setdefault(tokens, fluency.doubts(tokens) - self.seams(tokens, fluency) + apart)
            known = sorted(found.items(), key=lambda each: (each[1], each[0]))[:MOST_COMPOSED]
            self._made.put((act_types, said), known, 500 + 2000 * len(known))
        return known

    def questions(self, turn: Turn, fluency: Fluency) -> Iterator[tuple[Turn, Alternatives]]:
        """Yield the ways to ask for slots that the model has not rated, each with a turn; none where nothing is asked.

        Of several questions each is asked as the model would ask it alone, if its scores are given to `Alternatives`.
        They are all that these act types have: what has no words of its own takes another's, whichever came before.

        Args:
            turn: the acts.
            fluency: of the training texts.
        """
        said = None if self._in_words else wanted(self._preprocessor, turn)
        if any(map(bare, said or ())):
            pieces = self._of(frozenset(act.act_type for act in turn.acts), fluency).pieces
            for base, group in (*pieces.whole.items(), *pieces.single.items()):
                if base and all(map(bare, base)) and not group.rated:
                    yield asked_for(base), group

    def _compose(self, act_types: frozenset[str], said: Said, fluency: Fluency) -> dict[Tokens, int]:
        pieces, phrases, stated = self._of(act_types, fluency)
        pieces = self._finder.by_name(pieces, said, fluency)
        joint = self._joint(act_types, said, pieces)
        found = {
            tokens: fluency.doubts(tokens) + joint * count + pieces.told(tokens)
            for tokens, count in self._joined(pieces, said)
        }
        found |= {piece.tokens: fluency.doubts(piece.tokens) for piece in pieces.whole.get(said, ())}
        if min(found.values(), default=1):
            for tokens, changes in phrases.made(said):
                found.setdefault(tokens, fluency.doubts(tokens) + changes)
            asked = self._finder.asked(said)
            for tokens, changes in stated.made(said - asked) if asked and pieces.stated else ():
                for questions in self._questions(pieces, asked):
                    text = tuple(chain(tokens, *questions))
                    found.setdefault(text, fluency.doubts(text) + changes)
        return found

    def _questions(self, pieces: Pieces, asked: Said) -> Iterator[list[Tokens]]:
        """Yield questions for what is asked for, the fewest that do."""
        ways = list(covers(asked, [each for each in pieces.single if each <= asked], len(asked)))
        fewest = min(map(len, ways), default=0)
        for way in ways:
            if len(way) == fewest:
                yield [pieces.single[each].ranked[0].tokens for each in way]

    def joint(self, turn: Turn, fluency: Fluency) -> int:
        """Return how doubtful it is to say a turn in several sentences."""
        if self._in_words:
            return 0
        said = wanted(self._preprocessor, turn)
        act_types = frozenset(act.act_type for act in turn.acts)
        return self._joint(act_types, said, self._of(act_types, fluency)[0]) if said else 0

    def _joint(self, act_types: frozenset[str], said: Said, pieces: Pieces) -> int:
        # Questions, and what is not known, can be said one by one.
        apart = all(bare(each) or each.endswith("=none") for each in said)
        # What is said of one thing that has a name can be said one by one; what one looks for cannot, or what it alone
        # has: "the Wharf is the only inn that is cheap. It is near the station."
        asks = pieces.asking
        named = self.subject in said and not asks and not self._preprocessor.manners.marks.any_of(act_types)
        return 0 if pieces.spread or apart or named else ASKED if asks else JOINT

    def _of(self, act_types: frozenset[str], fluency: Fluency) -> _Known:
        found = self._known.get(act_types)
        if found is None:
            pieces = self._finder.collect(act_types, fluency)
            size = 500 * sum(map(len, [*pieces.whole.values(), *pieces.single.values(), *pieces.stated.values()]))
            phrases, stated = (
                Phrases(whole, fluency, self.subject, self._finder.said_here) for whole in (pieces.whole, pieces.stated)
            )
            found = self._known.put(act_types, _Known(pieces, phrases, stated), size)
        return found

    def _joined(self, pieces: Pieces, said: Said) -> Iterator[tuple[Tokens, int]]:
        """Yield texts of several pieces, of the fewest that do or one more, each with how many joints it has."""
        ways = list(self._ways(pieces, said, self._texts(pieces, said)))
        # Such a text seldom begins so: nothing shows what "it" is.
        ways = ways or list(self._ways(pieces, said, self._statements(pieces, said)))
        fewest = min((way.joints for way in ways), default=0)
        for way in sorted([way for way in ways if way.joints <= fewest + 1], key=_order)[:MOST_COVERS]:
            for piece in way.texts:
                tokens: Sequence[str] = piece.tokens
                more = [pieces.single[each].ranked[0] for each in way.more]
                for each in sorted(more, key=lambda each: -each.weight):
                    tokens = join_sentences(tokens, each.tokens)
                # What is asked for has a question of its own behind any statement.
                yield tuple(tokens), sum(each != self._finder.asked(each) for each in way.more)

    def _ways(self, pieces: Pieces, said: Said, beginnings: Iterable[_Beginning]) -> Iterator[_Way]:
        # Each thing that is asked for, or unknown, may need a piece of its own.
        most = max(MOST_PIECES - 1 + (len(said) > MANY), sum(map(bare, said)))
        for base, texts in beginnings:
            left = said - base
            for more in covers(left, [each for each in pieces.single if each <= left], most):
                yield _Way(len(more), base, more, texts)

    def _texts(self, pieces: Pieces, said: Said) -> Iterator[_Beginning]:
        """Yield the whole texts that say some of what is wanted."""
        subject = self.subject
        asked = self._finder.asked(said)
        stated = pieces.stated.items() if asked else ()
        for base, group in (*pieces.whole.items(), *stated):
            if base < said and (subject in base or subject not in said):
                yield base, group.ranked[:MOST_EACH]

    def _statements(self, pieces: Pieces, said: Said) -> Iterator[_Beginning]:
        """Yield the sentences about "it" that say some of what is wanted, where that has no name."""
        for base, group in pieces.single.items() if self.subject not in said else ():
            about = [piece for piece in group.ranked[:MOST_EACH] if piece.tokens[0] == PRONOUN] if base <= said else []
            if about:
                yield base, about


def covers(left: Said, choices: Sequence[Said], most: int) -> Iterator[tuple[Said, ...]]:
    """Yield the ways to say all that is left once, by choices that say some of it each, `most` of them at most."""
    if not left:
        yield ()
    elif most:
        item = min(left)
        for said in choices:
            if item in said and said <= left:
                for rest in covers(left - said, choices, most - 1):
                    yield (said, *rest)


def _order(way: _Way) -> tuple[int, int, list[str]]:
    return way.joints, -len(way.base), sorted(way.base)
