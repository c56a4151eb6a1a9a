"""A server in a process of its own: silent connections, bodies that do not arrive, answers not taken, and the end."""

from __future__ import annotations

import contextlib
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

LONG = 16_000_000
"""Bytes of an answer that no buffer of the system holds."""
SERVER = (
    f"LONG = {LONG}"
    + """
import time
from dactnlg._utils.web.application import create, guarded
from dactnlg._utils.web.limits import RequestLimits
from dactnlg._utils.web.server import address, bound, serve
from starlette.responses import Response

app = create("test", "A server of a test")

@app.get("/slow")
def slow() -> dict[str, bool]:
    time.sleep(1)
    return {"done": True}

@app.get("/quick")
def quick() -> dict[str, bool]:
    return {"done": True}

@app.get("/long")
def long() -> Response:
    return Response(bytes(LONG))

@app.post("/echo")
def echo(text: dict[str, str]) -> dict[str, str]:
    return text

listening = bound("127.0.0.1", 0)
print(address(listening), flush=True)
limits = RequestLimits(body_bytes=1000, body_seconds=0.5)
told = lambda: print("reload", flush=True)
serve(guarded(app, limits), listening, drain_seconds=30, silent_seconds=0.9, on_reload=told)
print("ended", flush=True)
"""
)


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


def asking(where: str, requests: bytes) -> socket.socket:
    """Return a connection on which something has been asked."""
    host, port = where.split(":")
    found = socket.create_connection((host, int(port)), timeout=20)
    found.sendall(requests)
    return found


def received(connection: socket.socket, pause: float = 0.0) -> int:
    """Return how many bytes come until the connection is closed, if a part is read after each pause."""
    found = 0
    with contextlib.suppress(ConnectionResetError):
        while part := connection.recv(LONG // 10, socket.MSG_WAITALL):
            found += len(part)
            time.sleep(pause)
    return found


ASKED = b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize(
    "requests",
    [ASKED, ASKED.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"), 2 * ASKED],
    ids=["stays open", "closes", "pipelines"],
)
def test_a_connection_whose_client_does_not_read_is_closed(where: str, requests: bytes) -> None:
    with asking(where, requests) as deaf:
        time.sleep(3)
        assert received(deaf) < LONG


def test_a_client_that_reads_slowly_gets_its_whole_answer(where: str) -> None:
    with asking(where, ASKED) as slow:
        assert received(slow, pause=0.2) > LONG


def test_a_client_that_does_not_read_does_not_delay_the_end() -> None:
    with started() as (process, where), asking(where, ASKED) as deaf:
        assert deaf.recv(1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
