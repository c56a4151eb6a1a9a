"""Raters' answers converted to rows of `Ratings`, and counts of failed attention checks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from dactnlg.studies.study import Study, StudyPage, StudyRater

Values = Mapping[tuple[int, str], float]
"""The answers to a page: (position of the sentence on the page, from 0; criterion) -> value."""


def rating_rows(study: Study, answers: Mapping[str, Values]) -> Iterator[dict[str, Any]]:
    """Yield answers as rows of `Ratings`, in the order of raters and pages, without attention checks.

    A sentence shared by several systems was shown once, and its rating counts for each of them (see `Study.shared`). In
    a pairwise study, every system with the one sentence is compared with every system with the other: the first two
    under the page's own name, the others under a name with a number added, so that a page always has two systems.

    Args:
        study: the study.
        answers: page -> its values.
    """
    for rater in study.raters:
        for page in rater.pages:
            if page.id in answers and study.item_by_id[page.item].check is None:
                yield from _page_rows(study, rater, page, answers[page.id])


def _page_rows(study: Study, rater: StudyRater, page: StudyPage, values: Values) -> Iterator[dict[str, Any]]:
    item = study.item_by_id[page.item]
    shared = [study.shared(page, system) for system in page.systems]
    places = range(len(shared))
    # Groups of (place, system) that form one page of the ratings.
    if study.design == "pairwise":
        groups = [tuple(enumerate(pair)) for pair in product(*shared)]
    else:
        groups = [tuple((place, system) for place in places for system in shared[place])]
    for number, group in enumerate(groups):
        for (place, system), criterion in product(group, study.criteria):
            yield {
                "item": item.id,
                "system": system,
                "rater": rater.id,
                "criterion": criterion.name,
                "value": values[place, criterion.name],
                "page": f"{page.id}.{number}" if number else page.id,
                "corpus": item.corpus,
                "output": item.sentences[system],
            }


def failed_checks(study: Study, answers: Mapping[str, Values]) -> dict[str, tuple[int, int]]:
    """Return, for every rater, how many attention checks were failed and how many were answered.

    A check is failed if any question is answered differently from what its sentence asks for.
    """
    found: dict[str, tuple[int, int]] = {}
    for rater in study.raters:
        failed = answered = 0
        for page in rater.pages:
            item = study.item_by_id[page.item]
            if item.check is None or page.id not in answers:
                continue
            answered += 1
            # The sentence with the instruction comes first in the item; in a pair it should win.
            asking = page.systems.index(next(iter(item.sentences)))
            values = [value for (place, _), value in answers[page.id].items() if place == asking]
            # Checks of older studies may ask for .30000000000000004.
            failed += not all(math.isclose(value, item.check, rel_tol=1e-12, abs_tol=1e-9) for value in values)
        found[rater.id] = failed, answered
    return found
