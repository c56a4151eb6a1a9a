"""Difficult clients of a service: killed in the middle of a request, slow to read, made from the OpenAPI document."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

_ASK = """
import socket, sys
with socket.create_connection((sys.argv[1], int(sys.argv[2]))) as server:
    server.sendall(sys.stdin.buffer.read())
    print("sent", flush=True)
    while server.recv(1):
        pass
"""


def killed(host: str, port: int, raw: bytes, times: int) -> int:
    """Send a request from a new process, several times, and kill it before it has read the answer; return how often."""
    ended = 0
    for _ in range(times):
        command = [sys.executable, "-S", "-c", _ASK, host, str(port)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as client:
            if client.stdin is None or client.stdout is None:
                raise RuntimeError("no pipes")
            client.stdin.write(raw)
            client.stdin.close()
            client.stdout.readline()
            client.kill()
        ended += client.returncode == -signal.SIGKILL
    return ended


async def slow_readers(host: str, port: int, raw: bytes, count: int, seconds: float) -> int:
    """Ask for long answers and read a few bytes per second of each; return how many bytes were read in all.

    The seconds count from an answer's first bytes, which may take up to a minute on a busy machine.
    """
    loop = asyncio.get_running_loop()

    async def one() -> int:
        with socket.socket() as client:
            # A small window keeps what is not read at the server.
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.setblocking(False)
            await loop.sock_connect(client, (host, port))
            await loop.sock_sendall(client, raw)
            found = len(await asyncio.wait_for(loop.sock_recv(client, 64), 60))
            until = time.monotonic() + seconds
            while (left := until - time.monotonic()) > 0:
                with contextlib.suppress(TimeoutError, OSError):
                    found += len(await asyncio.wait_for(loop.sock_recv(client, 64), left))
                await asyncio.sleep(min(0.2, max(left, 0)))
        return found

    return sum(await asyncio.gather(*(one() for _ in range(count))))


def from_openapi(host: str, port: int, examples: int) -> Counter[str]:
    """Send what schemathesis makes of the OpenAPI document, valid and invalid; count the answers by status class.

    Args:
        host, port: the server.
        examples: how many of each kind for each route.
    """
    found: Counter[str] = Counter()
    try_routes(f"{host}:{port}", examples, lambda _, status: found.update([f"{status // 100}xx"]))
    return found


def try_routes(address: str, examples: int, note: Callable[[Any, int], None]) -> None:
    """Send valid and invalid requests, made from the OpenAPI document, to every route of a server.

    Args:
        address: host and port of the server.
        examples: how many of each kind for each route.
        note: called with schemathesis's case and the status of each answer.
    """
    import schemathesis
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis.errors import Unsatisfiable
    from schemathesis import GenerationMode

    document = schemathesis.openapi.from_url(f"http://{address}/openapi.json")

    def try_route(operation: Any, mode: Any) -> None:
        @given(case=operation.as_strategy(generation_mode=mode))
        @settings(
            max_examples=examples,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def attempt(case: Any) -> None:
            note(case, case.call().status_code)

        # A route without parameters has no invalid requests.
        with contextlib.suppress(Unsatisfiable):
            attempt()

    for result in document.get_all_operations():
        for mode in (GenerationMode.NEGATIVE, GenerationMode.POSITIVE):
            try_route(result.ok(), mode)
