"""A service of several processes: common counters, a new worker for one that dies, one message for a failed start."""

from __future__ import annotations

import asyncio
import http.client
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import serve
from helpers import until

from dactnlg.runs.run import Run

GOOD = serve.post(serve.GENERATE, {"acts": "inform(name='Ivy Cutting';difficulty=easy)"})
COUNTED = re.compile(r'dactnlg_requests_total\{path="/v1/generate",status="200"\} (\d+)')


def workers_of(server: serve.Server) -> set[int]:
    """Return the worker processes, without multiprocessing's resource tracker."""
    children = (
        Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text(encoding="ascii").split()
    )
    return {int(child) for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()}


def said(server: serve.Server, times: int = 1) -> list[int]:
    """Return the statuses of requests, each on a connection of its own."""

    async def once() -> int:
        async with serve.connected(server) as connection:
            return (await connection.request(GOOD))[0]

    async def all_of_them() -> list[int]:
        return await asyncio.gather(*(once() for _ in range(times)))

    return asyncio.run(all_of_them())


def counted(server: serve.Server) -> int:
    connection = http.client.HTTPConnection(server.host, server.port, timeout=30)
    connection.request("GET", "/metrics")
    found = COUNTED.search(connection.getresponse().read().decode())
    return int(found[1]) if found else 0


def test_metrics_sum_over_all_workers_and_one_that_dies_is_replaced(neural_run: Path) -> None:
    with serve.serving(str(neural_run), "--workers", "2") as server:
        before = workers_of(server)
        assert len(before) == 2
        assert said(server, 60) == [200] * 60
        # A request is counted after its answer has been sent.
        until(lambda: counted(server) == 60)
        # Whichever worker answers the request for the metrics.
        assert {counted(server) for _ in range(10)} == {60}
        for number, pid in enumerate(before):
            until(lambda most=60 + 5 * number: counted(server) == most)  # type: ignore[misc]
            os.kill(pid, signal.SIGKILL)
            # The other one answers, and the requests of the dead one stay counted.
            assert said(server, 5) == [200] * 5
            until(lambda gone=pid: len(workers_of(server) - {gone}) == 2)  # type: ignore[misc]
        assert not workers_of(server) & before
        assert said(server, 5) == [200] * 5
        until(lambda: counted(server) == 75)
    assert server.process.returncode == 0


def open_sockets(server: serve.Server) -> int:
    """Return how many sockets accept connections at the server's port."""
    entries = [line.split() for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]]
    return sum(entry[1].endswith(f":{server.port:04X}") and entry[3] == "0A" for entry in entries)


def test_a_worker_that_cannot_be_replaced_leaves_its_connections_to_the_others(
    random_run: Path, tmp_path: Path
) -> None:
    place, away = tmp_path / "run", tmp_path / "away.json"
    shutil.copytree(random_run, place)
    with serve.serving(str(place), "--workers", "2") as server:
        dies, stays = workers_of(server)
        (place / "preprocessor.json").rename(away)
        os.kill(dies, signal.SIGKILL)
        # Its socket waits for a successor, until that has not been able to start.
        until(lambda: open_sockets(server) == 1)
        assert said(server, 20) == [200] * 20
        away.rename(place / "preprocessor.json")
        until(lambda: open_sockets(server) == 2)
        os.kill(stays, signal.SIGKILL)
        assert said(server, 20) == [200] * 20
    assert server.process.returncode == 0


def test_workers_end_with_their_parent(random_run: Path) -> None:
    with serve.serving(str(random_run), "--workers", "2") as server:
        workers = workers_of(server)
        assert len(workers) == 2
        server.process.kill()
        server.process.wait(30)
        until(lambda: not any(_alive(pid) for pid in workers))


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_run_that_cannot_be_read_is_reported_once(random_run: Path, tmp_path: Path, workers: str) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    for file in Run(random_run).path.iterdir():
        (broken / file.name).write_bytes(file.read_bytes())
    (broken / "preprocessor.json").write_text("{}", encoding="utf-8")
    command = [sys.executable, "-m", "dactnlg", "serve", str(broken), "--port", "0", "--workers", workers]
    found = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert found.returncode == 2
    assert found.stderr.count("preprocessor.json") == 1
    assert "Traceback" not in found.stderr


def test_workers_that_fail_to_start_are_reported_once_and_not_ready(random_run: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "dactnlg", "serve", str(random_run), "--port", "0", "--workers", "2"]
    command += ["--rasa", str(tmp_path / "absent.yml")]
    found = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert found.returncode == 2
    assert [line.partition(": ")[2] for line in found.stderr.splitlines()] == [
        f"cannot read {tmp_path / 'absent.yml'}: No such file or directory"
    ]


def test_ctrl_c_is_left_to_the_supervisor(random_run: Path) -> None:
    with serve.serving(str(random_run), "--workers", "2") as server:
        before = workers_of(server)
        for pid in before:
            # Behind the supervisor's signal, it would be a second one.
            for _ in range(2):
                os.kill(pid, signal.SIGINT)
        # The server looks ten times a second whether to end.
        time.sleep(1)
        assert said(server, 10) == [200] * 10
        assert workers_of(server) == before and len(before) == 2
    assert server.process.returncode == 0


def test_ctrl_c_ends_all_workers_quietly(random_run: Path) -> None:
    command = [sys.executable, "-m", "dactnlg", "serve", str(random_run), "--port", "0", "--workers", "2"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        if process.stderr is None:
            pytest.fail("no standard error")
        assert any("http://" in line for line in process.stderr)
        # A terminal sends it to the whole group.
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(30) == 0
        assert process.stderr.read() == ""
