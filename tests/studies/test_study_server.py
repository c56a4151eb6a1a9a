"""The study server: what raters see and may send, and what only the owner sees."""

from __future__ import annotations

import csv
import io
import json
import re
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from study_raters import OWNER, SYSTEMS, Rater, StudyProcess, rate_all, serving, small_study, tokens

from dactnlg._utils.web.tokens import digest
from dactnlg.cli.main import main
from dactnlg.studies.ratings import Ratings
from dactnlg.studies.server.application import build
from dactnlg.studies.server.assembly import LIMITS
from dactnlg.studies.server.desk import paragraphs
from dactnlg.studies.server.links import rater_tokens
from dactnlg.studies.server.questions import scale_questions
from dactnlg.studies.storage import Storage
from dactnlg.studies.study import Criterion, Scale, Study

BASE = "https://rate.example.org/study"
LINK = "/r/{}-link-of-24-characters"
HTML = {"accept": "text/html,*/*"}
PAGE = {f"s{sentence}q{criterion}": "3" for sentence in (1, 2, 3) for criterion in (1, 2)}


class Desk:
    """A study, its storage, and a client that does not follow redirects."""

    def __init__(self, folder: Path, study: Study) -> None:
        self.study, self.storage = study, Storage.open(folder, study)
        links = {rater.id: LINK.format(rater.id)[3:] for rater in study.raters}
        self.storage.set_links({rater: digest(token) for rater, token in links.items()})
        app = build(study, self.storage, OWNER, BASE)
        self.client = TestClient(app, base_url="https://rate.example.org", follow_redirects=False)

    def begin(self, rater: str = "r001") -> str:
        path = LINK.format(rater)
        assert self.client.post(f"{path}/consent", data={"agree": "yes"}).status_code == 303
        return path


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    found = Desk(tmp_path, small_study())
    yield found
    found.storage.close()


def test_a_rater_consents_answers_in_order_and_is_thanked(desk: Desk) -> None:
    link = LINK.format("r001")
    welcome = desk.client.get(link)
    assert "Take your time." in welcome.text
    assert "I agree." in welcome.text
    assert "voice" not in welcome.text
    refused = desk.client.post(f"{link}/pages/1", data=PAGE)
    assert (refused.status_code, refused.json()["status"]) == (409, 409)
    assert desk.client.post(f"{link}/consent", data={"agree": "no"}).status_code == 422
    desk.begin()
    for number, page in enumerate(desk.study.raters[0].pages, 1):
        shown = desk.client.get(link)
        assert f"Page {number} of 5" in shown.text
        form = {f"s{sentence + 1}q{c}": "3" for sentence in range(len(page.systems)) for c in (1, 2)}
        later = desk.client.post(f"{link}/pages/{number + 1}", data=form)
        assert later.status_code == (404 if number == 5 else 409)
        sent = [desk.client.post(f"{link}/pages/{number}", data=form) for _ in range(2)]
        assert [answer.status_code for answer in sent] == [303, 303]
        # The base URL has the path /study, as behind a proxy.
        assert sent[0].headers["location"] == f"/study{link}"
        other = desk.client.post(f"{link}/pages/{number}", data={**form, "s1q1": "4"}, headers=HTML)
        assert other.status_code == 409
        assert "those stand" in other.text
        assert f'<a href="/study{link}">' in other.text
        assert other.headers["content-type"].startswith("text/html")
    assert "Thank you" in desk.client.get(link).text
    assert sum(map(len, desk.storage.values().values())) == (3 + 2 + 1 + 3 + 3) * 2


def test_a_link_with_a_slash_at_its_end_stays_with_the_proxy(desk: Desk) -> None:
    link = LINK.format("r001")
    assert desk.client.get(f"{link}/").text == desk.client.get(link).text
    sent = desk.client.post(f"{link}/consent/", data={"agree": "yes"})
    assert (sent.status_code, sent.headers["location"]) == (303, f"/study{link}")


