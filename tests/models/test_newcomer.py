"""The contract of a model: one file is enough to train, resume, decode, sample, export and evaluate it."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

NAME = "attentive_gru"
CONFIG = f"""
corpus:
  name: trails
model:
  name: {NAME}
  units: 48
training:
  epochs: 4
  learning_rate: 0.01
"""
ACTS = [
    "inform(name='Red Kite Ridge';difficulty=moderate;length='7 km';dogsallowed=yes)",
    "?request(region)",
    "inform_count(count=12;difficulty=easy)",
]


class Package:
    """A copy of the package with one file more."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def command(self, *arguments: str | Path) -> list[str]:
        return [sys.executable, "-P", "-m", "dactnlg", *map(str, arguments)]

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name != "KERAS_BACKEND"}
        return {**kept, "PYTHONPATH": str(self.folder), "TF_CPP_MIN_LOG_LEVEL": "3"}

    def run(self, *arguments: str | Path) -> str:
        done = subprocess.run(self.command(*arguments), env=self.environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def package(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Package:
    folder = tmp_path_factory.mktemp("newcomer")
    for name in ("dactnlg", "configs", "datasets"):
        shutil.copytree(repository / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(Path(__file__).parent / "newcomer.py", folder / "dactnlg" / "models" / f"{NAME}.py")
    (folder / "newcomer.yaml").write_text(CONFIG)
    return Package(folder)


@pytest.fixture(scope="module")
def run(package: Package) -> Path:
    folder = package.folder / "whole"
    package.run("train", package.folder / "newcomer.yaml", "--output", folder)
    return folder


def losses(run: Path) -> list[tuple[str, str, str]]:
    with (run / "history.csv").open() as file:
        return [(row["epoch"], row["loss"], row["valid_loss"]) for row in csv.DictReader(file)]


def test_it_learns_and_goes_on_after_a_kill(package: Package, run: Path) -> None:
    from dactnlg.models.weights import load_arrays

    assert float(losses(run)[-1][2]) < 0.7 * float(losses(run)[0][2])
    assert json.loads((run / "manifest.json").read_text())["training"]["backend"] != "numpy"
    broken = package.folder / "broken"
    sets = ("model.dropout=0.2", "training.epochs=3", "training.batch_size=256")
    words = [
        "train",
        package.folder / "newcomer.yaml",
        *(word for each in sets for word in ("--set", each)),
        "--output",
    ]
    process = subprocess.Popen(package.command(*words, broken), env=package.environment, stderr=subprocess.DEVNULL)
    while not (broken / "state.json").exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert not (broken / "manifest.json").exists()
    package.run(*words, broken, "--resume")
    package.run(*words, package.folder / "unbroken")
    assert losses(broken) == losses(package.folder / "unbroken")
    weights = [load_arrays(package.folder / name / "weights.safetensors") for name in ("broken", "unbroken")]
    assert list(weights[0]) == list(weights[1])
    for name, weight in weights[0].items():
        np.testing.assert_array_equal(weight, weights[1][name], err_msg=name)


@pytest.mark.parametrize("constraint", ["none", "rerank", "hard"])
def test_it_decodes_under_every_constraint(package: Package, run: Path, constraint: str) -> None:
    words = ["generate", "--model", run, "--constraint", constraint, "--format", "json", "--n-best", "3"]
    rows = [json.loads(line) for line in package.run(*words, *ACTS).splitlines()]
    assert len(rows) == len(ACTS)
    assert all(row["text"] and row["score"] is not None and len(row["n_best"]) >= 1 for row in rows)
    if constraint == "hard":
        assert all(row["slots_ok"] for row in rows)


def test_it_samples(package: Package, run: Path) -> None:
    words = ["generate", "--model", run, "--sample", "--temperature", "0.8", "--n-best", "4", "--seed"]
    drawn = [package.run(*words, seed, ACTS[0]) for seed in ("1", "1", "2")]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(drawn[0].split("\t")) == 4


def test_it_is_evaluated_with_the_defaults(package: Package, run: Path) -> None:
    # Not on the test split: the card's checker agrees with what hard constraints promise anywhere.
    data = json.loads(package.run("evaluate", "--model", run, "--split", "valid", "--preset", "single", "--json", "-"))
    assert data["scores"]["SER"]["value"] == 0
    assert data["scores"]["BLEU-4"]["value"] > 0.2


@pytest.mark.needs("tf2onnx", "dactnlg[export]")
@pytest.mark.needs("onnxruntime", "dactnlg[export]")
def test_it_is_exported(package: Package, run: Path) -> None:
    import onnxruntime

    package.run("export", run, "--format", "saved-model", "--output", package.folder / "saved", "--beam-width", "3")
    assert (package.folder / "saved" / "saved_model.pb").exists()
    package.run("export", run, "--format", "onnx", "--output", package.folder / "step.onnx")
    session = onnxruntime.InferenceSession(package.folder / "step.onnx", providers=["CPUExecutionProvider"])
    assert [put.name for put in session.get_inputs()] == ["tokens", "h", "memory", "real"]
    assert [put.name for put in session.get_outputs()] == ["log_probs", "new_h"]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("model.unitss=3", "did you mean 'units'?"),
        ("model.alpha=0.5", f"model '{NAME}' has no use for it; models that have it: hierarchical, sclstm"),
        ("model.units=0", "must be at least 1"),
        ("training.backend=numpy", "numpy supports only lstm, sclstm, hierarchical"),
    ],
)
def test_its_mistakes_are_told_as_those_of_the_others(package: Package, setting: str, message: str) -> None:
    words = ["train", package.folder / "newcomer.yaml", "--set", setting, "--output", package.folder / "never"]
    done = subprocess.run(package.command(*words), env=package.environment, capture_output=True, text=True)
    assert done.returncode == 2 and message in done.stderr, done.stderr
    assert not (package.folder / "never").exists()


def test_a_model_of_another_package_is_an_entry_point(repository: Path, tmp_path: Path) -> None:
    shutil.copy(Path(__file__).parent / "newcomer.py", tmp_path / "elsewhere.py")
    (tmp_path / "elsewhere-1.0.dist-info").mkdir()
    (tmp_path / "elsewhere-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: elsewhere\nVersion: 1.0\n"
    )
    points = "[dactnlg.models]\ntheirs = elsewhere:AttentiveGRU\n"
    (tmp_path / "elsewhere-1.0.dist-info" / "entry_points.txt").write_text(points)
    (tmp_path / "theirs.yaml").write_text(CONFIG.replace(NAME, "theirs"))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(repository), str(tmp_path)])}
    sets = ["--set", "training.epochs=1", "--set", "training.batch_size=256", "--output", str(tmp_path / "run")]
    for words in (
        ["train", str(tmp_path / "theirs.yaml"), *sets],
        ["generate", "--model", str(tmp_path / "run"), ACTS[1]],
    ):
        command = [sys.executable, "-P", "-m", "dactnlg", *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
