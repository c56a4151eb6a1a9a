"""Runs away from the folder and the data card that they were trained with, and folders that are no runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dactnlg import models
from dactnlg._utils import resources
from dactnlg.errors import ConfigError, RunError
from dactnlg.generation.generator import Generator
from dactnlg.runs.config import load_config
from dactnlg.runs.run import Run
from dactnlg.training.train import train

REPOSITORY = Path(__file__).resolve().parents[2]
CARD = "own.card.yaml"
GENERATES = ("config.yaml", "preprocessor.json", "reader.safetensors")
"""What generates with a model that has no weights, as `docs/pages/guides/deploy.md` says."""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a data card, its files, and a run that was trained there on the card's relative path."""
    folder = tmp_path_factory.mktemp("desk")
    shutil.copy(resources.datasets_dir() / "trails.yaml", folder / CARD)
    shutil.copytree(resources.datasets_dir() / "trails", folder / "trails")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        train(load_config("trails-random", [f"corpus.name={CARD}"], models), "run", progress=False)
    return folder


@pytest.fixture
def moved(desk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that generate, alone in another folder, from which they are used."""
    folder = tmp_path / "moved"
    folder.mkdir()
    for name in GENERATES:
        shutil.copy(desk / "run" / name, folder / name)
    monkeypatch.chdir(tmp_path)
    return folder


def dactnlg(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "dactnlg", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder, timeout=120)


def test_a_run_generates_without_its_data_card(moved: Path) -> None:
    assert Run(moved).check().corpus.name == CARD
    (said,) = Generator.load(moved).generate("inform(name='Ivy Cutting';difficulty=easy)")
    assert "Ivy Cutting" in said.text
    done = dactnlg(moved.parent, "generate", "--model", "moved", "goodbye()")
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.strip()


def test_what_needs_the_corpus_says_that_it_is_not_there(desk: Path, moved: Path) -> None:
    done = dactnlg(moved.parent, "evaluate", "--model", "moved")
    assert (done.returncode, done.stdout) == (2, "")
    told = f"moved was trained on {CARD}, which is not there, seen from the current folder; "
    assert done.stderr == f"dactnlg: {told}name a corpus or the path of its card: --corpus\n"
    # Another path of the same card will do.
    done = dactnlg(moved.parent, "evaluate", "--model", "moved", "--corpus", desk / CARD, "--preset", "single")
    assert done.returncode == 0, done.stderr


def test_a_training_that_is_to_go_on_says_so_too(desk: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(desk / "run", tmp_path / "run"))
    done = dactnlg(tmp_path, "train", run / "config.yaml", "--output", run, "--resume")
    assert (done.returncode, done.stdout) == (2, "")
    told = f"corpus.name: unknown corpus '{CARD}'; there is no such file in the current folder, where its path begins; "
    assert told in done.stderr


def test_a_configuration_to_be_trained_is_checked_as_before(moved: Path) -> None:
    with pytest.raises(ConfigError, match=r"unknown corpus 'trials'; did you mean 'trails'\?"):
        load_config("trails-random", ["corpus.name=trials"], models)
    with pytest.raises(ConfigError, match=r"corpus.also: unknown corpus 'dstc3'; did you mean 'dstc2'\?"):
        load_config("trails-random", ["corpus.also=[dstc3]"], models)
    with pytest.raises(ConfigError, match="unknown corpus '/nowhere/own.csv'; there is no such file; valid: "):
        load_config("trails-random", ["corpus.name=/nowhere/own.csv"], models)
    # What else is wrong in a run's configuration is still refused.
    text = (moved / "config.yaml").read_text(encoding="utf-8")
    for odd in ("name: 3", "name: [own.card.yaml]", "nmae: own.card.yaml"):
        (moved / "config.yaml").write_text(text.replace(f"name: {CARD}", odd), encoding="utf-8")
        with pytest.raises(RunError, match="cannot be read by dactnlg"):
            Run(moved).check()


@pytest.mark.parametrize("name", [None, "config.yaml", "preprocessor.json"])
def test_a_folder_that_is_no_run_may_hold_links(tmp_path: Path, name: str | None) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "elsewhere").symlink_to(tmp_path)
    if name is not None:
        (folder / name).write_text("{}", encoding="utf-8")
    with pytest.raises(RunError, match=f"^{folder} is not a run folder; make one with"):
        Run(folder).check()


@pytest.mark.parametrize("name", ["config.yaml", "preprocessor.json"])
@pytest.mark.parametrize("target", ["there", "nowhere"])
def test_a_file_of_a_run_is_no_link_out_of_it(moved: Path, tmp_path: Path, name: str, target: str) -> None:
    shutil.copy(moved / name, tmp_path / "there")
    (moved / name).unlink()
    (moved / name).symlink_to(tmp_path / target)
    with pytest.raises(RunError, match=f"{name} is a link to .*{target}, out of its folder"):
        Run(moved).check()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (None, "no run: give the path of its folder, or a list of them, not NoneType"),
        (3, "no run: give the path of its folder, or a list of them, not int"),
        (b"runs/a", "no run: give the path of its folder, or a list of them, not bytes"),
        (["runs/a", None], "no run: give the paths of folders, not NoneType"),
        ([], "no run: name at least one folder"),
    ],
)
def test_what_is_no_path_of_a_run(given: object, told: str) -> None:
    with pytest.raises(RunError) as caught:
        Generator.load(given)  # type: ignore[arg-type]
    assert str(caught.value) == told
