"""Acts whose combination of slots training never had: of all candidates those that read like training.

A search says such acts with words that training has, in orders that it never had. Texts composed of training's own
stand beside its sentences; the fewest doubts decide, then the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING

from dactnlg.acts import Turn
from dactnlg.generation.candidates import Candidate, cheapest
from dactnlg.generation.composition import Composer
from dactnlg.generation.decoder import Plan
from dactnlg.generation.options import ResolvedOptions
from dactnlg.generation.pieces import canonical
from dactnlg.text.fluency import Fluency
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.requests import Request
from dactnlg.text.templates import Key, kind, special_values

if TYPE_CHECKING:
    from dactnlg.generation.decoder import Decoder

DOUBTFUL = 3
"""Doubts about the best sentence for an act that training had, from which on others are looked for."""

WIDER = 4
"""How many times as wide the search is where all that was found is doubtful."""
PLAIN = 2
"""Doubts about a text that may name slots plainly: "the view is alpine meadows"."""


class UnseenActs:
    """Finds better candidates for unseen acts. Several threads may use one.

    Args:
        preprocessor: of a run.
    """

    def __init__(self, preprocessor: Preprocessor) -> None:
        self._preprocessor, self._composer = preprocessor, Composer(preprocessor)

    @cached_property
    def _fluency(self) -> Fluency:
        return Fluency(self._preprocessor.templates.texts(), english=self._preprocessor.style.language == "en")

    @cached_property
    def _seen(self) -> set[tuple[Key, Key]]:
        templates = self._preprocessor.templates
        pairs = {(key, values) for (key, _), found in templates.specials.items() for values in found}
        return {(key, _canonical(values)) for key, values in pairs}

    def has(self, turn: Turn) -> bool:
        """Whether training never had a turn's combination of acts, slots and special values."""
        return bool(self._seen) and (kind(turn), _canonical(special_values(turn))) not in self._seen

    def better(
        self, decoder: Decoder, request: Request, candidates: Sequence[Candidate], options: ResolvedOptions
    ) -> list[Candidate]:
        """Return a request's candidates without fault that have the fewest doubts, at least `n_best` if there are.

        Args:
            decoder: the model.
            request: an unseen act.
            candidates: what the search has found for it.
            options: how sentences are chosen.
        """
        doubts = {id(c): self._fluency.doubts(c.tokens) + PLAIN * (c.origin == "template") for c in candidates}
        if not self.has(request.turn):
            best = cheapest(candidates, 1, options.slot_error_weight, faithful_values=True)
            if best and doubts[id(best[0])] < DOUBTFUL:
                return list(candidates)
        right = sorted((c for c in candidates if _right(c)), key=lambda c: doubts[id(c)])
        if not right or doubts[id(right[0])] > 1:
            least = doubts[id(right[0])] if right else None
            for count, tokens in groupby(self._composer.composed(request.turn, self._fluency), lambda each: each[1]):
                if least is not None and count >= least:
                    break
                more = [c for c in self._made(decoder, request, [text for text, _ in tokens], options) if _right(c)]
                if more:
                    right = [*more, *right]
                    doubts |= {id(c): count for c in more}
                    break
        if not right or doubts[id(right[0])]:
            more = [c for c in self._searched(decoder, request, options) if _right(c)]
            doubts |= {id(c): self._fluency.doubts(c.tokens) for c in more}
            right = sorted([*right, *more], key=lambda c: doubts[id(c)])
        if not right:
            return list(candidates)
        fewest = sum(doubts[id(c)] == doubts[id(right[0])] for c in right)
        return right[: max(fewest, options.n_best)]

    def _searched(self, decoder: Decoder, request: Request, options: ResolvedOptions) -> list[Candidate]:
        """Return what a wider search finds."""
        width, power = WIDER * options.beam_width, options.length_normalization
        (found,) = decoder.search([request.turn], Plan(width, hard=True, keep=width))
        decode = self._preprocessor.vocabulary.decode
        texts = [(tuple(decode(h.tokens)), h.score) for h in found if h.finished]
        ask = options.append_questions
        return [
            Candidate(self._preprocessor, request, tokens, score / (len(tokens) + 1) ** power, ask=ask)
            for tokens, score in texts
        ]

    def _made(
        self, decoder: Decoder, request: Request, texts: Sequence[Sequence[str]], options: ResolvedOptions
    ) -> list[Candidate]:
        encode, power = self._preprocessor.vocabulary.encode, options.length_normalization
        scores = decoder.sentence_scores(request.turn, [encode(tokens) for tokens in texts])
        return [
            Candidate(
                self._preprocessor,
                request,
                tuple(tokens),
                float(score) / (len(tokens) + 1) ** power,
                origin="composed",
                ask=options.append_questions,
            )
            for tokens, score in zip(texts, scores, strict=True)
        ]


def _right(candidate: Candidate) -> bool:
    return bool(candidate.tokens) and candidate.faithful and candidate.report.ok


def _canonical(values: Key) -> Key:
    return tuple(sorted({canonical(value) for value in values}))
