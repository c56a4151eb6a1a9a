"""Pieces: texts of training and their sentences, by what each says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.generation.bayes_risk import expected_gains
from dactnlg.text.grammar.fluency import Fluency
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.sentences import Tokens, asking, is_asking

Said = frozenset[str]
"""What is said: placeholders, special values (`inform|kidsallowed=no`) and slots without values (`?request|area`)."""


class Piece(NamedTuple):
    """A text of training, or one of its sentences, with placeholders; and how often training has it."""

    tokens: Tokens
    weight: float


class Text(NamedTuple):
    """A text of training: its act types, what it says, its tokens and how often training has it."""

    acts: frozenset[str]
    said: Said
    tokens: Tokens
    weight: float


class Alternatives:
    """Pieces that say the same, the frequent ones first.

    Args:
        pieces: all of them.
        fluency: of the training texts.
        asking: whether they should ask.
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
        """The same, those without doubts first, then the model's favourites, or those that are most like the others."""
        return self._alike if self._liked is None else self._liked

    @cached_property
    def _alike(self) -> list[Piece]:
        # Few of a corpus' pieces are ever asked for.
        return self._sorted(expected_gains(*zip(*self._pieces, strict=True)))

    @property
    def rated(self) -> bool:
        """Whether the model has scored them."""
        return self._liked is not None

    def rate(self, scores: Iterable[float]) -> None:
        """Take the model's scores of the pieces, in their order."""
        self._liked = self._sorted(scores)

    def _sorted(self, gains: Iterable[float]) -> list[Piece]:
        rated = [(self._doubts(piece.tokens), -gain, piece) for piece, gain in zip(self._pieces, gains, strict=True)]
        return [piece for *_, piece in sorted(rated)]

    def _doubts(self, tokens: Tokens) -> int:
        # People confirm and offer in statements as well, but one of these among questions asks nothing.
        return self._fluency.doubts(tokens) + (self._asking and not is_asking(tokens))


class Pieces(NamedTuple):
    """Texts of some act types.

    Attributes:
        whole: whole texts, by what they say.
        single: sentences as they stand behind others, by what they say.
        stated: what whole texts say before the question with which they end, by what it says.
        spread: whether training spreads values over several sentences.
        asking: whether most of them are questions.
    """

    whole: dict[Said, Alternatives]
    single: dict[Said, Alternatives]
    stated: dict[Said, Alternatives]
    spread: bool
    asking: bool

    def told(self, tokens: Tokens) -> int:
        """Return how many sentences of a text ask nothing, where most texts do."""
        return asking(tokens).count(False) if self.asking else 0


def wanted(preprocessor: Preprocessor, turn: Turn) -> Said | None:
    """Return what a text for a turn has to say; None where pieces cannot show that."""
    required = preprocessor.delexicalizer.required(turn)
    found = {item.placeholder for item in required}
    ordinary = 0
    for act, slot in turn.slots():
        if slot.delexicalizable:
            ordinary += 1
        elif slot.special is not None or slot.value is None:
            found.add(trait(act.act_type, slot))
        else:
            return None
    return frozenset(found) if ordinary == len(required) else None


def trait(act_type: str, slot: Slot) -> str:
    """Return the name of a special value or a bare slot among what is said."""
    return f"{act_type}|{slot.name}" + (f"={slot.special}" if slot.special is not None else "")


def asked_for(said: Said) -> Turn:
    """Return the turn that has what is said, all of it slots without a value."""
    slots: dict[str, list[Slot]] = {}
    for item in sorted(said):
        act_type, _, name = item.partition("|")
        slots.setdefault(act_type, []).append(Slot(name, None))
    return Turn(tuple(DialogueAct(act_type, tuple(each)) for act_type, each in slots.items()))


def bare(item: str) -> bool:
    """Whether something said is a slot without a value."""
    return "|" in item and "=" not in item
