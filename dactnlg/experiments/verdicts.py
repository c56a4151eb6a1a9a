"""Verdicts on a reproduced run: whether each score is equal, within noise, different, or not comparable."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from dactnlg._utils.tables import aligned
from dactnlg._utils.terminal import printable
from dactnlg.evaluation.comparable import differences

EQUAL, NOISE, DIFFERENT, INCOMPARABLE = "equal", "within noise", "different", "not comparable"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One score of both runs.

    Attributes:
        corpus: the corpus that was evaluated.
        split: its split.
        preset: the evaluation protocol.
        name: the score.
        recorded: its value in the run's manifest.
        found: its value in the new run.
        verdict: `equal`, `within noise`, `different` or `not comparable`.
        why: if not comparable, the reason.
        options: the options of `evaluate`, by which evaluations of one split differ; empty for the run's own settings.
    """

    corpus: str
    split: str
    preset: str
    name: str
    recorded: float | None
    found: float | None
    verdict: str
    why: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def evaluation(self) -> str:
        """The split with the options."""
        return " ".join([self.split, *(f"{name}={value}" for name, value in self.options.items())])


@dataclass(frozen=True, slots=True)
class Reproduction:
    """The result of reproducing a run.

    Attributes:
        verdicts: one for each recorded score.
        notes: how data, packages and machine differ from the run's.
    """

    verdicts: list[Verdict]
    notes: list[str]

    @property
    def succeeded(self) -> bool:
        """Whether every score is equal or within noise."""
        return all(item.verdict in (EQUAL, NOISE) for item in self.verdicts)

    @property
    def summary(self) -> str:
        """The worst verdict."""
        order = (INCOMPARABLE, DIFFERENT, NOISE, EQUAL)
        return next(kind for kind in order if any(item.verdict == kind for item in self.verdicts))

    def to_json(self) -> dict[str, Any]:
        """Return the verdicts as JSON data, with the notes and the summary."""
        return {"summary": self.summary, "verdicts": [asdict(item) for item in self.verdicts], "notes": self.notes}

    def table(self, width: int | None = None) -> str:
        """Return the verdicts as a text table, with notes below and the summary in the last line."""
        rows = [("corpus", "split", "preset", "score", "recorded", "found", "")]
        rows += [
            (v.corpus, v.evaluation, v.preset, v.name, _shown(v.recorded), _shown(v.found), v.verdict)
            for v in self.verdicts
        ]
        why = [f"{v.corpus} {v.evaluation} {v.preset} {v.name}: {v.why}" for v in self.verdicts if v.why]
        return "\n".join([aligned(rows, left=None, width=width), *map(printable, [*why, *self.notes, self.summary])])


class Judgement(NamedTuple):
    """A verdict on two scores, and the reason if they are not comparable."""

    verdict: str
    why: str


def compare(recorded: Mapping[str, Any], found: Mapping[str, Any]) -> Reproduction:
    """Compare the scores of two manifests.

    Args:
        recorded: the manifest of the run.
        found: the manifest of the run that repeats it.
    """
    return Reproduction(list(_verdicts(recorded, found)), _notes(recorded, found))


def _verdicts(recorded: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[Verdict]:
    again = {_key(entry): entry["scores"] for entry in found.get("evaluations", [])}
    for entry in recorded["evaluations"]:
        for preset, scores in entry["scores"].items():
            for name, score in scores.items():
                other = again.get(_key(entry), {}).get(preset, {}).get(name)
                values = score["value"], None if other is None else other["value"]
                judged = judge(score, other)
                yield Verdict(entry["corpus"], entry["split"], preset, name, *values, *judged, entry["options"])


def judge(score: Mapping[str, Any], other: Mapping[str, Any] | None) -> Judgement:
    """Return the verdict on a recorded score and the one found.

    A difference is within noise if it is at most the larger of the two scores' standard errors, which say how much
    another test set of the same size would change them: it does not distinguish the systems.

    Args:
        score: the recorded score, as in the manifest.
        other: the score of the new run; None if it has none.
    """
    if other is None:
        return Judgement(INCOMPARABLE, "it was not scored this time")
    if reasons := differences(score, other):
        return Judgement(INCOMPARABLE, "; ".join(reasons))
    one, two = score["value"], other["value"]
    if one == two:
        return Judgement(EQUAL, "")
    if one is None or two is None:
        return Judgement(DIFFERENT, "")
    noise = max(score.get("error") or 0.0, other.get("error") or 0.0)
    return Judgement(NOISE if abs(one - two) <= noise else DIFFERENT, "")


def _notes(recorded: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """Return how data, packages and machine of the two runs differ, one line each."""
    notes = []
    for name, splits in recorded.get("corpora", {}).items():
        here = found.get("corpora", {}).get(name, {})
        notes += [f"data: {name}, {split} differs" for split, code in splits.items() if here.get(split) != code]
    then, now = recorded.get("packages", {}), found.get("packages", {})
    for name in ("tensorflow", "keras", "jax", "numpy", "sacrebleu"):
        if then.get(name) != now.get(name):
            notes.append(f"package: {name} {then.get(name, 'none')} then, {now.get(name, 'none')} now")
    if recorded.get("hardware", {}).get("processor") != found.get("hardware", {}).get("processor"):
        notes.append("machine: another processor")
    return notes


def _key(entry: Mapping[str, Any]) -> str:
    """Return a key of what two evaluations must share to be compared."""
    return json.dumps([entry[name] for name in ("corpus", "split", "options")], sort_keys=True)


def _shown(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.6f}"
