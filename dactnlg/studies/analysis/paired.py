"""Pairing of people's mean judgement of each sentence with its metric values."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dactnlg.errors import UnknownNameError
from dactnlg.studies.analysis.judgements import Sentence, judgements
from dactnlg.studies.analysis.metric_scores import MetricScores
from dactnlg.studies.analysis.systems import parts
from dactnlg.studies.ratings import Ratings, RatingsError

Floats = NDArray[np.float64]


class StudyPart(NamedTuple):
    """Part of a study: criterion, corpus (None for all), and whether gold sentences are in (None if none are named)."""

    criterion: str
    corpus: str | None
    gold: bool | None


@dataclass(frozen=True)
class PairedSentences:
    """N sentences under one criterion.

    Attributes:
        criterion: the criterion.
        corpus: the corpus; None for all together.
        gold: whether sentences written by people are included; None if no system is named as people's.
        sentences: corpus, item and system of each.
        people: (N,), mean of the raters' values.
        metrics: metric -> (N,), NaN where it has no value.
        items: (N,), number of the item, from 0 without gaps.
        systems: (N,), index of the system in `system_names`.
        system_names: names of the systems.
        notes: remarks for the reader.
    """

    criterion: str
    corpus: str | None
    gold: bool | None
    sentences: tuple[Sentence, ...]
    people: Floats
    metrics: dict[str, Floats]
    items: NDArray[np.int64]
    systems: NDArray[np.int64]
    system_names: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def of(self, *metrics: str) -> PairedSentences:
        """Return the sentences for which all of these metrics have a value, with these metrics only."""
        known = np.all([np.isfinite(self.metrics[name]) for name in metrics], axis=0)
        return PairedSentences(
            self.criterion,
            self.corpus,
            self.gold,
            tuple(one for one, kept in zip(self.sentences, known, strict=True) if kept),
            self.people[known],
            {name: self.metrics[name][known] for name in metrics},
            np.unique(self.items[known], return_inverse=True)[1],
            self.systems[known],
            self.system_names,
            self.notes,
        )


def check_gold(ratings: Ratings, gold: Collection[str]) -> None:
    """Raise UnknownNameError if a name in `gold` is not a system."""
    systems = ratings.names("system")
    for name in gold:
        if name not in systems:
            raise UnknownNameError("gold system", name, systems)


def paired(ratings: Ratings, scores: MetricScores, gold: Collection[str] = ()) -> Iterator[PairedSentences]:
    """Yield people's values paired with metrics', by criterion and corpus (and all corpora), with and without gold.

    Args:
        ratings: the judgements.
        scores: metric values.
        gold: systems whose sentences people wrote; without any, each part is yielded once, with all sentences.

    Raises:
        RatingsError: there are no ratings, or no metric has a value for any judged sentence of some part.
        UnknownNameError: a name in `gold` is not a system.
    """
    if not ratings.rows:
        raise RatingsError("there are no ratings")
    check_gold(ratings, gold)
    for criterion, corpus, part in parts(ratings):
        for state in (True, False) if gold else (None,):
            rest = part.without("system", gold) if state is False else part
            if rest.rows:
                yield _paired(StudyPart(criterion, corpus, state), rest, scores)


def _paired(block: StudyPart, part: Ratings, scores: MetricScores) -> PairedSentences:
    table = judgements(part, of_pairs=False)
    sentences = table.sentences
    metrics = {name: np.array([scores.value(name, one) for one in sentences]) for name in scores.metrics}
    if not any(np.isfinite(column).any() for column in metrics.values()):
        _, item, system = sentences[0]
        raise RatingsError(f"no metric has a value for a sentence that was judged, such as {system}'s for item {item}")
    notes = list(table.notes)
    for name, column in metrics.items():
        if missing := int(np.isnan(column).sum()):
            notes.append(f"{name} has no value for {missing} of {len(column)} sentences, which are left out")
    items = {one[:2]: 0 for one in sentences}
    items = {key: place for place, key in enumerate(items)}
    names = tuple(dict.fromkeys(one[2] for one in sentences))
    systems = np.array([names.index(one[2]) for one in sentences])
    numbers = np.array([items[one[:2]] for one in sentences])
    return PairedSentences(*block, sentences, table.means(), metrics, numbers, systems, names, tuple(notes))
