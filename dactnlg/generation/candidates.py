"""A sentence that may be said for an act, and which of several is best."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence

from dactnlg.text.frames import Brief, Phrase
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.slots import SlotReport, Tally


class Candidate:
    """A sentence that may be said; it is put together and checked when somebody asks.

    Args:
        preprocessor: the preprocessor of a run.
        brief: the turn to be said.
        tokens: the sentence, with placeholders.
        score: its log probability; None where no model chose it.
        origin: see `generation.Generation`.
        asking: whether lost questions count.
        finished: whether the search has come to its end.
    """

    __slots__ = (
        "_asking",
        "_preprocessor",
        "_phrase",
        "_raw",
        "_report",
        "brief",
        "finished",
        "origin",
        "score",
        "tokens",
    )

    def __init__(
        self,
        preprocessor: Preprocessor,
        brief: Brief,
        tokens: tuple[str, ...],
        score: float | None,
        origin: str = "model",
        asking: bool = False,
        finished: bool = True,
    ) -> None:
        self._preprocessor, self.brief, self._asking, self.finished = preprocessor, brief, asking, finished
        self.tokens, self.score, self.origin = tokens, score, origin
        # Not `cached_property`: Python 3.11 takes a lock for it.
        self._phrase: Phrase | None = None
        self._raw: str | None = None
        self._report: SlotReport | None = None

    @property
    def phrase(self) -> Phrase:
        """The sentence without its values."""
        if self._phrase is None:
            self._phrase = self._preprocessor.phrase(self.brief.frame, self.tokens)
        return self._phrase

    @property
    def raw(self) -> str:
        """The raw sentence."""
        if self._raw is None:
            self._raw = self._preprocessor.raw_of(self.brief, self.phrase)
        return self._raw

    @property
    def text(self) -> str:
        """The sentence as a user reads it."""
        return self._preprocessor.text_of(self.brief, self.phrase)

    @property
    def unasked(self) -> tuple[str, ...]:
        """Questions of the turn that the sentence seems to have lost."""
        return self.phrase.unasked if self._asking else ()

    @property
    def values(self) -> Tally:
        """What it says of the values that it should say."""
        return self.phrase.tally or self._preprocessor.checker.tally(self.brief.turn, self.tokens)

    @property
    def report(self) -> SlotReport:
        """What the sentence says of what it should."""
        if self._report is None:
            self._report = SlotReport(self.values, self._preprocessor.checker.look(self.brief.frame.expected, self.raw))
        return self._report

    @property
    def sound(self) -> bool:
        """Whether every value is said as often as it should be."""
        return not self.values.errors

    @property
    def whole(self) -> bool:
        """Whether no slot is at fault and no question lost."""
        return self.report.ok and not self.unasked

    def cost(self, slot_error_weight: float) -> float:
        """Return negative log probability and the slot error penalty (Wen et al. 2015b, equation 16)."""
        errors = self.report.values.errors + self.report.cues.errors + len(self.unasked)
        return slot_error_weight * errors - (self.score or 0.0)


def cheapest(candidates: Sequence[Candidate], count: int, slot_error_weight: float, sound: bool) -> list[Candidate]:
    """Return the candidates of lowest cost, the lowest first; those without faults in values alone if `sound`."""
    if len(candidates) == 1:
        return [only for only in candidates[:count] if only.sound or not sound]
    found: list[tuple[float, int, Candidate]] = []
    # Errors only add to the cost, so those that come after the limit by score alone need not be checked.
    for place, candidate in sorted(enumerate(candidates), key=lambda item: -(item[1].score or 0.0)):
        if len(found) >= count and -(candidate.score or 0.0) >= found[count - 1][0]:
            break
        if candidate.sound or not sound:
            insort(found, (candidate.cost(slot_error_weight), place, candidate))
    return [candidate for _, _, candidate in found[:count]]
