"""Sweeps through Ray Tune: ordinary runs, ranked on the validation split, and resumed whatever stopped them."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import portalocker
import pytest

from dactnlg import models
from dactnlg._utils import cluster
from dactnlg.cli.main import main
from dactnlg.experiments import ray_tune
from dactnlg.experiments.ray_tune import _wait_for_trial
from dactnlg.models.weights import load_arrays
from dactnlg.runs.config import load_config
from dactnlg.runs.run import Run
from dactnlg.training.train import train

pytestmark = pytest.mark.needs("ray", "pip install 'dactnlg[ray]'")
Sweep = Callable[..., str]
RANDOM = "config: trails-random\nspace:\n  training.seed: [3, 1, 2]\n"
ONE = "config: trails-random\nspace:\n  training.seed: [3]\n"
# The sweep file that a sweep of these seeds keeps in its folder.
BEGUN = "config: trails-random\nset: {}\nspace: {training.seed: [%s]}\nsamples: 1\nseed: 1\nmetric: BLEU-4\n"
# Scored by greedy search without constraints, which is fast.
SMALL = """
config: trails-sclstm
set:
  model.embedding_size: 8
  training.batch_size: 128
  training.epochs: 4
  training.patience: 100
  decoding.beam_width: 1
  decoding.constraint: none
space:
  model.hidden_size: [8]
  training.learning_rate:
