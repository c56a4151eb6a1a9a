"""METEOR's workers: the result does not depend on how many there are, nor on whether they die."""

from __future__ import annotations

import json
import multiprocessing.spawn
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from dactnlg.metrics.base import Segment
from dactnlg.metrics.meteor import meteor as meteor_module
from dactnlg.metrics.meteor import workers as meteor_workers
from dactnlg.metrics.meteor.align import Aligner
from dactnlg.metrics.meteor.data import load
from dactnlg.metrics.meteor.meteor import Meteor
from dactnlg.metrics.meteor.workers import Texts, Workers

pytestmark = pytest.mark.needs("pycocoevalcap", "pip install 'dactnlg[meteor]'")
REPOSITORY = Path(__file__).resolve().parents[2]
TEXT = "a cheap low-priced place serves good Italian food near the river , it is not expensive ."


def until_ready(workers: Workers) -> None:
    """Wait for all workers, so that they take part."""
    end = time.monotonic() + 100
    while not all(worker.ready() for worker in workers.workers):
        assert time.monotonic() < end
        time.sleep(0.01)


def sentences(count: int) -> list[tuple[str, str]]:
    random, words = np.random.default_rng(3), TEXT.split()
    return [(" ".join(random.choice(words, 9)), " ".join(random.choice(words, 12))) for _ in range(count)]


@pytest.fixture
def workers() -> Iterator[Workers]:
    found = Workers(load().folder, 1)
    until_ready(found)
    yield found
    found.end()


@pytest.fixture(scope="module")
def aligner() -> Aligner:
    return Aligner(load())


def test_meteor_is_the_same_with_and_without_workers(oracle_dir: Path, workers: Workers) -> None:
    """1,181 real outputs (oracles/sfres_nlgeval.json): equal to the last bit."""
    oracle = json.loads((oracle_dir / "sfres_nlgeval.json").read_text())
    segments = [Segment(s["hypothesis"], s["references"]) for s in oracle["segments"]]
    alone, together = Meteor(), Meteor()
    together._workers = workers
    assert np.array_equal(alone.statistics(segments), together.statistics(segments))
    assert workers.workers, "no worker has died"


def test_a_worker_does_its_share(workers: Workers, aligner: Aligner) -> None:
    blocks = [sentences(20) for _ in range(10)]
    mine = []

    def slowly(block: Texts) -> list[tuple[float, ...]]:
        mine.append(block)
        time.sleep(0.1)
        return aligner.align_texts(block)

    assert workers.share(blocks, slowly) == [aligner.align_texts(block) for block in blocks]
    assert 0 < len(mine) < len(blocks)


def test_a_worker_that_dies_is_done_without(workers: Workers, aligner: Aligner) -> None:
    blocks = [sentences(20) for _ in range(6)]
    process = workers.workers[0].process

    def while_it_dies(block: Texts) -> list[tuple[float, ...]]:
        if process.is_alive():
            process.kill()
            process.join()
        return aligner.align_texts(block)

    expected = [aligner.align_texts(block) for block in blocks]
    assert workers.share(blocks, while_it_dies) == expected
    assert not workers.workers
    assert workers.share(blocks, aligner.align_texts) == expected


def test_an_error_here_ends_the_workers(workers: Workers) -> None:
    """What a worker still works on would be taken for the answer to the next question."""
    process = workers.workers[0].process

    def broken(_: Texts) -> list[tuple[float, ...]]:
        raise IndexError("not a matter of queues")

    with pytest.raises(IndexError, match="queues"):
        workers.share([sentences(3)] * 4, broken)
    assert not process.is_alive()


@pytest.mark.parametrize("executable", ["", "/nowhere/python"])
def test_meteor_needs_no_process_where_none_can_be_started(
    executable: str, monkeypatch: pytest.MonkeyPatch, aligner: Aligner, tmp_path: Path
) -> None:
    monkeypatch.setattr(multiprocessing.spawn, "_python_exe", os.fsencode(executable))
    pairs = sentences(5)
    assert Workers(tmp_path, 1).share([pairs], aligner.align_texts) == [aligner.align_texts(pairs)]


