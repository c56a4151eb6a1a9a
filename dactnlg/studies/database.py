"""Connections to the database of a study: SQLite or PostgreSQL, each made durable."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, event
from sqlalchemy.engine import URL, Connection, Engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from dactnlg.studies.study import StudyError

FILE = "ratings.sqlite"
_WAIT = 30.0
"""Seconds to wait for another writer of SQLite."""
_KINDS = "sqlite:///FILE or postgresql+psycopg://USER:PASSWORD@HOST/NAME"


def database_url(folder: Path, database: str | None) -> URL:
    """Return the address of a study's database.

    Args:
        folder: the study's folder.
        database: the address as SQLAlchemy writes it; None for `ratings.sqlite` in the folder.

    Raises:
        StudyError: it is no address, or of a database that is not supported.
    """
    if database is None:
        return URL.create("sqlite", database=str(folder / FILE))
    try:
        url = make_url(database)
    except (ArgumentError, ValueError):
        # Not repeated in the message: a password may stand in it.
        raise StudyError(f"--database: this is no address of a database; write {_KINDS}") from None
    kind = url.get_backend_name()
    if kind not in ("sqlite", "postgresql"):
        raise StudyError(f"--database: {kind[:40]!r} is not supported; write {_KINDS}")
    if kind == "sqlite":
        if not url.database or url.database == ":memory:" or url.query:
            raise StudyError("--database: ratings in memory would be lost; name a file, sqlite:///FILE")
        return url.set(drivername="sqlite")
    if find_spec("psycopg") is None:
        raise StudyError("PostgreSQL needs a further package: pip install 'dactnlg[postgresql]'")
    return url.set(drivername="postgresql+psycopg")


@contextlib.contextmanager
def connect(folder: Path, database: str | None, *, to_read: bool = False) -> Iterator[Engine]:
    """Give an engine to the body, and tell in plain words where it cannot be reached; it outlives the body.

    Args:
        folder: the study's folder.
        database: the address; None for `ratings.sqlite` in the folder.
        to_read: whether a file of SQLite has to be there; else it is made.

    Raises:
        StudyError: the database cannot be reached or is no database.
    """
    url = database_url(folder, database)
    lite = url.get_backend_name() == "sqlite"
    if lite and to_read and not Path(url.database or "").is_file():
        raise StudyError(f"--database: there is no file {url.database}")
    patience: dict[str, Any] = {"timeout": _WAIT} if lite else {"connect_timeout": 10}
    engine = create_engine(url, pool_size=10, max_overflow=30, pool_pre_ping=not lite, connect_args=patience)
    if lite:
        event.listen(engine, "connect", _durable)
        event.listen(engine, "begin", _begin)
    try:
        yield engine
    except SQLAlchemyError as error:
        engine.dispose()
        cause = str(error.orig) if isinstance(error, DBAPIError) else str(error)
        where = url.render_as_string(hide_password=True)
        raise StudyError(f"the database {where} does not serve: {cause.strip().splitlines()[0][:300]}") from None
    except BaseException:
        engine.dispose()
        raise


def _durable(connection: Any, _record: Any) -> None:
    # Transactions are begun by `_begin`, not by the driver's guesses.
    connection.isolation_level = None
    _write_ahead(connection)
    for setting in ("synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
        connection.execute(f"PRAGMA {setting}").close()


def _write_ahead(connection: Any) -> None:
    """Have a log written ahead; SQLite itself does not wait for another server that makes the same file just now."""
    deadline = time.monotonic() + _WAIT
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").close()
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(0.02)


def _begin(connection: Connection) -> None:
    # A writer takes the lock at once: two that read first and write then would end in a deadlock.
    writes = connection.get_execution_options().get("dactnlg_writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
