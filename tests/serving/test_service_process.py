"""The service as a process on a socket: in seconds what `benchmarks/serve.py` does for minutes."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import shutil
import signal
import socket
import time
from pathlib import Path

import pytest
import serve
from serve_clients import from_openapi

from dactnlg.cli.main import main
from dactnlg.errors import RunError
from dactnlg.serving import models as served
from dactnlg.serving.models import Models
from dactnlg.serving.plan import ServicePlan

ACT = "inform(name='Ivy Cutting';difficulty=easy)"
GOOD = serve.post(serve.GENERATE, {"acts": ACT})
LONG = serve.post(serve.GENERATE, {"acts": [f"inform(name='y{at}')" for at in range(200)]})


def ask(server: serve.Server, path: str, body: object = None) -> tuple[int, dict[str, object]]:
    connection = http.client.HTTPConnection(server.host, server.port, timeout=30)
    headers = {"Content-Type": "application/json"}
    connection.request("POST" if body else "GET", path, json.dumps(body) if body else None, headers)
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


@pytest.mark.parametrize("workers", ["1", "2"])
def test_hostile_and_vanishing_clients_do_not_disturb_others(random_run: Path, workers: str) -> None:
    with serve.serving(str(random_run), "--workers", workers) as server:
        before = asyncio.run(serve.hostile(server, 200))
        document = from_openapi(server.host, server.port, 3)
        beside = asyncio.run(serve.drops(server, 300, kills=3, readers=2, seconds=3))
        assert server.alive()
        assert ask(server, "/readyz")[0] == 200
    assert server.process.returncode == 0
    assert before.keys() | document.keys() <= {"2xx", "4xx", "closed", "good answered"}
    assert before["4xx"] > 150
    assert document["4xx"] > 10
    assert beside.seconds
    assert not beside.errors


@pytest.mark.parametrize("workers", ["1", "2"])
def test_no_request_is_lost_when_a_run_changes(
    random_run: Path, neural_run: Path, tmp_path: Path, workers: str
) -> None:
    runs, place = (random_run, neural_run), tmp_path / "run"
    shutil.copytree(random_run, place)
    codes = [Models({"run": run}).get("run").code for run in runs]
    found = serve.Load(4)

    async def swap(server: serve.Server) -> None:
        task = asyncio.create_task(serve.load(server, [GOOD], 4, 120, found))
        for number in range(1, 5):
            fresh, code = tmp_path / f"fresh{number}", codes[number % 2]
            shutil.copytree(runs[number % 2], fresh)
            place.rename(tmp_path / f"old{number}")
            fresh.rename(place)
            server.process.send_signal(signal.SIGHUP)
            before = found.codes[code]
            while found.codes[code] == before and not task.done():
                await asyncio.sleep(0.01)
        # It ends by itself if a request is lost, or if the new run does not answer in time.
        assert not task.done(), task.exception()
        task.cancel()

    with serve.serving(str(place), "--workers", workers) as server:
        asyncio.run(swap(server))
        (place / "weights.safetensors").unlink(missing_ok=True)
        (place / "preprocessor.json").write_text("{}", encoding="utf-8")
        server.process.send_signal(signal.SIGHUP)
        until = time.monotonic() + 20
        while time.monotonic() < until and not (told := ask(server, "/v1/models")[1]["models"][0]["trouble"]):  # type: ignore[index]
            time.sleep(0.1)
        status, _ = ask(server, serve.GENERATE, {"acts": ACT})
    assert not found.errors
    assert set(found.codes) == set(codes)
    assert status == 200
    assert "preprocessor.json" in told
    assert str(tmp_path) not in told


@pytest.mark.parametrize("workers", ["1", "2"])
def test_requests_in_progress_are_answered_after_sigterm(neural_run: Path, workers: str) -> None:
    async def ended(server: serve.Server) -> tuple[int, bytes]:
        async with serve.connected(server) as connection:
            task = asyncio.create_task(connection.request(LONG))
            await asyncio.sleep(0.05)
            server.process.send_signal(signal.SIGTERM)
            return await task

    with serve.serving(str(neural_run), "--no-reuse", "--workers", workers) as server:
        status, body = asyncio.run(ended(server))
        assert server.process.wait(30) == 0
    assert status == 200
    assert len(json.loads(body)["results"]) == 200


def test_a_run_that_changes_while_it_is_read_is_read_again(
    random_run: Path, neural_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, swaps = tmp_path / "run", [neural_run]
    shutil.copytree(random_run, place)
    digest = served.file_digest

    def swapping(path: Path) -> str:
        if swaps:
            shutil.rmtree(place)
            shutil.copytree(swaps.pop(), place)
        return digest(path)

    monkeypatch.setattr(served, "file_digest", swapping)
    found = Models({"it": place}).get("it")
    assert found.code == Models({"it": neural_run}).get("it").code
    assert found.architecture != Models({"it": random_run}).get("it").architecture

    def changing(path: Path) -> str:
        os.utime(place / "preprocessor.json")
        return digest(path)

    monkeypatch.setattr(served, "file_digest", changing)
    with pytest.raises(RunError, match="changes faster"):
        Models({"it": place})


@pytest.mark.parametrize(("given", "told"), [("  \n", "is empty"), ("geheimß", "ASCII"), ("one\ntwo", "ASCII")])
def test_a_token_that_no_header_can_hold_is_refused(
    given: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "token").write_text(given, encoding="utf-8")
    assert main(["serve", str(tmp_path), "--token-file", str(tmp_path / "token")]) == 2
    assert f"{tmp_path / 'token'}" in (error := capfd.readouterr().err) and told in error
    monkeypatch.setenv("DACTNLG_TOKEN", given)
    assert main(["serve", str(tmp_path)]) == 2
    assert "$DACTNLG_TOKEN" in (error := capfd.readouterr().err) and told in error


def test_a_line_break_after_a_token_is_ignored(random_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = []

    def served(plan: ServicePlan, listening: socket.socket, _ready: object) -> None:
        tokens.append(plan.settings.token)
        listening.close()

    monkeypatch.setattr(ServicePlan, "serve", served)
    monkeypatch.setenv("DACTNLG_TOKEN", "secret-token\n")
    assert main(["serve", str(random_run), "--port", "0"]) == 0
    assert tokens == ["secret-token"]