"""


@pytest.fixture(scope="module", autouse=True)
def ray() -> Iterator[object]:
    """Ray on two cores for all tests of this file: starting it takes longer than they do."""
    with cluster.started(2) as ray:
        yield ray


@pytest.fixture
def sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Sweep:
    """Give a function that runs the command in `tmp_path` on a sweep file of this text, and returns what it prints."""
    monkeypatch.chdir(tmp_path)

    def run(text: str, *more: str, code: int = 0) -> str:
        Path("sweep.yaml").write_text(text)
        assert main(["sweep", "sweep.yaml", "--output", "runs", "--jobs", "2", *more]) == code
        printed = capfd.readouterr()
        return printed.out + printed.err

    return run


def trials(file: str = "out.json") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(file).read_text())
    return found


def evaluations(run: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((Path(run) / "manifest.json").read_text())["evaluations"]
    return found


def test_trials_are_ordinary_runs_ranked_on_validation(sweep: Sweep, capfd: pytest.CaptureFixture[str]) -> None:
    table = sweep(RANDOM, "--json", "out.json", "--preset", "single")
    found = trials()
    assert (found["metric"], found["preset"], found["split"]) == ("BLEU-4", "single", "valid")
    scores = [trial["score"] for trial in found["trials"]]
    assert len(set(scores)) == 3 and scores == sorted(scores, reverse=True)
    assert sorted(trial["settings"]["training.seed"] for trial in found["trials"]) == [1, 2, 3]
    assert [line.split()[0] for line in table.splitlines()[3:]] == [trial["run"] for trial in found["trials"]]
    best = found["trials"][0]
    assert load_config(Path(best["run"]) / "config.yaml").training.seed == best["settings"]["training.seed"]
    # The same score as the ordinary command gives, and no look at the test split.
    (entry,) = evaluations(best["run"])
    assert entry["split"] == "valid" and list(entry["scores"]) == ["single"]
    words = ["--split", "valid", "--preset", "single", "--metric", "BLEU-4", "--json", "-"]
    assert main(["evaluate", "--model", best["run"], *words]) == 0
    assert json.loads(capfd.readouterr().out)["scores"]["BLEU-4"]["value"] == best["score"]
    assert main(["generate", "--model", best["run"], "goodbye()"]) == 0
    assert main(["leaderboard", *(trial["run"] for trial in found["trials"])]) == 0
    assert capfd.readouterr().out.count("trial-0000") == 3
    # Finished trials are not run again; the case of a score's name does not matter.
    before = {path: path.stat().st_mtime_ns for path in Path("runs").glob("trial-*/*.json")}
    assert sweep(RANDOM, "--preset", "single", "--metric", "bleu-4", "--resume") == table
    assert {path: path.stat().st_mtime_ns for path in before} == before
    # One that was removed is.
    shutil.rmtree(found["trials"].pop()["run"])
    assert sweep(RANDOM, "--preset", "single", "--resume") == table
    kept = [path for path in before if any(path.is_relative_to(trial["run"]) for trial in found["trials"])]
    assert len(kept) > 1 and all(path.stat().st_mtime_ns == before[path] for path in kept)
    assert "BLEU is no single score" in sweep(RANDOM, "--metric", "BLEU", "--resume", code=2)
    assert "holds a sweep already" in sweep(RANDOM, "--preset", "single", code=2)
    assert "another preset" in sweep(RANDOM, "--resume", code=2)


def test_a_trial_that_fails_is_named_and_run_again(sweep: Sweep) -> None:
    two = "config: trails-random\nspace:\n  training.seed: [3, 1]\n"
    printed = sweep(two, "--metric", "BLUE-4", code=2)
    assert printed.startswith("dactnlg: unknown metric 'BLUE-4'") and not Path("runs").exists()
    printed = sweep(two.replace("trails-random", "dailydialog-hred"), code=2)
    assert printed.startswith("dactnlg: the model 'hred' answers contexts") and not Path("runs").exists()
    # One trial's folder holds a file of the user's. With a sweep file beside it the folder is that of a stopped sweep.
    foreign = Path("runs") / "trial-00001" / "thesis.tex"
    foreign.parent.mkdir(parents=True)
    foreign.write_text("a thesis")
    assert "holds other files" in sweep(two, code=2)
    Path("runs/sweep.yaml").write_text(BEGUN % "3, 1")
    printed = sweep(two, "--resume", "--json", "out.json", code=1)
    assert "1 of 2 trials failed" in printed and "holds other files" in printed
    assert [trial["status"] for trial in trials()["trials"]] == ["done", "failed"]
    assert trials()["trials"][-1]["settings"] == {"training.seed": 1}
    assert foreign.exists()
    foreign.unlink()
    sweep(two, "--resume", "--json", "out.json")
    assert [trial["status"] for trial in trials()["trials"]] == ["done", "done"]
    # The same once Ray Tune no longer runs it.
    shutil.rmtree(foreign.parent)
    foreign.parent.mkdir()
    foreign.write_text("a thesis")
    printed = sweep(two, "--resume", code=1)
    assert "1 of 2 trials failed" in printed and "trial-00001: /" in printed and "Traceback" not in printed


def test_a_sweep_needs_neither_a_clean_start_nor_a_complete_state_of_ray(sweep: Sweep) -> None:
    # A kill before the beginning leaves a lock and half of the specification.
    Path("runs").mkdir()
    Path("runs", ".sweeping").touch()
    Path("runs", "partial-sweep.yaml").write_text("config: tra")
    table = sweep(ONE)
    # On a loaded machine Ray Tune writes its state between the last report of a trial and its end, and not again.
    state = max(Path("runs/.ray").glob("experiment_state-*.json"))
    text, count = re.subn(r'(\bdone\\*": )true', r"\1false", state.read_text())
    assert count
    state.write_text(text)
    assert sweep(ONE, "--resume") == table
    # A kill later may truncate its files, which are not needed, since runs are their own checkpoints.
    for pattern in ("tuner.pkl", "experiment_state-*.json"):
        path = max(Path("runs/.ray").glob(pattern))
        path.write_bytes(path.read_bytes()[:50])
        assert sweep(ONE, "--resume") == table


@pytest.fixture
def no_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupt every sweep when its first trial would begin."""

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ray_tune, "run_trials", interrupt)


@pytest.mark.usefixtures("no_trials")
def test_a_sweep_is_resumed_with_the_configuration_that_it_began_with(sweep: Sweep) -> None:
    base = "corpus: {name: trails}\nmodel: {name: random}\ndecoding: {max_length: %d}\n"
    Path("base.yaml").write_text(base % 60)
    text = ONE.replace("trails-random", "base.yaml")
    sweep(text, code=130)
    sweep(text, "--resume", code=130)
    Path("base.yaml").write_text(base % 70)
    assert "begun with another configuration" in sweep(text, "--resume", code=2)


@pytest.mark.usefixtures("no_trials")
def test_two_sweeps_do_not_share_a_folder(sweep: Sweep) -> None:
    Path("runs").mkdir()
    with Path("runs", ".sweeping").open("a") as lock:
        portalocker.lock(lock, portalocker.LOCK_EX | portalocker.LOCK_NB)
        assert "is being swept by another process" in sweep(ONE, code=2)
    sweep(ONE, code=130)


