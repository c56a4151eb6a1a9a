"""Scores hypotheses against references: pairs in, scores with signatures and hashes out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

import numpy as np

from dactnlg._utils.collector import collector_paused
from dactnlg._utils.names import as_names
from dactnlg._utils.spool import SpooledRecords, SpooledRows
from dactnlg.acts import DialogueAct, Turn
from dactnlg.errors import MetricError
from dactnlg.evaluation.pairs import TextPair, make_pairs, read_input, read_sentences
from dactnlg.evaluation.scores import Score, Scores, defined, record, table
from dactnlg.metrics.base import Array, Named, Segment
from dactnlg.metrics.presets import get_preset
from dactnlg.metrics.reference_hash import ReferenceHash
from dactnlg.metrics.registry import NOTHING, Materials, Selected, SelectedCorpus, not_installed, select, select_corpus
from dactnlg.metrics.slot_error import SlotErrorRate
from dactnlg.text.slots import SlotChecker
from dactnlg.text.values.delexicalization import Delexicalizer

__all__ = ["Score", "Scores", "TextPair", "read_input", "read_sentences", "score", "score_pairs", "score_segments"]
__all__ += ["table"]

DEFAULT_PRESET = "nlg-eval"
CHUNK = 2048
"""Segments scored at a time; afterwards, only a few numbers per segment are kept."""


def score(
    hypotheses: Sequence[str],
    references: Sequence[str | Sequence[str]],
    *,
    acts: Sequence[str | DialogueAct | Turn | None] | None = None,
    metrics: str | Sequence[str] | None = None,
    preset: str | None = None,
    confidence: bool = False,
) -> Scores:
    """Score sentences against references.

    >>> found = score(["red door serves thai food"], [["red door serves thai food", "thai food at red door"]])
    >>> round(found.scores["BLEU-4"].value, 4)
    1.0
    >>> found = score(["it is cheap"], ["it is cheap"], acts=["inform(name='red door')"], metrics=["SER"])
    >>> found.scores["SER"].value
    1.0

    Args:
        hypotheses: N sentences.
        references: one or more sentences for each; a segment without any counts only in SER.
        acts: the act that each sentence expresses, in any notation, or None; needed for SER.
        metrics: names as on the command line: scores (`BLEU-4`), families (`BLEU`), groups (`embedding`), `SER`; by
            default those of the preset.
        preset: the evaluation protocol; by default `nlg-eval`.
        confidence: whether to add bootstrap 95% intervals.

    Returns:
        The scores: `scores` by name, each with value, signature and hash, and `segments`, those of each sentence,
        (N, K); `table()`, `to_dict()` and `to_frame()` show them. Values are in 0..1, except for CIDEr (0..10), NIST,
        TER and SER; None where undefined.

    Raises:
        MetricError: no hypotheses, sequences of different lengths, an item of the wrong type or an act that cannot be
            read (the message has its index), or the data of a metric are not installed.
        UnknownNameError: no such preset or metric.
    """
    names = None if metrics is None else as_names(metrics)
    found = score_pairs(make_pairs(hypotheses, references, acts), names, preset)
    if confidence:
        found.add_confidence()
    return found


def score_pairs(
    pairs: Iterable[TextPair],
    metrics: Sequence[str] | None = None,
    preset: str | None = None,
    given: Materials = NOTHING,
    *,
    keep: bool = True,
    progress: bool = False,
    total: int | None = None,
) -> Scores:
    """Score pairs of hypothesis and references under a preset.

    Each pair is scored against its own references: a preset's grouping needs a corpus
    (`metrics.presets.references_for`).

    Args:
        pairs: read lazily, unless a metric must see all references first.
        metrics: names as for `select`, and `SER`; None for the preset's.
        preset: the protocol; by default `DEFAULT_PRESET`.
        given: what some metrics need besides: word vectors, an encoder, the training data (not normalised), a slot
            checker; without a checker, SER looks for the values of the acts as spelt.
        keep: whether to keep hypotheses and references, for JSON, tests between systems and reports.
        progress: whether to show a progress bar, after two seconds.
        total: the number of pairs, for the bar.

    Raises:
        UnknownNameError: no such preset or metric.
        MetricError: no pairs, no metrics, or the data of a metric are not installed.
    """
    chosen = get_preset(preset or DEFAULT_PRESET)
    normalize = chosen.normalize
    count = 1 if chosen.grouping == "first" else None
    segments = (
        Segment(normalize(p.hypothesis), tuple(map(normalize, p.references[:count])), p.turn, p.hypothesis)
        for p in pairs
    )
    if given.checker is None:
        given = given._replace(checker=SlotChecker(Delexicalizer()), checker_name="values only")
    if given.train is not None:
        given = given._replace(train=map(normalize, given.train))
    return score_segments(segments, chosen.name, metrics, given, keep=keep, progress=progress, total=total)


def score_segments(
    segments: Iterable[Segment],
    preset: str,
    metrics: Sequence[str] | None = None,
    given: Materials = NOTHING,
    *,
    keep: bool = True,
    progress: bool = False,
    total: int | None = None,
) -> Scores:
    """Score segments that have been normalised for the preset, like the training data in `given`.

    Arguments and errors as `score_pairs`.
    """
    selected, whole = _select(preset, metrics, given)
    chunks = _prepared(selected, segments)
    seen = _Seen([SpooledRows() for _ in selected], SpooledRecords())
    in_turn = sorted(zip(selected, seen.statistics, strict=True), key=lambda entry: entry[0].metric.patient)
    for chunk in _watched(chunks, total) if progress else chunks:
        with collector_paused():
            for item, rows in in_turn:
                rows.append(item.metric.statistics(chunk))
            for corpus_item in whole:
                corpus_item.metric.update(chunk)
            seen.add(chunk, keep=keep)
    if not seen.size:
        raise MetricError("nothing to score: there is not a single hypothesis")
    if metrics is None and not seen.acts:
        # The slot error rate was not requested by name, and there are no acts to check against.
        kept = [index for index, item in enumerate(selected) if not isinstance(item.metric, SlotErrorRate)]
        selected, seen.statistics = [selected[i] for i in kept], [seen.statistics[i] for i in kept]
    result = _assemble(preset, selected, seen)
    used: list[Named] = [*(item.metric for item in selected), *(item.metric for item in whole)]
    result.warnings += [warning for metric in used for warning in metric.warnings()]
    for item in selected:
        item.metric.forget()
    result.corpus_only = dict(_corpus_scores(preset, whole, seen.references))
    for item in not_installed(preset, metrics):
        reason = f"needs {item.metric.needs()}"
        for name in item.names:
            result.corpus_only[name] = _score(name, None, item.metric.signature(name, preset), seen.references, reason)
    return result


@dataclass(slots=True)
class _Seen:
    """What is kept of the scored segments.

    Attributes:
        statistics: those of each metric, (N, S).
        records: hypotheses and references, if kept.
        references: the hash of all references and acts.
        size: the number of segments.
        without: how many of these have no reference.
        acts: how many of these have an act.
    """

    statistics: list[SpooledRows]
    records: SpooledRecords
    references: ReferenceHash = field(default_factory=ReferenceHash)
    size: int = 0
    without: int = 0
    acts: int = 0

    def add(self, chunk: Sequence[Segment], *, keep: bool) -> None:
        """Count some segments, and keep their texts if `keep`."""
        for segment in chunk:
            self.references.update(segment.references, segment.turn)
            self.without += not segment.references
            self.acts += segment.turn is not None
            if keep:
                self.records.append(record(segment))
        self.size += len(chunk)


def check_metrics(preset: str, metrics: Sequence[str] | None, given: Materials = NOTHING) -> None:
    """Create the metrics and discard them, so that `score_pairs`' errors for them are raised early."""
    names = without_ser(metrics)
    for item in select(preset, names, given):
        item.metric.expect(())
    select_corpus(preset, names, given)


