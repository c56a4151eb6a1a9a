"""Scoring hypotheses against references: pairs in, scores with signatures and hashes out."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

import numpy as np

from dactnlg._utils.spool import SpooledRecords, SpooledRows
from dactnlg.errors import MetricError
from dactnlg.evaluation.pairs import Pair, read_input, read_sentences
from dactnlg.evaluation.scores import Score, Scores, defined, record, table
from dactnlg.metrics.base import Array, Named, Segment
from dactnlg.metrics.presets import get_preset
from dactnlg.metrics.reference_hash import ReferenceHash
from dactnlg.metrics.registry import NOTHING, Materials, Selected, SelectedCorpus, select, select_corpus
from dactnlg.metrics.slot_error import Checker, SlotErrorRate
from dactnlg.text.delexicalization import Delexicalizer
from dactnlg.text.slots import SlotChecker

__all__ = ["Pair", "Score", "Scores", "read_input", "read_sentences", "score_pairs", "score_segments", "table"]

DEFAULT_PRESET = "nlg-eval"
CHUNK = 2048
"""Segments looked at in one go; what is kept of them afterwards are a few numbers each."""


def score_pairs(
    pairs: Iterable[Pair],
    metrics: Sequence[str] | None = None,
    preset: str | None = None,
    checker: Checker | None = None,
    checker_label: str = "",
    given: Materials = NOTHING,
    keep: bool = True,
    progress: bool = False,
    total: int | None = None,
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
        keep: whether what was said is kept beside the numbers, for JSON and reports.
        progress: whether a bar shows how far it is, once it has taken two seconds.
        total: how many pairs there will be, for the bar.

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
    return score_segments(segments, chosen.name, metrics, checker, checker_label, given, keep, progress, total)


def score_segments(
    segments: Iterable[Segment],
    preset: str,
    metrics: Sequence[str] | None = None,
    checker: Checker | None = None,
    checker_label: str = "",
    given: Materials = NOTHING,
    keep: bool = True,
    progress: bool = False,
    total: int | None = None,
) -> Scores:
    """Score segments that have been read as their preset reads them, the training data in `given` too.

    Arguments and errors as `score_pairs`.
    """
    selected, whole = _select(preset, metrics, checker, checker_label, given)
    needs_corpus = any(item.metric.needs_corpus for item in selected)
    if needs_corpus:
        segments = list(segments)
    chunks = _chunks(segments)
    first = next(chunks, [])
    for item in selected:
        item.metric.expect(first)
    if needs_corpus:
        with _collector_paused():
            for item in selected:
                item.metric.prepare(segment.references for segment in segments)
    references, without, acts, done = ReferenceHash(), 0, 0, 0
    parts, records = [SpooledRows() for _ in selected], SpooledRecords()
    in_turn = sorted(zip(selected, parts, strict=True), key=lambda entry: entry[0].metric.patient)
    for chunk in _watched(chain([first] if first else [], chunks), progress, total):
        with _collector_paused():
            for item, part in in_turn:
                part.append(item.metric.statistics(chunk))
            for corpus_item in whole:
                corpus_item.metric.update(chunk)
            for segment in chunk:
                references.update(segment.references, segment.turn)
                without += not segment.references
                acts += segment.turn is not None
                if keep:
                    records.append(record(segment))
        done += len(chunk)
    if not done:
        raise MetricError("nothing to score: there is not a single hypothesis")
    if metrics is None and not acts:
        # Nobody asked for the slot error rate, and there are no acts to check against.
        kept = [index for index, item in enumerate(selected) if not isinstance(item.metric, SlotErrorRate)]
        selected, parts = [selected[index] for index in kept], [parts[index] for index in kept]
    warnings = [f"{without} of {done} segments have no reference and count in no score but SER"] if without else []
    used: list[Named] = [*(item.metric for item in selected), *(item.metric for item in whole)]
    warnings += [warning for metric in used for warning in metric.warnings()]
    result = _assemble(preset, selected, parts, references, warnings, done)
    result.records = records
    for item in selected:
        item.metric.forget()
    for corpus_item in whole:
        for name, value in zip(corpus_item.metric.names, corpus_item.metric.scores(), strict=True):
            if name in corpus_item.names:
                signature = corpus_item.metric.signature(name, preset)
                result.corpus_only[name] = Score(name, defined(value), signature, references.hexdigest(signature))
    return result


def check_metrics(preset: str, metrics: Sequence[str] | None, given: Materials = NOTHING) -> None:
    """Make the metrics and drop them: raises what `score_pairs` would raise for them."""
    names = without_ser(metrics)
    select(preset, names, given)
    select_corpus(preset, names, given)


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
    statistics: Sequence[SpooledRows],
    references: ReferenceHash,
    warnings: list[str],
    total: int,
) -> Scores:
    scores: dict[str, Score] = {}
    for item, rows in zip(selected, statistics, strict=True):
        corpus = item.metric.score(rows.sum())
        for index, name in enumerate(item.metric.names):
            if name in item.names:
                signature = item.metric.signature(name, preset)
                scores[name] = Score(name, defined(float(corpus[index])), signature, references.hexdigest(signature))
    segments = SpooledRows()
    for blocks in zip(*(rows.blocks() for rows in statistics), strict=True):
        segments.append(np.hstack([_wanted(item, block) for item, block in zip(selected, blocks, strict=True)]))
    kept = {item.metric.names[0]: rows.array() for item, rows in zip(selected, statistics, strict=True)}
    metrics = {item.metric.names[0]: item.metric for item in selected}
    values = segments.array() if selected else np.empty((total, 0))
    return Scores(preset, scores, values, kept, warnings, metrics=metrics)


def _wanted(item: Selected, statistics: Array) -> Array:
    columns = [index for index, name in enumerate(item.metric.names) if name in item.names]
    return item.metric.segment_scores(statistics)[:, columns]


def _chunks(segments: Iterable[Segment]) -> Iterator[list[Segment]]:
    iterator = iter(segments)
    while chunk := list(islice(iterator, CHUNK)):
        yield chunk


@contextlib.contextmanager
def _collector_paused() -> Iterator[None]:
    """Hold back Python's search for cycles: n-grams have none, and to look for them takes a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():
            # What is new becomes old without being looked at.
            gc.freeze()
            gc.unfreeze()
        if enabled:
            gc.enable()


def _watched(chunks: Iterable[list[Segment]], progress: bool, total: int | None) -> Iterator[list[Segment]]:
    """Yield the chunks; show a progress bar once they take longer than two seconds."""
    if not progress:
        yield from chunks
        return
    # Late: who sees no bar need not wait for it.
    from tqdm import tqdm

    with tqdm(total=total, unit=" pairs", delay=2) as bar:
        for chunk in chunks:
            yield chunk
            bar.update(len(chunk))
