"""The provenance of a result: command, code, packages and machine.

Nothing here imports the packages that it reports on. git and the list of packages are read once, when a run begins or
ends.
"""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from dactnlg import __version__
from dactnlg._utils.hashing import digest, file_digest

_SOURCES = frozenset({".py", ".pyi", ".pyx", ".sh", ".yaml", ".yml", ".toml", ".cfg", ".ini"})
"""Suffixes of untracked files that may have changed the result, unlike a log or a picture."""
_VARIABLES = ("PYTHONHASHSEED", "PYTHONPATH", "KERAS_BACKEND", "TF_ENABLE_ONEDNN_OPTS", "CUDA_VISIBLE_DEVICES")
_PACKAGE = Path(__file__).resolve().parent.parent


def command() -> dict[str, Any]:
    """Return the command of this process: `words` as given, `line` quoted for a shell, and the current `folder`."""
    return {"words": list(sys.orig_argv), "line": shlex.join(sys.orig_argv), "folder": str(Path.cwd())}


def code() -> dict[str, Any]:
    """Return the state of the code: `{"commit", "clean", "unclean", "root"}`, with values None if there is no git.

    The code is the checkout that dactnlg runs from or, if it is installed from a wheel, the one that holds the current
    folder; then `version` and `package` identify the installed package. `unclean` lists changed and deleted files,
    untracked sources, and imported modules that git ignores.
    """
    for folder in (_PACKAGE.parent, Path.cwd()):
        root = _git(folder, "rev-parse", "--show-toplevel")
        if root is None:
            continue
        tracked = set((_git(Path(root), "ls-files", "-z") or "").split("\0"))
        if folder == _PACKAGE.parent and not _holds(Path(root), tracked):
            # A virtual environment inside another project's checkout, whose history is not dactnlg's.
            continue
        unclean = sorted({*_changed(Path(root)), *_untracked_modules(Path(root), tracked)})
        commit = _git(Path(root), "rev-parse", "HEAD")
        found = {"commit": commit, "clean": commit is not None and not unclean, "unclean": unclean, "root": root}
        return found if folder == _PACKAGE.parent else {**found, **installed()}
    return {"commit": None, "clean": None, "unclean": [], "root": None, **installed()}


def installed() -> dict[str, str]:
    """Return `version` and `package`, the SHA-256 of the sources, of an installed dactnlg; nothing in a checkout."""
    if any((_PACKAGE.parent / name).exists() for name in ("setup.cfg", ".git")):
        return {}
    files = sorted((path.relative_to(_PACKAGE).as_posix(), path) for path in _PACKAGE.rglob("*.py"))
    return {"version": __version__, "package": digest([[name, file_digest(path)] for name, path in files])}


@cache
def packages() -> dict[str, str]:
    """Return the version of every installed package, cached, since reading them takes a moment."""
    # `Distribution.name` and `.version` would each read and parse the metadata file again.
    found = (dist.metadata for dist in distributions())
    return dict(sorted((each["Name"].lower(), each["Version"]) for each in found if each["Name"]))


def hardware() -> dict[str, Any]:
    """Return a description of the machine; its accelerators only if TensorFlow has been imported."""
    return {
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory": _memory(),
        "accelerators": _accelerators(),
    }


def environment() -> dict[str, str]:
    """Return the environment variables, among those set, that can change a result."""
    return {name: os.environ[name] for name in _VARIABLES if name in os.environ}


def _git(folder: Path, *arguments: str) -> str | None:
    """Return the output of git; None if git is not installed, fails or hangs."""
    variables = {key: value for key, value in os.environ.items() if key not in ("GIT_DIR", "GIT_WORK_TREE")}
    try:
        done = subprocess.run(
            # The current folder may be an untrusted repository, whose configuration must not run a program here.
            ["git", "-c", "core.fsmonitor=false", "-C", str(folder), *arguments],
            capture_output=True,
            timeout=30,
            check=True,
            stdin=subprocess.DEVNULL,
            env={**variables, "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "surrogateescape").strip("\n")


def _holds(root: Path, tracked: set[str]) -> bool:
    return _relative(root, _PACKAGE / "__init__.py") in tracked


def _changed(root: Path) -> Iterable[str]:
    """Yield the tracked files that differ from the commit, and the untracked sources outside run folders."""
    entries = iter((_git(root, "status", "--porcelain=v1", "-z", "--untracked-files=all") or "").split("\0"))
    for entry in entries:
        if not entry:
            continue
        status, name = entry[:2], entry[3:]
        if "R" in status or "C" in status:
            # The next entry is the old name of the renamed file.
            next(entries, None)
        if status != "??" or (Path(name).suffix in _SOURCES and not _in_run(root, name)):
            yield name


def _in_run(root: Path, name: str) -> bool:
    folder = (root / name).parent
    return (folder / "config.yaml").exists() and any((folder / f).exists() for f in ("begun.json", "manifest.json"))


def _untracked_modules(root: Path, tracked: set[str]) -> Iterable[str]:
    """Yield the untracked files in the checkout from which modules were imported."""
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        # Cheap tests first: thousands of modules lie elsewhere, and resolving a path takes system calls.
        if not file or not file.endswith(".py") or not file.startswith(str(root)):
            continue
        name = _relative(root, Path(file))
        if name is not None and "site-packages" not in name and name not in tracked:
            yield name


def _relative(root: Path, path: Path) -> str | None:
    try:
        return path.resolve().relative_to(root.resolve()).as_posix()
    except (ValueError, OSError):
        return None


def _processor() -> str:
    lines = _lines("/proc/cpuinfo")
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "") or (
        platform.processor() or "unknown"
    )


def _memory() -> str | None:
    found = [line.split()[1] for line in _lines("/proc/meminfo") if line.startswith("MemTotal:")]
    return f"{int(found[0]) / 2**20:.1f} GiB" if found else None


def _lines(path: str) -> Sequence[str]:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ()


def _accelerators() -> list[str]:
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is None:
        return []
    details = tensorflow.config.experimental.get_device_details
    return [details(d).get("device_name", d.name) for d in tensorflow.config.list_physical_devices("GPU")]
