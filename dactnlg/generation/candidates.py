"""Candidate sentences for a request, and the selection of the best ones."""

from __future__ import annotations

from bisect import insort
from collections.abc import Container, Iterable, Sequence
from dataclasses import replace

import numpy as np

from dactnlg.generation.bayes_risk import expected_gains
from dactnlg.generation.options import ResolvedOptions
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.report_names import is_act_name
from dactnlg.text.requests import Request, Template
from dactnlg.text.tallies import SlotReport, Tally

FLATNESS = 2.0
"""Divides log probabilities for minimum Bayes risk: those of the few best hypotheses differ too much to be weights."""


class Candidate:
    """A candidate sentence for a request. It is relexicalised and checked lazily, when its properties are read.

    Args:
        preprocessor: the preprocessor of a run.
        request: the turn to be generated.
        tokens: the sentence, with placeholders.
        score: its log probability; None if it was not chosen by a model.
        origin: see `generation.Generation`.
        ask: whether lost questions count as errors.
        finished: whether the sentence is complete.
        heard: names of slots, special values and questions that the sentence is known to express because it is composed
            of correct parts; its acts are then taken as expressed, too. None if it is not composed of such parts.

    Attributes:
        doubts: the number of doubts about its wording, once `unseen` has counted them.
    """

    __slots__ = (
        "_ask",
        "_heard",
        "_misfit",
        "_preprocessor",
        "_raw",
        "_report",
        "_template",
        "doubts",
        "finished",
        "origin",
        "request",
        "score",
        "tokens",
    )

    def __init__(
        self,
        preprocessor: Preprocessor,
        request: Request,
        tokens: tuple[str, ...],
        score: float | None,
        *,
        origin: str = "model",
        ask: bool = False,
        finished: bool = True,
        heard: Container[str] | None = None,
    ) -> None:
        self._preprocessor, self.request, self._ask, self.finished = preprocessor, request, ask, finished
        self._heard = heard
        self.tokens, self.score, self.origin = tokens, score, origin
        self.doubts = 0
        # Not `cached_property`, which takes a lock in Python 3.11.
        self._template: Template | None = None
        self._raw: str | None = None
        self._report: SlotReport | None = None
        self._misfit: float | None = None

    @property
    def template(self) -> Template:
        """The sentence without its values, as shared by all turns of the same delexicalised act."""
        if self._template is None:
            self._template = self._preprocessor.template(self.request.act, self.tokens)
        return self._template

    @property
    def raw(self) -> str:
        """The sentence in the corpus's own form, on which metrics are defined."""
        if self._raw is None:
            self._raw = self._preprocessor.raw_of(self.request, self.template)
        return self._raw

    @property
    def text(self) -> str:
        """The sentence as shown to users."""
        return self._preprocessor.text_of(self.request, self.template)

    @property
    def unasked(self) -> tuple[str, ...]:
        """Questions of the turn that the sentence seems to lack; empty unless `ask`."""
        return self.template.unasked if self._ask else ()

    @property
    def values(self) -> Tally:
        """The expected values that the sentence has, lacks or repeats."""
        return self.template.tally or self._preprocessor.checker.tally(self.request.turn, self.tokens)

    @property
    def report(self) -> SlotReport:
        """The slot check of the sentence: its values, special values and questions."""
        if self._report is None:
            values = self.values
            if not values.errors and (repeated := self._preprocessor.repeated(self.request, self.template)):
                values = replace(values, extra=repeated)
            cues = self.template.cues
            unsaid, heard = self.template.unsaid, self._heard
            if heard is not None:
                missing = tuple(name for name in cues.missing if not is_act_name(name) and name not in heard)
                extra = tuple(name for name in cues.extra if not is_act_name(name))
                cues = replace(cues, missing=missing, extra=extra)
                unsaid = tuple(name for name in unsaid if name not in heard)
            if cues.missing:
                # A cached template names the slots of the turn that it was first used for.
                cues = replace(cues, missing=self.request.own(cues.missing))
            self._report = SlotReport(values, cues, unsaid)
        return self._report

    @property
    def misfit(self) -> float:
        """The penalty for words that rarely occur next to its values, in log probability; see `Neighbours`."""
        if self._misfit is None:
            pairs = zip(self.request.act.required, self.request.slots, strict=True)
            values = {item.placeholder: slot.folded for item, slot in pairs}
            self._misfit = self._preprocessor.neighbours.cost(values, self.tokens)
        return self._misfit

    @property
    def faithful_values(self) -> bool:
        """Whether the sentence contains every value exactly as often as it should."""
        return not self.values.errors

    @property
    def faithful(self) -> bool:
        """Whether the sentence has no slot errors and no lost questions."""
        report = self.report
        return not (report.values.errors or report.cues.errors or self.unasked)

    @property
    def right(self) -> bool:
        """Whether the sentence is not empty, says everything it should, and nothing else."""
        return bool(self.tokens) and self.faithful and self.report.ok

    @property
    def final(self) -> bool:
        """Whether it is finished and faithful, so that no other sentence needs to be searched for."""
        return bool(self.tokens) and self.finished and self.faithful

    def reworded(self, tokens: tuple[str, ...], *, does: bool = False) -> Candidate:
        """Return a copy with other tokens and the same score; `does`: whether they are known to perform its acts."""
        other = Candidate(
            self._preprocessor,
            self.request,
            tokens,
            self.score,
            origin=self.origin,
            ask=self._ask,
            finished=self.finished,
            heard=() if does and self._heard is None else self._heard,
        )
        other.doubts = self.doubts
        return other

    def cost(self, slot_error_weight: float) -> float:
        """Return the negative log probability plus the slot error penalty (Wen et al. 2015b, equation 16)."""
        return slot_error_weight * self.errors - (self.score or 0.0)

    @property
    def errors(self) -> int:
        """The number of slot errors and lost questions."""
        return self.report.values.errors + self.report.cues.errors + len(self.unasked)


