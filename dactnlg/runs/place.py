"""Where a run is written: in a folder locked by one process, and never over an existing run.

A run to be replaced is left unchanged while the new one is trained in a hidden folder next to it, `.NAME.new`. When the
new run is complete, the older one is renamed to `.NAME.old`, the new one gets its name, and the older files are
deleted. If a kill interrupts these steps, the next training in the folder completes them.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from dactnlg._utils.files import final_name
from dactnlg._utils.locks import hold
from dactnlg._utils.paths import refuse_links
from dactnlg.errors import RunError
from dactnlg.runs.manifest import read_manifest
from dactnlg.runs.run import Run


@contextlib.contextmanager
def held(run: Run) -> Iterator[None]:
    """Lock a folder, creating it if necessary, so that no other process can train in it.

    The operating system releases the lock if the process is killed.

    Raises:
        RunError: another process trains in the folder, or it holds other files or cannot be written.
    """
    check_place(run)
    with contextlib.ExitStack() as stack:
        try:
            run.path.mkdir(parents=True, exist_ok=True)
            _lock(run.training_lock_path, run, stack)
        except OSError as error:
            raise RunError(f"cannot write the run folder {run.path}: {error.strerror}") from None
        yield


def _lock(path: Path, run: Run, stack: contextlib.ExitStack) -> None:
    file = stack.enter_context(path.open("a"))
    hold(file, RunError(f"{run.path} is being trained by another process"))


def check_place(run: Run) -> None:
    """Refuse a path that is not a folder, a folder with other files, and links that writing would follow.

    Raises:
        RunError: it is one of these; the message says which.
    """
    refuse_links(run.path, RunError)
    if run.path.exists() and not run.path.is_dir():
        raise RunError(f"{run.path} is a file; a run is a folder")
    if run.path.is_dir() and not holds_run(run) and not run.begun_path.exists():
        # A kill may have left the first files of a run, or the lock of a training that could not begin. A configuration
        # alone is not such a remnant, since `begun.json` is written before it.
        ours = {path.name for path in (run.begun_path, run.preprocessor_path, run.reader_path)}
        names = {final_name(path.name) for path in run.path.iterdir() if path.name[:1] != "."}
        if names - ours:
            raise RunError(f"{run.path} holds other files; name an empty or a new folder with --output")


def holds_run(run: Run) -> bool:
    """Return whether a folder holds at least one epoch's results of a training, or a run of an older version."""
    learned = (run.manifest_path, run.state_path, run.weights_path, *run.older_files())
    return any(path.exists() for path in learned)


def beside(run: Run) -> Run:
    """Return the hidden folder in which the replacement of a run is trained."""
    return _hidden(run, "new")


@contextlib.contextmanager
def opened(run: Run, *, resume: bool, overwrite: bool) -> Iterator[Run]:
    """Lock and yield the folder in which to train: the run's own, or `beside` it if an existing run is to be replaced.

    If the body raises an error before anything was learned, the files that it has written are deleted.

    Args:
        run: the folder that the run is meant for.
        resume: resume a training, in the run's folder or, with `overwrite`, in the one beside it.
        overwrite: an existing run may be replaced.

    Raises:
        RunError: the folder holds a run that is neither to be resumed nor overwritten; also as for `held`.
    """
    with contextlib.ExitStack() as stack:
        # A process that is just replacing the run holds the lock of the older one.
        if (lock := _hidden(run, "old").training_lock_path).exists():
            _lock(lock, run, stack)
        settle(run)
    check_place(run)
    aside = overwrite and holds_run(run) and not (resume and is_unfinished(run))
    place = beside(run) if aside else run
    missing = [folder for folder in (place.path, *place.path.parents) if not folder.exists()]
    mine = False
    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(held(run))
            if aside:
                if not resume:
                    # Only once the lock is held: another process may be training there.
                    shutil.rmtree(place.path, ignore_errors=True)
                stack.enter_context(held(place))
            elif holds_run(run) and not resume:
                raise RunError(
                    f"{run.path} holds a run already: go on with it by --resume, replace it by --overwrite, or name "
                    "another folder with --output"
                )
            mine = True
            yield place
    except Exception:
        # A folder that another process holds may be a training before its first epoch: delete nothing there.
        if mine and not holds_run(place):
            _take_away(place, missing)
        raise


def replace_run(run: Run, new: Run) -> None:
    """Replace a run by a complete new one.

    Files in the older folder that are not part of a run are kept.

    Raises:
        RunError: a folder cannot be renamed; both runs are kept.
    """
    old, folder = _hidden(run, "old"), Path(os.path.realpath(run.path))
    try:
        folder.rename(old.path)
        try:
            new.path.rename(folder)
        except OSError:
            old.path.rename(folder)
            raise
        settle(run)
    except OSError as error:
        raise RunError(f"cannot replace {run.path}: {error.strerror}; the new run is {new.path}") from None


def settle(run: Run) -> None:
    """Complete a `replace_run` that was interrupted by a kill."""
    old, folder = _hidden(run, "old"), Path(os.path.realpath(run.path))
    if not old.path.is_dir():
        return
    if not folder.exists():
        old.path.rename(folder)
        return
    for path in old.path.iterdir():
        if not old.owns(path.name) and not (folder / path.name).exists():
            path.rename(folder / path.name)
    shutil.rmtree(old.path)


def _hidden(run: Run, what: str) -> Run:
    # Replace the target of a link, not the link.
    folder = Path(os.path.realpath(run.path))
    return Run(folder.parent / f".{folder.name}.{what}")


def is_unfinished(run: Run) -> bool:
    """Return whether a run's folder holds a training that can be resumed there."""
    if beside(run).path.exists():
        return False
    if not run.manifest_path.exists():
        return True
    with contextlib.suppress(RunError):
        return bool(read_manifest(run.manifest_path).get("training", {}).get("interrupted"))
    return False


def _take_away(run: Run, folders: list[Path]) -> None:
    """Delete the first files of a run, and the folders created for it."""
    shutil.rmtree(run.teachers_path, ignore_errors=True)
    with contextlib.suppress(OSError):
        for path in run.path.iterdir():
            if run.owns(path.name) and not path.is_dir():
                path.unlink()
        for folder in folders:
            folder.rmdir()
