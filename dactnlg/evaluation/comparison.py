"""Comparison of two systems: differences of scores with significance tests, by act and by segment.

Two scores are compared only if their hashes agree: the same metric in the same variant, on the same references.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dactnlg.acts import parse
from dactnlg.errors import ActError, MetricError, UnknownNameError
from dactnlg.evaluation.comparable import differing
from dactnlg.evaluation.scores import LOWER_IS_BETTER, defined, lead
from dactnlg.evaluation.stored import StoredScores, aligned, read_scores, stored_scores, unpaired
from dactnlg.metrics import resampling
from dactnlg.metrics.base import Array
from dactnlg.metrics.registry import meant

if TYPE_CHECKING:
    from dactnlg.generation.options import GenerationOptions

SURE = 0.05


@dataclass(frozen=True, slots=True)
class Difference:
    """One score of both systems; `test` is None if the score cannot be resampled."""

    preset: str
    name: str
    first: float | None
    second: float | None
    test: resampling.Comparison | None

    @property
    def better(self) -> str:
        """`A` or `B` if the difference is significant by both tests, else empty."""
        if self.test is None or not max(self.test.p_bootstrap, self.test.p_randomization) < SURE:
            return ""
        return "B" if (self.test.difference > 0) != (self.name in LOWER_IS_BETTER) else "A"


class Change(NamedTuple):
    """The score of an act type or of a segment for both systems; `gain` is positive if B is better."""

    act: str
    first: float
    second: float
    gain: float
    size: int = 1
    segment: int = 0
    reference: str = ""
    texts: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class SystemComparison:
    """The result of `compare`.

    Attributes:
        labels: what A and B are.
        differences: the scores that may be compared.
        refused: the scores that may not be compared, and why, one sentence each.
        metric: the score by which acts and segments are listed, under the first comparable preset that has it.
        acts: all act types that changed, most improved first.
        segments: all segments that changed, most improved first.
        notes: why scores are not tested.
    """

    labels: tuple[str, str]
    differences: list[Difference]
    refused: list[str]
    metric: str
    acts: list[Change] = field(default_factory=list)
    segments: list[Change] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def to_json(self, top: int | None = None) -> dict[str, Any]:
        """Return everything as JSON; of the segments only the `top` most improved and most worsened, or all."""
        differences = []
        for item in self.differences:
            test = None if item.test is None else {k: defined(v) for k, v in item.test._asdict().items()}
            differences.append({**asdict(item), "test": test, "better": item.better or None})
        listed = {
            "better": [change._asdict() for change in self.segments if change.gain > 0][:top],
            "worse": [change._asdict() for change in reversed(self.segments) if change.gain < 0][:top],
        }
        acts = [change._asdict() for change in self.acts]
        return {
            "systems": {"A": self.labels[0], "B": self.labels[1]},
            "differences": differences,
            "refused": self.refused,
            "notes": self.notes,
            "metric": self.metric,
            "acts": [{k: act[k] for k in ("act", "size", "first", "second", "gain")} for act in acts],
            "segments": listed,
        }


@dataclass(frozen=True, kw_only=True)
class RunEvaluation:
    """How run folders are evaluated for a comparison; attributes as the arguments of `evaluate`."""

    corpus: str | None = None
    split: str = "test"
    presets: Sequence[str] = ()
    more: Sequence[str] = ()
    vectors: str | Path | None = None
    options: GenerationOptions | None = None
    backend: str = "auto"
    data_dir: str | Path | None = None


def load_system(source: str | Path, how: RunEvaluation = RunEvaluation()) -> dict[str, StoredScores]:
    """Return a system's scores by preset: read from a JSON file, or computed by evaluating a run folder.

    Args:
        source: the file or the folder.
        how: how a folder is evaluated.

    Raises:
        MetricError: no such file, or it does not contain scores.
        RunError: the folder is not a run.
    """
    if not Path(source).is_dir():
        return read_scores(source)
    # Imported late: files need no model.
    from dactnlg.evaluation.evaluate import evaluate
    from dactnlg.generation.options import GenerationOptions

    found = evaluate(
        source,
        corpus=how.corpus,
        split=how.split,
        presets=how.presets,
        more=how.more,
        vectors=how.vectors,
        options=how.options or GenerationOptions(),
        backend=how.backend,
        data_dir=how.data_dir,
    )
    return stored_scores(found.to_dict(), str(source))


def compare(
    first: dict[str, StoredScores],
    second: dict[str, StoredScores],
    labels: tuple[str, str] = ("A", "B"),
    metric: str | None = None,
    resamples: int = resampling.RESAMPLES,
    trials: int = resampling.TRIALS,
    seed: int = resampling.SEED,
) -> SystemComparison:
    """Compare two systems under each preset that both were scored under.

    Raises:
        MetricError: no score may be compared, or none that `metric` stands for; the message says why.
        UnknownNameError: `metric` is neither a score of these systems nor a family of these (`BLEU`), case ignored.
    """
    differences: list[Difference] = []
    refused: list[str] = []
    barred: list[str] = []
    notes: list[str] = []
    listed: tuple[str, StoredScores, StoredScores] | None = None
    for preset, a, b in _common(first, second):
        paired = aligned(a, b)
        a, b = paired or (a, b)
        names: list[str] = []
        reasons: dict[str, list[str]] = defaultdict(list)
        for name in [*a.values, *(name for name in b.values if name not in a.values)]:
            if reason := _why_not(name, a, b):
                reasons[reason].append(name)
            else:
                names.append(name)
        told = [(f"{preset} {', '.join(others)}: {reason}".lstrip(), others) for reason, others in reasons.items()]
        refused += [line for line, _ in told]
        barred += [line for line, others in told if metric is not None and meant(metric, others)]
        if paired is None and names:
            notes.append(f"{preset}: not tested, since {unpaired(a, b)}".removeprefix(": "))
        differences += _tested(preset, names, paired, (a, b), (resamples, trials, seed))
        ranked = [name for name in names if name in a.segments and paired]
        asked = ranked if metric is None else meant(metric, ranked)
        if asked and listed is None:
            listed = (lead(asked) if metric is None else asked[-1], a, b)
    found = {item.name for item in differences}
    unranked = metric is not None and not meant(metric, found)
    if not differences or (unranked and barred):
        raise MetricError("these scores may not be ranked:\n  " + "\n  ".join(barred if differences else refused))
    if metric is not None and unranked:
        raise UnknownNameError("metric", metric, found)
    if listed is None:
        # Scores of whole corpora, such as diversity, have no values for segments.
        return SystemComparison(labels, differences, refused, "", notes=notes)
    name, a, b = listed
    acts, segments = _acts(name, a, b), _segments(name, a, b)
    return SystemComparison(labels, differences, refused, name, acts, segments, notes)


def _common(
    first: dict[str, StoredScores], second: dict[str, StoredScores]
) -> list[tuple[str, StoredScores, StoredScores]]:
    """Return the common presets; without any, the first of each, so that the refusal can name what differs."""
    both = [name for name in first if name in second]
    if both:
        return [(name, first[name], second[name]) for name in both]
    return [("", next(iter(first.values())), next(iter(second.values())))]


def _why_not(name: str, a: StoredScores, b: StoredScores) -> str:
    """Return why a score may not be compared; empty if it may."""
    for label, system in (("A", a), ("B", b)):
        if name not in system.values:
            return f"{label} was not scored with it"
    if a.hashes[name] == b.hashes[name]:
        return "" if a.size == b.size else f"A has {a.size} segments, B {b.size}"
    settings = differing(a.signatures[name], b.signatures[name])
    parts = [f"{part.what} is {part.first} in A, {part.second} in B" for part in settings]
    return "; ".join(parts) or _other_references(a, b)


def _other_references(a: StoredScores, b: StoredScores) -> str:
    if a.size != b.size:
        return f"the test sets differ: A has {a.size} segments, B {b.size}"
    with_acts = [any(text["act"] for text in system.texts) for system in (a, b)]
    if a.texts and b.texts and len(set(with_acts)) > 1:
        return (
            f"{'AB'[with_acts.index(False)]} was scored without acts, which are part of the test set: give them to both"
        )
    keys, others = ([text["key"] for text in system.texts] for system in (a, b))
    places = [index for index, (x, y) in enumerate(zip(keys, others, strict=False), start=1) if x != y]
    where = f" in {len(places)} of {a.size} segments, first in segment {places[0]}" if places else ""
    return f"the references (or acts) differ{where}"


def _tested(
    preset: str,
    names: Sequence[str],
    paired: tuple[StoredScores, StoredScores] | None,
    both: tuple[StoredScores, StoredScores],
    how: tuple[int, int, int],
) -> list[Difference]:
    """Return the differences of scores, with tests if the segments are paired; `how`: resamples, trials, seed."""
    a, b = both
    done: dict[str, resampling.Comparison] = {}
    for name in names if paired else ():
        if name in done or name not in a.families or name not in b.families:
            continue
        mine, theirs = a.families[name], b.families[name]
        found = resampling.compare(mine.combine, mine.statistics, theirs.statistics, *how)
        done |= zip(mine.names, found, strict=True)
    return [Difference(preset, name, a.values[name], b.values[name], done.get(name)) for name in names]


def _sign(name: str) -> int:
    return -1 if name in LOWER_IS_BETTER else 1


def _acts(name: str, a: StoredScores, b: StoredScores) -> list[Change]:
    """Return the act types (`offer&inform` for a turn of two) whose score changed, most improved first."""
    if not a.texts or name not in a.families or name not in b.families:
        return []
    groups: dict[str, list[int]] = defaultdict(list)
    for index, text in enumerate(a.texts):
        if text["act"]:
            groups[act_types(text["act"])].append(index)
    mine, theirs = a.families[name], b.families[name]
    column = mine.names.index(name)
    changes = []
    for act, places in groups.items():
        before, after = (float(f.combine(f.statistics[places].sum(axis=0))[column]) for f in (mine, theirs))
        if np.isfinite(after - before) and before != after:
            changes.append(Change(act, before, after, _sign(name) * (after - before), len(places)))
    return sorted(changes, key=lambda change: -change.gain)


def _segments(name: str, a: StoredScores, b: StoredScores) -> list[Change]:
    if name not in a.segments or name not in b.segments:
        return []
    before, after = a.segments[name], b.segments[name]
    gain: Array = _sign(name) * (after - before)
    order = [int(i) for i in np.argsort(-gain, kind="stable") if np.isfinite(gain[i]) and gain[i]]
    changes = []
    for i in order:
        mine, theirs = (system.texts[i] if system.texts else {} for system in (a, b))
        texts = (mine.get("hypothesis") or "", theirs.get("hypothesis") or "")
        numbers = float(before[i]), float(after[i]), float(gain[i])
        changes.append(Change(mine.get("act") or "", *numbers, 1, i + 1, mine.get("reference") or "", texts))
    return changes


def act_types(act: str) -> str:
    """Return the act types of an act string, `offer&inform` for a turn of two; or the string itself if it is no act."""
    try:
        return "&".join(part.act_type for part in parse(act))
    except ActError:
        return act
