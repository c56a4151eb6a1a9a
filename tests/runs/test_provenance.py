"""The manifest: the exact command, the state of the code, hashes and scores, and concurrent writers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from helpers import git

from dactnlg.data.corpus import load_corpus
from dactnlg.evaluation.evaluate import evaluate
from dactnlg.runs import provenance
from dactnlg.runs.config import load_config
from dactnlg.runs.run import Run
from dactnlg.training.train import train


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small repository that stands for the code."""
    root = tmp_path / "check out"
    (root / "dactnlg").mkdir(parents=True)
    (root / "dactnlg" / "__init__.py").write_text("")
    (root / "old.py").write_text("x = 1\n")
    (root / ".gitignore").write_text("ignored/\n")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    monkeypatch.setattr(provenance, "_PACKAGE", root / "dactnlg")
    return root


def test_a_clean_tree_is_recorded_with_its_commit(checkout: Path) -> None:
    found = provenance.code()
    assert found == {
        "commit": git(checkout, "rev-parse", "HEAD").strip(),
        "clean": True,
        "unclean": [],
        "root": str(checkout),
    }


@pytest.mark.parametrize("name", ["new model.py", "configs/é.yaml", "dactnlg/__init__.py"])
def test_changed_and_untracked_sources_are_named(checkout: Path, name: str) -> None:
    (checkout / name).parent.mkdir(exist_ok=True)
    (checkout / name).write_text("x = 1\n")
    found = provenance.code()
    assert (found["clean"], found["unclean"]) == (False, [name])


def test_deleted_and_renamed_files_are_named(checkout: Path) -> None:
    git(checkout, "mv", "old.py", "new.py")
    assert provenance.code()["unclean"] == ["new.py"]
    git(checkout, "reset", "-q", "--hard")
    (checkout / "old.py").unlink()
    assert provenance.code()["unclean"] == ["old.py"]


def test_files_that_are_not_sources_leave_the_tree_clean(checkout: Path) -> None:
    (checkout / "plot.png").write_text("")
    (checkout / "ignored").mkdir()
    (checkout / "ignored" / "scratch.py").write_text("")
    train(load_config("trails-random"), checkout / "my-run", progress=False)
    assert provenance.code()["clean"] is True


def test_an_imported_module_that_git_ignores_is_named(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (checkout / "ignored").mkdir()
    (checkout / "ignored" / "secret_layer.py").write_text("")
    monkeypatch.syspath_prepend(checkout / "ignored")
    __import__("secret_layer")
    try:
        assert provenance.code()["unclean"] == ["ignored/secret_layer.py"]
    finally:
        del sys.modules["secret_layer"]


def test_without_git_the_state_of_the_code_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert provenance.code() == {"commit": None, "clean": None, "unclean": [], "root": None}


def test_a_manifest_records_command_data_machine_and_scores(random_run: Path, repository: Path) -> None:
    result = evaluate(random_run, presets=("single", "fair"))
    assert result.recorded
    manifest = Run(random_run).manifest()
    trails = load_corpus("trails")
    assert manifest["corpora"] == {"trails": {split: trails.digest(split) for split in trails.splits}}
    assert len(manifest["vocabulary"]) == len(manifest["setting"]) == 64
    assert manifest["config"] == load_config(random_run / "config.yaml").model_dump()
    *words, output = manifest["command"]["words"][1:]
    assert words == [str(repository / "train.py"), "trails-random", "--output"]
    # The run of this test may be a copy.
    assert Run(output).manifest()["command"] == manifest["command"]
    assert manifest["packages"]["numpy"]
    assert manifest["hardware"]["cores"] == os.cpu_count()
    assert set(manifest["code"]) == {"commit", "clean", "unclean", "root"}
    # Other tests may have evaluated this run in other ways.
    (evaluation,) = (entry for entry in manifest["evaluations"] if {"fair", "single"} <= set(entry["scores"]))
    assert (evaluation["split"], evaluation["data"]) == ("test", trails.digest("test"))
    shown = result.results[0].scores["BLEU-4"]
    recorded = evaluation["scores"]["single"]["BLEU-4"]
    assert (recorded["value"], recorded["hash"]) == (shown.value, shown.hash)
    assert recorded["error"] > 0


def test_a_manifest_keeps_spaces_in_arguments(tmp_path: Path) -> None:
    output = str(tmp_path / "a  run")
    command = [sys.executable, "-m", "dactnlg", "train", "trails-random", "--set", "training.seed= 7", "--output"]
    subprocess.run([*command, output], check=True, capture_output=True)
    manifest = Run(output).manifest()
    assert manifest["command"]["words"][1:] == [*command[1:], output]
    assert manifest["seed"] == 7


def entry(split: str, preset: str, value: float = 0.5, code: str = "one") -> dict[str, object]:
    scores = {preset: {"BLEU-4": {"value": value, "hash": "h"}}}
    return {"corpus": "c", "split": split, "options": {}, "code": {"commit": code}, "scores": scores}


def test_concurrent_processes_lose_no_evaluations(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.manifest_path.write_text("{}")
    code = (
        "import json, sys; from dactnlg.runs.run import Run;"
        "[(run := Run(sys.argv[1])).add_evaluation(json.loads(line), run.state()) or sys.exit(1) for line in sys.stdin]"
    )
    with ThreadPoolExecutor() as pool:

        def write(worker: int) -> None:
            lines = "".join(json.dumps(entry(f"{worker}-{i}", "fair")) + "\n" for i in range(10))
            subprocess.run([sys.executable, "-c", code, str(tmp_path)], input=lines, text=True, check=True)

        list(pool.map(write, range(3)))
    assert len(run.manifest()["evaluations"]) == 30


def test_a_new_evaluation_replaces_equal_scores_and_joins_others(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.manifest_path.write_text("{}")
    for new in (entry("test", "fair"), entry("test", "single"), entry("test", "fair", 0.6), entry("valid", "fair")):
        assert run.add_evaluation(new, run.state())
    test, valid = run.manifest()["evaluations"]
    assert {name: scores["BLEU-4"]["value"] for name, scores in test["scores"].items()} == {"fair": 0.6, "single": 0.5}
    assert valid["split"] == "valid"
    run.add_evaluation(entry("test", "fair", code="two"), run.state())
    assert set(run.manifest()["evaluations"][-1]["scores"]) == {"fair"}, "scores of older code are not its own"
    later = {**entry("test", "fair", code="two"), "scores": {"fair": {"novelty": {"value": 0.1, "hash": "n"}}}}
    run.add_evaluation(later, run.state())
    assert list(run.manifest()["evaluations"][-1]["scores"]["fair"]) == ["BLEU-4", "novelty"]
    run.add_evaluation({**later, "data": "another test set"}, run.state())
    assert list(run.manifest()["evaluations"][-1]["scores"]["fair"]) == ["novelty"]


def test_a_run_that_has_not_ended_keeps_no_scores(tmp_path: Path) -> None:
    assert not Run(tmp_path).add_evaluation(entry("test", "fair"), None)