@pytest.mark.parametrize("design", ["likert", "continuous", "pairwise"])
def test_a_rater_sees_nothing_of_systems_items_or_others(tmp_path: Path, design: str) -> None:
    desk = Desk(tmp_path, small_study(design))
    link = desk.begin()
    seen = []
    for number, page in enumerate(desk.study.raters[0].pages, 1):
        shown = desk.client.get(link).text
        seen.append(shown)
        # Sentences are text, not markup.
        assert "<b>place</b>" not in shown
        names = set(re.findall(r'name="(\w+)" ', shown))
        form = {name: "first" if design == "pairwise" else "3" for name in names if name[0] in "sq"}
        assert len(form) == 2 * (1 if design == "pairwise" else len(page.systems))
        assert desk.client.post(f"{link}/pages/{number}", data=form).status_code == 303
    seen += [desk.client.get(path, headers=HTML).text for path in (link, "/", "/owner", "/r/none", f"{link}/leave")]
    for text in seen:
        for secret in (*SYSTEMS, "check", "item-", "trails", "r002", OWNER, "inform(", desk.study.digest):
            assert secret not in text.replace(link, "").replace("checkbox", "").replace("checked", "")
    desk.storage.close()


@pytest.mark.parametrize(
    ("design", "value", "told"),
    [
        ("likert", "", "Please answer this question."),
        ("likert", "6", "a number from 1 to 5."),
        ("likert", "2.5", "a number from 1 to 5."),
        ("likert", "NaN", "a number from 1 to 5."),
        ("likert", "\uff13", "a number from 1 to 5."),
        ("continuous", "100.5", "a number from 0 to 100 in steps of 0.5."),
        ("continuous", "7.3", "a number from 0 to 100 in steps of 0.5."),
        ("continuous", "1e2", "a number from 0 to 100 in steps of 0.5."),
        ("pairwise", "third", "one of the three answers."),
    ],
)
def test_a_mistake_is_shown_at_its_question_and_the_other_answers_are_kept(
    tmp_path: Path, design: str, value: str, told: str
) -> None:
    desk = Desk(tmp_path, small_study(design))
    link = desk.begin()
    good = {"likert": "4", "continuous": "40.5", "pairwise": "tie"}[design]
    names = {name for name in re.findall(r'name="(\w+)" ', desk.client.get(link).text) if name[0] in "sq"}
    wrong = min(names)
    answer = desk.client.post(f"{link}/pages/1", data={**dict.fromkeys(names, good), wrong: value})
    assert answer.status_code == 422
    assert told in re.search(rf'id="{wrong}-mistake">(.*?)</p>', answer.text)[1]  # type: ignore[index]
    assert answer.text.count('-mistake">') == 2  # the message, and its name at the question
    assert "1 of" in answer.text
    kept = answer.text.count('value="40.5"') if design == "continuous" else answer.text.count(" checked")
    assert kept == len(names) - 1
    assert not desk.storage.values()
    assert desk.client.post(f"{link}/pages/1", data=dict.fromkeys(names, good)).status_code == 303
    desk.storage.close()


@pytest.mark.parametrize(
    ("low", "high", "step", "keys"),
    [(1, 5, 1, "12345"), (0, 10, 1, "0123456789"), (1, 5, 0.5, "12345"), (-1, 1, 1, "01"), (10, 15, 1, "")],
)
def test_a_digit_chooses_the_answer_that_it_names(low: float, high: float, step: float, keys: str) -> None:
    scale = Scale(low=low, high=high, step=step)
    (question,) = scale_questions(scale, [Criterion(name="quality")])
    assert [choice.value for choice in question.choices if choice.key] == list(keys)
    assert all(choice.key in ("", choice.value) for choice in question.choices)
    assert len(question.choices) == len(scale.values)


