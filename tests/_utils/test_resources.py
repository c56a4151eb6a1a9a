"""What a wheel carries: the same packages and data as the checkout."""

from __future__ import annotations

import configparser
import subprocess
import sys
import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from helpers import missing
from packaging.requirements import Requirement

from dactnlg._utils import resources
from dactnlg._utils.resources import corpus_names
from dactnlg.runs.config import config_names, load_config


def test_folders_are_those_of_the_checkout(repository: Path) -> None:
    assert resources.datasets_dir() == repository / "datasets"
    assert resources.configs_dir() == repository / "configs"


def test_a_folder_inside_the_package_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "configs").mkdir()
    monkeypatch.setattr(resources, "_PACKAGE", tmp_path)
    assert resources.configs_dir() == tmp_path / "configs"
    assert resources.datasets_dir() == tmp_path.parent / "datasets"


def test_setup_cfg_lists_every_package(repository: Path) -> None:
    settings = configparser.ConfigParser()
    settings.read(repository / "setup.cfg", encoding="utf-8")
    listed = set(settings["options"]["packages"].split())
    folders = {path.parent.relative_to(repository) for path in (repository / "dactnlg").rglob("*.py")}
    assert listed == {".".join(folder.parts) for folder in folders} | {"dactnlg.configs", "dactnlg.datasets"}


def test_the_dev_extra_installs_what_the_tests_need(repository: Path) -> None:
    settings = configparser.ConfigParser()
    settings.read(repository / "setup.cfg", encoding="utf-8")
    extras = dict(settings["options.extras_require"])
    # Peers to be measured beside are nothing that tests need.
    del extras["bench"]
    own, *others = map(Requirement, extras.pop("dev").split("\n")[1:])
    assert own.name == "dactnlg"
    assert own.extras == set(extras)
    wanted = [*others, *(Requirement(line) for lines in extras.values() for line in lines.split("\n")[1:])]
    absent = [str(requirement) for requirement in wanted if not _installed(requirement)]
    if absent:
        missing(f"pip install -e '.[dev]' is older than setup.cfg: {', '.join(absent)}")


def _installed(requirement: Requirement) -> bool:
    try:
        return version(requirement.name) in requirement.specifier
    except PackageNotFoundError:
        return False


def test_the_wheel_holds_code_cards_and_configurations(repository: Path, tmp_path: Path) -> None:
    # Built from a copy: setuptools writes build/ and *.egg-info beside the sources.
    copy = tmp_path / "tree"
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=repository, capture_output=True)
    if files.returncode:
        missing("not a git checkout")
    names = [name for name in files.stdout.decode().split("\n") if name and (repository / name).is_file()]
    for name in names:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_bytes((repository / name).read_bytes())
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(copy)]
    done = subprocess.run(command, capture_output=True, text=True)
    if "Missing dependencies" in done.stdout + done.stderr:
        missing("setuptools of this environment is too old to build without isolation")
    assert done.returncode == 0, done.stdout + done.stderr
    held = set(zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist())
    suffixes = (".py", ".yaml", ".jsonl")
    for name in names:
        top, _, rest = name.partition("/")
        if top == "dactnlg":
            assert name in held
        elif top in ("datasets", "configs") and rest.endswith(suffixes):
            assert f"dactnlg/{name}" in held
    assert "dactnlg/py.typed" in held


@pytest.mark.parametrize("name", config_names())
def test_every_configuration_is_valid(name: str) -> None:
    config = load_config(name)
    assert name.startswith(config.corpus.name)
    # A corpus's own name is the best configuration known of it; the others say which model they are of.
    assert name.endswith(config.model.name) or name in (config.corpus.name, f"{config.corpus.name}-human")


def test_the_configurations_that_the_readme_promises() -> None:
    models = ("random", "lstm", "sclstm", "hierarchical")
    promised = {f"{corpus}-{model}" for corpus in ("restaurants", "dstc2", "trails") for model in models}
    promised |= {f"{corpus}-sclstm" for corpus in ("hotel", "laptop", "tv")}
    promised |= set(corpus_names())
    assert promised <= set(config_names())
