"""Reproduced runs, in a clone of this code with its own history: equal, within noise, different, refused."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import dactnlg, few_acts, git

from dactnlg import __version__ as dactnlg_version
from dactnlg.cli.main import main
from dactnlg.errors import RunError
from dactnlg.experiments.reproduce import _commands, _execute, check_reproducible
from dactnlg.experiments.verdicts import DIFFERENT, EQUAL, INCOMPARABLE, NOISE, compare, judge
from dactnlg.runs.config import load_config
from dactnlg.runs.retuning import write_decoding
from dactnlg.runs.run import Run


@pytest.fixture(scope="module")
def reproduced(
    clone: Path, scored_run: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[subprocess.CompletedProcess[str], Path]:
    """The command that reproduced the scored run, and the new run."""
    again = tmp_path_factory.mktemp("reproduced") / "again"
    # The working tree has changed since: the run's own commit counts.
    (clone / "dactnlg" / "later.py").write_text("")
    try:
        return dactnlg(clone, "reproduce", scored_run, "--output", again), again
    finally:
        (clone / "dactnlg" / "later.py").unlink()


def test_a_reproduced_run_of_the_embedded_corpus_is_equal(
    scored_run: Path, reproduced: tuple[subprocess.CompletedProcess[str], Path]
) -> None:
    done, again = reproduced
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "equal"
    assert done.stdout.count(" equal\n") == 17, "BLEU-1 to BLEU-4 and SER, twice, and seven of diversity"
    manifest = Run(again).manifest()
    assert manifest["repeats"]["run"] == str(scored_run)
    assert manifest["code"]["commit"] == Run(scored_run).manifest()["code"]["commit"]


def test_other_values_and_hashes_are_reported(
    clone: Path,
    scored_run: Path,
    reproduced: tuple[subprocess.CompletedProcess[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    copy = tmp_path / "edited"
    shutil.copytree(scored_run, copy)
    manifest = Run(copy).manifest()
    scores = manifest["evaluations"][0]["scores"]
    scores["fair"]["BLEU-4"]["value"] += 0.2
    scores["fair"]["BLEU-3"]["value"] += 0.001
    scores["single"]["BLEU-4"]["hash"] = "0" * 64
    Run(copy).manifest_path.write_text(json.dumps(manifest))

    def execute(name: str, commands: list[list[str]], *_: object, **__: object) -> None:
        # The run that the command would train is already there.
        for command in commands:
            if "train" in command:
                shutil.copytree(reproduced[1], command[command.index("--output") + 1])

    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    monkeypatch.setattr("dactnlg.experiments.reproduce._execute", execute)
    assert main(["reproduce", str(copy), "--code", str(clone)]) == 1
    assert not list((tmp_path / "scratch").iterdir())
    shown = capsys.readouterr().out
    verdicts = {tuple(line.split()[2:4]): line.rpartition("  ")[2] for line in shown.splitlines() if "trails" in line}
    assert verdicts["fair", "BLEU-4"] == DIFFERENT
    assert verdicts["fair", "BLEU-3"] == NOISE
    assert verdicts["single", "BLEU-4"] == INCOMPARABLE
    assert verdicts["single", "BLEU-1"] == EQUAL
    assert "single BLEU-4: corpus or references" in shown


def changed(run: Path, folder: Path, change: object) -> Run:
    shutil.copytree(run, folder)
    manifest = Run(folder).manifest()
    change(manifest)  # type: ignore[operator]
    Run(folder).manifest_path.write_text(json.dumps(manifest))
    return Run(folder)


def test_a_run_without_clean_code_or_scores_is_refused(scored_run: Path, tmp_path: Path) -> None:
    assert check_reproducible(Run(scored_run))["evaluations"]
    unclean = changed(
        scored_run, tmp_path / "unclean", lambda m: m["code"].update(unclean=["models/secret.py", "a b.py"])
    )
    with pytest.raises(RunError, match="was trained with code that is in no commit.*\n  models/secret.py\n  a b.py"):
        check_reproducible(unclean)
    evaluated = changed(scored_run, tmp_path / "e", lambda m: m["evaluations"][0]["code"].update(unclean=["x.py"]))
    with pytest.raises(RunError, match="was evaluated with code that is in no commit"):
        check_reproducible(evaluated)
    nowhere = changed(scored_run, tmp_path / "nowhere", lambda m: m["code"].update(commit=None))
    with pytest.raises(RunError, match="outside of a git checkout"):
        check_reproducible(nowhere)
    with pytest.raises(RunError, match="no scores; make them with: dactnlg evaluate"):
        check_reproducible(changed(scored_run, tmp_path / "bare", lambda m: m.update(evaluations=[])))
    with pytest.raises(RunError, match="no manifest"):
        check_reproducible(Run(tmp_path))


def test_an_evaluation_without_scores_is_refused_before_training(scored_run: Path, tmp_path: Path) -> None:
    for name, scores in (("bare", {}), ("empty", {"fair": {}})):
        run = changed(scored_run, tmp_path / name, lambda m, found=scores: m["evaluations"][0].update(scores=found))
        with pytest.raises(RunError, match="an evaluation without scores"):
            _commands(run.manifest(), run.config_path, Run(tmp_path / "again"), None)


def test_a_command_that_fails_is_named_in_one_line(tmp_path: Path) -> None:
    failing = [sys.executable, "-P", "-c", "import sys\nsys.exit(3)", "runs/again", "{}", ""]
    with pytest.raises(RunError) as caught:
        _execute("runs/mine", [failing], [tmp_path], dict(os.environ), echo=False)
    assert str(caught.value) == "runs/mine cannot be reproduced: evaluate runs/again ended with 3"


def test_an_evaluation_is_repeated_in_the_folder_that_it_was_run_in(
    clone: Path, scored_run: Path, tmp_path: Path
) -> None:
    run, elsewhere = tmp_path / "run", tmp_path / "elsewhere"
    shutil.copytree(scored_run, run)
    elsewhere.mkdir()
    few_acts(elsewhere / "mine.jsonl", 20)
    words = ["evaluate", run, "--corpus", "mine.jsonl", "--split", "train", "--preset", "single"]
    assert dactnlg(clone, *words, folder=elsewhere).returncode == 0
    done = dactnlg(clone, "reproduce", run)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "equal" and "mine" in done.stdout
    assert f"in the folder {clone} and {elsewhere}:" in done.stderr


def test_an_untracked_module_is_refused_with_its_name(clone: Path, tmp_path: Path) -> None:
    module = clone / "dactnlg" / "untracked.py"
    module.write_text("")
    try:
        assert dactnlg(clone, "train", "trails-random", "--output", tmp_path / "run").returncode == 0
    finally:
        module.unlink()
    for command in ("reproduce", "publish"):
        done = dactnlg(clone, command, tmp_path / "run")
        assert (done.returncode, done.stdout) == (2, "")
        assert "dactnlg/untracked.py" in done.stderr
        assert "Traceback" not in done.stderr


def test_a_commit_that_the_checkout_lacks_is_refused(clone: Path, scored_run: Path, tmp_path: Path) -> None:
    lost = changed(scored_run, tmp_path / "lost", lambda m: m["code"].update(commit="1" * 40))
    done = dactnlg(clone, "reproduce", lost.path)
    assert done.returncode == 2
    assert f"the commit {'1' * 40} is not in the checkout" in done.stderr


@pytest.fixture(scope="module")
def wheel(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This code as a wheel unpacks it: in no checkout."""
    root = tmp_path_factory.mktemp("site") / "site-packages"
    shutil.copytree(clone / "dactnlg", root / "dactnlg")
    for name in ("configs", "datasets"):
        shutil.copytree(clone / name, root / "dactnlg" / name)
    return root


