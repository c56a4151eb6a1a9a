"""Runs away from the folder and the data card that they were trained with, and folders that are no runs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dactnlg import models
from dactnlg._utils import resources
from dactnlg.cli.main import main
from dactnlg.errors import ConfigError, RunError
from dactnlg.generation.generator import Generator
from dactnlg.runs.config import load_config
from dactnlg.runs.run import Run
from dactnlg.training.train import train

CARD = "own.card.yaml"
GENERATES = ("config.yaml", "preprocessor.json", "reader.safetensors")
"""The files needed to generate with a model that has no weights, as `docs/pages/guides/deploy.md` says."""


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
    """The files needed to generate, alone in another folder, whose parent becomes the current one."""
    folder = tmp_path / "moved"
    folder.mkdir()
    for name in GENERATES:
        shutil.copy(desk / "run" / name, folder / name)
    monkeypatch.chdir(tmp_path)
    return folder


def test_a_run_generates_without_its_data_card(moved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert Run(moved).check().corpus.name == CARD
    (said,) = Generator.load(moved).generate("inform(name='Ivy Cutting';difficulty=easy)")
    assert "Ivy Cutting" in said.text
    assert main(["generate", "--model", moved.name, "goodbye()"]) == 0
    shown = capsys.readouterr()
    assert shown.out.strip() and shown.err == ""


def test_evaluate_names_the_missing_card_and_takes_another_path_of_it(
    desk: Path, moved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", "--model", moved.name]) == 2
    told = f"moved was trained on {CARD}, which is not there, seen from the current folder; "
    assert capsys.readouterr() == ("", f"dactnlg: {told}name a corpus or the path of its card: --corpus\n")
    assert main(["evaluate", "--model", moved.name, "--corpus", str(desk / CARD), "--preset", "single"]) == 0


def test_resuming_names_the_missing_card(
    desk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run = Path(shutil.copytree(desk / "run", tmp_path / "run"))
    assert main(["train", str(run / "config.yaml"), "--output", str(run), "--resume"]) == 2
    told = f"corpus.name: unknown corpus '{CARD}'; there is no such file in the current folder, where its path begins; "
    shown = capsys.readouterr()
    assert shown.out == "" and told in shown.err


def test_only_the_path_of_a_card_may_be_missing(moved: Path) -> None:
    with pytest.raises(ConfigError, match=r"unknown corpus 'trials'; did you mean 'trails'\?"):
        load_config("trails-random", ["corpus.name=trials"], models)
    with pytest.raises(ConfigError, match=r"corpus.also: unknown corpus 'dstc3'; did you mean 'dstc2'\?"):
        load_config("trails-random", ["corpus.also=[dstc3]"], models)
    with pytest.raises(ConfigError, match="unknown corpus '/nowhere/own.csv'; there is no such file; valid: "):
        load_config("trails-random", ["corpus.name=/nowhere/own.csv"], models)
    # Other mistakes in a run's configuration are refused, too.
    text = (moved / "config.yaml").read_text(encoding="utf-8")
    for odd in ("name: 3", "name: [own.card.yaml]", "nmae: own.card.yaml"):
        (moved / "config.yaml").write_text(text.replace(f"name: {CARD}", odd), encoding="utf-8")
        with pytest.raises(RunError, match="cannot be read by dactnlg"):
            Run(moved).check()


@pytest.mark.parametrize("name", [None, "config.yaml", "preprocessor.json"])
def test_a_folder_with_links_that_is_no_run_is_called_no_run(tmp_path: Path, name: str | None) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "elsewhere").symlink_to(tmp_path)
    if name is not None:
        (folder / name).write_text("{}", encoding="utf-8")
    with pytest.raises(RunError, match=f"^{folder} is not a run folder; make one with"):
        Run(folder).check()


@pytest.mark.parametrize("name", ["config.yaml", "preprocessor.json"])
@pytest.mark.parametrize("target", ["there", "nowhere"])
def test_a_file_of_a_run_that_is_a_link_out_of_it_is_refused(
    moved: Path, tmp_path: Path, name: str, target: str
) -> None:
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
def test_what_is_not_the_path_of_a_run_is_refused(given: object, told: str) -> None:
    with pytest.raises(RunError) as caught:
        Generator.load(given)  # type: ignore[arg-type]
    assert str(caught.value) == told
