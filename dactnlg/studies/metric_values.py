"""Metric values of a study's sentences, computed by this package against the references of its items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dactnlg.acts import parse
from dactnlg.evaluation.pairs import TextPair
from dactnlg.evaluation.scoring import DEFAULT_PRESET, score_pairs
from dactnlg.studies.analysis.judgements import Sentence
from dactnlg.studies.analysis.metric_scores import MetricScores
from dactnlg.studies.study import Study, StudyError, StudyItem


def study_scores(study: Study, preset: str | None = None, metrics: Sequence[str] | None = None) -> MetricScores:
    """Return the metric values of every sentence of a study, computed corpus by corpus.

    A sentence is never scored against itself: a reference equal to it is left out, and if no other reference remains,
    the sentence has no value.

    Args:
        study: a study whose items have references.
        preset: the evaluation protocol; `nlg-eval` by default.
        metrics: metric names as in `dactnlg score`; those of the preset by default.

    Raises:
        StudyError: no sentence has a reference left.
        DactnlgError: there is no such preset or metric, or its data are not installed.
    """
    rows: list[tuple[Sentence, dict[str, float | None]]] = []
    for corpus in dict.fromkeys(item.corpus for item in study.judged):
        pairs = list(_pairs([item for item in study.judged if item.corpus == corpus]))
        if pairs:
            rows += _scored(corpus, pairs, preset, metrics)
    if not rows:
        raise StudyError("no sentence of the study has a reference besides itself: give metrics with --scores")
    return MetricScores.of(rows)


def _pairs(items: Sequence[StudyItem]) -> Iterator[tuple[str, str, TextPair]]:
    """Yield the item, the system, and the sentence with its references."""
    for item in items:
        for system, sentence in item.sentences.items():
            references = tuple(text for text in item.references if text.strip() != sentence.strip())
            if references:
                yield item.id, system, TextPair(sentence, references, parse(item.act) if item.act else None)


def _scored(
    corpus: str, pairs: Sequence[tuple[str, str, TextPair]], preset: str | None, metrics: Sequence[str] | None
) -> Iterator[tuple[Sentence, dict[str, float | None]]]:
    found = score_pairs([pair for _, _, pair in pairs], metrics, preset or DEFAULT_PRESET, keep=False)
    names = list(found.scores)
    for (item, system, _), values in zip(pairs, found.segments.tolist(), strict=True):
        defined = {name: value if value == value else None for name, value in zip(names, values, strict=True)}
        yield (corpus, item, system), defined
