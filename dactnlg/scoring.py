"""Scoring hypotheses against references: pairs in, scores with signatures and hashes out."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TextIO

import numpy as np

from dactnlg.delexicalization import Delexicalizer
from dactnlg.errors import MetricError
from dactnlg.metrics.base import SHORT, Array, Named, ReferenceHash, Segment
from dactnlg.metrics.pairs import Pair, read_input, read_sentences
from dactnlg.metrics.presets import get_preset
from dactnlg.metrics.registry import NOTHING, Materials, Selected, SelectedCorpus, select, select_corpus
from dactnlg.metrics.slot_error import Checker, SlotErrorRate
from dactnlg.slots import SlotChecker

__all__ = ["Pair", "Score", "Scores", "read_input", "read_sentences", "score_pairs", "score_segments", "table"]

DEFAULT_PRESET = "nlg-eval"
CHUNK = 2048
"""Segments looked at in one go; what is kept of them afterwards are a few numbers each."""


@dataclass(frozen=True, slots=True)
class Score:
    """One corpus score; `value` is None where it is undefined. `hash` is the whole SHA-256."""

    name: str
    value: float | None
    signature: str
    hash: str


@dataclass(slots=True)
class Scores:
    """The scores of one system under one preset.

    Attributes:
        preset: the preset's name.
        scores: name -> corpus score, in a fixed order.
        segments: the same names for each segment, (N, K); NaN where undefined.
        statistics: family (its first name) -> statistics, (N, S), for resampling.
        warnings: what a reader of the scores must know, one sentence each.
        corpus_only: name -> score that no segment has (diversity); empty unless asked for.
    """

    preset: str
    scores: dict[str, Score]
    segments: Array
    statistics: dict[str, Array]
    warnings: list[str]
    corpus_only: dict[str, Score] = field(default_factory=dict)

    @property
    def all_scores(self) -> dict[str, Score]:
        """All corpus scores, those that no segment has last."""
        return {**self.scores, **self.corpus_only}

    def to_json(self) -> dict[str, Any]:
        """Return the scores as DESIGN's contract has them, `{"scores": {...}, "segments": [...]}`."""
        return {
            "preset": self.preset,
            "scores": {
                s.name: {"value": s.value, "signature": s.signature, "hash": s.hash} for s in self.all_scores.values()
            },
            "segments": list(self._segment_rows()),
            "warnings": self.warnings,
        }

    def table(self) -> str:
        """Return the corpus scores as text."""
        return table([self])

    def write_json(self, target: TextIO) -> None:
        """Write the JSON, segment by segment: a million of them never stand in memory as objects."""
        whole = {"preset": self.preset, "scores": self._empty().to_json()["scores"], "warnings": self.warnings}
        target.write(json.dumps(whole, ensure_ascii=False, indent=1)[:-2] + ',\n "segments": [')
        for number, row in enumerate(self._segment_rows()):
            target.write((",\n  " if number else "\n  ") + json.dumps(row))
        target.write("\n ]\n}\n")

    def _empty(self) -> Scores:
        return Scores(self.preset, self.scores, self.segments[:0], {}, self.warnings, self.corpus_only)

    def _segment_rows(self) -> Iterator[dict[str, Any]]:
        names = list(self.scores)
        for row in self.segments:
            yield {"scores": dict(zip(names, map(_defined, row.tolist()), strict=True))}


def score_pairs(
    pairs: Iterable[Pair],
    metrics: Sequence[str] | None = None,
    preset: str | None = None,
    checker: Checker | None = None,
    checker_label: str = "",
    given: Materials = NOTHING,
) -> Scores:
    """Score pairs of hypothesis and references under a preset.

    The references are the pair's own: a preset's grouping needs a corpus (`metrics.presets.references_for`).

    Args:
        pairs: read lazily, unless a metric must see all references first.
        metrics: names as `select` takes them, and `SER`; None for the preset's.
        preset: the protocol; `DEFAULT_PRESET` without one.
        checker: finds slots in sentences, for `SER`; without one, the values of the acts as they are spelt.
        checker_label: what the checker looks with (a corpus's name), for the signature.
        given: what some metrics read besides: word vectors, an encoder, the training data as they are.

    Raises:
        UnknownNameError: no such preset or metric.
        MetricError: no pairs; no metrics; a metric whose data are not installed.
    """
    chosen = get_preset(preset or DEFAULT_PRESET)
    normalize = chosen.normalize
    count = 1 if chosen.grouping == "first" else None
    segments = (
        Segment(normalize(p.hypothesis), tuple(map(normalize, p.references[:count])), p.turn, p.hypothesis)
        for p in pairs
    )
    if checker is None:
        checker, checker_label = SlotChecker(Delexicalizer()), "values only"
    if given.train is not None:
        given = given._replace(train=map(normalize, given.train))
    return score_segments(segments, chosen.name, metrics, checker, checker_label, given)


