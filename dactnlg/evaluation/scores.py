"""Results of scoring: corpus scores with signature, hash and interval, and their statistics."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TextIO

from dactnlg._utils.tables import Format, formatted, with_notes
from dactnlg.evaluation import dataframe
from dactnlg.metrics.base import SHORT, Array, Metric, Segment
from dactnlg.metrics.resampling import LEVEL, RESAMPLES, SEED, bootstrap, interval

if TYPE_CHECKING:
    import pandas as pd

# By name, so that the modules of rarer metrics need not be imported.
LOWER_IS_BETTER = frozenset(
    {"SER", "TER", "perplexity", "perplexity-original", "forward-perplexity", "reverse-perplexity", "self-BLEU"}
)
"""Scores whose lowest value is the best; self-BLEU measures repetition."""
_TELLING = ("METEOR-1.5", "ROUGE-L", "chrF", "BLEU-4")


@dataclass(frozen=True, slots=True)
class Score:
    """One corpus score; `value` is None if undefined. `hash` is the full SHA-256.

    `reason` says why a score of the preset was not computed: what has to be installed for it.
    """

    name: str
    value: float | None
    signature: str
    hash: str
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the score as JSON; "reason" only if there is one."""
        found = {"value": self.value, "signature": self.signature, "hash": self.hash}
        return {**found, "reason": self.reason} if self.reason else found

    @property
    def shown(self) -> str:
        """The value as shown in tables, or what has to be installed for it."""
        return self.reason or shown(self.value)


@dataclass(frozen=True, slots=True)
class Confidence:
    """Bootstrap intervals of corpus scores; `intervals` is None for an undefined score."""

    resamples: int
    seed: int
    intervals: dict[str, tuple[float, float] | None]
    level: float = LEVEL

    def to_json(self) -> dict[str, Any]:
        """Return the intervals as JSON: `[low, high]` or null for each score."""
        bounds = {name: None if found is None else list(found) for name, found in self.intervals.items()}
        return {"level": self.level, "resamples": self.resamples, "seed": self.seed, "intervals": bounds}