def without_ser(metrics: Sequence[str] | None) -> list[str] | None:
    """Return the names known to the registry; the slot error rate, which needs a checker, is created here."""
    return None if metrics is None else [name for name in metrics if name.upper() != SlotErrorRate.names[0]]


def _select(
    preset: str, metrics: Sequence[str] | None, given: Materials
) -> tuple[list[Selected], list[SelectedCorpus]]:
    names = without_ser(metrics)
    selected, whole = select(preset, names, given), select_corpus(preset, names, given)
    wanted = metrics is None or names != list(metrics)
    if wanted and given.checker is not None:
        selected.append(Selected(SlotErrorRate(given.checker, given.checker_name), SlotErrorRate.names))
    elif wanted and metrics is not None:
        raise MetricError("the slot error rate needs a slot checker")
    if not selected and not whole:
        raise MetricError("nothing to score: no metric was asked for")
    return selected, whole


def _prepared(selected: Sequence[Selected], segments: Iterable[Segment]) -> Iterator[list[Segment]]:
    """Show the segments to the metrics that need them beforehand; return the segments in chunks."""
    needs_corpus = any(item.metric.needs_corpus for item in selected)
    if needs_corpus:
        segments = list(segments)
    chunks = _chunks(segments)
    first = next(chunks, [])
    for item in selected:
        item.metric.expect(first)
    if needs_corpus:
        with collector_paused():
            for item in selected:
                item.metric.prepare(segment.references for segment in segments)
    return chain([first] if first else [], chunks)


