"""The pages of a study in a real browser: by keyboard, on a phone, light and dark, without scripts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from study_raters import OWNER, StudyProcess, serving, small_study, tokens

from dactnlg.studies.storage import Storage
from dactnlg.studies.study import Scale

STUDY = small_study(raters=5)
"""One rater for each test."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("study")
    STUDY.save(found)
    return found


@pytest.fixture(scope="module")
def likert(folder: Path) -> Iterator[StudyProcess]:
    with serving(folder) as process:
        yield process


def opened(context: Any, process: StudyProcess, path: str) -> tuple[Any, list[str]]:
    """Return a page, and the list of its console errors."""
    page, errors = context.new_page(), []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"http://{process.address}{path}")
    return page, errors


def test_a_study_can_be_rated_by_keyboard_alone(browser: Any, likert: StudyProcess, folder: Path) -> None:
    context = browser.new_context()
    page, errors = opened(context, likert, f"/r/{tokens(folder)['r001']}")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    for number, shown in enumerate(STUDY.raters[0].pages, 1):
        page.wait_for_selector(f"text=Page {number} of 5")
        # The script handles some of the keys.
        page.wait_for_load_state("load")
        questions = 2 * len(shown.systems)
        # Digits choose and go on; arrows move within a question; the button comes last.
        for at in range(questions - 1):
            page.keyboard.press(str(at % 5 + 1))
        page.keyboard.press("Space")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.tagName") == "BUTTON"
        page.keyboard.press("Enter")
    page.wait_for_selector("text=Thank you")
    assert errors == []
    context.close()
    storage = Storage.open(folder, STUDY, None)
    first = storage.values()["r001-001"]
    assert first == {
        (0, "quality"): 1, (0, "naturalness"): 2, (1, "quality"): 3, (1, "naturalness"): 4, (2, "quality"): 5,
        (2, "naturalness"): 2,
    }  # fmt: skip
    storage.close()


def test_a_key_that_is_held_answers_one_question(browser: Any, likert: StudyProcess, folder: Path) -> None:
    context = browser.new_context()
    page, _ = opened(context, likert, f"/r/{tokens(folder)['r005']}")
    page.check("[name=agree]")
    page.click("button:text-is('Begin')")
    page.wait_for_selector("#rate")
    page.wait_for_load_state("load")
    # Further events of a key that is down are its repetitions.
    for _ in range(4):
        page.keyboard.down("5")
    assert page.locator("input:checked").count() == 1
    context.close()


@pytest.mark.parametrize(("scheme", "rater"), [("light", "r002"), ("dark", "r003")])
def test_the_study_pages_fit_a_phone_and_are_legible(
    browser: Any, contrast: str, likert: StudyProcess, folder: Path, scheme: str, rater: str
) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 640}, color_scheme=scheme)
    link = f"/r/{tokens(folder)[rater]}"
    page, errors = opened(context, likert, link)
    seen = []

    def look() -> None:
        seen.append(page.title())
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        # The keyboard scrolls what is wider.
        assert page.evaluate("[...document.querySelectorAll('.wide')].every(e => e.tabIndex === 0)")
        assert page.evaluate(contrast) == []
        assert page.evaluate(
            "[...document.querySelectorAll('button, .choices label')].every(e => e.offsetHeight >= 40)"
        )

    look()
    page.check("[name=agree]")
    page.click("button:text-is('Begin')")
    page.wait_for_selector("#rate")
    look()
    page.goto(f"http://{likert.address}{link}/leave")
    look()
    page.goto(f"http://{likert.address}/owner")
    page.fill("#token", OWNER)
    page.click("button:text-is('Sign in')")
    page.wait_for_selector("text=Agreement so far")
    look()
    assert len(set(seen)) == 4
    assert [error for error in errors if "401" not in error] == []
    context.close()


def test_a_study_works_without_scripts(browser: Any, likert: StudyProcess, folder: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page, _ = opened(context, likert, f"/r/{tokens(folder)['r004']}")
    page.check("[name=agree]")
    page.click("button:text-is('Begin')")
    for field in ("s1q1", "s1q2", "s2q1", "s2q2", "s3q1", "s3q2"):
        page.check(f"[name={field}][value='4']", force=True)
    page.click("button:text-is('Send and go on')")
    page.wait_for_selector("text=Page 2 of 5")
    # Going back shows the next page to rate, not the submitted one.
    page.go_back()
    page.reload()
    page.wait_for_selector("text=Page 2 of 5")
    context.close()


def test_fractions_and_arabic_are_legible_on_a_narrow_screen(browser: Any, tmp_path: Path) -> None:
    study, said = small_study(), "اهلا بكم في البيت."
    items = [
        item.model_copy(
            update={"sentences": {name: said + " " * at for at, name in enumerate(item.sentences)}, "check": None}
        )
        for item in study.items
    ]
    scale = Scale(low=0, high=1, step=0.1)
    study.model_copy(update={"scale": scale, "items": tuple(items)}).save(tmp_path)
    with serving(tmp_path) as process:
        context = browser.new_context(viewport={"width": 320, "height": 640})
        page, _ = opened(context, process, f"/r/{tokens(tmp_path)['r001']}")
        page.check("[name=agree]")
        page.click("button:text-is('Begin')")
        page.wait_for_selector("#rate")
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        assert page.evaluate(
            "[...document.querySelectorAll('.choices span')].every(e => e.scrollWidth <= e.clientWidth)"
        )
        # A choice alone in a second row would be as wide as the page, and catch the eye.
        tops = "[...document.querySelector('.choices').children].map(e => e.offsetTop)"
        assert len(set(page.evaluate(tops))) == 1
        # Its full stop stands at the left.
        assert page.evaluate("getComputedStyle(document.querySelector('.sentence')).direction") == "rtl"
        context.close()


def test_a_slider_has_no_value_until_moved_and_leaving_the_page_is_confirmed(browser: Any, tmp_path: Path) -> None:
    small_study("continuous").save(tmp_path)
    with serving(tmp_path) as process:
        context = browser.new_context()
        link = f"/r/{tokens(tmp_path)['r001']}"
        page, errors = opened(context, process, link)
        page.check("[name=agree]")
        page.click("button:text-is('Begin')")
        page.wait_for_selector("input[type=range]")
        page.wait_for_load_state("load")
        assert page.locator("input[type=range].untouched").count() == 6
        page.locator("input[type=range]").first.press("ArrowRight")
        assert page.input_value("[name=s1q1]") == "50.5"
        page.fill("[name=s1q2]", "12.5")
        assert page.locator("#s1q2 input[type=range]").input_value() == "12.5"
        # The browser asks before it leaves unsent answers.
        asked = []
        page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
        page.goto(f"http://{process.address}/")
        assert asked == ["beforeunload"]
        assert errors == []
        context.close()