@dataclass(slots=True, repr=False)
class Scores:
    """The scores of one system under one preset; printed, or displayed in a notebook, as a table.

    Attributes:
        preset: the preset's name.
        scores: name -> corpus score, in a fixed order.
        segments: the values of these scores for each segment, (N, K); NaN where undefined.
        statistics: family (its first name) -> statistics, (N, S), for resampling.
        warnings: caveats for readers of the scores, one sentence each.
        corpus_only: name -> score without values for segments: diversity, if requested, and what is not installed.
        metrics: family -> the metric that computes scores from its statistics.
        records: act, hypothesis and references of each segment, as returned by `record`; empty unless kept.
        confidence: intervals, once `add_confidence` has been called.
    """

    preset: str
    scores: dict[str, Score]
    segments: Array
    statistics: dict[str, Array]
    warnings: list[str]
    corpus_only: dict[str, Score] = field(default_factory=dict)
    metrics: dict[str, Metric] = field(default_factory=dict)
    records: Sequence[Any] = ()
    confidence: Confidence | None = None

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, Scores) else NotImplemented

    def __repr__(self) -> str:
        values = ", ".join(f"{name}: {score.shown}" for name, score in self.all_scores.items())
        return f"Scores(preset={self.preset!r}, scores={{{values}}}, segments={len(self.segments)})"

    def __str__(self) -> str:
        return self.table()

    def __getstate__(self) -> dict[str, Any]:
        # Metrics hold files, processes and caches; `__setstate__` replaces them.
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name != "metrics"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Imported late: it imports many metrics, and scores are rarely unpickled.
        from dactnlg.metrics.combining import adders

        for name, value in state.items():
            setattr(self, name, value)
        self.metrics = adders(self.statistics, {name: score.signature for name, score in self.scores.items()})

    def _repr_markdown_(self) -> str:
        return self.table("markdown")

    @property
    def all_scores(self) -> dict[str, Score]:
        """All corpus scores, those without values for segments last."""
        return {**self.scores, **self.corpus_only}

    def add_confidence(self, resamples: int = RESAMPLES, seed: int = SEED) -> None:
        """Add bootstrap 95% intervals.

        Raises:
            MetricError: `resamples` is below 1.
        """
        intervals: dict[str, tuple[float, float] | None] = {}
        for family, metric in self.metrics.items():
            bounds = interval(bootstrap(metric.score, self.statistics[family], resamples, seed))
            for name, (low, high) in zip(metric.names, bounds.tolist(), strict=True):
                defined = name in self.scores and self.scores[name].value is not None and math.isfinite(low)
                intervals[name] = (low, high) if defined else None
        self.confidence = Confidence(resamples, seed, {name: intervals.get(name) for name in self.scores})

    def to_dict(self) -> dict[str, Any]:
        """Return the scores in the format of `dactnlg score --json`.

        `{"preset": ..., "scores": {name: {"value": ..., "signature": ..., "hash": ...}}, "warnings": [...],
        "segments": [{"scores": {name: ...}}]}`, with "confidence" if there are intervals. Undefined scores are None.
        Each segment also has its statistics and, if texts were kept, act, hypothesis, first reference, and a key, by
        which those of two files are paired for tests.
        """
        return {**self._head(), "segments": list(self._segment_rows())}

    def to_frame(self, *, segments: bool = False) -> pd.DataFrame:
        """Return the scores as a pandas DataFrame.

        Args:
            segments: return one row per segment, with a column for each score, instead of one row per corpus score,
                with the columns `preset`, `score`, `value`, `low` and `high` (if there are intervals), `signature`,
                `hash`.

        Raises:
            MetricError: pandas is not installed.
        """
        if not segments:
            return score_frame([self])
        names = ("act", "hypothesis", "references") if self.records else ()
        texts = {name: [row[name] for row in self.records] for name in names}
        return dataframe.from_array(self.segments, list(self.scores), texts)

    def table(self, output_format: Format = "text", width: int | None = None) -> str:
        """Return the corpus scores as a table: `text`, `markdown`, `csv` or `latex`; text is wrapped at `width`."""
        return table([self], output_format, width)

    def write_json(self, target: TextIO) -> None:
        """Write the JSON segment by segment, so that a million of them need not be in memory as objects."""
        target.write(json.dumps(self._head(), ensure_ascii=False, indent=1)[:-2] + ',\n "segments": [')
        for number, row in enumerate(self._segment_rows()):
            target.write((",\n  " if number else "\n  ") + json.dumps(row, ensure_ascii=False))
        target.write("\n ]\n}\n")

    def corpus_json(self) -> dict[str, dict[str, Any]]:
        """Return all corpus scores as JSON, by name."""
        return {score.name: score.to_json() for score in self.all_scores.values()}

    def _head(self) -> dict[str, Any]:
        head: dict[str, Any] = {"preset": self.preset, "scores": self.corpus_json()}
        if self.confidence:
            head["confidence"] = self.confidence.to_json()
        return {**head, "warnings": self.warnings}

    def _segment_rows(self) -> Iterator[dict[str, Any]]:
        names = list(self.scores)
        for index, row in enumerate(self.segments):
            segment: dict[str, Any] = {"scores": dict(zip(names, map(defined, row.tolist()), strict=True))}
            segment["statistics"] = {
                family: [int(value) if value.is_integer() else value for value in rows[index].tolist()]
                for family, rows in self.statistics.items()
            }
            if self.records:
                kept = self.records[index]
                segment |= {name: kept[name] for name in ("act", "hypothesis")}
                segment |= {"reference": kept["references"][0] if kept["references"] else None, "key": kept["key"]}
            yield segment


