"""The result of generation: the sentence for an act, and what is known about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dactnlg.generation.candidates import Candidate
from dactnlg.generation.knowledge import ActKnowledge


@dataclass(frozen=True, slots=True)
class Generation:
    """A sentence for an act, with what the checks found in it.

    Attributes:
        act: the act in canonical notation.
        text: the sentence as shown to users.
        raw: the sentence in the corpus's own form; metrics are defined on it.
        delexicalized: the tokens with placeholders, joined by spaces.
        score: log probability under the model; None if the sentence was not chosen by a model.
        slots_ok: whether nothing that could be checked is missing, and nothing is extra. What could not be checked is
            listed in `unchecked`: the whole act is known to be expressed only if that is empty, too.
        missing: slots that the sentence should express and does not.
        extra: slots that it expresses too often, or that the act does not have.
        origin: `model`, `inserted` (a placeholder was inserted where the model scores it highest), `composed` (a lost
            question was appended, or an unseen combination was composed of training sentences or of what the model says
            for parts of the act) or `template`.
        unchecked: special values (`toilets=none`) and questions (`request(food)`) of the act that could not be checked:
            the data card has no cues for them, and the corpus has too few sentences to learn from. Unseen act types are
            listed here, too (`flatter()`).
        seen: whether the training data contains this combination of act types and slots, and each of its special values
            for that slot; False calls for a closer look. None if not known.
        doubts: for combinations not in the training data, special values together and several values of a slot
            included: how much of the sentence does not read like training data, counting unseen word sequences and
            faulty clauses. Sentences without doubts are correct more often. None for all other combinations, and if
            doubts were not counted: without the hard constraint, for samples, and for the random baseline.
        n_best: the best sentences, this one first, no two alike unless sampled; empty unless requested.
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
        """Return the fields as in the command line's JSON output."""
        data = {name: getattr(self, name) for name in ("act", "text", "delexicalized", "score", "slots_ok")}
        data |= {"missing": list(self.missing), "extra": list(self.extra), "unchecked": list(self.unchecked)}
        data |= {"seen": self.seen, "doubts": self.doubts, "origin": self.origin, "raw": self.raw}
        data["n_best"] = [
            {key: value for key, value in other.to_json().items() if key != "n_best"} for other in self.n_best
        ]
        return data

    @classmethod
    def of(cls, act: str, candidate: Candidate, known: ActKnowledge, doubts: int | None) -> Generation:
        """Build the result for an act from a candidate, what is known about the act, and the number of doubts."""
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


def distinct(found: Iterable[Generation]) -> list[Generation]:
    """Return the results without those whose text an earlier one has: mending can make sentences equal."""
    by_text: dict[str, Generation] = {}
    for each in found:
        by_text.setdefault(each.text, each)
    return list(by_text.values())
