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
from typing import Any, NamedTuple

import numpy as np
import pytest

from dactnlg.models.weights import load_arrays

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
    # Values alone: for special values a model has to learn words.
    "inform(name='Red Kite Ridge';length='7 km')",
    "?request(region)",
    "goodbye()",
]
MISTAKES = {
    "model.unitss=3": "did you mean 'units'?",
    "model.alpha=0.5": f"model '{NAME}' has no use for it; models that have it: hierarchical, sclstm",
    "model.units=0": "must be at least 1",
    "training.backend=numpy": f"numpy does not support the model '{NAME}', only lstm, sclstm, hierarchical",
}
# All commands in one process: each would wait for Keras.
DRIVER = """
import contextlib, io, json, sys
from dactnlg.cli import main
answers = {}
for name, arguments in json.load(sys.stdin).items():
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        code = main(arguments)
    answers[name] = [code, out.getvalue(), errors.getvalue()]
print(json.dumps(answers))
"""


class Answer(NamedTuple):
    """What a command did."""

    code: int
    out: str
    errors: str

    @property
    def lines(self) -> list[Any]:
        assert self.code == 0, self.errors
        return [json.loads(line) for line in self.out.splitlines()]


class Package(NamedTuple):
    """A copy of the package with one file more."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name != "KERAS_BACKEND"}
        return {**kept, "PYTHONPATH": str(self.folder), "TF_CPP_MIN_LOG_LEVEL": "3"}

    def start(self, *arguments: str | Path) -> subprocess.Popen[str]:
        command = [sys.executable, "-P", "-m", "dactnlg", *map(str, arguments)]
        return subprocess.Popen(command, env=self.environment, stdout=-1, stderr=-1, text=True)

    def run(self, *arguments: str | Path) -> None:
        process = self.start(*arguments)
        _, errors = process.communicate()
        assert process.returncode == 0, errors

    def answers(self, commands: dict[str, list[str]]) -> dict[str, Answer]:
        command = [sys.executable, "-P", "-c", DRIVER]
        given = json.dumps(commands)
        done = subprocess.run(command, input=given, env=self.environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return {name: Answer(*answer) for name, answer in json.loads(done.stdout.splitlines()[-1]).items()}


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
    package.run("train", package.folder / "newcomer.yaml", "--output", package.folder / "whole")
    return package.folder / "whole"


@pytest.fixture(scope="module")
def answers(package: Package, run: Path) -> dict[str, Answer]:
    generate, folder = ["generate", "--model", str(run)], package.folder
    commands = {
        constraint: [*generate, "--constraint", constraint, "--format", "json", "--n-best", "3", *ACTS]
        for constraint in ("none", "rerank", "hard")
    }
    for name, seed in (("first", "1"), ("again", "1"), ("other", "2")):
        commands[name] = [*generate, "--sample", "--temperature", "0.8", "--n-best", "4", "--seed", seed, ACTS[0]]
    commands["evaluate"] = ["evaluate", "--model", str(run), "--split", "valid", "--preset", "single", "--json", "-"]
    export = ["export", str(run), "--output"]
    commands["saved-model"] = [*export, str(folder / "saved"), "--format", "saved-model", "--beam-width", "3"]
    commands["onnx"] = [*export, str(folder / "step.onnx"), "--format", "onnx"]
    train = ["train", str(folder / "newcomer.yaml"), "--output", str(folder / "never"), "--set"]
    return package.answers(commands | {setting: [*train, setting] for setting in MISTAKES})


def losses(run: Path) -> list[tuple[str, str, str]]:
    with (run / "history.csv").open() as file:
        return [(row["epoch"], row["loss"], row["valid_loss"]) for row in csv.DictReader(file)]


def test_a_new_model_learns(run: Path) -> None:
    assert float(losses(run)[-1][2]) < 0.7 * float(losses(run)[0][2])
    assert json.loads((run / "manifest.json").read_text())["training"]["backend"] != "numpy"


def test_a_new_model_resumes_after_a_kill(package: Package) -> None:
    broken, unbroken = package.folder / "broken", package.folder / "unbroken"
    sets = ("model.dropout=0.2", "training.epochs=4", "training.batch_size=256")
    words = [
        "train",
        package.folder / "newcomer.yaml",
        *(word for each in sets for word in ("--set", each)),
        "--quiet",
        "--output",
    ]
    whole, process = package.start(*words, unbroken), package.start(*words, broken)
    while not (broken / "state.json").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.kill()
    process.communicate()
    assert not (broken / "manifest.json").exists()
    package.run(*words, broken, "--resume")
    _, errors = whole.communicate()
    assert whole.returncode == 0, errors
    assert losses(broken) == losses(unbroken)
    weights = [load_arrays(folder / "weights.safetensors") for folder in (broken, unbroken)]
    assert list(weights[0]) == list(weights[1])
    for name, weight in weights[0].items():
        np.testing.assert_array_equal(weight, weights[1][name], err_msg=name)


@pytest.mark.parametrize("constraint", ["none", "rerank", "hard"])
def test_a_new_model_generates_under_every_constraint(answers: dict[str, Answer], constraint: str) -> None:
    rows = answers[constraint].lines
    assert len(rows) == len(ACTS)
    assert all(row["text"] and row["score"] is not None and len(row["n_best"]) >= 1 for row in rows)
    if constraint == "hard":
        assert all(row["slots_ok"] for row in rows)


def test_a_new_model_samples(answers: dict[str, Answer]) -> None:
    assert answers["first"].out == answers["again"].out != answers["other"].out
    assert len(answers["first"].out.split("\t")) == 4


def test_a_new_model_is_evaluated_with_the_defaults(answers: dict[str, Answer]) -> None:
    assert answers["evaluate"].code == 0, answers["evaluate"].errors
    scores = json.loads(answers["evaluate"].out)["scores"]
    assert scores["SER"]["value"] == 0
    assert scores["BLEU-4"]["value"] > 0.2


@pytest.mark.needs("tf2onnx", "dactnlg[export]")
@pytest.mark.needs("onnxruntime", "dactnlg[export]")
def test_a_new_model_is_exported(package: Package, answers: dict[str, Answer]) -> None:
    import onnxruntime

    assert (answers["saved-model"].code, answers["onnx"].code) == (0, 0), (answers["saved-model"], answers["onnx"])
    assert (package.folder / "saved" / "saved_model.pb").exists()
    session = onnxruntime.InferenceSession(package.folder / "step.onnx", providers=["CPUExecutionProvider"])
    assert [put.name for put in session.get_inputs()] == ["tokens", "h", "memory", "real"]
    assert [put.name for put in session.get_outputs()] == ["log_probs", "new_h"]


@pytest.mark.parametrize("setting", MISTAKES)
def test_mistakes_with_a_new_model_are_usage_errors(package: Package, answers: dict[str, Answer], setting: str) -> None:
    assert answers[setting].code == 2 and MISTAKES[setting] in answers[setting].errors
    assert not (package.folder / "never").exists()


def test_a_model_of_another_package_is_an_entry_point(repository: Path, tmp_path: Path) -> None:
    shutil.copy(Path(__file__).parent / "newcomer.py", tmp_path / "elsewhere.py")
    about = tmp_path / "elsewhere-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: elsewhere\nVersion: 1.0\n")
    with (tmp_path / "elsewhere.py").open("a") as file:
        file.write("\n\nclass Mistaken(AttentiveGRU):\n    inputs = ('entrys',)\n")
    names = {"theirs": "AttentiveGRU", "mistaken": "Mistaken", "none": "Any"}
    points = [f"{name} = elsewhere:{value}\n" for name, value in names.items()]
    (about / "entry_points.txt").write_text(f"[dactnlg.models]\n{''.join(points)}")
    for name in names:
        (tmp_path / f"{name}.yaml").write_text(CONFIG.replace(NAME, name))
    sets = ["--set", "training.epochs=1", "--set", "training.batch_size=256", "--output", str(tmp_path / "run")]
    commands = {
        "train": ["train", str(tmp_path / "theirs.yaml"), *sets],
        "generate": ["generate", "--model", str(tmp_path / "run"), ACTS[1]],
        **{name: ["train", str(tmp_path / f"{name}.yaml"), "--output", name] for name in ("mistaken", "none")},
    }
    places = Path(os.pathsep.join([str(repository), str(tmp_path)]))
    found = Package(places).answers(commands)
    assert [answer.code for answer in found.values()] == [0, 0, 2, 2], found
    assert "unknown input of Mistaken 'entrys'; did you mean 'entries'?" in found["mistaken"].errors
    assert "elsewhere:Any, the model 'none', is no NeuralModel" in found["none"].errors
    assert found["generate"].out.strip()
