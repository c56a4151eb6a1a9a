"""Ratings under one criterion as arrays of sentence, rater and value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dactnlg.studies.analysis.coefficients import exact
from dactnlg.studies.analysis.normalization import scale_notes
from dactnlg.studies.ratings import Ratings, RatingsError

Sentence = tuple[str, str, str]
"""Corpus (empty if ratings have none), item, system; for a pair, the system is `first > second`."""
_Judged = tuple[Sentence, str, float, tuple[str, ...]]
"""Sentence, rater, value, and the text of the sentence, or the texts of both in a pair; empty if unknown."""
ONE_JUDGEMENT = (
    "pages compare two systems, and the two values of a page are one judgement, not two: see wins, losses and ties"
)
"""Why models that assume independent values are not fitted to a pairwise design."""
_MANY_TIMES = 5
"""Raters whose highest values differ by more than this factor may use different scales; on 1 to 5, none can."""


@dataclass(frozen=True)
class Judgements:
    """J judgements, at most one per sentence and rater.

    Attributes:
        sentences: the sentences that were judged, in the order of their first rows.
        raters: names of the raters.
        sentence: (J,), index in `sentences`.
        rater: (J,), index in `raters`.
        value: (J,), the values, all finite.
        notes: remarks for the reader.
        copies: sentence -> the earlier system's sentence with the same text, whose judgements it shares.
    """

    sentences: tuple[Sentence, ...]
    raters: tuple[str, ...]
    sentence: NDArray[np.int64]
    rater: NDArray[np.int64]
    value: NDArray[np.float64]
    notes: tuple[str, ...] = ()
    copies: Mapping[Sentence, Sentence] = field(default_factory=dict)

    @cached_property
    def of_rater(self) -> tuple[tuple[NDArray[np.int64], NDArray[np.float64]], ...]:
        """Each rater's sentences, in ascending order of index, and the values given to them."""
        order = np.lexsort((self.sentence, self.rater))
        ends = np.searchsorted(self.rater[order], np.arange(len(self.raters) + 1))
        slices = [order[start:end] for start, end in zip(ends[:-1], ends[1:], strict=True)]
        return tuple((self.sentence[own], self.value[own]) for own in slices)

    @cached_property
    def seen(self) -> NDArray[np.int64]:
        """The sentence that raters saw for each, (N,), as an index in `sentences`: its own, or that of its original."""
        places = {sentence: at for at, sentence in enumerate(self.sentences)}
        return np.array([places[self.copies.get(sentence, sentence)] for sentence in self.sentences], dtype=np.int64)

    def means(self) -> NDArray[np.float64]:
        """Return each sentence's mean value over its raters, (N,)."""
        total = np.bincount(self.sentence, self.value, minlength=len(self.sentences))
        return exact(total / np.bincount(self.sentence, minlength=len(self.sentences)))


def judgements(ratings: Ratings, *, of_pairs: bool = True) -> Judgements:
    """Return the judgements of ratings under one criterion.

    If a rater has judged a sentence on several pages, the first judgement counts. The two rows of a pairwise page are
    one judgement of the pair, with the value of the system whose name sorts first. If ratings have pages, a sentence
    shared by several systems, which raters saw once, counts once, for the system whose rows come first.

    Args:
        ratings: the judgements.
        of_pairs: if false, none of the above applies: each row is a judgement of its own sentence (1, .5 or 0 in a
            pair), and several judgements of a sentence by a rater are averaged. `copies` says which sentences raters
            saw only once.

    Raises:
        RatingsError: there are no ratings, or of several criteria, or a value is not a finite number.
    """
    criteria = ratings.names("criterion")
    if len(criteria) != 1:
        raise RatingsError(f"ratings of one criterion are wanted, not of {', '.join(criteria) or 'none'}")
    paired = _pairs(ratings) if of_pairs else None
    every = paired if paired is not None else [(_sentence(row), *_given(row)) for row in ratings.rows]
    copies = _copies(every) if "page" in ratings.columns else {}
    rows = [row for row in every if row[0] not in copies] if of_pairs else every
    sentences: dict[Sentence, int] = {}
    raters: dict[str, int] = {}
    found: dict[tuple[int, int], list[float]] = {}
    for sentence, rater, value, _ in rows:
        if not np.isfinite(value):
            raise RatingsError(f"rater {rater}'s value for item {sentence[1]}, {sentence[2]}, is not a finite number")
        key = sentences.setdefault(sentence, len(sentences)), raters.setdefault(rater, len(raters))
        found.setdefault(key, []).append(float(value))
    places = np.array(list(found), dtype=np.int64).reshape(-1, 2)
    again = len(rows) - len(found)
    notes = (*ratings.notes, *(scale_notes(ratings) or _highest_notes(ratings)))
    if again and of_pairs:
        notes += (f"{again} judgements of a sentence by a rater who had judged it before are left out",)
    if copies and of_pairs:
        notes += (f"{len(copies)} sentences equal another system's, whose judgements they share: these count once",)
    values = np.array([given[0] if of_pairs else sum(given) / len(given) for given in found.values()])
    return Judgements(tuple(sentences), tuple(raters), places[:, 0], places[:, 1], values, notes, copies)


