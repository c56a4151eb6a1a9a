"""Bad requests to the server of a study: mutated forms and paths, and what schemathesis makes of the OpenAPI document.

Each must be answered with a 4xx, and change nothing.
"""

from __future__ import annotations

import http.client
import random
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from serve_clients import try_routes

FORM = "application/x-www-form-urlencoded"
VALUES = (
    "", " ", "0", "6", "-1", "1.5", "1e0", "1e309", "NaN", "nan", "inf", "-Infinity", "0x1", "１", "٣", "1_0",
    "+1", "1,0", "true", "None", "[1]", '{"a":1}', "first", "third", "<script>alert(1)</script>",
    "{0.__class__}", "%s%n", "${7*7}", "' OR 1=1 --", "1; DROP TABLE dactnlg_ratings", "\x00", "1\x00",
    "\u202e1", "9" * 20, "9" * 5_000, "1." + "0" * 400,
)  # fmt: skip
PATHS = (
    "/r", "/r/", "/r//", "/r/%00", "/r/..", "/r/%2e%2e/%2e%2e/etc/passwd", "/r/..%2f..%2fstudy.json",
    "/static/../links.csv", "/static/%2e%2e/%2e%2e/storage.py", "/static/..%5c..%5clinks.csv",
    "/common/%2e%2e/limits.py", "/static//etc/passwd", "/links.csv", "/study.json", "/ratings.sqlite", "/docs",
    "/redoc", "/owner/ratings.csv", "/owner/progress", "/owner/..", "/owner/ratings.csv?token=x", "/owner",
    "/%ff%fe", "/r/%ED%A0%80", "/r/" + "a" * 300, "/r/" + "%41" * 3_000, "/../../x", "/r/{token}", "/admin",
    "/.git/config", "/static/",
)  # fmt: skip


@dataclass
class Target:
    """The target of the requests.

    Attributes:
        address: host and port of the server.
        token: the token of a rater.
        other: the token of another rater.
        page: the number of the rater's next page.
        pages: how many pages the rater has.
        form: a form that the page would accept.
    """

    address: str
    token: str
    other: str
    page: int
    pages: int
    form: dict[str, str]


@dataclass
class Outcome:
    """The answers: how often each status came, and the first ones that are wrong."""

    statuses: Counter[int] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def note(self, label: str, status: int) -> None:
        """Count an answer."""
        self.statuses[status] += 1
        if not 400 <= status < 500 and len(self.wrong) < 20:
            self.wrong.append(f"{label}: {status}")


@dataclass(frozen=True)
class BadRequest:
    """One request, labelled with what is bad about it."""

    label: str
    method: str
    path: str
    body: bytes | None = None
    headers: tuple[tuple[str, str], ...] = (("Content-Type", FORM),)


def bad_requests(target: Target, seed: int) -> Iterator[BadRequest]:
    """Yield requests without end, the same ones for the same seed."""
    generator = random.Random(seed)
    kinds: list[Callable[[Target, random.Random], BadRequest]] = [
        _value,
        _value,
        _fields,
        _bytes,
        _type,
        _order,
        _number,
        _stranger,
        _method,
        _foreign,
        _path,
        _owner,
        _consent,
        _size,
    ]
    while True:
        yield generator.choice(kinds)(target, generator)


def send(target: Target, requests: Iterator[BadRequest], count: int) -> Outcome:
    """Send `count` of the requests one after the other, on one connection as long as it stays open."""
    outcome = Outcome()
    connection = http.client.HTTPConnection(target.address, timeout=60)
    for request, _ in zip(requests, range(count), strict=False):
        connection.request(request.method, request.path, request.body, dict(request.headers))
        answer = connection.getresponse()
        answer.read()
        outcome.note(
            f"{request.label} {request.method} {request.path[:80]} {(request.body or b'')[:80]!r}", answer.status
        )
        if answer.will_close:
            connection.close()
    connection.close()
    return outcome


def send_raw(target: Target, count: int, seed: int) -> Outcome:
    """Send bytes that are not HTTP, or only half a request; a closed connection counts as 400."""
    generator, outcome = random.Random(seed), Outcome()
    host, port = target.address.split(":")
    heads = (
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET /\x00 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST /r/x/consent HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        b"A" * 70_000 + b"\r\n\r\n",
        b"GET /r/\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 20_000 + b"\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"\r\n\r\n\r\n",
    )
    for _ in range(count):
        head = generator.choice(heads)
        with socket.create_connection((host, int(port)), timeout=30) as raw:
            try:
                raw.sendall(head)
                raw.shutdown(socket.SHUT_WR)
                line = raw.recv(65_536).split(b"\r\n")[0].split()
            except OSError:
                line = []
        outcome.note(repr(head[:60]), int(line[1]) if len(line) > 1 and line[1].isdigit() else 400)
    return outcome


def from_openapi(target: Target, examples: int) -> Outcome:
    """Send what schemathesis makes of the server's OpenAPI document, valid and invalid.

    No token that it makes up belongs to a rater, so that even valid requests are refused, except for `/healthz`.

    Args:
        target: the target of the requests.
        examples: how many of each kind for each route.
    """
    outcome = Outcome()

    def note(case: Any, status: int) -> None:
        public = status < 400 and case.path == "/healthz"
        outcome.note(f"{case.method} {case.path} {case.body!r:.80}", 400 if public else status)

    try_routes(target.address, examples, note)
    return outcome


