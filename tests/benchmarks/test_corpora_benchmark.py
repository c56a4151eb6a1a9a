"""The table of corpora: a run is trained once, and its figures stand beside the published ones."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def run(repository: Path, runs: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(repository / "benchmarks" / "corpora.py"), "--runs", str(runs), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(repository), "TF_CPP_MIN_LOG_LEVEL": "3"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=500)


@pytest.mark.needs("pycocoevalcap", "pip install 'dactnlg[meteor]'")
def test_a_run_is_trained_once(repository: Path, tmp_path: Path) -> None:
    small = ["training.epochs=1", "model.hidden_size=16", "training.batch_size=128", "decoding.beam_width=2"]
    settings = [word for setting in small for word in ("--set", setting)]
    arguments = ["--corpus", "trails", "--config", "trails-sclstm", "--seeds", "1", *settings]
    first = run(repository, tmp_path, *arguments)
    assert first.returncode == 0, first.stderr
    (folder,) = tmp_path.iterdir()
    before = (folder / "weights.safetensors").stat().st_mtime_ns
    again = run(repository, tmp_path, *arguments)
    assert (folder / "weights.safetensors").stat().st_mtime_ns == before
    tables = [[line.split(" | ") for line in done.stdout.splitlines() if " | " in line] for done in (first, again)]
    # All but the speeds is the same.
    assert [row[:-2] for row in tables[0]] == [row[:-2] for row in tables[1]]
    names = [row[3] for row in tables[0][1:]]
    assert names == ["BLEU-4", "NIST", "METEOR-1.5", "ROUGE-L", "CIDEr", "SER"]
    assert float(tables[0][-1][4]) == 0, "no slot is lost"


def test_mistakes(repository: Path, tmp_path: Path) -> None:
    done = run(repository, tmp_path, "--corpus", "hotel", "tv", "--config", "hotel-sclstm")
    assert done.returncode == 2
    assert "1 configurations for 2 corpora: give one for each" in done.stderr
