"""The chat pages in a real browser: by keyboard, on a phone, light and dark, without scripts, through a crash."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_people import SYSTEMS, ChatProcess, chatting, small_chats
from study_raters import OWNER, tokens

from dactnlg.serving.chat.storage import ChatStorage


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, random_run: Path) -> Path:
    found = tmp_path_factory.mktemp("chats")
    small_chats((str(random_run), str(random_run)), people=5, chats=2).save(found)
    return found


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[list[ChatProcess]]:
    with chatting(folder) as process:
        running = [process]
        yield running
        running[0].end(signal.SIGKILL)


def opened(context: Any, server: list[ChatProcess], folder: Path, rater: str) -> tuple[Any, list[str]]:
    """Return the chat page of a person who has consented, and the list of its console errors."""
    page, errors = context.new_page(), []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(f"http://{server[0].address}/r/{tokens(folder)[rater]}")
    page.check("[name=agree]")
    page.click("button:text-is('Begin')")
    page.wait_for_selector("#say")
    # Until the script has loaded, Enter starts a new line.
    page.wait_for_load_state("load")
    return page, errors


def kept(folder: Path, rater: str) -> list[Any]:
    storage = ChatStorage.open(folder, small_chats(people=5, chats=2))
    found = [chat for chat in storage.all_chats() if chat.rater == rater]
    storage.close()
    return found


def test_a_chat_can_be_held_by_keyboard_alone(browser: Any, server: list[ChatProcess], folder: Path) -> None:
    context = browser.new_context()
    page, errors = opened(context, server, folder, "r001")
    for number, text in enumerate(("Hello there", "Something <b>easy</b>", "Thanks, & bye")):
        assert page.is_disabled("#rate-it button")
        assert page.evaluate("document.activeElement.id") == "text"
        page.keyboard.type(text)
        page.keyboard.press("Enter")
        page.wait_for_selector(f"#place-{2 * number + 1} .vote")
        assert page.inner_text(f"#place-{2 * number} bdi") == text
    # A screen reader announces answers as they arrive, as entries of a list, and which votes are set.
    log = page.get_by_role("log")
    assert log.get_attribute("aria-live") == "polite"
    assert log.get_by_role("list").get_by_role("listitem").count() == 6
    good, bad = page.get_by_label("Good answer").nth(1), page.get_by_label("Bad answer").nth(1)
    for button, stands in ((good, (True, False)), (good, (False, False)), (bad, (False, True)), (good, (True, False))):
        button.focus()
        page.keyboard.press("Enter")
        for each, pressed in zip((good, bad), stands, strict=True):
            page.wait_for_function(
                "([e, v]) => e.getAttribute('aria-pressed') === v", arg=[each.element_handle(), str(pressed).lower()]
            )
    # A reload keeps what is shown, and the rating can be opened now.
    page.reload()
    assert page.locator("#talk li").count() == 6
    assert page.get_by_label("Good answer").nth(1).get_attribute("aria-pressed") == "true"
    page.focus("#rate-it button")
    page.keyboard.press("Enter")
    page.wait_for_selector("#rate")
    # The script that listens to digits runs after the form is there.
    page.wait_for_load_state()
    page.focus("[name=q1]")
    for digit in "12345":
        page.keyboard.press(digit)
    assert page.evaluate("document.activeElement.tagName") == "BUTTON"
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Your ratings are kept")
    page.click("button:text-is('Another chat')")
    page.wait_for_selector("text=Say something to begin")
    assert errors == []
    context.close()
    (chat,) = kept(folder, "r001")
    assert chat.texts[2] == "Something <b>easy</b>"
    assert (chat.votes, list(chat.ratings.values())) == ({3: 1}, [1, 2, 3, 4, 5])


@pytest.mark.parametrize(("scheme", "rater"), [("light", "r002"), ("dark", "r003")])
def test_the_chat_pages_fit_a_phone_and_are_legible(
    browser: Any, contrast: str, server: list[ChatProcess], folder: Path, scheme: str, rater: str
) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 640}, color_scheme=scheme)
    page, errors = opened(context, server, folder, rater)
    seen = []

    def look() -> None:
        seen.append(page.title())
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        # The keyboard scrolls what is wider.
        assert page.evaluate("[...document.querySelectorAll('.wide')].every(e => e.tabIndex === 0)")
        assert page.evaluate(contrast) == []
        buttons = "[...document.querySelectorAll('button:not([hidden]), .choices label')]"
        assert page.evaluate(f"{buttons}.every(e => !e.checkVisibility() || e.offsetHeight >= 40)")

    look()
    for number, text in enumerate(("Hello", "a" * 300, "easy, please")):
        page.fill("#text", text)
        page.click("#say button")
        page.wait_for_selector(f"#place-{2 * number + 1} .vote")
    page.get_by_label("Good answer").first.click()
    page.get_by_label("Bad answer").last.click()
    page.wait_for_selector("#place-5 [aria-pressed=true]")
    look()
    page.click("#rate-it button")
    page.wait_for_selector("#rate")
    look()
    # The browser does not submit an incomplete form; the server refuses it, too.
    page.evaluate("document.getElementById('rate').noValidate = true")
    page.click("#rate button")
    page.wait_for_selector("text=5 of 5 questions need an answer")
    look()
    for number in range(1, 6):
        page.check(f"[name=q{number}][value='7']", force=True)
    page.click("#rate button")
    page.wait_for_selector("text=Your ratings are kept")
    look()
    for system in SYSTEMS:
        assert system not in page.content()
    page.goto(f"http://{server[0].address}/owner")
    page.fill("#token", OWNER)
    page.click("button:text-is('Sign in')")
    page.wait_for_selector(f"text={SYSTEMS[0]}")
    look()
    assert len(set(seen)) == 5
    assert [error for error in errors if "422" not in error and "401" not in error] == []
    context.close()


def test_a_chat_works_without_scripts(browser: Any, server: list[ChatProcess], folder: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page, _ = opened(context, server, folder, "r004")
    for number in range(3):
        page.fill("#text", f"message {number}")
        page.click("#say button")
        # A click does not wait for the new page to load.
        page.locator("#talk li").nth(2 * number + 1).wait_for()
        assert page.locator("#talk li").count() == 2 * number + 2
    for label, stands in (("Good answer", "true"), ("Good answer", "false"), ("Bad answer", "true")):
        page.get_by_label(label).first.click()
        page.locator(f"[aria-label='{label}'][aria-pressed={stands}]").first.wait_for()
    page.click("#rate-it button")
    for number in range(1, 6):
        page.check(f"[name=q{number}][value='{number}']", force=True)
    page.click("#rate button")
    page.wait_for_selector("text=Your ratings are kept")
    context.close()
    (chat,) = kept(folder, "r004")
    assert (chat.votes, chat.rated) == ({1: -1}, True)


def test_a_message_sent_while_the_server_is_down_arrives_once(
    browser: Any, server: list[ChatProcess], folder: Path
) -> None:
    context = browser.new_context()
    page, _ = opened(context, server, folder, "r005")
    server[0].end(signal.SIGKILL)
    page.fill("#text", "is anybody there?")
    page.keyboard.press("Enter")
    page.wait_for_selector("#state:has-text('Not sent yet')")
    server[0] = ChatProcess(folder, port=server[0].port)
    page.wait_for_selector("#place-1 .vote")
    page.get_by_label("Good answer").click()
    page.wait_for_selector("[aria-pressed=true]")
    context.close()
    (chat,) = kept(folder, "r005")
    assert (chat.texts[0], len(chat.texts), chat.votes) == ("is anybody there?", 2, {1: 1})