def test_a_number_is_asked_for_with_the_meaning_of_both_ends(tmp_path: Path) -> None:
    desk = Desk(tmp_path, small_study("continuous"))
    shown = desk.client.get(desk.begin()).text
    described = re.findall(r'<input type="number" name="s\dq1"[^>]*aria-describedby="([\w-]+)"', shown)
    assert len(described) == 3
    for name in described:
        assert re.search(rf'<p class="ends soft" id="{name}" aria-hidden="false"><span>0: bad</span>', shown)
    desk.storage.close()


def test_a_form_of_another_site_is_refused(desk: Desk) -> None:
    link = desk.begin()
    for headers in (
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "https://evil.example"},
    ):
        assert desk.client.post(f"{link}/pages/1", data=PAGE, headers=headers).status_code == 403
        assert desk.client.post(f"{link}/leave", data={"leave": "yes"}, headers=headers).status_code == 403
        assert desk.client.post("/owner/sign-in", data={"token": OWNER}, headers=headers).status_code == 403
    for headers in ({"sec-fetch-site": "same-origin"}, {"origin": "https://rate.example.org"}, {"origin": "null"}):
        assert desk.client.post(f"{link}/pages/1", data=PAGE, headers=headers).status_code == 303


def test_the_answers_of_a_rater_who_leaves_are_deleted(desk: Desk) -> None:
    link = desk.begin()
    desk.client.post(f"{link}/pages/1", data=PAGE)
    assert "delete my answers" in desk.client.get(link).text
    assert desk.client.post(f"{link}/leave", data={"leave": ""}).status_code == 422
    assert desk.storage.values()
    for _ in range(2):
        assert desk.client.post(f"{link}/leave", data={"leave": "yes"}).status_code == 303
    assert not desk.storage.values()
    for path in (link, f"{link}/leave"):
        assert "You have left the study" in desk.client.get(path).text
    for form in (PAGE, {**PAGE, "s1q1": "much"}):
        refused = desk.client.post(f"{link}/pages/1", data=form, headers=HTML)
        assert refused.status_code == 409 and "you have left the study" in refused.text
    assert desk.client.post(f"{link}/consent", data={"agree": "yes"}).status_code == 409


def test_only_the_owner_sees_progress(desk: Desk) -> None:
    link = desk.begin()
    desk.client.post(f"{link}/pages/1", data=PAGE)
    for path in ("/owner", "/owner/ratings.csv", "/owner/progress"):
        assert desk.client.get(path).status_code == 401
        assert desk.client.get(path, headers={"authorization": f"Bearer {OWNER}x"}).status_code == 401
        assert desk.client.get(path, headers={"authorization": f"Bearer {OWNER}"}).status_code == 200
        assert desk.client.get(f"{path}?token={OWNER}").status_code == 401
    assert desk.client.post("/owner/sign-in", data={"token": "x"}).status_code == 401
    signed = desk.client.post("/owner/sign-in", data={"token": f" {OWNER} "})
    assert (signed.status_code, signed.headers["location"]) == (303, "/study/owner")
    cookie = signed.headers["set-cookie"]
    assert {"HttpOnly", "Secure", "SameSite=strict", "Path=/study/owner"} <= set(cookie.split("; "))
    assert OWNER not in cookie
    value = cookie.split(";")[0]
    shown = desk.client.get("/owner", headers={"cookie": value})
    assert "<strong>1</strong> of 15 pages answered" in shown.text
    assert "r003" in shown.text
    assert shown.headers["cache-control"] == "no-store"
    out = desk.client.post("/owner/sign-out", data={"end": "yes"})
    assert "Max-Age=0" in out.headers["set-cookie"]


