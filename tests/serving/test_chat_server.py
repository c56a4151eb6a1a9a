"""The chat server: what participants see and may send, the rules of votes and ratings, and no hint of the systems."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from chat_people import SYSTEMS, small_chats
from chat_requests import hostile_requests
from starlette.testclient import TestClient
from study_raters import OWNER

from dactnlg._utils.web.tokens import digest
from dactnlg.cli.main import main
from dactnlg.serving.chat import storage as storage_module
from dactnlg.serving.chat.application import build
from dactnlg.serving.chat.storage import ChatStorage
from dactnlg.serving.chat.study import ChatStudy

BASE = "https://chat.example.org/study"
LINK = "/r/{}-link-of-24-characters"
JSON = {"accept": "application/json"}
HTML = {"accept": "text/html,*/*"}
RATINGS = {f"q{number}": str(number) for number in range(1, 6)}


class Parrot:
    """Repeats the last turn and counts its calls; fails if `fails` is set."""

    def __init__(self) -> None:
        self.asked, self.fails = 0, False

    def reply(self, histories: Sequence[Sequence[str]], *, seeds: Sequence[int] | None = None) -> list[str]:
        self.asked += 1
        if self.fails:
            raise RuntimeError("out of order")
        pairs = zip(seeds or [], histories, strict=True)
        return [f"{len(history)}: {history[-1]} <i>{seed}</i>" for seed, history in pairs]


class Desk:
    """A chat study, its storage, and a client that does not follow redirects."""

    def __init__(self, folder: Path, study: ChatStudy, database: str | None = None) -> None:
        self.study, self.storage = study, ChatStorage.open(folder, study, database)
        links = {rater: LINK.format(rater)[3:] for rater in study.place_of}
        self.storage.set_links({rater: digest(token) for rater, token in links.items()})
        self.parrot = Parrot()
        app = build(study, self.storage, dict.fromkeys(SYSTEMS, self.parrot), OWNER, BASE)
        self.client = TestClient(app, base_url="https://chat.example.org", follow_redirects=False)

    def begin(self, rater: str = "r001") -> str:
        path = LINK.format(rater)
        assert self.client.post(f"{path}/consent", data={"agree": "yes"}).status_code == 303
        return path

    def post(self, path: str, form: Mapping[str, str]) -> tuple[int, dict[str, Any]]:
        answer = self.client.post(path, data=dict(form), headers=JSON)
        return answer.status_code, answer.json()

    def say(self, link: str, text: str, request: str, chat: int = 1) -> tuple[int, dict[str, Any]]:
        return self.post(f"{link}/chats/{chat}/messages", {"id": request, "text": text})

    def vote(self, link: str, place: int, vote: str, request: str) -> tuple[int, dict[str, Any]]:
        return self.post(f"{link}/chats/1/votes", {"id": request, "place": str(place), "vote": vote})


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    found = Desk(tmp_path, small_chats())
    yield found
    found.storage.close()


def test_a_participant_consents_chats_rates_and_may_chat_again(desk: Desk) -> None:
    link = LINK.format("r001")
    assert "I agree and take part" in desk.client.get(link).text
    assert desk.say(link, "too early", "message-0")[0] == 409
    assert desk.client.post(f"{link}/chats/1", data={"begin": "yes"}).status_code == 409
    assert desk.client.post(f"{link}/consent", data={"agree": "no"}).status_code == 422
    desk.begin()
    for chat in (1, 2):
        for number in range(3):
            # The server, not only the page, requires three messages.
            refused = desk.client.post(f"{link}/chats/{chat}/rating", data=RATINGS, headers=HTML)
            assert (refused.status_code, "at least 3 messages" in refused.text) == (409, True)
            assert desk.client.get(f"{link}/chats/{chat}/rating").status_code == 409
            assert "disabled" in desk.client.get(link).text
            status, said = desk.say(link, f"  message\n{number} ", f"message-{number}", chat)
            assert (status, said["text"], said["place"]) == (200, f"message {number}", 2 * number)
            assert said["answer"].startswith(f"{2 * number + 1}: message {number}")
            assert said["may_rate"] == (number == 2)
        assert "disabled" not in desk.client.get(link).text
        assert desk.client.post(f"{link}/chats/{chat + 1}", data={"begin": "yes"}).status_code == 409
        form = desk.client.get(f"{link}/chats/{chat}/rating").text
        assert set(re.findall(r'type="radio" name="(\w+)" value="(\d)"', form)) == {
            (field, str(value)) for field in RATINGS for value in range(1, 8)
        }
        for wrong in ({"q1": "1"}, RATINGS | {"q1": "8"}, RATINGS | {"q1": "0"}, RATINGS | {"q5": "2.5"}):
            assert desk.client.post(f"{link}/chats/{chat}/rating", data=wrong).status_code == 422
        assert desk.client.post(f"{link}/chats/{chat}/rating", data=RATINGS | {"q6": "1"}).status_code == 422
        for _ in range(2):
            done = desk.client.post(f"{link}/chats/{chat}/rating", data=RATINGS)
            assert (done.status_code, done.headers["location"]) == (303, f"/study{link}")
        assert desk.client.post(f"{link}/chats/{chat}/rating", data=RATINGS | {"q1": "2"}).status_code == 409
        # A rated chat is closed.
        assert desk.say(link, "one more", "message-9", chat)[0] == 409
        assert ("Another chat" in desk.client.get(link).text) == (chat == 1)
        begun = desk.client.post(f"{link}/chats/{chat + 1}", data={"begin": "yes"}).status_code
        assert begun == (303 if chat == 1 else 409)
    assert "That was all" in desk.client.get(link).text
    first, second = desk.storage.all_chats()
    assert {first.system, second.system} == set(SYSTEMS)
    assert first.ratings == dict(
        zip(("quality", "fluency", "diversity", "contingency", "empathy"), (1, 2, 3, 4, 5), strict=True)
    )


def test_a_repeated_request_is_stored_once(tmp_path: Path, database: str | None) -> None:
    desk = Desk(tmp_path, small_chats(), database)
    link = desk.begin()
    first = desk.say(link, "hello", "the-same-id")
    assert [desk.say(link, "hello", "the-same-id") for _ in range(3)] == [first] * 3
    assert desk.parrot.asked == 1
    assert desk.say(link, "other", "the-same-id")[0] == 409
    assert desk.say(link, "hello", "another-id")[1]["place"] == 2
    clicks = [desk.vote(link, 1, "up", "a-click-of-mine") for _ in range(4)]
    assert clicks == [(200, {"place": 1, "vote": 1})] * 4
    assert desk.vote(link, 3, "up", "a-click-of-mine")[0] == 409
    assert desk.vote(link, 1, "down", "a-click-of-mine")[0] == 409
    # A click that cleared a vote keeps its direction, too.
    assert desk.vote(link, 1, "up", "another-click")[1] == desk.vote(link, 1, "up", "another-click")[1]
    assert desk.vote(link, 1, "down", "another-click")[0] == 409
    assert desk.vote(link, 1, "up", "a-third-click") == (200, {"place": 1, "vote": 1})
    (chat,) = desk.storage.all_chats()
    assert (len(chat.texts), chat.votes) == (4, {1: 1})
    desk.storage.close()


def test_the_same_vote_clears_and_the_other_replaces_it(tmp_path: Path, database: str | None) -> None:
    desk = Desk(tmp_path, small_chats(), database)
    link = desk.begin()
    for number in range(3):
        desk.say(link, "hello", f"message-{number}")
    chance, stands = random.Random(1), dict[int, int]()
    for number in range(30):
        place, vote = chance.choice((1, 3, 5)), chance.choice(("up", "down"))
        value = {"up": 1, "down": -1}[vote]
        stands[place] = 0 if stands.get(place, 0) == value else value
        assert desk.vote(link, place, vote, f"click-{number:03}") == (200, {"place": place, "vote": stands[place]})
    (chat,) = desk.storage.all_chats()
    assert chat.votes == {place: vote for place, vote in stands.items() if vote}
    shown = re.findall(r'aria-pressed="(true|false)"', desk.client.get(link).text)
    assert [pressed == "true" for pressed in shown] == [stands[at] == v for at in (1, 3, 5) for v in (1, -1)]
    for place in (0, 2, 7, 99):
        assert desk.vote(link, place, "up", f"wrong-place-{place}")[0] == 409
    desk.storage.close()


def test_a_failed_answer_can_be_requested_again(desk: Desk) -> None:
    link = desk.begin()
    desk.parrot.fails = True
    status, problem = desk.say(link, "hello", "message-0")
    assert (status, "try again" in problem["detail"]) == (503, True)
    # The message is stored: the page says so, and the next one has to wait.
    assert "no answer yet" in desk.client.get(link).text
    assert desk.say(link, "well?", "message-1")[0] == 409
    desk.parrot.fails = False
    status, said = desk.post(f"{link}/chats/1/answer", {"again": "yes"})
    assert (status, said["place"], said["text"]) == (200, 0, "hello")
    assert desk.say(link, "hello", "message-0") == (200, said)
    assert desk.post(f"{link}/chats/1/answer", {"again": "no"})[1] == said
    assert desk.parrot.asked == 2


def test_messages_are_limited_in_length_rate_and_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(tmp_path, small_chats(most_turns=5, message_length=10, per_minute=3))
    link = desk.begin()
    now = [1_000_000]
    monkeypatch.setattr(storage_module.time, "time", lambda: now[0])
    assert desk.say(link, "x" * 10, "message-0")[0] == 200
    for text, told in (("x" * 11, "at most 10 characters"), (" \n\t ", "write something"), ("\x00\x1b", "write")):
        status, problem = desk.say(link, text, "message-1")
        assert (status, told in problem["detail"]) == (422, True)
    now[0] += 20
    assert [desk.say(link, "x", f"message-{number}")[0] for number in (1, 2, 3)] == [200, 200, 429]
    refused = desk.client.post(f"{link}/chats/1/messages", data={"id": "message-3", "text": "x"})
    assert refused.headers["retry-after"] == "40"
    now[0] += 40
    assert desk.say(link, "x", "message-3")[0] == 200
    now[0] += 60
    status, said = desk.say(link, "x", "message-4")
    assert (status, said["left"]) == (200, 0)
    status, problem = desk.say(link, "x", "message-5")
    assert (status, "please rate it" in problem["detail"]) == (409, True)
    desk.storage.close()


def test_no_answer_reveals_the_systems(tmp_path: Path) -> None:
    study = small_chats(("/secret/folder/one", "/secret/folder/two"))
    desk = Desk(tmp_path, study)
    link = desk.begin()
    answers = [desk.client.get(link, headers=HTML)]
    for number in range(3):
        form = {"id": f"message-{number}", "text": "hello"}
        answers += [desk.client.post(f"{link}/chats/1/messages", data=form, headers=each) for each in (JSON, HTML)]
        form = {"id": f"click-{number}-1", "place": "1", "vote": "up"}
        answers += [desk.client.post(f"{link}/chats/1/votes", data=form, headers=each) for each in (JSON, HTML)]
    paths = (link, f"{link}/chats/1/rating", f"{link}/leave", "/", "/healthz", "/openapi.json", "/chat/chat.js")
    answers += [desk.client.get(path, headers=each) for path in paths for each in (JSON, HTML)]
    desk.parrot.fails = True
    desk.say(link, "fail", "message-9")
    answers.append(desk.client.get(link, headers=HTML))
    answers += [desk.client.get(path, headers=HTML) for path in ("/chat.json", "/owner", "/r/none", f"{link}/chats/2")]
    headers = set()
    for answer in answers:
        told = f"{dict(answer.headers)} {answer.text}".replace(link, "")
        for secret in (*SYSTEMS, "/secret", "folder", "sclstm", "r001", "r002", study.digest, str(tmp_path)):
            assert secret not in told
        headers |= set(answer.headers)
    # No header can tell systems apart: there are only these.
    assert headers <= {
        "content-length", "content-type", "cache-control", "location", "allow", "etag", "last-modified",
        "accept-ranges", "content-security-policy", "x-content-type-options", "referrer-policy",
        "cross-origin-opener-policy", "cross-origin-resource-policy",
    }  # fmt: skip
    # A system's answer is text, never markup.
    page = desk.client.get(link).text
    assert "<i>" not in page
    assert "&lt;i&gt;" in page
    desk.storage.close()


def test_the_data_of_a_participant_who_leaves_are_deleted(tmp_path: Path, database: str | None) -> None:
    desk = Desk(tmp_path, small_chats(), database)
    link, other = desk.begin("r001"), desk.begin("r002")
    for each in (link, other):
        desk.say(each, "do not keep me", "message-0")
        desk.vote(each, 1, "up", "my-vote-here")
    assert desk.client.post(f"{link}/leave", data={"leave": "no"}).status_code == 422
    assert desk.client.post(f"{link}/leave", data={"leave": "yes"}).status_code == 303
    assert [chat.rater for chat in desk.storage.all_chats()] == ["r002"]
    assert "You have left" in desk.client.get(link).text
    for path, form in (
        ("consent", {"agree": "yes"}),
        ("chats/1", {"begin": "yes"}),
        ("chats/1/messages", {"id": "m" * 8, "text": "x"}),
    ):
        assert desk.client.post(f"{link}/{path}", data=form).status_code in (409, 422)
    desk.storage.close()


def test_only_the_owner_sees_systems_and_downloads_data(desk: Desk) -> None:
    link = desk.begin()
    for number in range(3):
        desk.say(link, "hello", f"message-{number}")
    desk.vote(link, 1, "up", "a-vote-of-mine")
    desk.vote(link, 3, "down", "another-vote")
    assert desk.client.post(f"{link}/chats/1/rating", data=RATINGS).status_code == 303
    files = ("progress", "ratings.csv", "votes.csv", "conversations.jsonl")
    asked = desk.client.get("/owner", headers=HTML)
    assert (asked.status_code, SYSTEMS[0] in asked.text) == (401, False)
    assert [desk.client.get(f"/owner/{name}").status_code for name in files] == [401] * 4
    assert desk.client.post("/owner/sign-in", data={"token": "not the token"}).status_code == 401
    assert desk.client.get("/owner", headers={"authorization": "Bearer wrong"}).status_code == 401
    bearer = {"authorization": f"Bearer {OWNER}"}
    told = desk.client.get("/owner/progress", headers=bearer).json()
    assert (told["chats"], told["rated"], told["turns"]) == (1, 1, 3)
    met = desk.study.system("r001", 1)
    assert [row for row in told["systems"] if row["chats"]] == [
        {"system": met, "chats": 1, "rated": 1, "mean": 1.0, "up": 1, "down": 1}
    ]
    signed = desk.client.post("/owner/sign-in", data={"token": OWNER})
    assert (signed.status_code, signed.headers["location"]) == (303, "/study/owner")
    cookie = {"cookie": signed.headers["set-cookie"].partition(";")[0]}
    assert "HttpOnly" in signed.headers["set-cookie"] and "Secure" in signed.headers["set-cookie"]
    page = desk.client.get("/owner", headers=HTML | cookie)
    assert page.status_code == 200 and met in page.text
    ratings, votes, talks = (desk.client.get(f"/owner/{name}", headers=cookie).text for name in files[1:])
    assert len(ratings.splitlines()) == 6 and ratings.splitlines()[1].startswith(f"r001-round-1,{met},r001,quality,1,")
    assert [line.split(",")[4] for line in votes.splitlines()[1:]] == ["1", "-1"]
    assert json.loads(talks)["bot"] == met


def test_hostile_chat_requests_get_2xx_or_4xx(desk: Desk) -> None:
    link = desk.begin()
    desk.say(link, "hello", "message-0")
    statuses = set()
    for request in islice(hostile_requests(link, 1), 700):
        answer = desk.client.request(request.method, request.path, content=request.body, headers=request.headers)
        statuses.add(answer.status_code)
        assert 200 <= answer.status_code < 500, request
        assert "x-evil" not in answer.headers
    assert {200, 303, 403, 404, 405, 409, 413, 415, 422} <= statuses
    (chat,) = desk.storage.all_chats()
    assert all(text.isprintable() and text for text in chat.texts)
    desk.say(link, "<script>alert(1)</script>\x1b[2J", "the-last-one")
    page = desk.client.get(link).text
    assert "<script>alert" not in page
    assert "\x1b" not in page


def test_a_chat_study_that_cannot_be_served_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small_chats().save(tmp_path)
    path = tmp_path / "chat.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    assert ChatStudy.load(tmp_path) == small_chats()
    for change, told in (
        ({"systems": []}, "systems: Tuple should have at least 1 item"),
        ({"systems": data["systems"][:1] * 2}, "two systems are called 'secret-alpha'"),
        ({"people": 0}, "people: Input should be greater than or equal to 1"),
        ({"scale": {"low": 7, "high": 1}}, "scale: a scale rises"),
        ({"limits": {"least_turns": 4, "most_turns": 3}}, "limits: 3 messages at most, of which 4 are needed"),
        ({"more": 1}, "more: Extra inputs are not permitted"),
        ({"format_version": 2}, "format_version: Input should be 1"),
        ({"seed": -1}, "seed: Input should be greater than or equal to 0"),
    ):
        path.write_text(json.dumps(data | change), encoding="utf-8")
        assert main(["chat", "serve", str(tmp_path)]) == 2
        assert f"chat.json: {told}" in capsys.readouterr().err
    path.write_text(json.dumps(data), encoding="utf-8")
    for words, told in (
        (["serve", str(tmp_path), "--port", "0"], "is not a run folder"),
        (["serve", str(tmp_path / "none")], "there is no chat.json in it"),
    ):
        assert main(["chat", *words]) == 2
        assert told in capsys.readouterr().err


def test_systems_are_balanced_and_drawn_by_the_seed(tmp_path: Path) -> None:
    study = small_chats(people=40, chats=4)
    met = {rater: [study.system(rater, chat) for chat in range(1, 5)] for rater in study.place_of}
    # Everybody meets both systems before one of them again, and of two consecutive people each begins with another.
    assert all(set(each[:2]) == set(each[2:]) == set(SYSTEMS) for each in met.values())
    first = [each[0] for each in met.values()]
    assert all({a, b} == set(SYSTEMS) for a, b in zip(first[::2], first[1::2], strict=True))
    # The order is random, and depends on the seed.
    other = study.model_copy(update={"seed": 2})
    assert 5 < sum(other.system(rater, 1) != system for rater, system in zip(met, first, strict=True)) < 35
    assert 5 < sum(system == SYSTEMS[0] for system in first[::2]) < 15
    more = study.model_copy(update={"people": 100})
    assert {rater: [more.system(rater, chat) for chat in range(1, 5)] for rater in met} == met
    assert more.digest == study.digest != other.digest
