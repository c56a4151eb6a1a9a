"""The service under load: the real server, over loopback.

    python benchmarks/serve.py load RUN [--seconds 60]          1, 8 and 64 clients, without reuse and with it
    python benchmarks/serve.py hostile RUN [--requests 20000]   bad requests: only 2xx and 4xx, constant memory
    python benchmarks/serve.py drops RUN [--connections 10000]  idle connections, slow readers, killed clients
    python benchmarks/serve.py reload RUN [--times 50]          the run is replaced under load
    python benchmarks/serve.py soak RUN [--acts 1000000]        resident memory

Each starts its own server with --workers processes, and prints a table. The clients run in this process, on connections
that stay open. RUN is a run on the embedded corpus, whose acts `hostile`, `drops` and `soak` send; `load` and `reload`
take any run.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from common import resident
from serve_clients import from_openapi, killed, slow_readers

from dactnlg._utils.tables import aligned
from dactnlg.data.corpus import load_corpus
from dactnlg.runs.run import Run

GENERATE = "/v1/generate"


@dataclass
class Server:
    """A server process, and the host and port on which it listens."""

    process: subprocess.Popen[str]
    host: str
    port: int

    def resident(self) -> float:
        """Return the resident memory of all processes of the server in MiB."""
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
        return sum(map(resident, (pid, *map(int, children))))

    def alive(self) -> bool:
        """Whether the process is running."""
        return self.process.poll() is None


@contextlib.contextmanager
def serving(*arguments: str) -> Iterator[Server]:
    """Start `dactnlg serve` on a free port; end it with SIGTERM, or kill it after a minute."""
    command = [sys.executable, "-m", "dactnlg", "serve", *arguments, "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        if process.stderr is None:
            raise RuntimeError("no standard error")
        line = next(line for line in process.stderr if "http://" in line)
        host, port = line.split("http://")[1].split(";")[0].split(":")
        # Its later messages must be read, or it would block when the pipe is full.
        threading.Thread(target=process.stderr.read, daemon=True).start()
        try:
            yield Server(process, host, int(port))
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()


class Connection(asyncio.Protocol):
    """One connection that stays open, for one request at a time, with as little work as HTTP/1.1 needs.

    Clients share the processors with the server. Streams would double the cost of a client, so they are not used.
    """

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._length: int | None = None
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None
        self._bodiless = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Take a part of an answer; the last part ends the wait."""
        self._received += data
        if self._length is None and (end := self._received.find(b"\r\n\r\n")) >= 0:
            found = re.search(rb"\r\ncontent-length: *(\d+)", self._received[:end], re.IGNORECASE)
            # An answer to HEAD has a content length but no body.
            self._length = end + 4 + (int(found[1]) if found and not self._bodiless else 0)
        if self._length is not None and len(self._received) >= self._length and self._answer is not None:
            whole, self._received = bytes(self._received[: self._length]), self._received[self._length :]
            self._length = None
            if not self._answer.done():
                self._answer.set_result((int(whole.split(b" ", 2)[1]), whole[whole.index(b"\r\n\r\n") + 4 :]))

    def connection_lost(self, error: Exception | None) -> None:
        """End the wait, since no answer will come."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error or ConnectionError("the connection was closed"))

    async def request(self, raw: bytes) -> tuple[int, bytes]:
        """Send a request, headers included; return status and body.

        Raises:
            OSError: the connection was lost, or is closed.
        """
        if self._transport is None or self._transport.is_closing():
            raise ConnectionError("the connection is closed")
        self._answer, self._bodiless = asyncio.get_running_loop().create_future(), raw.startswith(b"HEAD ")
        self._transport.write(raw)
        return await self._answer

    def close(self) -> None:
        """Close the connection."""
        if self._transport is not None:
            self._transport.close()


@contextlib.asynccontextmanager
async def connected(server: Server) -> AsyncIterator[Connection]:
    """Open a connection, and close it in the end."""
    _, connection = await asyncio.get_running_loop().create_connection(Connection, server.host, server.port)
    try:
        yield connection
    finally:
        connection.close()


def post(path: str, body: object) -> bytes:
    """Return a request as bytes."""
    data = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
    return head.encode() + data


def acts_of(run: Path) -> list[str]:
    """Return the acts of the test split of a run's corpus, each once."""
    corpus = load_corpus(Run(run).check().corpus.name)
    return list(dict.fromkeys(str(example.turn) for example in corpus.split("test")))


