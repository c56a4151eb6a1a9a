"""What every web server has: limits, plain errors, headers, secrets, and an end that loses no request."""

from __future__ import annotations

import inspect
import json
import socket

import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from starlette.requests import Request
from starlette.testclient import TestClient

from dactnlg._utils.web import tokens
from dactnlg._utils.web.application import create, guarded
from dactnlg._utils.web.limits import RateLimit, RequestLimits
from dactnlg._utils.web.problems import MEDIA_TYPE, Problem
from dactnlg._utils.web.server import address, bound
from dactnlg.errors import UserError


class Number(BaseModel):
    value: int


def application() -> FastAPI:
    app = create("test", "An application of a test")

    @app.post("/number")
    def number(number: Number) -> Number:
        return number

    @app.get("/user")
    def user() -> None:
        raise UserError("no slot 'fod'; did you mean 'food'? \x1b[31m")

    @app.get("/broken")
    def broken() -> None:
        raise RuntimeError("a secret of the inside")

    return app


def client(limits: RequestLimits | None = None, free: frozenset[str] = frozenset()) -> TestClient:
    return TestClient(guarded(application(), limits or RequestLimits(), free), raise_server_exceptions=False)


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "told"),
    [
        ("POST", "/number", b'{"value": "x"}', 422, "body.value: Input should be a valid integer"),
        ("POST", "/number", b"{", 422, "body: it is not JSON: Expecting property name enclosed in double quotes, at "),
        ("POST", "/number", b"\xff\xfe", 422, "JSON"),
        ("POST", "/number", b"[" * 900_000, 400, "parsing the body"),
        ("POST", "/number", b'{"value": ' + b"9" * 5000 + b"}", 400, "parsing the body"),
        ("POST", "/number", b" " * (1 << 20) + b"1", 413, "1,048,576 bytes"),
        ("GET", "/user", b"", 422, "no slot 'fod'"),
        ("GET", "/nothing", b"", 404, "Not Found"),
        ("GET", "/number", b"", 405, "Method Not Allowed"),
        ("GET", "/common/%2e%2e/limits.py", b"", 404, ""),
        ("GET", "/" + "a" * 9000, b"", 414, "8000"),
        ("GET", "/broken", b"", 500, "something went wrong here"),
    ],
)
def test_every_error_is_a_plain_problem(method: str, path: str, body: bytes, status: int, told: str) -> None:
    answer = client().request(method, path, content=body, headers={"content-type": "application/json"})
    assert answer.status_code == status
    assert answer.headers["content-type"] == MEDIA_TYPE
    problem = answer.json()
    assert problem["status"] == status
    assert told in problem["detail"]
    assert "secret" not in answer.text
    assert "\x1b" not in problem["detail"]


@pytest.mark.parametrize("given", ["application/x-www-form-urlencoded", "text/plain", "nonsense"])
def test_json_under_another_media_type_is_told_which_one_to_send(given: str) -> None:
    # As `curl -d` sends it.
    answer = client().post("/number", content=b'{"value": 1}', headers={"content-type": given})
    assert answer.status_code == 415
    assert answer.json()["detail"] == "this takes JSON with the header Content-Type: application/json"


def test_every_answer_forbids_what_is_not_its_own() -> None:
    for path in ("/common/base.css", "/nothing", "/broken"):
        headers = client().get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/number"), ("GET", "/number"), ("GET", "/user"), ("GET", "/common/base.css"), ("GET", "/nothing")],
)
def test_a_slash_at_the_end_makes_no_difference(method: str, path: str) -> None:
    # A redirect would name this server and plain HTTP, whatever stands before it.
    plain, slashed = (
        client().request(method, f"{path}{end}", json={"value": 7}, follow_redirects=False) for end in ("", "/")
    )
    assert (slashed.status_code, slashed.content) == (plain.status_code, plain.content)
    assert "location" not in slashed.headers


def test_a_client_that_asks_too_often_waits() -> None:
    found = client(RequestLimits(per_minute=3), frozenset({"/common/base.css"}))
    assert [found.get("/user").status_code for _ in range(5)] == [422, 422, 422, 429, 429]
    assert 1 <= int(found.get("/user").headers["retry-after"]) <= 21
    assert found.get("/common/base.css").status_code == 200


@given(st.lists(st.tuples(st.floats(0, 30), st.sampled_from("ab")), max_size=60), st.integers(1, 20))
def test_no_minute_admits_more_than_twice_the_rate(steps: list[tuple[float, str]], rate: int) -> None:
    # A full bucket, and what flows into it within the minute.
    now = 0.0
    limit = RateLimit(rate, lambda: now)
    admitted: dict[str, list[float]] = {"a": [], "b": []}
    for pause, name in steps:
        now += pause
        if limit.wait(name) == 0:
            admitted[name].append(now)
    for times in admitted.values():
        assert all(sum(1 for t in times if at <= t < at + 60) <= 2 * rate for at in times)


def test_tokens_are_long_and_compared_whole() -> None:
    token = tokens.new_token()
    assert len({tokens.new_token() for _ in range(1000)}) == 1000
    assert tokens.same(token, token)
    assert not tokens.same(token[:-1], token)
    assert not tokens.same("", token)
    assert not tokens.same("é\ud800", token)
    assert token not in tokens.digest(token)


def test_a_port_that_is_taken_is_a_users_mistake() -> None:
    with bound("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        with pytest.raises(UserError, match="choose another --port"):
            bound("127.0.0.1", port)
    with pytest.raises(UserError, match="there is no host"):
        bound("no such host.invalid", 0)
    with bound("127.0.0.1", 0) as listening:
        assert address(listening).startswith("http://127.0.0.1:")


def test_answers_are_sent_without_delay() -> None:
    # asyncio sets TCP_NODELAY on what is accepted only where the listening socket names its protocol.
    with (
        bound("127.0.0.1", 0) as listening,
        socket.create_connection(listening.getsockname()),
        listening.accept()[0] as accepted,
    ):
        assert accepted.proto == socket.IPPROTO_TCP


def test_the_openapi_document_tells_of_problems_as_they_are() -> None:
    (answers,) = (
        one["post"]["responses"] for one in client().get("/openapi.json").json()["paths"].values() if "post" in one
    )
    assert "422" not in answers
    schema = answers["default"]["content"][MEDIA_TYPE]["schema"]
    problem = client().post("/number", json={"value": "x"}).json()
    assert set(schema["required"]) <= problem.keys()
    kinds = {"string": str, "integer": int}
    assert all(isinstance(problem[name], kinds[what["type"]]) for name, what in schema["properties"].items())


def test_a_problem_has_its_members() -> None:
    answer = Problem(409, "it was rated already", {"item": "7"}).response()
    assert json.loads(bytes(answer.body)) == {
        "type": "about:blank",
        "title": "Conflict",
        "status": 409,
        "detail": "it was rated already",
        "item": "7",
    }


def test_every_fastapi_that_is_allowed_can_read_what_checks_a_token() -> None:
    (needed,) = tokens.bearer("sesame")
    # FastAPI 0.115 finds no names for the annotations of an object, so that they must not be strings.
    assert inspect.signature(needed.dependency).parameters["request"].annotation is Request  # type: ignore[arg-type]
