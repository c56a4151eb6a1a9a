"""Pairing of people's mean judgement of each sentence with its metric values."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dactnlg.errors import UnknownNameError
from dactnlg.studies.analysis.judgements import Sentence, judgements
from dactnlg.studies.analysis.metric_scores import MetricScores
from dactnlg.studies.analysis.mixed import numbered
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
        seen: (N,), number of the sentence that raters saw: equal ones of several systems, judged once, have the same.
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
    seen: NDArray[np.int64]
    system_names: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def of(self, *metrics: str) -> PairedSentences:
        """Return the sentences for which all of these metrics have a value, with these metrics only."""
        known = np.all([np.isfinite(self.metrics[name]) for name in metrics], axis=0)
        return replace(self, metrics={name: self.metrics[name] for name in metrics})._at(np.flatnonzero(known))

    def once(self) -> PairedSentences:
        """Return the sentences that raters saw, each once: counted for every system, it would pass for several."""
        return self._at(np.sort(np.unique(self.seen, return_index=True)[1]))

    def _at(self, places: NDArray[np.int64]) -> PairedSentences:
        return replace(
            self,
            sentences=tuple(self.sentences[place] for place in places),
            people=self.people[places],
            metrics={name: column[places] for name, column in self.metrics.items()},
            items=np.unique(self.items[places], return_inverse=True)[1],
            systems=self.systems[places],
            seen=self.seen[places],
        )


def study_parts(ratings: Ratings, gold: Collection[str]) -> Iterator[tuple[StudyPart, Ratings]]:
    """Yield the parts of a study by criterion and corpus (and all corpora), with and without gold sentences.

    Args:
        ratings: the judgements.
        gold: systems whose sentences people wrote; without any, each part is yielded once, with all sentences.

    Raises:
        RatingsError: there are no ratings.
        UnknownNameError: a name in `gold` is not a system.
    """
    if not ratings.rows:
        raise RatingsError("there are no ratings")
    systems = ratings.names("system")
    for name in gold:
        if name not in systems:
            raise UnknownNameError("gold system", name, systems)
    for criterion, corpus, part in parts(ratings):
        for state in (True, False) if gold else (None,):
            rest = part.without("system", gold) if state is False else part
            if rest.rows:
                yield StudyPart(criterion, corpus, state), rest


def paired(ratings: Ratings, scores: MetricScores, gold: Collection[str] = ()) -> list[PairedSentences]:
    """Return people's values paired with metrics' for each of the `study_parts`, even if no metric has a value in it.

    Raises:
        RatingsError: there are no ratings, or no metric has a value for any judged sentence.
        UnknownNameError: a name in `gold` is not a system.
    """
    found = [_paired(block, part, scores) for block, part in study_parts(ratings, gold)]
    if all(np.isnan(column).all() for own in found for column in own.metrics.values()):
        _, item, system = found[0].sentences[0]
        raise RatingsError(f"no metric has a value for a sentence that was judged, such as {system}'s for item {item}")
    return found


def _paired(block: StudyPart, part: Ratings, scores: MetricScores) -> PairedSentences:
    table = judgements(part, of_pairs=False)
    sentences = table.sentences
    metrics = {name: np.array([scores.value(name, one) for one in sentences]) for name in scores.metrics}
    notes = list(table.notes)
    for name, column in metrics.items():
        if missing := int(np.isnan(column).sum()):
            notes.append(f"{name} has no value for {missing} of {len(column)} sentences, which are left out")
    if table.copies:
        notes.append(
            f"{len(table.copies)} sentences equal another system's, whose judgements they share: these count once over "
            "sentences, and for each system within items and over systems"
        )
    items, _ = numbered([one[:2] for one in sentences])
    systems, names = numbered([one[2:] for one in sentences])
    system_names = tuple(name for (name,) in names)
    return PairedSentences(
        *block, sentences, table.means(), metrics, items, systems, table.seen, system_names, tuple(notes)
    )