@dataclass
class Load:
    """What clients saw: the seconds of each request, the count of each status but 200, and that of each run's code."""

    clients: int
    elapsed: float = 0.0
    seconds: list[float] = field(default_factory=list)
    errors: Counter[int] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)

    def row(self) -> list[str]:
        """Return a row of the table."""
        ranked = sorted(self.seconds)
        place = [f"{1000 * ranked[min(int(share * len(ranked)), len(ranked) - 1)]:.1f}" for share in (0.5, 0.99)]
        rate = f"{len(ranked) / self.elapsed:,.0f}"
        return [str(self.clients), f"{len(ranked):,}", rate, *place, str(sum(self.errors.values()))]


async def load(
    server: Server, requests: Sequence[bytes], clients: int, seconds: float, found: Load | None = None
) -> Load:
    """Let clients send requests for some seconds, each from its own place in the list and one after the other.

    A caller that passes `found` can read in it what they have seen so far.
    """
    found = Load(clients) if found is None else found
    begun = time.perf_counter()

    async def client(number: int) -> None:
        at = number * len(requests) // clients
        async with connected(server) as connection:
            while time.perf_counter() - begun < seconds:
                sent = time.perf_counter()
                status, body = await connection.request(requests[at % len(requests)])
                found.seconds.append(time.perf_counter() - sent)
                if status == 200:
                    found.codes[json.loads(body)["model"]["code"]] += 1
                else:
                    found.errors[status] += 1
                at += 1

    await asyncio.gather(*(client(number) for number in range(clients)))
    found.elapsed = time.perf_counter() - begun
    return found


def measure_load(run: Path, seconds: float, workers: Sequence[str]) -> None:
    """Print requests per second and latencies."""
    acts = acts_of(run)
    random.Random(1).shuffle(acts)
    requests = [post(GENERATE, {"acts": act}) for act in acts]
    rows = [["reuse", "clients", "requests", "a second", "median ms", "p99 ms", "errors"]]
    for reuse in (False, True):
        with serving(str(run), *workers, *([] if reuse else ["--no-reuse"])) as server:
            asyncio.run(load(server, requests, 8, min(seconds, 3)))
            for clients in (1, 8, 64):
                found = asyncio.run(load(server, requests, clients, seconds))
                rows.append(["yes" if reuse else "no", *found.row()])
                print(*rows[-1], sep="\t", file=sys.stderr)
    print(aligned(rows, rule=True))


LEAVES: list[Any] = [
    *(None, True, -1, 10**30, 1e308, "", "x", [], {}, [[]], "x" * 5000, "../../etc/passwd"),
    *("inform(", "inform(name='{0.__class__}')", "%s%n%x", "\u202e\u0000\ud83d", "<script>alert(1)</script>"),
    "inform(" + "name=x;" * 500 + ")",
]
KEYS = ["acts", "pairs", "act", "text", "model", "options", "n_best", "beam_width", "seed", "sample", "x"]
PATHS = [
    *(GENERATE, "/v1/check", "/v1/models", "/", "/docs", "/healthz", "/metrics", "/v1/../../etc/passwd", "/%2e%2e/"),
    *("/static/%2e%2e/%2e%2e/setup.cfg", "/common/..%2fserver.py", "/v1/generate?x=" + "y" * 3000, "/\u00e9"),
]
METHODS = ["POST"] * 8 + ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "BREW"]
TYPES = ["application/json"] * 4 + ["text/plain", "multipart/form-data", 'a/b; c="', ""]


def bad_value(draw: random.Random, depth: int) -> Any:
    """Return JSON data that hardly ever fits the schema."""
    if depth == 0 or draw.random() < 0.5:
        return draw.choice(LEAVES)
    values = [bad_value(draw, depth - 1) for _ in range(draw.randint(0, 4))]
    return values if draw.random() < 0.5 else {draw.choice(KEYS): value for value in values}


def bad_body(draw: random.Random) -> bytes:
    """Return a body: data that do not fit, a good body with a byte changed, deep or long ones, or random bytes."""
    kind = draw.random()
    if kind < 0.25:
        return json.dumps({"acts": bad_value(draw, 2), "options": bad_value(draw, 2)}).encode()
    if kind < 0.45:
        return json.dumps(bad_value(draw, 3)).encode()
    if kind < 0.6:
        good = json.dumps({"acts": ["inform(name='x')", "goodbye()"]}).encode()
        at = draw.randrange(len(good))
        return good[:at] + bytes([draw.randrange(256)]) + good[at + draw.randint(0, 2) :]
    if kind < 0.7:
        return b"[" * draw.choice([10, 1000, 100_000])
    if kind < 0.8:
        return draw.randbytes(draw.randint(1, 300))
    if kind < 0.82:
        return b" " * (1 << 21)
    return b'{"acts": ' + draw.choice([b"NaN", b"1e999", b"9" * 5000, b'"\\ud800"', b'"\xff"']) + b"}"