def score_segments(
    segments: Iterable[Segment],
    preset: str,
    metrics: Sequence[str] | None = None,
    checker: Checker | None = None,
    checker_label: str = "",
    given: Materials = NOTHING,
) -> Scores:
    """Score segments that have been read as their preset reads them, the training data in `given` too.

    Arguments and errors as `score_pairs`.
    """
    selected, whole = _select(preset, metrics, checker, checker_label, given)
    if any(item.metric.needs_corpus for item in selected):
        segments = list(segments)
        for item in selected:
            item.metric.prepare(segment.references for segment in segments)
    references, without, acts, total = ReferenceHash(), 0, 0, 0
    parts: list[list[Array]] = [[] for _ in selected]
    for chunk in _chunks(segments):
        for item, part in zip(selected, parts, strict=True):
            part.append(item.metric.statistics(chunk))
        for corpus_item in whole:
            corpus_item.metric.update(chunk)
        for segment in chunk:
            references.update(segment.references, segment.turn)
            without += not segment.references
            acts += segment.turn is not None
        total += len(chunk)
    if not total:
        raise MetricError("nothing to score: there is not a single hypothesis")
    warnings = [f"{without} of {total} segments have no reference and count in no score but SER"] if without else []
    used: list[Named] = [*(item.metric for item in selected), *(item.metric for item in whole)]
    warnings += [warning for metric in used for warning in metric.warnings()]
    if metrics is None and not acts:
        # Nobody asked for the slot error rate, and there are no acts to check against.
        kept = [index for index, item in enumerate(selected) if not isinstance(item.metric, SlotErrorRate)]
        selected, parts = [selected[index] for index in kept], [parts[index] for index in kept]
    statistics = [np.concatenate(part) for part in parts]
    result = _assemble(preset, selected, statistics, references, warnings, total)
    for corpus_item in whole:
        for name, value in zip(corpus_item.metric.names, corpus_item.metric.scores(), strict=True):
            if name in corpus_item.names:
                signature = corpus_item.metric.signature(name, preset)
                result.corpus_only[name] = Score(name, _defined(value), signature, references.hexdigest(signature))
    return result


def check_metrics(preset: str, metrics: Sequence[str] | None, given: Materials = NOTHING) -> None:
    """Make the metrics and drop them: raises what `score_pairs` would raise for them."""
    names = without_ser(metrics)
    select(preset, names, given)
    select_corpus(preset, names, given)


def table(results: Sequence[Scores]) -> str:
    """Return the corpus scores as text: a row a score, a column a preset, hashes in short form, warnings below."""
    names = list(dict.fromkeys(name for result in results for name in result.all_scores))
    rows = [["", *(cell for result in results for cell in (result.preset, "hash"))]]
    for name in names:
        row = [name]
        for result in results:
            score = result.all_scores.get(name)
            value = "" if score is None else "undefined" if score.value is None else f"{score.value:.4f}"
            row += [value, score.hash[:SHORT] if score else ""]
        rows.append(row)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(_aligned(row, widths)).rstrip() for row in rows]
    lines.insert(1, "  ".join("-" * width for width in widths))
    notes = dict.fromkeys(f"{result.preset}: {warning}" for result in results for warning in result.warnings)
    return "\n".join([*lines, *notes])


def _aligned(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [cell.rjust(w) if index else cell.ljust(w) for index, (cell, w) in enumerate(zip(row, widths, strict=True))]


def without_ser(metrics: Sequence[str] | None) -> list[str] | None:
    """Return the names that the registry knows; the slot error rate needs a checker and is made here."""
    return None if metrics is None else [name for name in metrics if name.upper() != SlotErrorRate.names[0]]


def _select(
    preset: str, metrics: Sequence[str] | None, checker: Checker | None, label: str, given: Materials
) -> tuple[list[Selected], list[SelectedCorpus]]:
    names = without_ser(metrics)
    selected, whole = select(preset, names, given), select_corpus(preset, names, given)
    if checker is not None and (metrics is None or names is None or len(names) < len(metrics)):
        selected.append(Selected(SlotErrorRate(checker, label), SlotErrorRate.names))
    elif metrics and not names:
        raise MetricError("the slot error rate needs a slot checker")
    if not selected and not whole:
        raise MetricError("nothing to score: no metric was asked for")
    return selected, whole


def _assemble(
    preset: str,
    selected: Sequence[Selected],
    statistics: Sequence[Array],
    references: ReferenceHash,
    warnings: list[str],
    total: int,
) -> Scores:
    scores: dict[str, Score] = {}
    columns = []
    for item, rows in zip(selected, statistics, strict=True):
        corpus = item.metric.score(rows.sum(axis=0))
        by_segment = item.metric.segment_scores(rows)
        for index, name in enumerate(item.metric.names):
            if name in item.names:
                signature = item.metric.signature(name, preset)
                digest = references.hexdigest(signature)
                scores[name] = Score(name, _defined(float(corpus[index])), signature, digest)
                columns.append(by_segment[:, index])
    kept = {item.metric.names[0]: rows for item, rows in zip(selected, statistics, strict=True)}
    return Scores(preset, scores, np.stack(columns, axis=1) if columns else np.empty((total, 0)), kept, warnings)


def _chunks(segments: Iterable[Segment]) -> Iterator[list[Segment]]:
    iterator = iter(segments)
    while chunk := list(islice(iterator, CHUNK)):
        yield chunk


def _defined(value: float) -> float | None:
    return value if math.isfinite(value) else None