@pytest.fixture(scope="module")
def installed_run(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of an installed dactnlg, made in a user's project, whose files are in no commit."""
    project = tmp_path_factory.mktemp("project")
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    (project / "own.py").write_text("")
    assert dactnlg(wheel, "train", "trails-random", "--output", "run", folder=project).returncode == 0
    assert dactnlg(wheel, "evaluate", "run", "--preset", "single", folder=project).returncode == 0
    return project / "run"


def test_a_run_of_an_installed_version_is_reproduced_by_it(wheel: Path, installed_run: Path, tmp_path: Path) -> None:
    code = json.loads((installed_run / "manifest.json").read_text())["code"]
    assert code["version"] == dactnlg_version and len(code["package"]) == 64
    done = dactnlg(wheel, "reproduce", installed_run, "--json", tmp_path / "found.json", folder=tmp_path)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "equal"), done.stderr
    assert f"with dactnlg {dactnlg_version} as installed" in done.stderr
    assert json.loads((tmp_path / "found.json").read_text())["summary"] == "equal"


def test_a_run_of_an_installed_version_is_refused_by_others(
    wheel: Path, clone: Path, installed_run: Path, tmp_path: Path
) -> None:
    done = dactnlg(clone, "reproduce", installed_run, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "was trained by an installed dactnlg" in done.stderr and "install that version" in done.stderr
    older = changed(installed_run, tmp_path / "older", lambda m: m["code"].update(version="0.0.1", package="1" * 64))
    done = dactnlg(wheel, "reproduce", older.path, folder=tmp_path)
    assert done.returncode == 2 and f"dactnlg 0.0.1, and here are dactnlg {dactnlg_version}" in done.stderr


def test_an_installed_version_names_what_needs_a_checkout(
    wheel: Path, scored_run: Path, installed_run: Path, tmp_path: Path
) -> None:
    done = dactnlg(wheel, "reproduce", scored_run, folder=tmp_path)
    assert done.returncode == 2 and "needs a checkout of dactnlg" in done.stderr and "--code" in done.stderr
    bare = changed(installed_run, tmp_path / "bare", lambda m: m["code"].update(commit=None, unclean=[]))
    done = dactnlg(wheel, "publish", bare.path, folder=tmp_path)
    assert done.returncode == 2 and "a checkout of dactnlg is needed" in done.stderr


def test_a_verdict_depends_on_hashes_values_and_errors() -> None:
    score = {"value": 0.5, "hash": "h", "signature": "BLEU-4|preset:fair", "error": 0.01}
    assert judge(score, score)[0] == EQUAL
    assert judge(score, {**score, "value": 0.509})[0] == NOISE
    assert judge(score, {**score, "value": 0.52})[0] == DIFFERENT
    assert judge(score, {**score, "value": None})[0] == DIFFERENT
    assert judge({**score, "value": None}, {**score, "value": None})[0] == EQUAL
    assert judge({**score, "error": None}, {**score, "value": 0.501, "error": None})[0] == DIFFERENT
    assert judge(score, None)[0] == INCOMPARABLE
    other = {**score, "hash": "x", "signature": "BLEU-4|preset:single"}
    assert judge(score, other) == (INCOMPARABLE, "preset: fair against single")


def test_evaluations_of_one_split_are_told_apart_by_their_options() -> None:
    score = {"value": 0.5, "hash": "h", "signature": "SER|preset:fair"}
    entry = {"corpus": "trails", "split": "test", "options": {}, "scores": {"fair": {"SER": score}}}
    free = {**entry, "options": {"constraint": "none", "seed": 5}}
    found = compare({"evaluations": [entry, free]}, {"evaluations": [entry]})
    assert [v["options"] for v in found.to_json()["verdicts"]] == [{}, {"constraint": "none", "seed": 5}]
    lines = found.table().splitlines()
    assert [line.rpartition("fair")[0].split() for line in lines[1:3]] == [
        ["trails", "test"],
        ["trails", "test", "constraint=none", "seed=5"],
    ]
    assert lines[3] == "trails test constraint=none seed=5 fair SER: it was not scored this time"


@pytest.mark.needs("mlflow", "pip install 'dactnlg[track]'")
def test_a_tuned_and_published_neural_run_is_reproduced_in_a_fresh_clone(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is trained, and its teacher decodes, as configured before `tune`, whose settings are for evaluation alone."""
    first, fresh = tmp_path / "first", tmp_path / "fresh"
    git(tmp_path, "clone", "-q", str(clone), str(first))
    monkeypatch.setenv("DACTNLG_TRACK", str(tmp_path / "store"))
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    # oneDNN changes the last digits of weights: the run's own setting counts, not that of the machine here.
    monkeypatch.setenv("TF_ENABLE_ONEDNN_OPTS", "1")
    corpus = f"corpus.name={few_acts(tmp_path / 'few.jsonl', 200)}"
    # Steps so large that the teacher soon teaches some sentences.
    steps = ("training.epochs=6", "training.teachers=1", "training.batch_size=16", "training.learning_rate=0.03")
    sizes = ("model.hidden_size=24", "model.embedding_size=16")
    words = [word for each in (corpus, *steps, *sizes) for word in ("--set", each)]
    path = tmp_path / "run"
    done = dactnlg(first, "train", "trails-sclstm", *words, "--output", path)
    assert done.returncode == 0, done.stderr
    before = load_config(path / "config.yaml").decoding
    # As `tune` would, twice, with whatever settings.
    after = before.model_copy(update={"beam_width": 2, "length_normalization": 1.0})
    for decoding in (before.model_copy(update={"beam_width": 3}), after):
        write_decoding(Run(path), load_config(path / "config.yaml").model_copy(update={"decoding": decoding}), {})
    assert dactnlg(first, "evaluate", "--model", path, "--preset", "single").returncode == 0
    published = dactnlg(first, "publish", path).stdout.strip()
    # As elsewhere: neither the checkout nor the run folder is there.
    git(tmp_path, "clone", "-q", str(first), str(fresh))
    shutil.rmtree(first)
    run, again = Run(path.rename(tmp_path / "kept")), Run(tmp_path / "again")
    monkeypatch.setenv("TF_ENABLE_ONEDNN_OPTS", "0")
    done = dactnlg(fresh, "reproduce", published, "--output", again.path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "equal"
    assert done.stdout.count(" equal\n") == 5, "BLEU-1 to BLEU-4 and SER"
    assert again.weights_path.read_bytes() == run.weights_path.read_bytes()
    taught = (run.path / "taught.jsonl").read_text()
    assert any(line != "[]" for line in taught.splitlines())
    assert (again.path / "taught.jsonl").read_text() == taught
    assert load_config(again.config_path).decoding == after
    assert again.manifest()["config"] == run.manifest()["config"]
    assert again.manifest()["repeats"]["published"] == published