def _post(label: str, target: Target, form: object, page: object = None, token: str | None = None) -> BadRequest:
    where = f"/r/{token or target.token}/pages/{quote(str(target.page if page is None else page), safe='')}"
    body = form if isinstance(form, bytes) else urlencode(form).encode()  # type: ignore[call-overload]
    return BadRequest(label, "POST", where, body)


def _value(target: Target, generator: random.Random) -> BadRequest:
    name = generator.choice(list(target.form))
    choices = [value for value in VALUES if value != target.form[name]]
    return _post("value", target, target.form | {name: generator.choice(choices)})


def _fields(target: Target, generator: random.Random) -> BadRequest:
    names = list(target.form)
    name = generator.choice(names)
    pairs = list(target.form.items())
    return generator.choice(
        [
            _post("missing field", target, {k: v for k, v in pairs if k != name}),
            _post("further field", target, target.form | {generator.choice(["s9q9", "rater", "system", "value"]): "1"}),
            _post("field twice", target, [*pairs, (name, target.form[name])]),
            _post("deep name", target, target.form | {name + "[a]" * generator.randrange(1, 2_000): "1"}),
            _post("many fields", target, [(f"s{at}q1", "1") for at in range(generator.randrange(1_001, 5_000))]),
            _post("nothing", target, b""),
        ]
    )


def _bytes(target: Target, generator: random.Random) -> BadRequest:
    good = urlencode(target.form).encode()
    at = generator.randrange(len(good))
    bad = generator.choice([b"%FF", b"%ED%A0%80", b"\xff\xfe", b"%C0%AF", b"\x80"])
    return _post("invalid UTF-8", target, good[:at] + bad + good[at:])


def _type(target: Target, generator: random.Random) -> BadRequest:
    path = f"/r/{target.token}/pages/{target.page}"
    kind, body = generator.choice(
        [
            ("application/json", b'{"s1q1": "1"}'),
            ("application/json", b"[" * 50_000),
            (
                "multipart/form-data; boundary=x",
                b'--x\r\nContent-Disposition: form-data; name="s1q1"\r\n\r\n1\r\n--x--\r\n',
            ),
            ("text/plain", urlencode(target.form).encode()),
            ("", urlencode(target.form).encode()),
        ]
    )
    return BadRequest("media type", "POST", path, body, (("Content-Type", kind),))


def _order(target: Target, generator: random.Random) -> BadRequest:
    page = generator.randrange(target.page + 1, target.pages + 40)
    return _post("wrong order", target, target.form, page)


def _number(target: Target, generator: random.Random) -> BadRequest:
    number = generator.choice(
        [0, -1, 10**7, 10**30, "1e0", "x", "", " 1x", "1/2", "../1", "NaN", "\x00", "é", "r001-001"]
    )
    return _post("no number", target, target.form, number)


def _stranger(target: Target, generator: random.Random) -> BadRequest:
    letters = list(target.token)
    at = generator.randrange(len(letters))
    letters[at] = "A" if letters[at] != "A" else "B"
    token = generator.choice(
        ["".join(letters), target.token[:-1], target.token + "A", "x" * 24, "r001", quote("' OR 1=1--")]
    )
    return _post("nobody's link", target, target.form, token=token)


def _method(target: Target, generator: random.Random) -> BadRequest:
    path = generator.choice([f"/r/{target.token}", f"/r/{target.token}/pages/1", "/owner", "/", "/static/study.css"])
    return BadRequest("method", generator.choice(["PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND", "TRACE"]), path, b"")


def _foreign(target: Target, generator: random.Random) -> BadRequest:
    header = generator.choice(
        [
            ("Sec-Fetch-Site", "cross-site"),
            ("Sec-Fetch-Site", "same-site"),
            ("Origin", "https://evil.example"),
            ("Origin", "["),
        ]
    )
    path = f"/r/{target.token}/" + generator.choice([f"pages/{target.page}", "leave", "consent"])
    return BadRequest("other site", "POST", path, urlencode(target.form).encode(), (("Content-Type", FORM), header))


def _path(_target: Target, generator: random.Random) -> BadRequest:
    return BadRequest("path", "GET", generator.choice(PATHS), None, ())


def _owner(_target: Target, generator: random.Random) -> BadRequest:
    if generator.random() < 0.5:
        token = generator.choice(["", "x", "x" * 100_000, "\x00", "é", "an-owner-token-of-a-tesT"])
        return BadRequest("owner's token", "POST", "/owner/sign-in", urlencode({"token": token}).encode())
    header = generator.choice(
        [
            ("Authorization", "Bearer"),
            ("Authorization", "Bearer x"),
            ("Authorization", "Basic eDp4"),
            ("Authorization", "\xff\xfe"),
            ("Cookie", "dactnlg_owner=x"),
            ("Cookie", "dactnlg_owner=\xff; ; =;"),
        ]
    )
    return BadRequest(
        "owner's page", "GET", generator.choice(["/owner", "/owner/ratings.csv", "/owner/progress"]), None, (header,)
    )


def _consent(target: Target, generator: random.Random) -> BadRequest:
    form = generator.choice(
        [{}, {"agree": "no"}, {"agree": "yes", "x": ""}, {"agree": "YES"}, {"leave": "true"}, {"": "yes"}]
    )
    place = generator.choice(["consent", "leave"])
    return BadRequest("consent", "POST", f"/r/{target.other}/{place}", urlencode(form).encode())


def _size(target: Target, generator: random.Random) -> BadRequest:
    size = generator.choice([300_000, 1 << 20])
    return _post("huge", target, urlencode(target.form).encode() + b"&x=" + b"1" * size)
