"""Composition: texts for unseen combinations of slots, put together from training texts.

Whole training texts and sentences are concatenated, word for word; phrases are removed from a text or inserted where
the words on both sides of the joint occur together in training; a noun gets modifiers as in training (`modifiers`).
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
from dactnlg.text.traits import kind, read_trait

MOST_PIECES, MANY = 4, 6
"""Maximum number of pieces in a text; one more for acts with more than `MANY` slots."""
MOST_COVERS = 200
"""Maximum number of ways to say an act in pieces that are tried."""
MOST_EACH = 4
"""Maximum number of texts with the same content that are tried."""
MOST_COMPOSED = 60
"""Maximum number of texts returned."""
JOINT = 3
"""Doubts for each further sentence if training says everything in one."""
ASKED = 1
"""The same if the sentences are questions."""
SEAMS = 1
"""Maximum doubts for unseen runs of words between modifiers of a noun."""
MOST_TEXTS = 50_000
"""Modifiers are learned from this many training texts at most, the most frequent ones, to limit it to seconds."""
REMEMBERED = 64, 64 << 20
"""Limits of the cache of pieces: number of combinations of act types, and bytes."""
MADE = 10_000, 16 << 20
"""Limits of the cache of composed texts: number of acts, and bytes."""


class _Known(NamedTuple):
    """The pieces of some act types, the phrases of their texts, and the phrases of statements before questions."""

    pieces: Pieces
    phrases: Phrases
    stated: Phrases


class _Way(NamedTuple):
    """A way to say an act: what the first text says, what each further sentence says, and the possible first texts."""

    joints: int
    base: Said
    more: tuple[Said, ...]
    texts: list[Piece]


_Beginning = tuple[Said, list[Piece]]


class Composer:
    """Composes texts. Several threads may use one.

    Args:
        preprocessor: the preprocessor of a run.
    """

    def __init__(self, preprocessor: Preprocessor) -> None:
        self._preprocessor, self._finder = preprocessor, PieceFinder(preprocessor)
        self._subject = preprocessor.templates.subject
        self._known: Memory[_Known] = Memory(*REMEMBERED)
        self._made: Memory[list[tuple[Tokens, int]]] = Memory(*MADE)
        self._modifiers: Modifiers | None = None

    def forget(self) -> None:
        """Clear the cache of composed texts; the pieces of training texts are kept."""
        self._made.clear()

    def prepare(self, act_type: str, fluency: Fluency) -> None:
        """Split the training texts of an act type into pieces now; otherwise its first act has to wait for that."""
        if not self._in_words:
            self._of(frozenset({act_type}), fluency)
        if self._shown:
            self._described(fluency)

    @property
    def _in_words(self) -> bool:
        """Whether values are lexicalised in the texts, so that it is not known what parts of a text say."""
        return bool(self._preprocessor.delexicalizer.lexicalized)

    @property
    def _shown(self) -> bool:
        """Whether it is at least known what whole texts say: only opinions, if any, are expressed in free wording."""
        delexicalizer = self._preprocessor.delexicalizer
        return delexicalizer.lexicalized.keys() <= delexicalizer.paraphrased

    def seams(self, text: Tokens, fluency: Fluency) -> int:
        """Return how many unseen runs of a text to forgive (all but `SEAMS`), being due to combined modifiers alone."""
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
        """Return texts that say a turn, as far as their pieces show, each with its doubts, fewest first.

        For seen acts without values ("goodbye"), these are the training texts themselves.

        Args:
            turn: the acts.
            fluency: of the training texts.
        """
        own = self._preprocessor.templates.sentences.get(kind(turn), {})
        if own and all(slot.value is None for _, slot in turn.slots()):
            return [(text, 0) for text in own]
        said = wanted(self._preprocessor, turn) if self._shown else None
        if not said or f"{self._subject}#2" in said:
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
        """Yield the alternative questions that the model has not rated yet, each with the turn that they ask for.

        If the caller passes the model's scores to `Alternatives.rate`, each of several questions is asked as the model
        would ask it alone. All questions of the turn's act types are yielded, because slots without a question of their
        own borrow another slot's; so results do not depend on previous acts. Yields nothing if nothing is asked.

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
        """Yield lists of questions for everything that is asked for, with as few questions as possible."""
        ways = list(covers(asked, [each for each in pieces.single if each <= asked], len(asked)))
        fewest = min(map(len, ways), default=0)
        for way in ways:
            if len(way) == fewest:
                yield [pieces.single[each].ranked[0].tokens for each in way]

    def joint(self, turn: Turn, fluency: Fluency) -> int:
        """Return the doubts for each further sentence of a text for a turn."""
        if self._in_words:
            return 0
        said = wanted(self._preprocessor, turn)
        act_types = frozenset(act.act_type for act in turn.acts)
        return self._joint(act_types, said, self._of(act_types, fluency)[0]) if said else 0

    def _joint(self, act_types: frozenset[str], said: Said, pieces: Pieces) -> int:
        # Questions and unknown values can be said one by one.
        apart = all(bare(each) or read_trait(each).value == "none" for each in said)
        # The slots of one named thing can be said one by one; what a user looks for cannot, nor what is unique to the
        # thing: "the Wharf is the only inn that is cheap. It is near the station."
        asks = pieces.asking
        named = self._subject in said and not asks and not self._preprocessor.manners.marks.only_one(act_types)
        return 0 if pieces.spread or apart or named else ASKED if asks else JOINT

    def _of(self, act_types: frozenset[str], fluency: Fluency) -> _Known:
        found = self._known.get(act_types)
        if found is None:
            pieces = self._finder.collect(act_types, fluency)
            size = 500 * sum(map(len, [*pieces.whole.values(), *pieces.single.values(), *pieces.stated.values()]))
            phrases, stated = (
                Phrases(whole, fluency, self._subject, self._finder.said_here)
                for whole in (pieces.whole, pieces.stated)
            )
            found = self._known.put(act_types, _Known(pieces, phrases, stated), size)
        return found

    def _joined(self, pieces: Pieces, said: Said) -> Iterator[tuple[Tokens, int]]:
        """Yield texts of as few pieces as possible, or one more, each with its number of joints."""
        ways = list(self._ways(pieces, said, self._texts(pieces, said)))
        # Texts that begin with "it" are a last resort: nothing shows what "it" is.
        ways = ways or list(self._ways(pieces, said, self._statements(pieces, said)))
        fewest = min((way.joints for way in ways), default=0)
        for way in sorted([way for way in ways if way.joints <= fewest + 1], key=_order)[:MOST_COVERS]:
            for piece in way.texts:
                tokens: Sequence[str] = piece.tokens
                more = [pieces.single[each].ranked[0] for each in way.more]
                for each in sorted(more, key=lambda each: -each.weight):
                    tokens = join_sentences(tokens, each.tokens)
                # A question after a statement is no doubtful joint.
                yield tuple(tokens), sum(each != self._finder.asked(each) for each in way.more)

    def _ways(self, pieces: Pieces, said: Said, beginnings: Iterable[_Beginning]) -> Iterator[_Way]:
        # Each slot that is asked for, or unknown, may need a piece of its own.
        most = max(MOST_PIECES - 1 + (len(said) > MANY), sum(map(bare, said)))
        for base, texts in beginnings:
            left = said - base
            for more in covers(left, [each for each in pieces.single if each <= left], most):
                yield _Way(len(more), base, more, texts)

    def _texts(self, pieces: Pieces, said: Said) -> Iterator[_Beginning]:
        """Yield whole texts that say part of what is wanted, including its subject."""
        subject = self._subject
        asked = self._finder.asked(said)
        stated = pieces.stated.items() if asked else ()
        for base, group in (*pieces.whole.items(), *stated):
            if base < said and (subject in base or subject not in said):
                yield base, group.ranked[:MOST_EACH]

    def _statements(self, pieces: Pieces, said: Said) -> Iterator[_Beginning]:
        """Yield sentences about "it" that say part of what is wanted, if that has no name."""
        for base, group in pieces.single.items() if self._subject not in said else ():
            about = [piece for piece in group.ranked[:MOST_EACH] if piece.tokens[0] == PRONOUN] if base <= said else []
            if about:
                yield base, about


def covers(left: Said, choices: Sequence[Said], most: int) -> Iterator[tuple[Said, ...]]:
    """Yield the exact covers of `left` by at most `most` of the choices, each of which says part of it."""
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
