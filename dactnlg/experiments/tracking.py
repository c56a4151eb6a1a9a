"""The store of published runs: MLflow, opened quietly, with its failures turned into one plain message.

By default it is an SQLite file in the user's data folder, or in the folder `$DACTNLG_TRACK`. As usual with MLflow,
`$MLFLOW_TRACKING_URI` names another store, such as a team's.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dactnlg._utils import locks
from dactnlg._utils.files import replace_file
from dactnlg.errors import UserError

if TYPE_CHECKING:
    from mlflow.tracking import MlflowClient

LOCK_SECONDS = 600
"""Seconds that a process waits for another that is publishing: whole run folders are copied under the lock."""
_FORCED = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
}
# MLflow would retry an unreachable server for several minutes; users can set these variables to retry longer.
_DEFAULTS = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2", "MLFLOW_HTTP_REQUEST_TIMEOUT": "30", "GIT_PYTHON_REFRESH": "quiet"}
_LOGGERS = ("mlflow", "alembic", "urllib3")
_ERRNO = re.compile(r"\[Errno -?\d+\] ([^'\")\\]+)")
_PASSWORD = re.compile(r"//[^/@\s]*@")
_LONGEST = 300


class StoreError(UserError):
    """The store of published runs cannot be reached, is full, or lacks what was requested."""


@dataclass(frozen=True, slots=True)
class Store:
    """An open store.

    Attributes:
        client: MLflow's client.
        where: the store's address, without a password.
        artifacts: the artifact folder of a new experiment; None leaves it to the store.
    """

    client: MlflowClient
    where: str
    artifacts: str | None


@contextlib.contextmanager
def opened(what: str, *, make: bool = False) -> Iterator[Store]:
    """Open the store. Its failures, including those in the body, become a `StoreError`.

    Args:
        what: beginning of the message, such as "cannot publish runs/a".
        make: create a local store that does not exist yet.

    Raises:
        StoreError: MLflow is not installed, or the store fails.
    """
    folder = _folder()
    address = os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{folder / 'mlflow.db'}"
    file = address.removeprefix("sqlite:///") if address.startswith("sqlite:///") else None
    database = Path(file.partition("?")[0]).absolute() if file else None
    where = _PASSWORD.sub("//", address)
    _import_quietly()
    with _plainly(f"{what}: the store {where}"):
        if address == f"sqlite:///{folder / 'mlflow.db'}" and re.search("[?#%]", address):
            raise StoreError(
                f"{what}: the store {where} has ?, # or % in its path, which mean something else to MLflow"
            )
        if database and not make and not database.exists():
            raise StoreError(f"{what}: the store {where} is not there; publish with: dactnlg publish RUN")
        if database and make:
            database.parent.mkdir(parents=True, exist_ok=True)
        # MLflow creates a new SQLite file without a lock, and SQLite waits only a few seconds for another writer.
        with locked(database.parent / ".lock", LOCK_SECONDS) if database and make else contextlib.nullcontext():
            from mlflow import MlflowClient

            if database and make and not database.exists():
                _make(database)
            client = MlflowClient(tracking_uri=address)
            yield Store(client, where, str(database.parent / "artifacts") if database else None)


def _make(database: Path) -> None:
    """Create an empty database; MLflow takes many steps, and if killed in between leaves one that stays broken."""
    from mlflow import MlflowClient

    with replace_file(database) as partial:
        # Left by a creation that was killed.
        partial.unlink(missing_ok=True)
        MlflowClient(tracking_uri=f"sqlite:///{partial}").search_experiments(max_results=1)


@contextlib.contextmanager
def locked(path: Path, seconds: float) -> Iterator[None]:
    """Hold a lock file.

    Args:
        path: the file.
        seconds: how long to wait for another process that holds it.

    Raises:
        OSError: the file cannot be created.
        StoreError: another process holds the lock for longer.
    """
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(locks.locked(path, seconds))
        except TimeoutError:
            raise StoreError(f"{path} has been locked by another process for {seconds:.0f} seconds") from None
        yield


def _folder() -> Path:
    import platformdirs

    named = os.environ.get("DACTNLG_TRACK")
    return (Path(named) if named else Path(platformdirs.user_data_dir("dactnlg")) / "track").absolute()


def _import_quietly() -> None:
    """Import MLflow with its telemetry and its loggers off.

    Raises:
        StoreError: MLflow is not installed.
    """
    # Before the import, which reads them.
    os.environ.update(_FORCED)
    for name, value in _DEFAULTS.items():
        os.environ.setdefault(name, value)
    try:
        # mlflow-skinny lacks the dependencies of a database.
        for module in ("mlflow", "sqlalchemy", "alembic"):
            importlib.import_module(module)
    except ImportError as error:
        raise StoreError(
            f"published runs are kept with MLflow; {error.name} is not installed: pip install 'dactnlg[track]'"
        ) from None
    # Users cannot do anything about deprecations inside MLflow.
    warnings.filterwarnings("ignore", module=r"(mlflow|sqlalchemy|alembic)\b")
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)


@contextlib.contextmanager
def _plainly(what: str) -> Iterator[None]:
    """Turn exceptions of MLflow, the database or the disk into a one-line `StoreError`."""
    try:
        yield
    except UserError:
        raise
    except failures() as error:
        raise StoreError(f"{what} failed: {_PASSWORD.sub('//', _reason(error))}") from error


def failures() -> tuple[type[Exception], ...]:
    """Return the exceptions that a failing store may raise."""
    import alembic.util
    import sqlalchemy.exc
    from mlflow.exceptions import MlflowException

    # The exceptions of requests, urllib3 and shutil are OSErrors.
    return (OSError, MlflowException, sqlalchemy.exc.SQLAlchemyError, alembic.util.CommandError)


def _reason(error: BaseException) -> str:
    """Return the cause of an error in one line, as the operating system's message if there is one."""
    chain: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in chain:
        chain.append(link)
        link = link.__cause__ or link.__context__
    for link in chain:
        if isinstance(link, OSError) and link.strerror:
            return f"{link.strerror}: {link.filename}" if link.filename else link.strerror
    if found := _ERRNO.search(str(error)):
        return found.group(1).strip()
    if "timed out" in str(error):
        return "it did not answer in time"
    line = str(error).strip().partition("\n")[0]
    line = re.sub(r"^(?:[A-Z_]+: )?\(\w+\.\w+\) ", "", line)
    return line.partition(". ")[0][:_LONGEST] or type(error).__name__
