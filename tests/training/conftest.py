"""Fixtures of the tests of training."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import write_part_of_trails

from dactnlg.training import messages


@pytest.fixture(autouse=True)
def short_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have trainings in this process end with few sentences, which poor models are slow to say."""
    monkeypatch.setattr(messages, "ACTS", 3)


@pytest.fixture(scope="session")
def few_pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A seventh of the embedded corpus, with all its act types and slots, for trainings that need not be good."""
    folder = tmp_path_factory.mktemp("corpus") / "few"
    write_part_of_trails(folder)
    return folder
