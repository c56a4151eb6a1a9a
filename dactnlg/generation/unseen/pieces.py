"""Pieces: training texts and their sentences, by what each says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.generation.bayes_risk import expected_gains
from dactnlg.text.grammar.fluency import Fluency
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.sentences import Tokens, asking, is_asking
from dactnlg.text.traits import Trait, read_trait

Said = frozenset[str]
"""The items that a text says: placeholders, special values (`inform|kidsallowed=no`), slots without value
(`?request|area`)."""


class Piece(NamedTuple):
    """A training text or one of its sentences, with placeholders, and its frequency in training."""

    tokens: Tokens
    weight: float


class Text(NamedTuple):
    """A training text: its act types, what it says, its tokens and its frequency in training."""

    acts: frozenset[str]
    said: Said
    tokens: Tokens
    weight: float


class Alternatives:
    """Pieces that say the same.

    Args:
        pieces: the pieces, most frequent first.
        fluency: of the training texts.
        asking: whether they should be questions.
    """

    def __init__(self, pieces: list[Piece], fluency: Fluency, *, asking: bool) -> None:
        self._pieces, self._fluency, self._asking = pieces, fluency, asking
        self._liked: list[Piece] | None = None

    def __iter__(self) -> Iterator[Piece]:
        return iter(self._pieces)

    def __len__(self) -> int:
        return len(self._pieces)

    @property
    def ranked(self) -> list[Piece]:
        """The pieces ordered by doubts, then by the model's scores, or without these by similarity to the others."""
        return self._alike if self._liked is None else self._liked

    @cached_property
    def _alike(self) -> list[Piece]:
        # Computed on demand: few of a corpus's pieces are ever needed.
        return self._sorted(expected_gains(*zip(*self._pieces, strict=True)))

    @property
    def rated(self) -> bool:
        """Whether the model has scored them."""
        return self._liked is not None

    def rate(self, scores: Iterable[float]) -> None:
        """Set the model's scores of the pieces, in the order of iteration."""
        self._liked = self._sorted(scores)

    def _sorted(self, gains: Iterable[float]) -> list[Piece]:
        rated = [(self._doubts(piece.tokens), -gain, piece) for piece, gain in zip(self._pieces, gains, strict=True)]
        return [piece for *_, piece in sorted(rated)]

    def _doubts(self, tokens: Tokens) -> int:
        # People confirm and offer in statements as well, but among questions a statement does not ask.
        return self._fluency.doubts(tokens) + (self._asking and not is_asking(tokens))


class Pieces(NamedTuple):
    """The pieces of some act types.

    Attributes:
        whole: whole texts, by what they say.
        single: sentences in the form in which they follow others, by what they say.
        stated: the statements of whole texts before their final question, by what they say.
        spread: whether training spreads values over several sentences.
        asking: whether most texts are questions.
    """

    whole: dict[Said, Alternatives]
    single: dict[Said, Alternatives]
    stated: dict[Said, Alternatives]
    spread: bool
    asking: bool

    def told(self, tokens: Tokens) -> int:
        """Return how many sentences of a text are not questions, if most texts are; else 0."""
        return asking(tokens).count(False) if self.asking else 0


def wanted(preprocessor: Preprocessor, turn: Turn) -> Said | None:
    """Return what a text for a turn has to say; None if this cannot be expressed as items."""
    required = preprocessor.delexicalizer.required(turn)
    found = {item.placeholder for item in required}
    ordinary = 0
    for act, slot in turn.slots():
        if slot.delexicalizable:
            ordinary += 1
        elif slot.special is not None or slot.value is None:
            found.add(str(Trait.of(act.act_type, slot)))
        else:
            return None
    return frozenset(found) if ordinary == len(required) else None


def asked_for(said: Said) -> Turn:
    """Return the turn for items that are all slots without a value."""
    slots: dict[str, list[Slot]] = {}
    for trait in map(read_trait, sorted(said)):
        slots.setdefault(trait.act_type, []).append(Slot(trait.slot))
    return Turn(tuple(DialogueAct(act_type, tuple(each)) for act_type, each in slots.items()))


def bare(item: str) -> bool:
    """Whether an item is a slot without a value."""
    return read_trait(item).bare
