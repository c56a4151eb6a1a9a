"""The folders of the data cards, the embedded corpus and the configurations, in a wheel and in a checkout.

A wheel holds the top-level folders `datasets/` and `configs/` inside the package (`package_dir` in setup.cfg); a
checkout, and an editable installation of one, has them at its top level.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def datasets_dir() -> Path:
    """Return the folder of the data cards and the embedded corpus."""
    return _folder("datasets")


def corpus_names() -> list[str]:
    """Return the names of the corpora that have a card in `datasets/`."""
    return sorted(card.stem for card in datasets_dir().glob("*.yaml"))


def dialogue_names() -> list[str]:
    """Return the names of the corpora of dialogues that have a card in `datasets/dialogues/`."""
    return sorted(card.stem for card in (datasets_dir() / "dialogues").glob("*.yaml"))


def configs_dir() -> Path:
    """Return the folder of the configurations shipped with dactnlg."""
    return _folder("configs")


def _folder(name: str) -> Path:
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _PACKAGE.parent / name
