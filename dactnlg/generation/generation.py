"""A generation: the sentence for an act, with the proof of what it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dactnlg.generation.candidates import Candidate
from dactnlg.generation.knowledge import ActKnowledge


@dataclass(frozen=True, slots=True)
class Generation:
    """A sentence for an act, with the proof of what it says.

    Attributes:
        act: the act in canonical notation.
        text: the sentence as a user reads it.
        raw: the sentence in the corpus's own manner; metrics are defined on it.
        delexicalized: the tokens with placeholders, joined by spaces.
        score: log probability under the model; None where no model chose the sentence.
        slots_ok: nothing that could be checked is missing, and nothing is extra. What could not be checked stands in
            `unchecked`: only where that is empty, too, is the whole act known to be said.
        missing: slots that the sentence should hold and does not.
        extra: slots that it holds too often, or that the act does not have.
        origin: `model`, `inserted` (a placeholder was put where the model likes it best), `composed` (a lost question
            was put behind, an unseen combination was put together of training's sentences, or of what the model says of
            parts of the act) or `template`.
        unchecked: special values (`toilets=none`) and questions (`request(food)`) of the act that nothing could check:
            the data card has no cues for them, and the corpus too few sentences to learn from. Act types that training
            never had stand here, too (`flatter()`).
        seen: whether the training data have this combination of act types and slots, and each of its special values for
            that slot; False asks for a closer look. None where that is not known.
        doubts: where training never had this combination, its special values included: how much of the sentence does
            not read like training, runs of words that it never has and faults of clauses. Sentences without are right
            more often. None where training had it, and where doubts were not counted: without the hard constraint, for
            samples, for the random baseline.
        n_best: the best sentences, this one first; empty unless asked for.
    """

    act: str
    text: str
    raw: str
    delexicalized: str
    score: float | None
    slots_ok: bool
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    origin: str = "model"
    unchecked: tuple[str, ...] = ()
    seen: bool | None = None
    doubts: int | None = None
    n_best: tuple[Generation, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the fields of the command line's JSON output."""
        data = {name: getattr(self, name) for name in ("act", "text", "delexicalized", "score", "slots_ok")}
        data |= {"missing": list(self.missing), "extra": list(self.extra), "unchecked": list(self.unchecked)}
        data |= {"seen": self.seen, "doubts": self.doubts, "origin": self.origin, "raw": self.raw}
        data["n_best"] = [
            {key: value for key, value in other.to_json().items() if key != "n_best"} for other in self.n_best
        ]
        return data

    @classmethod
    def of(cls, act: str, candidate: Candidate, known: ActKnowledge, doubts: int | None) -> Generation:
        """Return what there is to say of a candidate for an act."""
        report = candidate.report
        return cls(
            act=act,
            text=candidate.text,
            raw=candidate.raw,
            delexicalized=candidate.template.delexicalized,
            score=candidate.score,
            slots_ok=report.ok,
            missing=report.missing,
            extra=report.extra,
            origin=candidate.origin,
            unchecked=known.unchecked,
            seen=known.seen,
            doubts=doubts,
        )
