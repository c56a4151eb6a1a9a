"""The contract of a model: one file is enough to train, resume, decode, sample, export and evaluate it."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
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
  dropout: 0.1
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
# All commands in one process: each would wait for Keras. Ctrl-C ends a training that is to be resumed, in its second
# epoch. Broken models of another package are there all the time: they are no concern of commands that do not name them.
DRIVER = """
import contextlib, io, json, signal, sys
sys.path.append(sys.argv[1])
from dactnlg.cli import main
from dactnlg.training.keras_learner import KerasLearner

learn = KerasLearner.learn

def interrupted(*arguments):
    global batches
    batches += 1
    if batches == 100:
        signal.raise_signal(signal.SIGINT)
    return learn(*arguments)

answers = {}
for name, arguments in json.load(sys.stdin).items():
    batches = 0
    KerasLearner.learn = interrupted if name == "interrupted" else learn
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        code = main(arguments)
    answers[name] = [code, out.getvalue(), errors.getvalue()]
print(json.dumps(answers))
"""
# Models of another package, which are entry points: one that is right, one with a mistake, one that is no model, one
# whose module fails, and one without a module.
ELSEWHERE = {
    "theirs": "elsewhere:AttentiveGRU",
    "mistaken": "elsewhere:Mistaken",
    "no_model": "elsewhere:Any",
    "failing": "failing:Model",
    "absent": "absent:Model",
}


class Answer(NamedTuple):
    """What a command did."""

    code: int
    out: str
    errors: str

    @property
    def lines(self) -> list[Any]:
        assert self.code == 0, self.errors
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture(scope="module")
def folder(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with one file more, and a folder `elsewhere` with another package."""
    folder = tmp_path_factory.mktemp("newcomer")
    elsewhere = folder / "elsewhere"
    about = elsewhere / "elsewhere-1.0.dist-info"
    about.mkdir(parents=True)
    for name in ("dactnlg", "configs", "datasets"):
        shutil.copytree(repository / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    newcomer = Path(__file__).parent / "newcomer.py"
    shutil.copy(newcomer, folder / "dactnlg" / "models" / f"{NAME}.py")
    (elsewhere / "elsewhere.py").write_text(
        f"{newcomer.read_text()}\n\nclass Mistaken(AttentiveGRU):\n    inputs = ('entrys',)\n"
    )
    (elsewhere / "failing.py").write_text("1 / 0\n")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: elsewhere\nVersion: 1.0\n")
    points = "".join(f"{name} = {place}\n" for name, place in ELSEWHERE.items())
    (about / "entry_points.txt").write_text(f"[dactnlg.models]\n{points}")
    for name in (NAME, *ELSEWHERE):
        (folder / f"{name}.yaml").write_text(CONFIG.replace(NAME, name))
    return folder


@pytest.fixture(scope="module")
def answers(folder: Path) -> dict[str, Answer]:
    """What each command did, the training of `run` and `resumed` first."""
    train, run = ["train", str(folder / f"{NAME}.yaml"), "--quiet", "--output"], str(folder / "run")
    commands = {"train": [*train, run], "interrupted": [*train, str(folder / "resumed")]}
    commands["resume"] = [*commands["interrupted"], "--resume"]
    generate = ["generate", "--model", run]
    for constraint in ("none", "rerank", "hard"):
        commands[constraint] = [*generate, "--constraint", constraint, "--format", "json", "--n-best", "3", *ACTS]
    for name, seed in (("first", "1"), ("again", "1"), ("other", "2")):
        commands[name] = [*generate, "--sample", "--temperature", "0.8", "--n-best", "4", "--seed", seed, ACTS[0]]
    commands["evaluate"] = ["evaluate", "--model", run, "--split", "valid", "--preset", "single", "--json", "-"]
    export = ["export", run, "--output"]
    commands["saved-model"] = [*export, str(folder / "saved"), "--format", "saved-model", "--beam-width", "3"]
    commands["onnx"] = [*export, str(folder / "step.onnx"), "--format", "onnx"]
    commands |= {setting: [*train, str(folder / "never"), "--set", setting] for setting in MISTAKES}
    short = ["--set", "training.epochs=1", "--set", "training.batch_size=256", "--quiet"]
    for name in ELSEWHERE:
        commands[name] = ["train", str(folder / f"{name}.yaml"), "--output", str(folder / f"{name}-run"), *short]
    commands["theirs-generate"] = ["generate", "--model", str(folder / "theirs-run"), ACTS[1]]
    kept = {name: value for name, value in os.environ.items() if name != "KERAS_BACKEND"}
    environment = {**kept, "PYTHONPATH": str(folder), "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, "-P", "-c", DRIVER, str(folder / "elsewhere")]
    done = subprocess.run(command, input=json.dumps(commands), env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {name: Answer(*answer) for name, answer in json.loads(done.stdout.splitlines()[-1]).items()}


@pytest.fixture(scope="module")
def run(folder: Path, answers: dict[str, Answer]) -> Path:
    assert answers["train"].code == 0, answers["train"].errors
    return folder / "run"


def losses(run: Path) -> list[tuple[str, str, str]]:
    with (run / "history.csv").open() as file:
        return [(row["epoch"], row["loss"], row["valid_loss"]) for row in csv.DictReader(file)]


def test_a_new_model_learns(run: Path) -> None:
    assert float(losses(run)[-1][2]) < 0.7 * float(losses(run)[0][2])
    assert json.loads((run / "manifest.json").read_text())["training"]["backend"] != "numpy"


def test_a_new_model_resumes_after_an_interruption(run: Path, folder: Path, answers: dict[str, Answer]) -> None:
    assert (answers["interrupted"].code, answers["resume"].code) == (130, 0), answers["resume"].errors
    resumed = folder / "resumed"
    assert len(json.loads((resumed / "manifest.json").read_text())["resumed"]) == 1
    assert losses(resumed) == losses(run)
    weights = [load_arrays(each / "weights.safetensors") for each in (resumed, run)]
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
def test_a_new_model_is_exported(folder: Path, answers: dict[str, Answer]) -> None:
    import onnxruntime

    assert (answers["saved-model"].code, answers["onnx"].code) == (0, 0), (answers["saved-model"], answers["onnx"])
    assert (folder / "saved" / "saved_model.pb").exists()
    session = onnxruntime.InferenceSession(folder / "step.onnx", providers=["CPUExecutionProvider"])
    assert [put.name for put in session.get_inputs()] == ["tokens", "h", "memory", "real"]
    assert [put.name for put in session.get_outputs()] == ["log_probs", "new_h"]


@pytest.mark.parametrize("setting", MISTAKES)
def test_mistakes_with_a_new_model_are_usage_errors(folder: Path, answers: dict[str, Answer], setting: str) -> None:
    assert answers[setting].code == 2 and MISTAKES[setting] in answers[setting].errors
    assert not (folder / "never").exists()


def test_a_model_of_another_package_is_an_entry_point(answers: dict[str, Answer]) -> None:
    codes = {name: answers[name].code for name in (*ELSEWHERE, "theirs-generate")}
    assert codes == {"theirs": 0, "mistaken": 2, "no_model": 2, "failing": 2, "absent": 2, "theirs-generate": 0}
    assert "unknown input of Mistaken 'entrys'; did you mean 'entries'?" in answers["mistaken"].errors
    assert "elsewhere:Any, the model 'no_model', is no NeuralModel" in answers["no_model"].errors
    assert "'failing' of failing:Model cannot be loaded: ZeroDivisionError" in answers["failing"].errors
    assert "'absent' of absent:Model cannot be loaded: ModuleNotFoundError" in answers["absent"].errors
    assert answers["theirs-generate"].out.strip()
