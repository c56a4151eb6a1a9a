"""Conversion of a study's pages to form questions, and of submitted forms to answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dactnlg._utils.web.problems import UNPROCESSABLE, Problem
from dactnlg.studies.storage import Answer
from dactnlg.studies.study import MOST_CHOICES, Criterion, Scale, Study, StudyPage

PAIR = {"first": (1.0, 0.0), "second": (0.0, 1.0), "tie": (0.5, 0.5)}
"""Answers about a pair, with the values of its two sentences."""
_PAIR_LABELS = {"first": "Sentence 1", "second": "Sentence 2", "tie": "Equally good"}
UNANSWERED = "Please answer this question."
_NUMBER = re.compile(r"-?[0-9]{1,12}(?:\.[0-9]{1,9})?")


@dataclass(frozen=True)
class Choice:
    """An answer that may be chosen: the value that the form sends, the label shown, and its keyboard shortcut."""

    value: str
    label: str
    key: str


@dataclass(frozen=True)
class Question:
    """A question on a page.

    Attributes:
        field: its name in the form, made of numbers so that it names no system or criterion.
        place: position of the sentence that it is about, from 0; None if it is about a pair or the whole page.
        criterion: what is asked.
        choices: the possible answers; empty if a number is asked for.
        given: the answer as the form sent it.
        mistake: what is wrong with it; empty if nothing is.
    """

    field: str
    place: int | None
    criterion: Criterion
    choices: tuple[Choice, ...]
    given: str = ""
    mistake: str = ""


def questions(study: Study, page: StudyPage, given: Mapping[str, str] | None = None) -> list[Question]:
    """Return the questions of a page, sentence by sentence.

    Args:
        study: the study.
        page: one of its pages.
        given: a submitted form, whose answers and mistakes are set in the questions.
    """
    choices = tuple(_choices(study))
    places: list[int | None] = [None] if study.design == "pairwise" else list(range(len(page.systems)))
    found = []
    for place in places:
        for number, criterion in enumerate(study.criteria, 1):
            field = f"q{number}" if place is None else f"s{place + 1}q{number}"
            text = (given or {}).get(field, "").strip()
            mistake = "" if given is None else _mistake(study, text)
            found.append(Question(field, place, criterion, choices, text[:20], mistake))
    return found


def read_answers(asked: list[Question], form: Mapping[str, str]) -> list[Answer] | None:
    """Return the answers in a form, or None if `mistake` is set in a question.

    Args:
        asked: the page's questions, from `questions` with this form.
        form: the submitted form.

    Raises:
        Problem: 422 for a field that the page does not have.
    """
    _check_fields(asked, form)
    if any(question.mistake for question in asked):
        return None
    found = []
    for question in asked:
        name = question.criterion.name
        if question.place is None:
            found += [Answer(place, name, value) for place, value in enumerate(PAIR[question.given])]
        else:
            found.append(Answer(question.place, name, float(question.given)))
    return found


def scale_questions(
    scale: Scale, criteria: Sequence[Criterion], given: Mapping[str, str] | None = None
) -> list[Question]:
    """Return the questions about a single thing, such as a conversation: one per criterion, with fields `q1`, `q2`, ...

    Args:
        scale: the values.
        criteria: what is asked.
        given: a submitted form, whose answers and mistakes are set in the questions.
    """
    choices, found = tuple(_values(scale)) if len(scale.values) <= MOST_CHOICES else (), []
    for number, criterion in enumerate(criteria, 1):
        text = (given or {}).get(f"q{number}", "").strip()
        mistake = "" if given is None else _off_scale(scale, text) if text else UNANSWERED
        found.append(Question(f"q{number}", None, criterion, choices, text[:20], mistake))
    return found


def read_scales(asked: list[Question], form: Mapping[str, str]) -> dict[str, float] | None:
    """Return criterion -> value for a form with `scale_questions`, or None if `mistake` is set in a question.

    Raises:
        Problem: 422 for a field that the page does not have.
    """
    _check_fields(asked, form)
    if any(question.mistake for question in asked):
        return None
    return {question.criterion.name: float(question.given) for question in asked}


def _check_fields(asked: list[Question], form: Mapping[str, str]) -> None:
    if unknown := sorted(form.keys() - {question.field for question in asked}):
        raise Problem(UNPROCESSABLE, f"this page has no field {unknown[0][:40]!r}")


def _choices(study: Study) -> Iterator[Choice]:
    if study.scale is None:
        for key, (value, label) in enumerate(_PAIR_LABELS.items(), 1):
            yield Choice(value, label, str(key))
    elif study.offers_choices:
        yield from _values(study.scale)


def _values(scale: Scale) -> Iterator[Choice]:
    for value in (f"{value:.12g}" for value in scale.values):
        # Only one-digit values have a shortcut, which is the digit itself.
        yield Choice(value, value, value if len(value) == 1 else "")


def _mistake(study: Study, text: str) -> str:
    """Return what is wrong with an answer; empty if it is valid."""
    if not text:
        return UNANSWERED
    if study.scale is None:
        return "" if text in PAIR else "Please choose one of the three answers."
    return _off_scale(study.scale, text)


def _off_scale(scale: Scale, text: str) -> str:
    if _NUMBER.fullmatch(text) and scale.has(float(text)):
        return ""
    steps = "" if scale.step == 1 else f" in steps of {scale.step:g}"
    return f"Please answer with a number from {scale.low:g} to {scale.high:g}{steps}."
