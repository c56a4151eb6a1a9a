"""The playground and the API reference in a real browser, on the real server."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import until
from serve import Server, serving

from dactnlg.acts import parse

ACT = "inform(name='Ivy Cutting';difficulty=easy;dogsallowed=yes)"
HOSTILE = "<img src=x onerror=alert(1)><script>alert(1)</script>"
WAIT = 20_000


@pytest.fixture(scope="module")
def server(poor_run: Callable[[str], Path], random_run: Path) -> Iterator[Server]:
    with serving(f"sclstm={poor_run('sclstm')}", f"random={random_run}") as found:
        yield found


class Opened:
    """A page, its console errors, and the URLs that it requested."""

    def __init__(self, browser: Any, server: Server, path: str = "/", **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(WAIT)
        self.address = f"http://{server.host}:{server.port}"
        self.errors: list[str] = []
        self.asked: set[str] = set()
        self.page.on("console", lambda one: self.errors.append(one.text) if one.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.errors.append("a dialog"), dialog.dismiss()))
        self.page.on("request", lambda request: self.asked.add(request.url))
        self.page.goto(self.address + path)

    def __enter__(self) -> Any:
        return self.page

    def __exit__(self, *_: object) -> None:
        self.context.close()
        # Malformed acts and models without a trace are answered with 422, which the browser logs.
        assert [error for error in self.errors if "422" not in error] == []
        assert all(url.startswith(self.address) for url in self.asked)


def ready(page: Any) -> Any:
    """Return the page once its models are loaded."""
    page.wait_for_selector("#examples button")
    return page


def generated(page: Any, act: str = ACT, models: int = 1) -> None:
    """Generate, and wait for the sentences and traces of all models.

    Conditions are polled from outside: `page.wait_for_function` evaluates a string, which the page's policy forbids.
    """
    page.fill("#act", act)
    page.press("#act", "Enter")
    until(lambda: page.locator("#results .said").count() == models)
    until(lambda: page.locator("#results figcaption").count() == models)


def test_an_act_is_completed_and_generated_by_keyboard_alone(browser: Any, server: Server) -> None:
    with Opened(browser, server) as page:
        ready(page)
        for _ in range(12):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.id") == "act":
                break
        page.keyboard.type("inf")
        page.wait_for_selector("#choices li")
        assert page.locator("#choices li").first.text_content() == "inform"
        assert page.get_attribute("#act", "aria-activedescendant") == "choice-0"
        page.keyboard.press("Enter")
        assert page.input_value("#act") == "inform("
        # The slots of this act type are offered at once, to be chosen with the arrow keys.
        page.keyboard.type("d")
        assert page.locator("#choices li").all_text_contents()[:3] == ["difficulty", "dogsallowed", "duration"]
        page.keyboard.press("ArrowDown")
        assert page.locator("#choices li[aria-selected=true]").text_content() == "dogsallowed"
        page.keyboard.press("Enter")
        page.keyboard.type("=")
        assert page.locator("#choices li").all_text_contents() == ["dontcare", "no", "yes"]
        page.keyboard.type("y")
        page.keyboard.press("Enter")
        assert page.input_value("#act") == "inform(dogsallowed=yes"
        # Slots that are already in the act come last.
        page.keyboard.type(";")
        assert page.locator("#choices li").last.text_content() == "dogsallowed"
        page.keyboard.press("Backspace")
        # Within quotes anything is allowed, so nothing is offered; after them, something is.
        page.keyboard.type(";name='In d")
        assert page.locator("#choices").is_hidden()
        page.keyboard.type("';")
        assert page.locator("#choices").is_visible()
        page.keyboard.press("Escape")
        assert page.locator("#choices").is_hidden()
        page.keyboard.press("Control+Space")
        assert page.locator("#choices").is_visible()
        page.keyboard.press("Escape")
        page.keyboard.press("Backspace")
        page.keyboard.type(")")
        page.keyboard.press("Enter")
        page.wait_for_selector("#results .said")
        assert page.locator("#results .said mark").text_content() == "In d2"
        # Tab reaches everything, and the focus is never trapped.
        seen = set()
        for _ in range(40):
            page.keyboard.press("Tab")
            seen.add(page.evaluate("document.activeElement.textContent.slice(0, 8) || document.activeElement.id"))
        assert {"Generate", "words", "sentence", "Check", "Copy cur"} <= seen


def test_a_mistake_in_an_act_is_marked_with_a_caret(browser: Any, server: Server) -> None:
    with Opened(browser, server) as page:
        ready(page)
        page.click("#act")
        page.keyboard.type("inform(name='Ivy Cutting';difficulty)&goodbye]")
        page.wait_for_selector("text=expected '(' after the act type 'goodbye'")
        line, below = page.locator("#act-state pre").text_content().split("\n")
        assert line[below.index("^")] == "]"
        assert page.get_attribute("#act", "aria-invalid") == "true"
        page.fill("#act", "inform(nmae=x)")
        page.wait_for_selector("text=did you mean 'name'?")
        line, below = page.locator("#act-state pre").text_content().split("\n")
        assert line[below.index("^") :].startswith("nmae")
        # Columns count characters, not UTF-16 units.
        page.fill("#act", "inform(name='😀😀')x")
        page.wait_for_selector("text=expected '(' after the act type 'x'")
        line, below = page.locator("#act-state pre").text_content().split("\n")
        assert len(below) - 1 == len("inform(name='😀😀')x")
        page.fill("#act", ACT)
        page.wait_for_selector("#act-state .act")
        assert page.get_attribute("#act", "aria-invalid") is None
        page.fill("#act", "inform(name=")
        page.press("#act", "Enter")
        page.wait_for_selector("#results .problem")


def test_only_answers_to_the_last_request_are_shown(browser: Any, server: Server) -> None:
    def said() -> str:
        return str(page.locator("#results .said").text_content()) + str(page.locator("#results .act").text_content())

    held: list[Any] = []

    def hold(route: Any) -> None:
        if "Held" in str(route.request.post_data) and "model" in str(route.request.post_data) and not held:
            held.append(route)
        else:
            route.continue_()

    with Opened(browser, server) as page:
        ready(page)
        # A late answer does not replace that of the later act.
        page.route("**/v1/generate", hold)
        page.fill("#act", "inform(name='Held Back')")
        page.press("#act", "Enter")
        until(lambda: bool(held) or page.wait_for_timeout(10))
        generated(page, "inform(name='Ivy Cutting')")
        with page.expect_response("**/v1/generate"):
            held.pop().continue_()
        page.wait_for_timeout(300)
        assert "Ivy Cutting" in said() and "Held Back" not in said()
        # An act that is changed while the service parses it does not mix into the answer.
        page.unroute("**/v1/generate")
        page.route("**/v1/parse", hold)
        page.evaluate("""() => {
            document.getElementById("act").value = "inform(name='Held Twice')";
            document.getElementById("generate").click();
            document.getElementById("act").value = "inform(name='Gull Farm')";
        }""")
        until(lambda: bool(held) or page.wait_for_timeout(10))
        with page.expect_response("**/v1/generate"):
            held[0].continue_()
        until(lambda: "Ivy Cutting" not in said())
        assert said().count("Held Twice") == 2 and "Gull Farm" not in said()


def test_slots_have_colours_and_the_heat_map_shows_the_chosen_sentence(browser: Any, server: Server) -> None:
    with Opened(browser, server) as page:
        ready(page)
        generated(page)
        marks = page.locator("#results .said mark")
        said = [text.rstrip("123") for text in marks.all_text_contents()]
        assert said == ["Ivy Cutting", "easy"]
        for place in (0, 1):
            inside, beside = (
                page.locator(f"{where} .slot-{place}").first for where in ("#results .said", "#act-state")
            )
            colours = [one.evaluate("one => getComputedStyle(one).backgroundColor") for one in (inside, beside)]
            assert colours[0] == colours[1]
        assert page.locator("#results .best tbody tr").count() == 3
        rows, columns = page.locator(".heat tbody tr"), page.locator(".heat thead th")
        assert rows.count() == 4
        assert page.locator(".heat td").count() == 4 * (columns.count() - 1)
        # The trace of another sentence.
        before = page.locator(".heat thead").text_content()
        page.locator("#results .best button").nth(2).click()
        until(lambda: page.locator(".heat thead").text_content() != before)
        assert page.locator("#results .best tr[aria-current]").count() == 1


def test_two_models_are_shown_side_by_side(browser: Any, server: Server) -> None:
    with Opened(browser, server, viewport={"width": 1200, "height": 900}) as page:
        ready(page)
        page.select_option("#beside", "random")
        generated(page, models=2)
        boxes = [page.locator("#results article").nth(at).bounding_box() for at in range(2)]
        assert boxes[0]["y"] == boxes[1]["y"]
        assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"]
        assert page.locator("#results h2").all_text_contents() == ["sclstm", "random"]
        assert "nothing to show" in page.locator("#results figure").nth(1).text_content()


def test_an_entered_sentence_is_checked(browser: Any, server: Server) -> None:
    with Opened(browser, server) as page:
        ready(page)
        page.fill("#act", ACT)
        page.fill("#sentence", "Ivy Cutting is hard, and leave your dog at home.")
        page.click("#check button")
        page.wait_for_selector("#checked .said")
        assert page.locator("#checked .said mark").text_content() == "Ivy Cutting1"
        told = page.locator("#checked .tag").all_text_contents()
        assert "missing: difficulty=easy" in told
        assert "dogsallowed=yes became dogsallowed=no" in told
        missing = page.locator("#checked .act .missing").all_text_contents()
        assert [text.partition("=")[0] for text in missing] == ["difficulty", "dogsallowed"]


def test_values_are_shown_as_text_and_never_as_markup(browser: Any, server: Server) -> None:
    with Opened(browser, server) as page:
        ready(page)
        page.select_option("#beside", "random")
        act = f"inform(name='{HOSTILE}';view='<b>{{{{7*7}}}}</b> & ${{x}}')"
        generated(page, act, models=2)
        assert HOSTILE in page.locator("#results .said").first.text_content()
        page.fill("#sentence", f"{HOSTILE} is here")
        page.click("#check button")
        page.wait_for_selector("#checked .said")
        page.fill("#act", f"inform(<script>alert(1)</script>='{HOSTILE}')")
        page.wait_for_selector("#act-state .problem")
        assert page.locator("main img, main script, main b").count() == 0
        page.fill("#act", f"{HOSTILE}(name=x)")
        page.press("#act", "Enter")
        page.wait_for_selector("#results .problem")
        assert page.locator("main img, main script, main b").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_playground_fits_a_phone_and_is_legible(browser: Any, contrast: str, server: Server, scheme: str) -> None:
    with Opened(browser, server, viewport={"width": 360, "height": 640}, color_scheme=scheme) as page:
        ready(page)

        def look() -> None:
            assert page.evaluate("document.documentElement.scrollWidth") <= 360
            assert page.evaluate(contrast) == []

        look()
        # All eight colours, a missing slot, a fault, the list of completions.
        act = (
            "inform(name=a;difficulty=b;duration=c;height=d;length=e;near=f;phone=g;region=h;view='a very long value "
            "without-any-place-to-break-it-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')"
        )
        page.select_option("#beside", "random")
        generated(page, act, models=2)
        page.fill("#sentence", "a is no such thing")
        page.click("#check button")
        page.wait_for_selector("#checked .missing")
        page.click("#act")
        page.keyboard.press("Control+End")
        page.keyboard.type("&in")
        page.wait_for_selector("#act-state .problem")
        assert page.locator("#choices").is_visible()
        look()
        # Each shade of the heat map.
        page.evaluate("for (let n = 0; n <= 10; n++) document.querySelectorAll('.heat td')[n].className = `heat-${n}`")
        look()
        page.goto(f"http://{server.host}:{server.port}/docs")
        look()


def test_copied_programs_run(browser: Any, server: Server) -> None:
    act = "inform(name='O\\'Neil $HOME \\\\ \"x\" `id` 😀 %s {0}';difficulty=easy)"
    with Opened(browser, server, permissions=["clipboard-read", "clipboard-write"]) as page:
        ready(page)
        page.fill("#act", act)
        page.fill("#n-best", "2")
        page.click("[data-copy=curl]")
        page.wait_for_selector("text=Copied.")
        curl = page.evaluate("navigator.clipboard.readText()")
        page.click("[data-copy=python]")
        until(lambda: page.evaluate("navigator.clipboard.readText()").startswith("import requests"))
        python = page.evaluate("navigator.clipboard.readText()")
    name = parse(act).acts[0].slots[0].value
    done = subprocess.run([sys.executable, "-c", python], capture_output=True, text=True, timeout=60, check=True)
    assert name in done.stdout
    # What a shell would pass on.
    words = shlex.split(curl.replace("\\\n", " "))
    body = json.loads(words[words.index("-d") + 1])
    assert body == {"acts": act, "model": "sclstm", "options": {"n_best": 2}}
    assert words[1] == f"http://{server.host}:{server.port}/v1/generate"


def test_a_token_is_asked_for(browser: Any, random_run: Path, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("a secret\n")
    with serving(f"random={random_run}", "--token-file", str(tmp_path / "token")) as server:
        opened = Opened(browser, server)
        page = opened.page
        page.wait_for_selector("#token-form")
        until(lambda: page.evaluate("document.activeElement.id") == "token")
        page.keyboard.type("wrong")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=This is not the token.")
        page.fill("#token", "a secret")
        page.press("#token", "Enter")
        ready(page)
        assert page.locator("#token-form").is_hidden()
        assert page.locator("#trouble").text_content() == ""
        generated(page)
        shown = page.locator("#curl").text_content() + page.locator("#python").text_content()
        assert "DACTNLG_TOKEN" in shown
        assert "a secret" not in page.content()
        opened.context.close()
        assert all("401" in error or "422" in error for error in opened.errors)


def test_the_reference_has_every_operation_and_works_without_scripts(browser: Any, server: Server) -> None:
    with Opened(browser, server, "/docs", java_script_enabled=False) as page:
        codes = page.locator("section.card h2").all_text_contents()
        assert codes[:5] == [f"{method} {path}" for method, path in PATHS]
        assert page.locator("script").count() == 0
        generate = page.locator("#post-v1-generate")
        fields = dict(
            zip(*[generate.locator(f".fields tr td:nth-child({n})").all_text_contents() for n in (1, 3)], strict=True)
        )
        assert fields["options.beam_width"] == "Hypotheses that the beam search keeps."
        assert fields["results[].fallback.reason"] == "Its faults."
        assert "results[].spans[].start" in fields
        # Each example is a valid request.
        for method, path in PATHS:
            card = page.locator(f"section[id='{method.lower()}{path.replace('/', '-')}']")
            examples = card.locator("pre").all_text_contents()
            assert examples[-1].startswith(f"curl http://{server.host}:{server.port}{path}")
            for example in examples[:-1]:
                body = re.sub(r'"model": "[^"]*"', '"model": "sclstm"', example)
                answer = page.request.post(f"http://{server.host}:{server.port}{path}", data=json.loads(body))
                assert answer.status == 200, answer.text()


PATHS = [
    ("POST", "/v1/generate"),
    ("POST", "/v1/check"),
    ("GET", "/v1/models"),
    ("POST", "/v1/parse"),
    ("POST", "/v1/trace"),
]
