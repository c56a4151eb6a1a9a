"""The benchmark for GPUs: where there is none it says so and succeeds, and what it measures it can measure."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import table_rows


def run(repository: Path, backend: str, *arguments: str | Path) -> str:
    hidden = {"CUDA_VISIBLE_DEVICES": "-1", "JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment = {**os.environ, **hidden, "KERAS_BACKEND": backend, "PYTHONPATH": str(repository)}
    command = [sys.executable, str(repository / "benchmarks" / "gpu.py"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("backend", ["tensorflow", pytest.param("jax", marks=pytest.mark.needs("jax", "dactnlg[jax]"))])
def test_without_a_gpu_it_says_so_and_succeeds(backend: str, repository: Path) -> None:
    assert run(repository, backend) == f"no GPU that Keras can use with its backend {backend}: nothing measured\n"


def test_it_can_be_tried_on_a_cpu(
    repository: Path, neural_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dialogues").mkdir()
    line = '{"turns": ["How are you?", "Fine, thanks.", "Good."]}\n'
    (tmp_path / "dialogues" / "dailydialog-train.jsonl").write_text(3 * line, encoding="utf-8")
    monkeypatch.setenv("DACTNLG_DATA", str(tmp_path))
    few = ["--square", "64", "--batch-size", "4", "--training-batch-size", "8", "--rounds", "1", "--beam-width", "2"]
    few += ["--train", "trails-sclstm", "dailydialog-hred"]
    printed = run(repository, "tensorflow", "--cpu", "--run", neural_run, *few)
    alike = re.search(r"sentences like NumPy's: (\d+) of (\d+), log probabilities (\S+) apart", printed)
    assert alike
    assert alike[1] == alike[2]
    assert float(alike[3]) < 1e-4
    found = [row for row in table_rows(printed) if row[0].isdigit()]
    assert [row[:2] for row in found[:2]] == [["4", "none"], ["4", "hard"]]
    assert [row[:2] for row in found[2:]] == [["8", "trails-sclstm"], ["8", "dailydialog-hred"]]
    assert all(float(row[2].replace(",", "")) > 0 for row in found)