Rows = list[list[Candidate]]
"""The candidates of each of several requests."""


def scored(
    preprocessor: Preprocessor,
    request: Request,
    texts: Iterable[tuple[Sequence[str], float]],
    options: ResolvedOptions,
    *,
    origin: str = "composed",
    heard: Container[str] | None = None,
) -> list[Candidate]:
    """Return texts that were not found by a search as candidates for a request.

    Args:
        preprocessor: the preprocessor of a run.
        request: the act.
        texts: as tokens, with placeholders, each with its log probability.
        options: how sentences are chosen.
        origin: see `generation.Generation`.
        heard: what the texts are known to express; see `Candidate`.
    """
    ask, normalized = options.append_questions, options.normalized
    return [
        Candidate(preprocessor, request, tuple(text), normalized(score, text), origin=origin, ask=ask, heard=heard)
        for text, score in texts
    ]


def cheapest(
    candidates: Sequence[Candidate], count: int, slot_error_weight: float, *, faithful_values: bool
) -> list[Candidate]:
    """Return the `count` best candidates, ordered by doubts, then by cost.

    With `faithful_values`, candidates with errors in values are left out, and `misfit` is added to the cost.
    """
    if len(candidates) == 1:
        return [only for only in candidates[:count] if only.faithful_values or not faithful_values]
    found: list[tuple[tuple[int, float], int, Candidate]] = []
    # Errors and misfits only add to the cost: once the score alone exceeds the limit, the rest need not be checked.
    least = ((each.doubts, -(each.score or 0.0)) for each in candidates)
    for limit, place in sorted((each, place) for place, each in enumerate(least)):
        if len(found) >= count and limit >= found[count - 1][0]:
            break
        candidate = candidates[place]
        if candidate.faithful_values or not faithful_values:
            cost = candidate.cost(slot_error_weight) + (candidate.misfit if faithful_values else 0.0)
            insort(found, ((candidate.doubts, cost), place, candidate))
    return [candidate for _, _, candidate in found[:count]]


def cheapest_faithful(candidates: Sequence[Candidate], options: ResolvedOptions) -> Candidate | None:
    """Return the cheapest candidate without errors in values; None if there is none."""
    return next(iter(cheapest(candidates, 1, options.slot_error_weight, faithful_values=True)), None)


def most_agreed(candidates: Sequence[Candidate], count: int, *, faithful_values: bool) -> list[Candidate]:
    """Return the `count` best candidates, ordered by errors, doubts, and similarity to all candidates (`bayes_risk`).

    With `faithful_values`, candidates with errors in values are left out.
    """
    scores = np.array([candidate.score or 0.0 for candidate in candidates])
    gains = expected_gains([candidate.tokens for candidate in candidates], np.exp((scores - scores.max()) / FLATNESS))
    found: list[Candidate] = []
    others: list[tuple[int, int, Candidate]] = []
    # Sentences are checked in this order; after enough without errors, the rest need not be checked.
    for place in np.lexsort((-gains, np.array([candidate.doubts for candidate in candidates]))):
        candidate = candidates[place]
        if candidate.faithful_values or not faithful_values:
            if candidate.errors:
                insort(others, (candidate.errors, len(others), candidate))
            else:
                found.append(candidate)
            if len(found) == count:
                break
    return [*found, *(candidate for _, _, candidate in others)][:count]
