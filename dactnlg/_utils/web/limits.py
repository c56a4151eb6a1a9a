"""Limits on the size, duration and rate of requests, applied before everything else."""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dactnlg._utils.web.problems import Problem

Admit = Callable[[Request], None]
_CLIENTS = 10_000
"""Maximum number of addresses whose requests are counted; the least recently seen are dropped first."""


@dataclass(frozen=True, kw_only=True)
class RequestLimits:
    """Limits for one request and for one client.

    Attributes:
        body_bytes: maximum bytes of a request's body; more are answered with 413.
        body_seconds: time for a body to arrive; longer is answered with 408.
        seconds: time for a response; longer is answered with 503.
        per_minute: requests of one address per minute, also as a burst; more are answered with 429. None: no limit.
        path_length: maximum bytes of path and query; more are answered with 414.
        bodies: limits that replace `body_bytes` on some paths.
    """

    body_bytes: int = 1 << 20
    body_seconds: float = 10.0
    seconds: float = 60.0
    per_minute: int | None = None
    path_length: int = 8_000
    bodies: Mapping[str, int] = field(default_factory=dict)

    @property
    def drain_seconds(self) -> int:
        """Time after which every request that has begun has been answered, if only with a refusal."""
        return math.ceil(self.body_seconds + self.seconds) + 1


class RateLimit:
    """A token bucket per client, which holds `per_minute` requests and refills evenly."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = float(per_minute), clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str) -> float:
        """Count a request of a client; return 0 if it is admitted, else the seconds until one would be."""
        now = self._clock()
        left, before = self._buckets.pop(client, (self._most, now))
        left = min(self._most, left + (now - before) * self._most / 60)
        admitted = left >= 1
        self._buckets[client] = (left - admitted, now)
        if len(self._buckets) > _CLIENTS:
            self._buckets.popitem(last=False)
        return 0.0 if admitted else (1 - left) * 60 / self._most


class Limited:
    """An ASGI application behind limits: it sees only requests whose body has arrived.

    Args:
        app: the application.
        limits: what a request may ask for.
        free: paths that are not counted against a client's rate, such as health checks.
        admit: raises a `Problem` to refuse a request before its body is read; None admits all.
    """

    def __init__(self, app: ASGIApp, limits: RequestLimits, free: frozenset[str], admit: Admit | None) -> None:
        self._app, self._limits, self._free, self._admit = app, limits, free, admit
        self._rate = RateLimit(limits.per_minute) if limits.per_minute else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer(send)
        try:
            self._check(scope)
            body = await self._body(scope, receive)
            await asyncio.wait_for(self._app(scope, _replayed(body, receive), answer), self._limits.seconds)
        except Problem as problem:
            await problem.response()(scope, receive, send)
        except TimeoutError:
            if answer.started:
                # Part of the response has been sent: the connection must break, so that it is not taken as complete.
                raise
            took = f"the answer took more than {self._limits.seconds:g} seconds"
            await Problem(503, took, headers={"Retry-After": "1"}).response()(scope, receive, send)

    def _check(self, scope: Scope) -> None:
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > self._limits.path_length:
            raise Problem(414, f"an address has at most {self._limits.path_length} characters here")
        if self._rate and scope["path"] not in self._free:
            wait = self._rate.wait((scope.get("client") or ("", 0))[0])
            if wait:
                raise Problem(
                    429,
                    f"more than {self._limits.per_minute} requests a minute; try again in {wait:.1f} seconds",
                    headers={"Retry-After": str(int(wait) + 1)},
                )
        if self._admit is not None:
            self._admit(Request(scope))

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        """Return the whole body, or refuse it as soon as it is known to be too long or too slow."""
        most = self._limits.bodies.get(scope["path"], self._limits.body_bytes)
        declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if declared.isdigit() and int(declared[:20]) > most:
            raise _too_long(most)
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                while True:
                    message = await receive()
                    if message["type"] != "http.request":
                        raise Problem(400, "the client has gone before its request was whole")
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > most:
                        raise _too_long(most)
                    if not message.get("more_body"):
                        return b"".join(parts)
        except TimeoutError:
            raise Problem(408, f"the request took more than {self._limits.body_seconds:g} seconds to arrive") from None


def _too_long(most: int) -> Problem:
    return Problem(413, f"a request's body has at most {most:,} bytes here")


class _Answer:
    """Sends a response and records whether it has started."""

    def __init__(self, send: Send) -> None:
        self._send, self.started = send, False

    async def __call__(self, message: Message) -> None:
        self.started = True
        await self._send(message)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a `Receive` that gives the body already read, and then the client's further messages."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