def _assemble(preset: str, selected: Sequence[Selected], seen: _Seen) -> Scores:
    """Return the scores that are also defined for segments, with their statistics."""
    scores: dict[str, Score] = {}
    for item, rows in zip(selected, seen.statistics, strict=True):
        values = item.metric.score(rows.sum())
        for index, name in enumerate(item.metric.names):
            if name in item.names:
                signature = item.metric.signature(name, preset)
                value = defined(float(values[index]))
                scores[name] = _score(name, value, signature, seen.references)
    segments = SpooledRows()
    for blocks in zip(*(rows.blocks() for rows in seen.statistics), strict=True):
        segments.append(np.hstack([_wanted(item, block) for item, block in zip(selected, blocks, strict=True)]))
    kept = {item.metric.names[0]: rows.array() for item, rows in zip(selected, seen.statistics, strict=True)}
    metrics = {item.metric.names[0]: item.metric for item in selected}
    columns = segments.array() if selected else np.empty((seen.size, 0))
    without = f"{seen.without} of {seen.size} segments have no reference and count in no score that needs one"
    warnings = [without] if seen.without else []
    return Scores(preset, scores, columns, kept, warnings, metrics=metrics, records=seen.records)


def _corpus_scores(
    preset: str, whole: Sequence[SelectedCorpus], references: ReferenceHash
) -> Iterator[tuple[str, Score]]:
    """Yield the scores defined for a whole corpus only, by name."""
    for item in whole:
        for name, value in zip(item.metric.names, item.metric.scores(), strict=True):
            if name in item.names:
                signature = item.metric.signature(name, preset)
                yield name, _score(name, defined(value), signature, references)


def _score(name: str, value: float | None, signature: str, references: ReferenceHash, reason: str = "") -> Score:
    return Score(name, value, signature, references.hexdigest(signature), reason)


def _wanted(item: Selected, statistics: Array) -> Array:
    columns = [index for index, name in enumerate(item.metric.names) if name in item.names]
    return item.metric.segment_scores(statistics)[:, columns]


def _chunks(segments: Iterable[Segment]) -> Iterator[list[Segment]]:
    iterator = iter(segments)
    while chunk := list(islice(iterator, CHUNK)):
        yield chunk


def _watched(chunks: Iterable[list[Segment]], total: int | None) -> Iterator[list[Segment]]:
    """Yield the chunks, with a progress bar after two seconds."""
    # Imported late: only needed for the bar.
    from tqdm import tqdm

    with tqdm(total=total, unit=" pairs", delay=2) as bar:
        for chunk in chunks:
            yield chunk
            bar.update(len(chunk))