def _highest_notes(ratings: Ratings) -> tuple[str, ...]:
    """Return a note if one rater's highest value is many times another's, which ranges hide if raters are few."""
    highest: dict[str, float] = {}
    for row in ratings.rows:
        highest[row["rater"]] = max(row["value"], highest.get(row["rater"], row["value"]))
    least, most = min(highest, key=lambda name: highest[name]), max(highest, key=lambda name: highest[name])
    if highest[most] <= _MANY_TIMES * highest[least] or highest[least] <= 0:
        return ()
    return (
        f"raters may have used different scales: the highest value of {least} is {highest[least]:g}, that of {most} "
        f"{highest[most]:g}",
    )


def pairwise(ratings: Ratings, criterion: str) -> bool:
    """Whether ratings under a criterion are of a pairwise design, in which the two values of a page sum to 1."""
    return _pairs(ratings.where(criterion=criterion)) is not None


def _sentence(row: Any) -> Sentence:
    return row.get("corpus", ""), row["item"], row["system"]


def _given(row: Any) -> tuple[str, float, tuple[str, ...]]:
    return row["rater"], row["value"], (row.get("output", ""),)


def _copies(rows: list[_Judged]) -> dict[Sentence, Sentence]:
    """Return the sentences with the same text and judgements as an earlier system's, each with that one."""
    first: dict[tuple[str, ...], Sentence] = {}
    same: dict[Sentence, Sentence] = {}
    given: dict[Sentence, Counter[tuple[str, float]]] = {}
    for sentence, rater, value, texts in rows:
        if all(texts):
            same[sentence] = first.setdefault((*sentence[:2], *sorted(texts)), sentence)
            # If the two texts are in the other order, the value refers to the other one.
            turned = texts != tuple(sorted(texts))
            given.setdefault(sentence, Counter())[rater, 1 - value if turned else value] += 1
    return {
        sentence: other for sentence, other in same.items() if sentence != other and given[sentence] == given[other]
    }


def _pairs(ratings: Ratings) -> list[_Judged] | None:
    """Return the judgements of a pairwise design, None for any other: pages with two values that sum to 1."""
    if "page" not in ratings.columns:
        return None
    pages: dict[tuple[str, str], list[Any]] = {}
    for row in ratings.rows:
        pages.setdefault((row["page"], row["rater"]), []).append(row)
    found: list[_Judged] = []
    for (_, rater), rows in pages.items():
        if len(rows) != 2 or rows[0]["item"] != rows[1]["item"] or rows[0]["value"] + rows[1]["value"] != 1:
            return None
        first, second = sorted(rows, key=lambda row: str(row["system"]))
        corpus, item, _ = _sentence(first)
        texts = first.get("output", ""), second.get("output", "")
        found.append(((corpus, item, f"{first['system']} > {second['system']}"), rater, first["value"], texts))
    return found