def bad_requests(count: int, seed: int = 1) -> Iterator[bytes]:
    """Yield requests, headers included, with a wrong method, path, type or body."""
    draw = random.Random(seed)
    for _ in range(count):
        data = bad_body(draw)
        method, kind = draw.choice(METHODS), draw.choice(TYPES)
        path = draw.choice([GENERATE, GENERATE, "/v1/check", draw.choice(PATHS)])
        head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n\r\n"
        yield head.encode("utf-8", "surrogateescape") + data


async def hostile(server: Server, count: int) -> Counter[str]:
    """Send bad requests, each on its own connection, with good ones in between; count the answers by status class."""
    found: Counter[str] = Counter()
    good = post(GENERATE, {"acts": "goodbye()"})
    semaphore = asyncio.Semaphore(16)

    async def one(raw: bytes) -> None:
        async with semaphore:
            try:
                async with connected(server) as connection:
                    status, _ = await asyncio.wait_for(connection.request(raw), 60)
                found[f"{status // 100}xx"] += 1
            except OSError:
                # The request is longer than allowed, and the server does not read it to its end.
                found["closed"] += 1
            except TimeoutError:
                found["no answer"] += 1

    waiting = set()
    for number, raw in enumerate(bad_requests(count)):
        waiting.add(asyncio.create_task(one(raw)))
        if number % 500 == 499:
            await asyncio.gather(*waiting)
            waiting.clear()
            async with connected(server) as connection:
                status, _ = await connection.request(good)
                found["good answered" if status == 200 else f"good refused with {status}"] += 1
    await asyncio.gather(*waiting)
    return found