def test_a_worker_that_cannot_begin_is_done_without(tmp_path: Path, aligner: Aligner) -> None:
    workers = Workers(tmp_path / "no index", 1)
    workers.workers[0].process.join(100)
    pairs = sentences(5)
    assert workers.share([pairs], aligner.align_texts) == [aligner.align_texts(pairs)]


def share_in_a_daemon(folder: Path, pairs: Texts, answers: multiprocessing.Queue[object]) -> None:
    workers = Workers(folder, 1)
    answers.put((len(workers.workers), workers.share([pairs], Aligner(load()).align_texts)))


def test_a_daemonic_process_aligns_without_workers(aligner: Aligner) -> None:
    pairs, context = sentences(5), multiprocessing.get_context("spawn")
    answers = context.Queue()
    process = context.Process(target=share_in_a_daemon, args=(load().folder, pairs, answers), daemon=True)
    process.start()
    assert answers.get(timeout=100) == (0, [aligner.align_texts(pairs)])
    process.join()


def test_workers_are_started_for_many_segments_and_free_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    monkeypatch.setattr(meteor_workers, "Worker", lambda *_: started.append(1))
    few, many = [Segment("a", ["b"])] * 100, [Segment("a", ["b"] * 20)] * 100
    for processors, segments, expected in ((2, few, 0), (2, many, 1), (1, many, 0), (64, many, meteor_workers.MOST)):
        monkeypatch.setattr(meteor_workers, "usable_processors", lambda count=processors: count)
        started.clear()
        Meteor().expect(segments)
        assert len(started) == expected


SCRIPT = """
import sys
import dactnlg.metrics.meteor.workers as workers
from dactnlg.evaluation.scoring import TextPair, score_pairs
workers.usable_processors = lambda: 2
print("once")
pairs = [TextPair(f"place {i} is good", (f"place {i} is fine", f"a good place {i}")) for i in range(int(sys.argv[1]))]
print(score_pairs(pairs, ["METEOR-1.5"], keep=False).scores["METEOR-1.5"].value)
"""


def test_a_script_without_a_main_guard_runs_once(tmp_path: Path) -> None:
    """`multiprocessing` would start it again."""
    (tmp_path / "script.py").write_text(SCRIPT)
    # A file of the current folder must not be taken for a module of Python's.
    (tmp_path / "pickle.py").write_text("raise SystemExit('not this one')")
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-P", "script.py", "1000"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=100)
    once, value = done.stdout.split()
    assert (once, done.returncode, done.stderr) == ("once", 0, "")
    pairs = [Segment(f"place {i} is good", (f"place {i} is fine", f"a good place {i}")) for i in range(1000)]
    metric = Meteor()
    assert float(value) == metric.score(metric.statistics(pairs).sum(axis=0))[0]


def members(session: int) -> list[int]:
    """Return the running processes of a session."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                state, _, _, leader = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
            except (OSError, ValueError):
                continue
            if int(leader) == session and state not in "ZX":
                found.append(int(folder.name))
    return found


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_no_worker_outlives_its_parent(ending: signal.Signals, tmp_path: Path) -> None:
    script = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n" + SCRIPT
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-c", script, "100000"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, env=environment, start_new_session=True, **pipes) as process:
        end = time.monotonic() + 100
        # The script, its worker, and the resource tracker of `multiprocessing`.
        while len(members(process.pid)) < 3 and time.monotonic() < end:
            time.sleep(0.02)
        assert len(members(process.pid)) == 3
        if ending == signal.SIGINT:
            os.killpg(process.pid, ending)
        else:
            process.send_signal(ending)
        process.wait(100)
        while members(process.pid) and time.monotonic() < end:
            time.sleep(0.02)
        assert not members(process.pid)
    assert process.returncode == -ending


def test_the_workers_end_with_the_metric() -> None:
    metric = Meteor()
    metric._workers = Workers(load().folder, 1)
    process = metric._workers.workers[0].process
    metric.forget()
    assert not process.is_alive() and metric._workers is None
    assert meteor_module.MANY > 100, "a test of a few pairs starts none"
