"""Checkouts: the one that has a run's commit, and scratch clones of it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import dactnlg
from dactnlg.errors import RunError
from dactnlg.runs import provenance

_REDIRECTING = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_NAMESPACE")
# Run no program that a repository names in its hooks or its configuration, and access no network.
_GIT = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "protocol.allow=never",
        "-c", "protocol.file.allow=always")  # fmt: skip


def checkout_with(commit: str, chosen: str | Path | None) -> Path:
    """Return the checkout with the commit: the chosen one, or the one that this package runs from.

    Raises:
        RunError: this package does not run from a checkout, or the checkout lacks the commit.
    """
    root = str(chosen) if chosen else provenance.code().get("root")
    package = Path(dactnlg.__file__).resolve()
    # A checkout that merely happens to be the current folder may be unrelated.
    if not root or not (chosen or package.is_relative_to(Path(root).resolve())):
        raise RunError(
            "reproducing needs a checkout of dactnlg, and this one runs from none: name yours, which has the run's "
            "commit, with --code"
        )
    if not Path(root).is_dir() or not _git(Path(root), "cat-file", "-e", f"{commit}^{{commit}}", check=False):
        raise RunError(f"the commit {commit} is not in the checkout {root}; fetch it, or name another with --code")
    return Path(root).absolute()


def clone(repository: Path, commit: str, folder: Path) -> None:
    """Check out a commit in a clone that shares the repository's objects but not its configuration."""
    _git(repository, "clone", "--quiet", "--shared", "--no-checkout", "--template=", str(repository), str(folder))
    _git(folder, "checkout", "--quiet", "--detach", commit)


def _git(folder: Path, *arguments: str, check: bool = True) -> bool:
    """Run git, and return whether it succeeded; with `check`, a failure raises `RunError`."""
    variables = {key: value for key, value in os.environ.items() if key not in _REDIRECTING}
    done = subprocess.run(
        ["git", *_GIT, "-C", str(folder), *arguments],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        errors="replace",
        env={**variables, "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"},
    )
    if check and done.returncode:
        raise RunError(f"git {arguments[0]}: {done.stderr.strip()}")
    return not done.returncode
