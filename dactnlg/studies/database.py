"""Durable connections to a study's database, SQLite or PostgreSQL."""

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
"""Seconds to wait for another SQLite writer."""
_KINDS = "sqlite:///FILE or postgresql+psycopg://USER:PASSWORD@HOST/NAME"


def database_url(folder: Path, database: str | None) -> URL:
    """Return the URL of a study's database.

    Args:
        folder: the study's folder.
        database: an SQLAlchemy URL; None for `ratings.sqlite` in the folder.

    Raises:
        StudyError: it is not a URL, or the kind of database is not supported.
    """
    if database is None:
        return URL.create("sqlite", database=str(folder / FILE))
    try:
        url = make_url(database)
    except (ArgumentError, ValueError):
        # Not repeated in the message, as it may contain a password.
        raise StudyError(f"--database: this is no address of a database; write {_KINDS}") from None
    kind = url.get_backend_name()
    if kind not in ("sqlite", "postgresql"):
        raise StudyError(f"--database: {kind[:40]!r} is not supported; write {_KINDS}")
    if kind == "sqlite":
        if url.query:
            raise StudyError("--database: options after a ? are not supported; name a file, sqlite:///FILE")
        if not url.database or url.database == ":memory:":
            raise StudyError("--database: ratings in memory would be lost; name a file, sqlite:///FILE")
        return url.set(drivername="sqlite")
    if find_spec("psycopg") is None:
        raise StudyError("PostgreSQL needs a further package: pip install 'dactnlg[postgresql]'")
    return url.set(drivername="postgresql+psycopg")


@contextlib.contextmanager
def connect(folder: Path, database: str | None, *, to_read: bool = False) -> Iterator[Engine]:
    """Yield an engine, and turn the body's database errors into `StudyError`; the engine is disposed of only on errors.

    Args:
        folder: the study's folder.
        database: an SQLAlchemy URL; None for `ratings.sqlite` in the folder.
        to_read: whether the database is only read: an SQLite file must exist, and is not changed.

    Raises:
        StudyError: the database cannot be reached, or is damaged.
    """
    url = database_url(folder, database)
    lite = url.get_backend_name() == "sqlite"
    if lite and to_read and not Path(url.database or "").is_file():
        raise StudyError(f"--database: there is no file {url.database}")
    patience: dict[str, Any] = {"timeout": _WAIT} if lite else {"connect_timeout": 10}
    engine = create_engine(url, pool_size=10, max_overflow=30, pool_pre_ping=not lite, connect_args=patience)
    if lite:
        event.listen(engine, "connect", _read_only if to_read else _durable)
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


def _read_only(connection: Any, _record: Any) -> None:
    # As in `_durable`.
    connection.isolation_level = None
    connection.execute("PRAGMA query_only=ON").close()


def _durable(connection: Any, _record: Any) -> None:
    # `_begin` begins transactions; the driver must not do so on its own.
    connection.isolation_level = None
    _write_ahead(connection)
    for setting in ("synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
        connection.execute(f"PRAGMA {setting}").close()


def _write_ahead(connection: Any) -> None:
    """Turn on the write-ahead log, retrying while another server creates the same file: SQLite itself does not wait."""
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
    # A writer takes the lock at once: two transactions that read first and then write would deadlock.
    writes = connection.get_execution_options().get("dactnlg_writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