def test_a_session_ends_with_the_sign_out_or_after_twelve_hours(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.monotonic()
    monkeypatch.setattr("dactnlg.studies.server.door.monotonic", lambda: now)

    def signed_in() -> dict[str, str]:
        answer = desk.client.post("/owner/sign-in", data={"token": OWNER})
        return {"cookie": answer.headers["set-cookie"].split(";")[0]}

    def status(session: dict[str, str]) -> int:
        desk.client.cookies.clear()
        return desk.client.get("/owner/progress", headers=session).status_code

    first, second = signed_in(), signed_in()
    assert first != second
    now += 11.9 * 3600
    assert [status(first), status(second)] == [200, 200]
    desk.client.post("/owner/sign-out", data={"end": "yes"}, headers=first)
    assert [status(first), status(second)] == [401, 200]
    third = signed_in()
    now += 0.2 * 3600
    assert [status(second), status(third)] == [401, 200]


def test_the_owner_downloads_the_ratings(desk: Desk, tmp_path: Path) -> None:
    bearer = {"authorization": f"Bearer {OWNER}"}
    assert desk.client.get("/owner/ratings.csv", headers=bearer).text.startswith("item,system,rater,criterion,value")
    for rater in ("r001", "r002"):
        link = desk.begin(rater)
        for number, page in enumerate(desk.study.rater_by_id[rater].pages, 1):
            values = {f"s{at + 1}q{c}": str((at + number) % 5 + 1) for at in range(len(page.systems)) for c in (1, 2)}
            desk.client.post(f"{link}/pages/{number}", data=values)
    text = desk.client.get("/owner/ratings.csv", headers=bearer).text
    assert {row["item"] for row in csv.DictReader(io.StringIO(text))} == {f"item-{at}" for at in range(4)}
    (tmp_path / "r.csv").write_text(text)
    assert len(Ratings.read(tmp_path / "r.csv").rows) == 2 * 4 * 3 * 2
    progress = desk.client.get("/owner/progress", headers=bearer).json()
    assert [row["state"] for row in progress["raters"]] == ["done", "done", "not begun"]
    shown = desk.client.get("/owner", headers=bearer).text
    assert "Agreement so far" in shown
    # Both raters' values fall and rise with the place, which they see in opposite orders.
    assert re.search(
        r"quality</th>\s*<td class=\"number\">-?[01]\.\d\d</td>\s*<td class=\"number\">-?[01]\.\d\d", shown
    )


def test_every_page_forbids_foreign_content(desk: Desk) -> None:
    link = desk.begin()
    for path in (link, "/", "/owner", "/nothing"):
        answer = desk.client.get(path, headers=HTML)
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert " style=" not in answer.text
        assert " on" not in "".join(re.findall(r"<[^>]*>", answer.text)).replace(" on your", "")
        assert not re.search(r"(?:src|href)=\"(?!/study/|data:,|#)", answer.text)


def test_broken_lines_are_joined_into_paragraphs() -> None:
    assert paragraphs("One line\nof two.\nAnother:\n\nthird\n\nfourth") == [
        "One line of two.",
        "Another:",
        "third",
        "fourth",
    ]


def test_links_are_private_stable_and_renewable(tmp_path: Path) -> None:
    study = small_study()
    first = rater_tokens(tmp_path, list(study.rater_by_id), "http://a")
    path = tmp_path / "links.csv"
    assert path.stat().st_mode & 0o777 == 0o600
    assert rater_tokens(tmp_path, list(study.rater_by_id), "http://b") == first
    assert f"r001,{first['r001']},http://b/r/{first['r001']}" in path.read_text()
    more = small_study(raters=5)
    grown = rater_tokens(tmp_path, list(more.rater_by_id), "http://b")
    assert {rater: grown[rater] for rater in first} == first
    assert len(set(grown.values())) == 5
    assert not set(rater_tokens(tmp_path, list(more.rater_by_id), "http://b", renew=True).values()) & set(
        grown.values()
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("rater,token\nr009,abcdefghijklmnopqrst\n", "no rater 'r009'"),
        ("rater,token\nr001,short\n", "no token of 16"),
        ("rater,token\nr001,abcdefghijklmnopqrst\nr002,abcdefghijklmnopqrst\n", "twice"),
        ("\xff\n", "not CSV"),
    ],
)
def test_damaged_links_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, told: str) -> None:
    small_study().save(tmp_path)
    (tmp_path / "links.csv").write_text(text, encoding="latin-1")
    assert main(["study", "serve", str(tmp_path), "--port", "0"]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("left", ["", "rater,token\nr001,abcdefghijklmnopqrst\n"])
def test_a_start_that_the_database_refuses_writes_no_links(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], left: str
) -> None:
    study, path = small_study(), tmp_path / "links.csv"
    study.save(tmp_path)
    with closing(Storage.open(tmp_path, study)) as storage:
        storage.set_links({rater: digest(f"the first link of {rater}") for rater in study.rater_by_id})
    if left:
        path.write_text(left)
    before = set(tmp_path.iterdir())
    assert main(["study", "serve", str(tmp_path), "--port", "0"]) == 2
    assert "restore links.csv" in capsys.readouterr().err
    assert (path.read_text() if left else "") == left
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--owner-token", "short"], "at least 16 characters"),
        (["--base-url", "rate.example.org"], "such as https://example.org"),
        (["--base-url", "http://["], "such as https://example.org"),
        (["--database", "mysql://x/y"], "not supported"),
        (["--host", "no such host.invalid"], "there is no host"),
    ],
)
def test_mistakes_of_study_serve_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    small_study().save(tmp_path)
    assert main(["study", "serve", str(tmp_path), "--port", "0", *arguments]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "links.csv").exists()


