"""Parts of an act that are said by themselves, and texts for the whole that are made of them."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.generation.candidates import Candidate
from dactnlg.generation.options import ResolvedOptions
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.requests import Request
from dactnlg.text.surface import strip_joiner

if TYPE_CHECKING:
    from dactnlg.generation.decoders.decoder import Decoder

MOST = 4
"""Texts that are looked at, joints that are tried, and slots of a sentence that goes on about something."""
Text = Sequence[str]


def shown(slot: Slot) -> str:
    """Return a special value, or a slot without one, as reports name it."""
    return slot.name if slot.value is None else f"{slot.name}={slot.special}"


def stated(turn: Turn) -> set[str]:
    """Return the special values of a turn, and its slots without one, as reports name them."""
    return {shown(slot) for _, slot in turn.slots() if slot.value is None or slot.special is not None}


def renamed(token: str, names: Mapping[str, str]) -> str:
    """Return a token with another name for the placeholder that it is, if it is one of these."""
    name = strip_joiner(token)
    return token.replace(name, names[name]) if name in names else token


class Parts(NamedTuple):
    """What is to be said by itself.

    Attributes:
        requests: for each part.
        join: makes texts for the whole of the sentences for some parts, each with its place.
        all_needed: whether there are no texts without all of them.
        whole: whether the parts say the act without anything else, and do it.
    """

    requests: list[Request]
    join: Callable[[dict[int, Candidate]], list[Text]]
    all_needed: bool
    whole: bool = False


def part(preprocessor: Preprocessor, whole: Request, act_type: str, slots: Iterable[Slot]) -> Request:
    """Return the request for some slots of a request, as an act of some type."""
    return preprocessor.request(Turn((DialogueAct(act_type, tuple(slots)),)), whole.context)


def favourites(
    preprocessor: Preprocessor,
    decoder: Decoder,
    request: Request,
    texts: Sequence[Text],
    options: ResolvedOptions,
    *,
    heard: Container[str] | None,
) -> list[Candidate]:
    """Return texts for a request as candidates, the model's favourites first and no more than `MOST`.

    Args:
        preprocessor: of a run.
        decoder: the model.
        request: the whole.
        texts: made of sentences for its parts.
        options: how sentences are chosen.
        heard: what the parts are known to say, see `Candidate`.
    """
    if not texts:
        return []
    encoded = [preprocessor.vocabulary.encode(text) for text in texts]
    scores = decoder.sentence_scores(request.turn, encoded, request.context)
    found = [
        Candidate(
            preprocessor,
            request,
            tuple(text),
            options.normalized(score, text),
            origin="composed",
            ask=options.append_questions,
            heard=heard,
        )
        for score, text in zip(scores, texts, strict=True)
    ]
    return sorted(found, key=lambda each: -(each.score or 0.0))[:MOST]
