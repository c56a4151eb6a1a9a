"""The datasheet: every question of HEDS 2.0, answers that the study knows, and no markup from the study's texts."""

from __future__ import annotations

import re

import pytest
from test_study_exchange import EVIL, rating, study

from dactnlg.studies.heds import OPEN, datasheet
from dactnlg.studies.ratings import Ratings
from dactnlg.studies.study import Study

# Shimorina and Belz 2022: sections of the sheet, and how many questions each has.
QUESTIONS = {"1": 3, "2": 5, "3.1": 3, "3.2": 5, "3.3": 8, "4.1": 3, "4.2": 3, "4.3": 11, "5": 4}


def answers(sheet: str) -> dict[str, str]:
    """Return the answer to each question by its number; of several criteria, the last one's."""
    parts = re.split(r"^### ([\d.]+) .*$", sheet, flags=re.M)
    return dict(zip(parts[1::2], map(str.strip, parts[2::2]), strict=True))


def test_every_question_is_there_once_for_each_criterion() -> None:
    numbers = re.findall(r"^### ([\d.]+) \S", datasheet(study()), flags=re.M)
    wanted = [f"{section}.{at}" for section, count in QUESTIONS.items() for at in range(1, count + 1)]
    fourth = [number for number in wanted if number.startswith("4.")]
    before, after = [n for n in wanted if n < "4"], [n for n in wanted if n > "5"]
    assert numbers == [*before, *fourth, *fourth, *after]


def test_questions_are_answered_from_the_study() -> None:
    found = answers(datasheet(study()))
    assert found["3.1.1"] == "3."
    assert "seed 1; corpora: c" in found["3.1.2"]
    assert found["3.2.1"] == "1 were planned."
    assert "1 sentences among the others" in found["3.3.3"]
    assert found["3.3.4"].startswith("The act in plain words and 2 sentence(s)")
    assert (found["4.2.2"], found["4.3.3"], found["4.3.4"]) == ("Relative.", "11.", "0 to 5 in steps of 0.5.")
    assert found["4.3.5"] == "Multiple-choice options."
    assert found["5.1"].startswith(f"**{OPEN}**")
    # Every question has an answer or is marked as open.
    assert all(found.values())
    ratings = Ratings([rating(), rating(rater="r002")])
    assert answers(datasheet(study(), ratings))["3.2.1"] == "2 have rated; 1 were planned."


@pytest.mark.parametrize("design", ["likert", "pairwise"])
def test_a_pairwise_study_is_a_relative_judgement(design: str) -> None:
    found = answers(datasheet(study(design)))
    pairs = design == "pairwise"
    assert found["4.3.8"] == ("Relative quality estimation." if pairs else "Direct quality estimation.")
    assert found["4.3.3"] == ("3." if pairs else "11.")


def test_values_of_a_continuous_scale_are_typed() -> None:
    found = answers(datasheet(study("continuous")))
    assert (found["4.3.3"], found["4.3.5"]) == ("11.", "Another: a number to enter.")


def test_human_sentences_are_mentioned() -> None:
    data = study().model_dump(mode="json")
    data["systems"][0]["source"] = "run-1, the corpus's own sentences"
    assert "people wrote" in answers(datasheet(Study.model_validate(data)))["2.2"]
    assert "people wrote" not in answers(datasheet(study()))["2.2"]


def test_texts_of_the_study_are_not_markup() -> None:
    evil = f"{EVIL}\n### 9.9 forged\n```\n# x"
    data = study().model_dump(mode="json") | {"instructions": evil, "name": EVIL}
    data["criteria"] = [{"name": "a|b", "question": evil, "low_label": "<b>\n## x"}]
    sheet = datasheet(Study.model_validate(data))
    outside = re.sub(r"^(`{3,})$.*?^\1$", "", sheet, flags=re.M | re.S)
    assert "9.9" not in outside
    assert "<script>" not in outside
    assert "<b>" not in outside
    assert not re.search(r"^#+ x", outside, flags=re.M)
