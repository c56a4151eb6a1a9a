"""Fixtures of the tests of training."""

from __future__ import annotations

from pathlib import Path

import pytest

from dactnlg._utils import resources
from dactnlg.training import messages


@pytest.fixture(autouse=True)
def short_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have trainings in this process end with few sentences, which poor models are slow to say."""
    monkeypatch.setattr(messages, "ACTS", 3)


@pytest.fixture(scope="session")
def few_pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sixth of the embedded corpus, with all its act types and slots, for trainings that need not be good."""
    folder = tmp_path_factory.mktemp("corpus") / "few"
    folder.mkdir()
    for split in ("train", "valid"):
        lines = (resources.datasets_dir() / "trails" / f"{split}.jsonl").read_text(encoding="utf-8").splitlines()
        (folder / f"{split}.jsonl").write_text("".join(f"{line}\n" for line in lines[1::6]), encoding="utf-8")
    return folder
