"""What every web server has: limits, plain errors, headers, secrets, and an end that loses no request."""

from __future__ import annotations

import http.client
import json
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from starlette.testclient import TestClient

from dactnlg._utils.web import tokens
from dactnlg._utils.web.application import create, guarded
from dactnlg._utils.web.limits import RateLimit, RequestLimits
from dactnlg._utils.web.problems import MEDIA_TYPE, Problem
from dactnlg._utils.web.server import address, bound
from dactnlg.errors import UserError

SERVER = """
import time
from dactnlg._utils.web.application import create, guarded
from dactnlg._utils.web.limits import RequestLimits
from dactnlg._utils.web.server import address, bound, serve

app = create("test", "A server of a test")

@app.get("/slow")
def slow() -> dict[str, bool]:
    time.sleep(1)
    return {"done": True}

@app.get("/quick")
def quick() -> dict[str, bool]:
    return {"done": True}

@app.post("/echo")
def echo(text: dict[str, str]) -> dict[str, str]:
    return text

listening = bound("127.0.0.1", 0)
print(address(listening), flush=True)
limits = RequestLimits(body_bytes=1000, body_seconds=0.5)
serve(guarded(app, limits), listening, silent_seconds=0.9, on_reload=lambda: print("reload", flush=True))
print("ended", flush=True)
"""


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
        ("POST", "/number", b"{", 422, "JSON"),
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


def test_every_answer_forbids_what_is_not_its_own() -> None:
    for path in ("/common/base.css", "/nothing", "/broken"):
        headers = client().get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


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


@contextmanager
def started() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Give a server in a process of its own, and its address."""
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True) as process:
        if process.stdout is None:
            pytest.fail("no output")
        try:
            yield process, urlsplit(process.stdout.readline().strip()).netloc
        finally:
            process.kill()


@pytest.fixture(scope="module")
def where() -> Iterator[str]:
    """The address of a server for the tests that leave it running."""
    with started() as (_, there):
        yield there


def test_sigterm_lets_a_request_finish() -> None:
    with started() as (process, where):
        connection = http.client.HTTPConnection(where, timeout=20)
        # The first answer says that it serves.
        connection.request("GET", "/nothing")
        connection.getresponse().read()
        connection.request("GET", "/slow")
        time.sleep(0.3)
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        assert json.loads(connection.getresponse().read()) == {"done": True}
        assert process.communicate(timeout=20)[0] == "reload\nended\n"
        assert process.returncode == 0


def test_head_is_answered_as_get_without_its_body(where: str) -> None:
    connection = http.client.HTTPConnection(where, timeout=20)
    # On one connection: a body that was sent all the same would stand before the next answer.
    for path, status in (("/quick", 200), ("/common/base.css", 200), ("/nothing", 404), ("/echo", 405)):
        found = []
        for method in ("GET", "HEAD"):
            connection.request(method, path)
            answer = connection.getresponse()
            found.append((answer.status, answer.headers["content-length"], len(answer.read())))
        assert found == [(status, str(found[0][2]), found[0][2]), (status, str(found[0][2]), 0)]


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


def test_a_body_that_does_not_arrive_is_given_up(where: str) -> None:
    host, port = where.split(":")
    with socket.create_connection((host, int(port)), timeout=20) as slow:
        slow.sendall(b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{")
        assert b" 408 " in slow.recv(4096).split(b"\r\n")[0]
    with socket.create_connection((host, int(port)), timeout=20) as chunked:
        chunked.sendall(b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        chunked.sendall(b"400\r\n" + b" " * 1024 + b"\r\n")
        assert b" 413 " in chunked.recv(4096).split(b"\r\n")[0]


def test_a_silent_connection_is_closed_and_no_other(where: str) -> None:
    host, port = where.split(":")
    whole = b"HEAD /nothing HTTP/1.1\r\nHost: x\r\n\r\n"
    with ExitStack() as stack:
        silent = [stack.enter_context(socket.create_connection((host, int(port)), timeout=10)) for _ in range(3)]
        silent[2].sendall(whole)
        assert b" 404 " in silent[2].recv(65536)
        for connection, sent in zip(silent, (b"", b"GET /nothing HTT", b"GET /noth"), strict=True):
            connection.sendall(sent)
        # They are closed soon, but not at once.
        assert select.select(silent, [], [], 0.3)[0] == []
        for connection in silent:
            assert connection.recv(4096) == b""
    # A byte now and then makes the wait no longer.
    with socket.create_connection((host, int(port)), timeout=20) as dripping:
        begun = time.monotonic()
        with pytest.raises(OSError):
            while time.monotonic() - begun < 10:
                dripping.sendall(b"X")
                time.sleep(0.1)
        assert time.monotonic() - begun < 5
    # An answer may take longer than a head, and a connection that goes on asking stays.
    asking = http.client.HTTPConnection(where, timeout=20)
    asking.request("GET", "/slow")
    assert asking.getresponse().read() == b'{"done":true}'
    first = asking.sock
    for _ in range(4):
        time.sleep(0.3)
        asking.request("GET", "/nothing")
        assert asking.getresponse().read()
    assert asking.sock is first


def test_a_problem_has_its_members() -> None:
    answer = Problem(409, "it was rated already", {"item": "7"}).response()
    assert json.loads(bytes(answer.body)) == {
        "type": "about:blank",
        "title": "Conflict",
        "status": 409,
        "detail": "it was rated already",
        "item": "7",
    }