def measure_hostile(run: Path, count: int, workers: Sequence[str]) -> None:
    """Print the statuses of the answers to bad requests, and the memory before and after."""
    with serving(str(run), *workers) as server:
        asyncio.run(hostile(server, min(count, 1000)))
        before = server.resident()
        found = asyncio.run(hostile(server, count))
        document = from_openapi(server.host, server.port, max(count // 100, 1))
        after = server.resident()
        rows = [["answer", "requests"], *([name, f"{number:,}"] for name, number in sorted(found.items()))]
        rows += [[f"{name}, made of the document", f"{number:,}"] for name, number in sorted(document.items())]
        print(aligned(rows, rule=True))
        print(f"alive: {server.alive()}; resident memory {before:.0f} MiB before, {after:.0f} MiB after")


async def drops(server: Server, connections: int, kills: int, readers: int, seconds: float = 15) -> Load:
    """Drop idle connections, read slowly and kill clients in the middle of answers; return what good clients saw."""
    requests = [post(GENERATE, {"acts": f"inform(name='x{number}')"}) for number in range(50)]
    long = post(GENERATE, {"acts": [f"inform(name='y{at}')" for at in range(200)], "options": {"n_best": 10}})
    beside = asyncio.create_task(load(server, requests, 8, seconds))
    slow = asyncio.create_task(slow_readers(server.host, server.port, long, readers, seconds - 2))
    gone = asyncio.create_task(asyncio.to_thread(killed, server.host, server.port, long, kills))
    await asyncio.sleep(1)
    opened: list[asyncio.StreamWriter] = []
    for number in range(connections):
        _, writer = await asyncio.open_connection(server.host, server.port)
        if number % 3 == 1:
            writer.write(requests[0][:40])
        elif number % 3 == 2:
            # A whole request whose answer nobody reads.
            writer.write(requests[number % 50])
        opened.append(writer)
        if len(opened) == 500:
            for each in opened:
                each.transport.abort()
            opened.clear()
    for each in opened:
        each.transport.abort()
    if await gone != kills:
        raise SystemExit("a client ended before it was killed")
    if not 0 < await slow < readers * 64 * 5 * seconds:
        raise SystemExit("a slow reader was not slow, or had no answer")
    return await beside


def measure_drops(run: Path, connections: int, workers: Sequence[str]) -> None:
    """Print what eight good clients saw while there were many bad ones."""
    kills, readers = 20, 8
    with serving(str(run), *workers) as server:
        found = asyncio.run(drops(server, connections, kills, readers))
        told = f"{connections:,} connections opened and dropped, {kills} clients killed, {readers} slow readers"
        print(f"{told}; beside them:")
        print(aligned([["clients", "requests", "a second", "median ms", "p99 ms", "errors"], found.row()], rule=True))
        print(f"alive: {server.alive()}")


def measure_reload(run: Path, other: Path, times: int, workers: Sequence[str]) -> None:
    """Replace a run's folder under load, several times; print failed requests, and the number of answers by run."""
    requests = [post(GENERATE, {"acts": act}) for act in acts_of(run)]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "run"
        shutil.copytree(run, place)

        async def swaps(server: Server, task: asyncio.Task[Load]) -> int:
            done = 0
            while done < times and not task.done():
                fresh = Path(folder) / f"fresh-{done}"
                await asyncio.to_thread(shutil.copytree, other if done % 2 == 0 else run, fresh)
                place.rename(Path(folder) / f"old-{done}")
                fresh.rename(place)
                server.process.send_signal(signal.SIGHUP)
                done += 1
                await asyncio.sleep(0.5)
            return done

        async def under_load(server: Server) -> tuple[Load, int]:
            task = asyncio.create_task(load(server, requests, 4, times * 1.2 + 5))
            done = await swaps(server, task)
            return await task, done

        with serving(str(place), *workers) as server:
            found, done = asyncio.run(under_load(server))
        failed = sum(found.errors.values())
        print(f"{done} reloads under load: {len(found.seconds):,} requests, {failed} failed; answers of each run:")
        print(aligned([["run", "answers"], *([code, f"{number:,}"] for code, number in found.codes.items())]))


def measure_soak(run: Path, acts: int, workers: Sequence[str]) -> None:
    """Print the resident memory while acts are generated, 200 in each request, all with different names."""

    async def soak(server: Server) -> None:
        rows = [["acts", "resident MiB", "acts a second"]]
        done, begun = 0, time.perf_counter()
        async with connected(server) as connection:
            while done < acts:
                names = [f"inform(name='place {done + at}';difficulty=easy)" for at in range(200)]
                status, _ = await connection.request(post(GENERATE, {"acts": names}))
                if status != 200:
                    raise SystemExit(f"status {status}")
                done += 200
                if done % (acts // 10 or 1) < 200:
                    rows.append(
                        [f"{done:,}", f"{server.resident():.0f}", f"{done / (time.perf_counter() - begun):,.0f}"]
                    )
                    print(*rows[-1], sep="\t", file=sys.stderr)
        print(aligned(rows, rule=True))
        settled = [float(row[1]) for row in rows[3:]]
        if len(settled) > 1:
            print(
                f"after warm-up: {min(settled):.0f} to {max(settled):.0f} MiB, median {statistics.median(settled):.0f}"
            )

    with serving(str(run), "--timeout", "600", *workers) as server:
        asyncio.run(soak(server))


def main() -> None:
    """Run the measurement that is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["load", "hostile", "drops", "reload", "soak"])
    parser.add_argument("run", type=Path)
    parser.add_argument("--other", type=Path, help="reload: a run that takes turns with RUN [default: RUN itself]")
    parser.add_argument("--seconds", type=float, default=60, help="load: duration for each number of clients")
    parser.add_argument("--requests", type=int, default=20_000, help="hostile: number of requests")
    parser.add_argument("--connections", type=int, default=10_000, help="drops: number of idle connections")
    parser.add_argument("--times", type=int, default=50, help="reload: number of replacements")
    parser.add_argument("--acts", type=int, default=1_000_000, help="soak: number of acts")
    parser.add_argument("--workers", type=int, default=1, help="processes of the server")
    chosen = parser.parse_args()
    workers = ["--workers", str(chosen.workers)]
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if chosen.what == "load":
        measure_load(chosen.run, chosen.seconds, workers)
    elif chosen.what == "hostile":
        measure_hostile(chosen.run, chosen.requests, workers)
    elif chosen.what == "drops":
        measure_drops(chosen.run, chosen.connections, workers)
    elif chosen.what == "reload":
        measure_reload(chosen.run, chosen.other or chosen.run, chosen.times, workers)
    else:
        measure_soak(chosen.run, chosen.acts, workers)


if __name__ == "__main__":
    main()