def test_a_trial_waits_for_the_process_of_a_killed_sweep(tmp_path: Path) -> None:
    folder, order = tmp_path / "trial-00000", []
    folder.mkdir()
    with Run(folder).training_lock_path.open("a") as lock:
        portalocker.lock(lock, portalocker.LOCK_EX | portalocker.LOCK_NB)
        waiting = threading.Thread(target=lambda: (_wait_for_trial(folder), order.append("trial")))
        waiting.start()
        time.sleep(0.3)
        order.append("released")
    waiting.join(timeout=60)
    assert order == ["released", "trial"]


def test_a_resumed_sweep_runs_as_many_trials_at_a_time_as_it_is_told(sweep: Sweep) -> None:
    first, second, third = (Path("runs", f"trial-0000{number}") for number in range(3))
    second.mkdir(parents=True)
    Path("runs/sweep.yaml").write_text(BEGUN % "3, 1, 2")
    beside = []

    def interrupt() -> None:
        while not (first / "manifest.json").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    def release() -> None:
        end = time.monotonic() + 60
        while not beside and time.monotonic() < end:
            beside.extend(third.glob("manifest.json"))
            time.sleep(0.01)
        lock.close()

    # The second trial waits as long as the test holds the lock of its folder.
    with Run(second).training_lock_path.open("a") as lock:
        portalocker.lock(lock, portalocker.LOCK_EX | portalocker.LOCK_NB)
        for code, meanwhile in ((130, interrupt), (0, release)):
            watcher = threading.Thread(target=meanwhile)
            watcher.start()
            sweep(RANDOM, "--resume", "--jobs", "2" if code == 0 else "1", code=code)
            watcher.join()
    assert beside


def test_a_sweep_resumed_after_ctrl_c_ends_as_if_uninterrupted(sweep: Sweep, tmp_path: Path) -> None:
    text = f"{SMALL}    {{loguniform: [1e-3, 1e-2]}}\nsamples: 2\nseed: 5\n"

    def interrupt() -> None:
        while not list(Path("runs").glob("trial-*/history.csv")):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    watcher = threading.Thread(target=interrupt)
    watcher.start()
    printed = sweep(text, "--jobs", "1", code=130)
    watcher.join()
    assert len(printed.strip().splitlines()) == 1 and "--resume" in printed
    assert not all((path / "manifest.json").exists() for path in Path("runs").glob("trial-*"))
    sweep(text, "--jobs", "1", "--resume", "--json", "out.json")
    rates = set()
    for number, trial in enumerate(trials()["trials"]):
        run = Path(trial["run"])
        rates.add(trial["settings"]["training.learning_rate"])
        with (run / "history.csv").open() as file:
            assert [row["epoch"] for row in csv.DictReader(file)] == ["1", "2", "3", "4"]
        alone = train(load_config(run / "config.yaml", (), models), tmp_path / str(number), progress=False)
        weights = [load_arrays(trained.weights_path) for trained in (Run(run), alone)]
        assert weights[0].keys() == weights[1].keys()
        assert all(np.array_equal(weights[0][name], weights[1][name]) for name in weights[0])
    assert len(rates) == 2 and all(1e-3 <= rate <= 1e-2 for rate in rates)


def test_a_trial_stopped_early_is_an_ordinary_run(sweep: Sweep) -> None:
    # One after the other, so that the second is compared with the losses of the first.
    printed = sweep(f"{SMALL}    [0.01, 1.0e-7]\n", "--jobs", "1", "--early-stopping", "--json", "out.json")
    by_rate = {trial["settings"]["training.learning_rate"]: trial for trial in trials()["trials"]}
    assert (by_rate[0.01]["status"], by_rate[0.01]["epochs"]) == ("done", 4)
    assert (by_rate[1e-7]["status"], by_rate[1e-7]["epochs"]) == ("stopped", 3)
    assert "3 (stopped)" in printed
    begun, ended = (Path("runs", name) for name in ("trial-00001/config.yaml", "trial-00000/history.csv"))
    assert begun.stat().st_mtime >= ended.stat().st_mtime
    assert by_rate[1e-7]["score"] is not None
    assert json.loads(Path(by_rate[1e-7]["run"], "manifest.json").read_text())["training"]["stopped"] is True