@pytest.mark.parametrize(("more", "told"), [([], True), (["--base-url", "http://192.168.1.20:8000"], False)])
def test_links_that_lead_nowhere_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, more: list[str], told: bool
) -> None:
    monkeypatch.setattr("dactnlg.studies.server.session.serve", lambda *_found, **_named: None)
    small_study().save(tmp_path)
    assert main(["study", "serve", str(tmp_path), "--host", "0.0.0.0", "--port", "0", *more]) == 0
    assert ("Other machines cannot open links to http://0.0.0.0:" in capsys.readouterr().out) == told


def test_at_the_end_a_request_may_take_as_long_as_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served = []
    monkeypatch.setattr(
        "dactnlg.studies.server.session.serve", lambda *_found, **named: served.append(named["drain_seconds"])
    )
    small_study().save(tmp_path)
    assert main(["study", "serve", str(tmp_path), "--port", "0"]) == 0
    assert served[0] > LIMITS.seconds + LIMITS.body_seconds


def test_a_restarted_server_goes_on_where_it_was(tmp_path: Path) -> None:
    small_study("pairwise").save(tmp_path)
    with serving(tmp_path) as first:
        before = tokens(tmp_path)
        raters = [Rater(name, token) for name, token in before.items()]
        assert rate_all(raters[:1], [first], 20) == []
        assert first.end() == 0
    with serving(tmp_path) as second:
        assert tokens(tmp_path) == before
        assert rate_all(raters, [second], 20) == []
        assert second.end() == 0
    # Everybody has a new link, and the old ones are invalid.
    with serving(tmp_path, "--new-links") as third:
        client = TestClientOf(third)
        assert client.status(f"/r/{before['r001']}") == 404
        assert client.status(f"/r/{tokens(tmp_path)['r001']}") == 200


class TestClientOf:
    """Reads pages of a server process."""

    __test__ = False

    def __init__(self, process: StudyProcess) -> None:
        self._address = process.address

    def status(self, path: str) -> int:
        from http.client import HTTPConnection

        connection = HTTPConnection(self._address, timeout=20)
        connection.request("GET", path)
        return connection.getresponse().status


def test_the_openapi_document_names_every_route_for_raters(desk: Desk) -> None:
    document = desk.client.get("/openapi.json").json()
    assert {"/r/{token}", "/r/{token}/consent", "/r/{token}/pages/{number}", "/r/{token}/leave"} <= document[
        "paths"
    ].keys()
    assert not any(secret in json.dumps(document) for secret in (*SYSTEMS, OWNER))
