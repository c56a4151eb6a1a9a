"""Hostile requests to the server of chats: forms and paths, put together at random from hostile parts."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from urllib.parse import quote, urlencode

FORM = "application/x-www-form-urlencoded"
VALUES = (
    "", "<script>alert(1)</script>", "x" * 9_000, "\x00", "\x1b[2J\u202e", "\ud7ff\U0010ffff", "%00", "{}", "[1]",
    "null", "-1", "1e9", "9" * 400, "١", "up", "UP", "'; DROP TABLE dactnlg_chats; --", "{{7*7}}", "\r\nX-Evil: 1",
    "NaN", "1\x00", "../../etc/passwd", "ﷺ" * 300, "a\u0301" * 200,
)  # fmt: skip
PATHS = (
    "consent", "leave", "chats/1", "chats/2", "chats/0", "chats/-1", "chats/1e3", "chats/99999999999",
    "chats/1/messages", "chats/1/messages", "chats/1/answer", "chats/1/votes", "chats/1/votes", "chats/1/rating",
    "chats/2/messages", "chats/%00/votes", "..%2f..", "%ff", "chats/" + "1" * 300, "",
)  # fmt: skip
# Without `leave`: whoever leaves is locked out, and what follows would try nothing more.
NAMES = ("id", "text", "place", "vote", "q1", "q2", "agree", "begin", "", "\x00")
BODIES = (b"\xff\xfe=1", b"a=1&a=2", b"{}", b'{"text": 1}', b"=" * 500, b"x" * 70_000, b"%ff=%ff", b"text")
TYPES = (FORM, "application/json", "text/plain", "multipart/form-data", "")


@dataclass(frozen=True)
class HostileRequest:
    """One request."""

    method: str
    path: str
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


def hostile_requests(link: str, seed: int) -> Iterator[HostileRequest]:
    """Yield requests without end.

    Args:
        link: the path of a person's link.
        seed: equal seeds give equal requests.
    """
    chance = random.Random(seed)
    for number in count():
        form = {chance.choice(NAMES): chance.choice(VALUES) for _ in range(chance.randrange(5))}
        if number % 3 == 0:
            form |= {"id": f"request-{number % 500}", "text": chance.choice(VALUES), "place": chance.choice("0123")}
            form |= {"vote": chance.choice(("up", "down", "no"))}
            form = {name: form[name] for name in chance.sample(list(form), chance.randrange(1, len(form) + 1))}
        body, kind = urlencode(form).encode("utf-8", "surrogatepass"), FORM
        if number % 7 == 0:
            body, kind = chance.choice(BODIES), chance.choice(TYPES)
        headers = {"Content-Type": kind, "Accept": chance.choice(("text/html", "application/json", "*/*"))}
        if number % 11 == 0:
            headers |= {"Sec-Fetch-Site": "cross-site"}
        method = chance.choice(("POST", "POST", "POST", "GET", "PUT", "DELETE"))
        yield HostileRequest(method, quote(f"{link}/{chance.choice(PATHS)}", safe="/%"), body, headers)
