"""The undisturbed results for `faults.py`, and what runs commands and judges the cases."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import shutil
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import NamedTuple

# Processes are forked, which TensorFlow's threads do not survive; NumPy trains and decodes.
os.environ["KERAS_BACKEND"] = "numpy"
os.environ["MLFLOW_HTTP_REQUEST_MAX_RETRIES"] = "0"

import keras  # noqa: F401  (once, before the processes are forked)
from tqdm import tqdm

from dactnlg.__main__ import run as run_process
from dactnlg.cli.main import main as dactnlg
from dactnlg.data.corpus import load_corpus
from dactnlg.generation.files import blocks

CODES = {0, 1, 2, 130}
SIZES = ("training.epochs=3", "training.batch_size=128", "model.hidden_size=16", "model.embedding_size=16")
TRAIN = ("train", "trails-sclstm", *(word for size in SIZES for word in ("--set", size)), "--output")
ACTS = 40
BLOCK = 8


class Done(NamedTuple):
    """The outcome of a command: its exit code, standard output and standard error."""

    code: int
    out: str
    err: str

    @property
    def plain(self) -> bool:
        """Whether it ended as it should: with an exit code of the contract, and a plain message after a failure."""
        noise = "Traceback" in self.err or "Exception ignored" in self.err
        said = self.code in (0, 1, 130) or self.err.startswith(("dactnlg: ", "Usage: "))
        return self.code in CODES and not noise and said


def run(*words: str | Path) -> Done:
    """Run a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = dactnlg([str(word) for word in words])
        except BaseException:  # noqa: BLE001 - whatever is raised is a fault
            traceback.print_exc()
            code = -1
    return Done(code, out.getvalue(), err.getvalue())


class Bench:
    """Undisturbed results, and methods to run commands and judge their outcomes.

    Args:
        scratch: a folder for runs and other files.
    """

    def __init__(self, scratch: Path) -> None:
        self.scratch, self.faults = scratch, list[str]()
        self.whole, self.half, self.other = scratch / "whole", scratch / "half", scratch / "other"
        self.acts = scratch / "acts.txt"
        turns = [str(example.turn) for example in load_corpus("trails").split("test")]
        self.acts.write_text("".join(f"{turn}\n" for turn in random.Random(1).sample(turns, ACTS)), encoding="utf-8")
        blocks.BLOCK, blocks.CHUNK = BLOCK, 4
        self.must(*TRAIN, self.whole)
        self.must(*TRAIN, self.other, "--set", "training.seed=2")
        shutil.copytree(self.whole, self.half)
        self.must("evaluate", "--model", self.whole, "--preset", "single", "--metric", "BLEU")
        self._break_off()
        self.sentences = self.must(*self.generate(self.whole)).out

    def _break_off(self) -> None:
        """Kill a training after its second epoch."""
        shutil.rmtree(self.half)
        process = self.fork(*TRAIN, self.half)
        while (
            not (self.half / "state.json").exists() or json.loads((self.half / "state.json").read_text())["epoch"] < 2
        ):
            time.sleep(0.002)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)

    def must(self, *words: str | Path) -> Done:
        """Run a command that must succeed."""
        done = run(*words)
        if done.code:
            raise RuntimeError(f"{' '.join(map(str, words))}: {done}")
        return done

    def generate(self, folder: Path) -> tuple[str | Path, ...]:
        """Return the command that generates the acts with a run."""
        return ("generate", "--model", folder, "--input", self.acts, "--format", "json", "--backend", "numpy")

    def evaluate(self, folder: Path, json_file: Path) -> tuple[str | Path, ...]:
        """Return the command that scores a run."""
        words = ("evaluate", "--model", folder, "--split", "valid", "--preset", "single", "--metric", "BLEU")
        return (*words, "--backend", "numpy", "--json", json_file)

    def fork(self, *words: str | Path) -> int:
        """Run a command in a process of its own, return its id, and write its output to the file `told`."""
        if process := os.fork():
            return process
        with (self.scratch / "told").open("wb") as told:
            for number in (1, 2):
                os.dup2(told.fileno(), number)
            sys.stdout = sys.stderr = io.TextIOWrapper(io.FileIO(2, "w"), "utf-8", write_through=True)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            code = 70
            try:
                code = run_process([str(word) for word in words])
            except BaseException:  # noqa: BLE001 - whatever is raised is a fault
                traceback.print_exc()
            os._exit(code)

    def judge(self, done: Done, case: str, *, same: bool = True) -> None:
        """Count a case as a fault if its command did not end as it should or, unless `same`, had another result."""
        if not done.plain or not same:
            what = "another result" if done.plain else "a traceback" if "Traceback" in done.err else "its ending"
            self.faults.append(f"{case}: {what}: {done.code} {done.err[-2000:]}")
            tqdm.write(self.faults[-1], file=sys.stderr)

    def result(self, folder: Path) -> list[bytes]:
        """Return the outcome of a training: the best weights, and the checkpoint from which it would continue."""
        files = (folder / "weights.safetensors", folder / "checkpoint-3.safetensors")
        return [file.read_bytes() for file in files if file.exists()]
