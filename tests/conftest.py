"""Fixtures that several test files share: where the real corpora and the published numbers are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent


def _folder(variable: str, name: str) -> Path:
    """Return the folder in the environment variable or beside the repository; without it skip, or fail under CI."""
    folder = Path(os.environ.get(variable) or REPOSITORY.parent / "shared" / name).resolve()
    if folder.is_dir():
        return folder
    message = f"{folder} is not there; set {variable}"
    # A continuous-integration run that silently tests nothing is worse than a red one.
    if os.environ.get("CI", "").lower() in ("true", "1"):
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of the real corpora, from DACTNLG_DATA."""
    return _folder("DACTNLG_DATA", "data")


@pytest.fixture(scope="session")
def oracle_dir() -> Path:
    """The folder of published and calibrated scores, from DACTNLG_ORACLES."""
    return _folder("DACTNLG_ORACLES", "oracles")


@pytest.fixture(scope="session")
def repository() -> Path:
    """The top folder of the checkout."""
    return REPOSITORY
