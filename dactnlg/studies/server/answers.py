"""What a form says about a page: every question answered, with a value that the study allows, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Mapping

from dactnlg._utils.web.problems import Problem
from dactnlg.studies.study import Study, StudyPage

CHOICES = {"first": (1.0, 0.0), "second": (0.0, 1.0), "equal": (0.5, 0.5)}
"""What can be said of two sentences: the values of both."""


class Unanswered(Exception):
    """Questions without an answer; `names` are the fields that they have in the form."""

    def __init__(self, names: list[str]) -> None:
        super().__init__(f"{len(names)} questions have no answer")
        self.names = names


def field_name(criterion: int, sentence: int | None = None) -> str:
    """Return the name of a question's field: places of sentence and criterion, so that it tells of no system."""
    return f"q{criterion + 1}" if sentence is None else f"s{sentence + 1}q{criterion + 1}"


def read_answers(study: Study, page: StudyPage, form: Mapping[str, str]) -> dict[tuple[str, str], float]:
    """Return the values of a page's sentences: (system, criterion) -> value.

    Raises:
        Unanswered: there are questions without an answer, and nothing worse.
        Problem: 422 for a value that may not be given, or a field that the page does not have.
    """
    found: dict[tuple[str, str], float] = {}
    missing: list[str] = []
    unknown = set(form)
    for at, criterion in enumerate(study.criteria):
        for sentence in [None] if study.scale is None else range(len(page.systems)):
            name = field_name(at, sentence)
            unknown.discard(name)
            given = form.get(name, "").strip()
            if not given:
                missing.append(name)
            elif sentence is None:
                for system, value in zip(page.systems, _choice(given, name), strict=True):
                    found[(system, criterion.name)] = value
            else:
                found[(page.systems[sentence], criterion.name)] = _value(study, given, name)
    if unknown:
        raise Problem(422, f"this page has no question {min(unknown)[:40]!r}")
    if missing:
        raise Unanswered(missing)
    return found


def _choice(given: str, name: str) -> tuple[float, float]:
    if given not in CHOICES:
        raise Problem(422, f"{name}: {given[:40]!r} is no answer; choose one of {', '.join(CHOICES)}")
    return CHOICES[given]


def _value(study: Study, given: str, name: str) -> float:
    try:
        value = float(given) if len(given) < 40 else math.nan
    except ValueError:
        value = math.nan
    scale = study.scale
    if scale is None or not math.isfinite(value) or not scale.has(value):
        told = f"from {scale.low:g} to {scale.high:g} in steps of {scale.step:g}" if scale else "none"
        raise Problem(422, f"{name}: {given[:40]!r} is not on the scale, {told}")
    return min(scale.values, key=lambda known: abs(known - value))
