"""The content of a report, independent of its format, which is HTML or Markdown."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dactnlg.acts import Turn, parse
from dactnlg.evaluation.report.differences import nearest
from dactnlg.evaluation.report.faults import SentenceFaults, SlotFaults, find_faults
from dactnlg.evaluation.report.warnings import find_warnings
from dactnlg.evaluation.scores import LOWER_IS_BETTER, Scores, defined, lead
from dactnlg.metrics.resampling import bootstrap, interval
from dactnlg.text.slots import SlotChecker
from dactnlg.text.values.delexicalization import Delexicalizer

WORST = 20
BINS = 20


@dataclass(frozen=True, slots=True)
class ActRow:
    """One act type: its number of segments, score, interval (if it can be computed) and slot error rate.

    The score is None if undefined, for instance if no segment has references.
    """

    act: str
    size: int
    value: float | None
    bounds: tuple[float, float] | None
    slot_errors: float | None


@dataclass(frozen=True, slots=True)
class Histogram:
    """The distribution of a score over segments: counts in equal bins from `low` to `high`, inclusive."""

    name: str
    low: float
    high: float
    counts: list[int]
    median: float
    undefined: int


@dataclass(frozen=True, slots=True)
class WorstSegment:
    """One of the worst segments; `times` is how often the same act occurs with the same words."""

    segment: int
    act: str
    turn: Turn | None
    hypothesis: str
    reference: str | None
    scores: dict[str, float]
    faults: SentenceFaults | None
    times: int


@dataclass(frozen=True, slots=True)
class Content:
    """Everything in a report.

    Attributes:
        title: what was scored.
        facts: (name, value) pairs: numbers of segments, references and words.
        warnings: caveats for readers.
        results: the scores, one entry per preset; the rest of the report is about the first.
        lead: the score by which acts and segments are listed.
        acts: act types, the most frequent first; empty if no acts are known.
        faults: slot errors; None if no acts are known.
        histograms: one per score.
        faulty: (act, sentence, faults) of each sentence with a slot fault.
        worst: the segments with the lowest lead score, worst first.
        notes: further lines for the scores' section.
    """

    title: str
    facts: list[tuple[str, str]]
    warnings: list[str]
    results: list[Scores]
    lead: str
    acts: list[ActRow]
    faults: SlotFaults | None
    histograms: list[Histogram]
    worst: list[WorstSegment]
    faulty: list[tuple[str, str, SentenceFaults]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def gather(
    title: str,
    results: Sequence[Scores],
    checker: SlotChecker | None = None,
    gold: Sequence[Sequence[str]] | None = None,
    train: Iterable[tuple[str, Sequence[str]]] | None = None,
    notes: Sequence[str] = (),
) -> Content:
    """Gather the content of a report.

    Args:
        title: what was scored.
        results: scores with records, one entry per preset, on the same segments.
        checker: finds slots in sentences; by default, it looks for the values of the acts as spelt.
        gold: each segment's own references, as in the corpus; by default, those it was scored against.
        train: (act, sentences) of the training data, to look for leakage; None if unknown.
        notes: further lines for the scores' section.
    """
    first = results[0]
    records = list(first.records)
    turns = [None if row["act"] is None else parse(row["act"]) for row in records]
    own = [row["references"] for row in records] if gold is None else gold
    checker = checker or SlotChecker(Delexicalizer())
    known = any(turn is not None for turn in turns)
    faults = find_faults(checker, turns, [row["hypothesis"] for row in records], own) if known else None
    name = lead(first.scores) if first.scores else ""
    return Content(
        title,
        _facts(records, turns),
        find_warnings(results, records, own, train),
        list(results),
        name,
        _acts(first, name, turns) if known and name else [],
        faults,
        _histograms(first),
        _worst(first, name, records, turns, faults) if name else [],
        _faulty(records, faults) if faults else [],
        list(notes),
    )


def _facts(records: Sequence[Any], turns: Sequence[Turn | None]) -> list[tuple[str, str]]:
    words = [len(row["read"].split()) for row in records]
    references = [len(row["references"]) for row in records]
    facts = [("segments", f"{len(records):,}"), ("references a segment", f"{np.mean(references):.1f}")]
    facts.append(("words a sentence", f"{np.mean(words):.1f}"))
    facts.append(("different sentences", f"{len({row['hypothesis'] for row in records}):,}"))
    acts = {turn for turn in turns if turn is not None}
    return [*facts, ("different acts", f"{len(acts):,}")] if acts else facts


def _faulty(records: Sequence[Any], faults: SlotFaults) -> list[tuple[str, str, SentenceFaults]]:
    pairs = zip(records, faults.sentences, strict=True)
    return [(row["act"], row["hypothesis"], wrong) for row, wrong in pairs if wrong is not None]


def _acts(scores: Scores, name: str, turns: Sequence[Turn | None]) -> list[ActRow]:
    groups: dict[str, list[int]] = defaultdict(list)
    for index, turn in enumerate(turns):
        if turn is not None:
            groups["&".join(act.act_type for act in turn)].append(index)
    family = next(family for family, metric in scores.metrics.items() if name in metric.names)
    metric, statistics = scores.metrics[family], scores.statistics[family]
    column = metric.names.index(name)
    rows = []
    for act, places in groups.items():
        mine = statistics[places]
        bounds = interval(bootstrap(metric.score, mine))[column] if len(places) > 1 else np.full(2, np.nan)
        errors = None
        if "SER" in scores.statistics:
            required, missing, extra = scores.statistics["SER"][places].sum(axis=0)
            errors = float((missing + extra) / required) if required else None
        value = defined(float(metric.score(mine.sum(axis=0))[column]))
        pair = (float(bounds[0]), float(bounds[1])) if np.isfinite(bounds).all() else None
        rows.append(ActRow(act, len(places), value, pair, errors))
    return sorted(rows, key=lambda row: (-row.size, row.act))


def _histograms(scores: Scores) -> list[Histogram]:
    names = list(scores.scores)
    found = []
    for name, values in zip(names, np.asarray(scores.segments).T, strict=True):
        # BLEU-1 to BLEU-3 are distributed much like BLEU-4.
        if name in ("BLEU-1", "BLEU-2", "BLEU-3") and "BLEU-4" in names:
            continue
        finite = values[np.isfinite(values)]
        if len(finite):
            low, high = min(0.0, float(finite.min())), max(1.0, float(finite.max()))
            counts = np.histogram(np.clip(finite, low, high), BINS, (low, high))[0]
            median = float(np.median(finite))
            found.append(Histogram(name, low, high, counts.tolist(), median, len(values) - len(finite)))
    return found


def _worst(
    scores: Scores, name: str, records: Sequence[Any], turns: Sequence[Turn | None], faults: SlotFaults | None
) -> list[WorstSegment]:
    names = list(scores.scores)
    values = scores.segments[:, names.index(name)] * (-1 if name in LOWER_IS_BETTER else 1)
    times = Counter((row["act"], row["read"]) for row in records)
    shown: set[tuple[str, str]] = set()
    found = []
    for index in np.argsort(values, kind="stable"):
        row = records[index]
        key = (row["act"], row["read"])
        if not np.isfinite(values[index]) or key in shown:
            continue
        shown.add(key)
        each = {n: float(v) for n, v in zip(names, scores.segments[index], strict=True) if np.isfinite(v)}
        near = nearest(row["read"], row["references"])
        wrong = faults.sentences[index] if faults else None
        found.append(
            WorstSegment(int(index) + 1, row["act"] or "", turns[index], row["read"], near, each, wrong, times[key])
        )
        if len(found) == WORST:
            break
    return found
