"""The output folder of a self-play: the conversations of each run, and a summary."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from dactnlg._utils.files import write_json
from dactnlg.dialogue.conversations import Conversation, write_conversations
from dactnlg.errors import UserError

SUMMARY = "selfplay.json"


class PlayedRun(Protocol):
    """The result of one run, in task or open self-play."""

    @property
    def name(self) -> str:
        """The name of the run, also used for its file."""

    @property
    def conversations(self) -> list[Conversation]:
        """The conversations."""

    def to_json(self) -> dict[str, Any]:
        """Return everything but the conversations as JSON data."""


def run_names(runs: Sequence[Path]) -> list[str]:
    """Return the names of runs: those of their folders.

    Raises:
        UserError: two runs have the same name.
    """
    names = [run.resolve().name for run in runs]
    if twice := {name for name in names if names.count(name) > 1}:
        raise UserError(f"two runs are called {', '.join(sorted(twice))}: their conversations need different names")
    return names


def check_output(folder: Path) -> None:
    """Check an output folder before the work starts.

    Raises:
        UserError: it cannot be written to, or already holds a self-play.
    """
    if folder.exists() and not folder.is_dir():
        raise UserError(f"cannot write {folder}: it is a file, and a folder is needed")
    near = next(each for each in (folder.absolute(), *folder.absolute().parents) if each.exists())
    if not near.is_dir() or not os.access(near, os.W_OK):
        raise UserError(f"cannot write {folder}: {near} is no folder that can be written")
    if (folder / SUMMARY).exists():
        raise UserError(f"{folder} holds another self-play: give --output another folder")


def write_conversations_of(folder: Path, played: PlayedRun) -> None:
    """Write a run's conversations to `RUN.jsonl` in a folder, which is created if missing."""
    folder.mkdir(parents=True, exist_ok=True)
    write_conversations(folder / f"{played.name}.jsonl", played.conversations)


def write_summary(folder: Path, played: Sequence[PlayedRun]) -> None:
    """Write the scores of all runs to `selfplay.json` in a folder."""
    write_json(folder / SUMMARY, {each.name: each.to_json() for each in played})