def write_scores(target: TextIO, results: Sequence[Scores]) -> None:
    """Write scores as JSON: those under the first preset and, if there are several presets, all by preset."""
    if len(results) == 1:
        results[0].write_json(target)
    else:
        json.dump(by_preset(results), target, ensure_ascii=False, indent=1)
        target.write("\n")


def by_preset(results: Sequence[Scores]) -> dict[str, Any]:
    """Return the scores under the first preset as `Scores.to_dict` does, and all scores by preset under "presets"."""
    presets = {result.preset: result.to_dict() for result in results}
    return {**presets[results[0].preset], "presets": presets}


def record(segment: Segment) -> dict[str, Any]:
    """Return a segment's record: act, hypothesis as given and as normalised, normalised references, and a key.

    Two segments with the same key have the same act and references.
    """
    act = None if segment.turn is None else str(segment.turn)
    content = json.dumps([act, sorted(segment.references)]).encode("ascii")
    return {
        "act": act,
        "hypothesis": segment.text,
        "read": segment.hypothesis,
        "references": list(segment.references),
        "key": hashlib.sha256(content).hexdigest()[:16],
    }


def lead(names: Iterable[str]) -> str:
    """Return the score that ranks single sentences best; BLEU-4 is the last choice, as many good ones have 0."""
    listed = list(names)
    return next((name for name in _TELLING if name in listed), listed[0])


def table(results: Sequence[Scores], output_format: Format = "text", width: int | None = None) -> str:
    """Return the corpus scores: a row per score, a column per preset, hashes in short form, warnings below.

    Args:
        results: the scores under each preset.
        output_format: text, Markdown, CSV or LaTeX; CSV has no warnings.
        width: the width at which text is wrapped; None does not wrap it.
    """
    names = list(dict.fromkeys(name for result in results for name in result.all_scores))
    # The columns of a spreadsheet need distinct names.
    apart = output_format == "csv"
    header = ["score" if apart else ""]
    for result in results:
        prefix = f"{result.preset} " if apart else ""
        header += [result.preset, *([f"{prefix}95% interval"] if result.confidence else []), f"{prefix}hash"]
    rows = [header, *([name, *(cell for result in results for cell in _cells(result, name))] for name in names)]
    return with_notes(formatted(rows, output_format, rule=True, width=width), notes(results), output_format)


def notes(results: Sequence[Scores]) -> list[str]:
    """Return the warnings of scores, each with its preset."""
    return list(dict.fromkeys(f"{result.preset}: {warning}" for result in results for warning in result.warnings))


def score_frame(results: Sequence[Scores]) -> pd.DataFrame:
    """Return corpus scores as a pandas DataFrame, one row per preset and score; columns as in `Scores.to_frame`.

    Raises:
        MetricError: pandas is not installed.
    """
    numbers = ["value", *(["low", "high"] if any(result.confidence for result in results) else [])]
    rows = []
    for result in results:
        bounds = result.confidence.intervals if result.confidence else {}
        for score in result.all_scores.values():
            low, high = bounds.get(score.name) or (None, None)
            values = {"value": score.value, "low": low, "high": high}
            row = {"preset": result.preset, "score": score.name, **{name: values[name] for name in numbers}}
            rows.append({**row, "signature": score.signature, "hash": score.hash})
    return dataframe.from_rows(rows, numbers)


def shown(value: float | None) -> str:
    """Format a score for tables."""
    return "undefined" if value is None else f"{value:.4f}"


def shown_interval(bounds: tuple[float, float] | None) -> str:
    """Format an interval for tables."""
    return "" if bounds is None else f"{bounds[0]:.4f} to {bounds[1]:.4f}"


def defined(value: float) -> float | None:
    """Return a number, or None for NaN and infinities."""
    return value if math.isfinite(value) else None


def _cells(result: Scores, name: str) -> list[str]:
    score = result.all_scores.get(name)
    bounds = [shown_interval(result.confidence.intervals.get(name))] if result.confidence else []
    return [score.shown, *bounds, score.hash[:SHORT]] if score else ["", *([""] * len(bounds)), ""]
