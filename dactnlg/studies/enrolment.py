"""Enrolment of raters in the database of a study of any kind: links, consent and withdrawal.

Whatever has been acknowledged is on disk (SQLite: write-ahead log with `synchronous=FULL`). For each rater the database
stores an identifier, the hash of a link, and when they gave consent or withdrew.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Self

from sqlalchemy import ColumnElement, Table, delete, func, insert, inspect, select, update
from sqlalchemy.engine import Connection, Engine

from dactnlg.studies import tables
from dactnlg.studies.study import StudyError
from dactnlg.studies.tables import raters, studies

_MAKING = 0x6461_6374
"""PostgreSQL advisory lock held while tables are created."""

LEFT = "you have left the study, and your answers are deleted"


class OutOfOrder(StudyError):
    """A step that is not the rater's next one, or from a rater who has not consented yet or has withdrawn."""


class Enrolment:
    """The raters of one study in a database; `enter` must come before anything is stored.

    Args:
        engine: the database, from `database.connect`.
        key: the digest of what is asked.
        name: the study's name.
        answers: the tables of answers, in an order in which their rows can be deleted (referencing tables before
            referenced ones); each has the columns `study` and `rater`.
    """

    def __init__(self, engine: Engine, key: str, name: str, answers: tuple[Table, ...]) -> None:
        self._engine, self._key, self._name, self._answers = engine, key, name, answers
        # SQLite allows one writer at a time, and its own waiting is not fair; waiting for this lock is.
        self._turn = threading.Lock() if engine.dialect.name == "sqlite" else contextlib.nullcontext()

    def enter(self) -> Self:
        """Create the tables if they are missing, and enter the study; return the enrolment.

        Raises:
            StudyError: the database has a study of this name that asked something else.
        """
        with self._writing() as connection:
            if self._engine.dialect.name == "postgresql":
                # If several servers start at once, the first creates the tables and the others find them.
                connection.execute(select(func.pg_advisory_xact_lock(_MAKING)))
            tables.metadata.create_all(connection)
            if not self._known(connection):
                connection.execute(insert(studies).values(id=self._key, name=self._name))
        return self

    def entered(self) -> bool:
        """Whether the database has this study; nothing is written.

        Raises:
            StudyError: the database has a study of this name that asked something else.
        """
        with self._reading() as connection:
            return inspect(connection).has_table(studies.name) and self._known(connection)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def set_links(self, digests: Mapping[str, str], *, replace: bool = False) -> None:
        """Store the hashes of the raters' links.

        Args:
            digests: rater -> hash.
            replace: whether to replace differing hashes stored before, which invalidates their links.

        Raises:
            StudyError: hashes stored before differ, and `replace` is false.
        """
        with self._writing() as connection:
            rows = connection.execute(select(raters.c.rater, raters.c.token).where(raters.c.study == self._key))
            known = {row.rater: row.token for row in rows}
            changed = {rater: each for rater, each in digests.items() if rater in known and known[rater] != each}
            if changed and not replace:
                raise StudyError(
                    f"the links of {len(changed)} raters are others than those the database knows, such as "
                    f"{min(changed)}'s: restore links.csv, or make new links with --new-links (the old ones end)"
                )
            for rater, token in changed.items():
                connection.execute(update(raters).where(self._is(rater)).values(token=token))
            new = [
                {"study": self._key, "rater": rater, "token": token}
                for rater, token in digests.items()
                if rater not in known
            ]
            if new:
                connection.execute(insert(raters), new)

    def rater_with(self, digest: str) -> str | None:
        """Return the rater whose link has this hash, or None."""
        with self._reading() as connection:
            mine = (raters.c.study == self._key) & (raters.c.token == digest)
            return connection.execute(select(raters.c.rater).where(mine)).scalar()

    def consent(self, rater: str) -> None:
        """Record that a rater consents; repeating it changes nothing.

        Raises:
            OutOfOrder: they have withdrawn.
        """
        with self._writing() as connection:
            if not self._agreed(connection, rater):
                connection.execute(update(raters).where(self._is(rater)).values(consented=int(time.time())))

    def withdraw(self, rater: str) -> None:
        """Delete all of a rater's answers, and accept no more from them."""
        with self._writing() as connection:
            connection.execute(select(raters.c.rater).where(self._is(rater)).with_for_update())
            for table in self._answers:
                connection.execute(delete(table).where((table.c.study == self._key) & (table.c.rater == rater)))
            connection.execute(update(raters).where(self._is(rater)).values(withdrawn=int(time.time())))
        if self._engine.dialect.name == "sqlite":
            with self._turn, self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                # The log still contains what was deleted.
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    def _known(self, connection: Connection) -> bool:
        known = {row.id: row.name for row in connection.execute(select(studies))}
        if self._key not in known and self._name in known.values():
            raise StudyError(
                f"the database holds answers to another study called {self._name!r}, which asked something "
                "else; restore its file, or take another database or name"
            )
        return self._key in known

    def _is(self, rater: str) -> ColumnElement[bool]:
        return (raters.c.study == self._key) & (raters.c.rater == rater)

    def _agreed(self, connection: Connection, rater: str) -> bool:
        """Return whether a rater has consented, and lock the rater's row until the transaction ends.

        Raises:
            OutOfOrder: they have withdrawn.
        """
        columns = select(raters.c.consented, raters.c.withdrawn)
        row = connection.execute(columns.where(self._is(rater)).with_for_update()).one()
        if row.withdrawn is not None:
            raise OutOfOrder(LEFT)
        return row.consented is not None

    @contextlib.contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self._turn, self._engine.execution_options(dactnlg_writes=True).begin() as connection:
            yield connection

    @contextlib.contextmanager
    def _reading(self) -> Iterator[Connection]:
        # Read a consistent snapshot, as SQLite does anyway: a rater may withdraw between two queries.
        snapshot = {"isolation_level": "REPEATABLE READ"} if self._engine.dialect.name == "postgresql" else {}
        with self._engine.execution_options(**snapshot).begin() as connection:
            yield connection
