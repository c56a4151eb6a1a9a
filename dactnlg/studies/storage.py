"""Where ratings are kept: a database that loses none that a rater was told is kept, and takes none twice.

SQLite beside the study, or PostgreSQL by its address. Nothing about raters is stored but the hash of their link's token
and when they agreed to take part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import (
    Column,
    Connection,
    DateTime,
    Engine,
    Float,
    MetaData,
    String,
    Table,
    create_engine,
    delete,
    event,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError, SQLAlchemyError

from dactnlg.studies.ratings import Ratings
from dactnlg.studies.study import Study, StudyError, StudyPage

FILE = "ratings.sqlite"
Answers = Mapping[tuple[str, str], float]
"""(system, criterion) -> value."""

_metadata = MetaData()
_about = Table("study", _metadata, Column("digest", String(64), primary_key=True))
_raters = Table(
    "raters",
    _metadata,
    Column("id", String(200), primary_key=True),
    Column("token_hash", String(64), nullable=False, unique=True),
    Column("agreed", DateTime(timezone=True)),
)
_answers = Table(
    "answers",
    _metadata,
    Column("rater", String(200), primary_key=True),
    Column("page", String(200), primary_key=True),
    Column("system", String(200), primary_key=True),
    Column("criterion", String(200), primary_key=True),
    Column("value", Float(53), nullable=False),
    Column("given", DateTime(timezone=True), nullable=False),
)


class Storage:
    """The ratings of one study. Several threads may use one at once.

    Args:
        study: the study.
        url: the database's address, as SQLAlchemy reads it: `sqlite:///ratings.sqlite`, `postgresql+psycopg://...`.

    Raises:
        StudyError: there is no such database, or it holds another study.
    """

    def __init__(self, study: Study, url: str) -> None:
        self.study = study
        self._engine = _engine(url)
        with _plain_errors():
            _metadata.create_all(self._engine)
            with self._engine.begin() as connection:
                self._claim(connection)

    def _claim(self, connection: Connection) -> None:
        digest = self.study.digest
        known = connection.execute(select(_about.c.digest)).scalar()
        if known is None:
            connection.execute(insert(_about).values(digest=digest))
        elif known != digest:
            raise StudyError("the database holds the ratings of another study, or study.json was changed since")

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def enroll(self, hashes: Mapping[str, str]) -> None:
        """Make the links of raters known: rater -> hash of the token; those known already are kept as they are."""
        with self._engine.begin() as connection:
            known = set(connection.execute(select(_raters.c.id)).scalars())
            new = [{"id": rater, "token_hash": code} for rater, code in hashes.items() if rater not in known]
            if new:
                connection.execute(insert(_raters), new)

    def rater(self, token_hash: str) -> tuple[str, bool] | None:
        """Return the rater with this token, and whether they have agreed to take part; None for nobody's token."""
        with self._engine.connect() as connection:
            wanted = select(_raters.c.id, _raters.c.agreed).where(_raters.c.token_hash == token_hash)
            row = connection.execute(wanted).first()
        return None if row is None else (row.id, row.agreed is not None)

    def agree(self, rater: str) -> None:
        """Note that a rater has agreed; the first time counts."""
        with self._engine.begin() as connection:
            mine = (_raters.c.id == rater) & _raters.c.agreed.is_(None)
            connection.execute(update(_raters).where(mine).values(agreed=_now()))

    def answered(self, rater: str) -> set[str]:
        """Return the pages that a rater has answered."""
        with self._engine.connect() as connection:
            wanted = select(_answers.c.page).where(_answers.c.rater == rater).distinct()
            return set(connection.execute(wanted).scalars())

    def next_page(self, rater: str) -> StudyPage | None:
        """Return the first page that a rater has not answered; None after the last."""
        done = self.answered(rater)
        return next((page for page in self.study.rater_by_id[rater].pages if page.id not in done), None)

    def keep(self, rater: str, page: StudyPage, answers: Answers) -> Literal["kept", "known", "other"]:
        """Keep all answers of a page, or none of them.

        Returns:
            `kept`; `known` where the very same answers are kept already, as when a form was sent twice; `other` where
            other ones are, which stay.
        """
        now = _now()
        rows = [
            {"rater": rater, "page": page.id, "system": system, "criterion": criterion, "value": value, "given": now}
            for (system, criterion), value in answers.items()
        ]
        try:
            with self._engine.begin() as connection:
                connection.execute(insert(_answers), rows)
        except IntegrityError:
            return "known" if self._page(rater, page.id) == dict(answers) else "other"
        return "kept"

    def _page(self, rater: str, page: str) -> dict[tuple[str, str], float]:
        wanted = select(_answers).where((_answers.c.rater == rater) & (_answers.c.page == page))
        with self._engine.connect() as connection:
            return {(row.system, row.criterion): row.value for row in connection.execute(wanted)}

    def progress(self) -> dict[str, int]:
        """Return how many pages every rater has answered."""
        counted = select(_answers.c.rater, func.count(_answers.c.page.distinct())).group_by(_answers.c.rater)
        with self._engine.connect() as connection:
            found = {row[0]: int(row[1]) for row in connection.execute(counted)}
        return {rater.id: found.get(rater.id, 0) for rater in self.study.raters}

    def failed_checks(self) -> dict[str, tuple[int, int]]:
        """Return for every rater how many answers to attention checks are wrong, of how many."""
        found = {rater.id: (0, 0) for rater in self.study.raters}
        for rater, page, system, _, value in self._rows():
            wanted = self.study.item_by_id[page.item].check
            # Of a pair, the other sentence's value says the same.
            if wanted is not None and (self.study.scale is not None or system == self.study.check_system):
                wrong, asked = found[rater]
                found[rater] = (wrong + (value != wanted), asked + 1)
        return found

    def forget(self, rater: str) -> None:
        """Delete a rater's answers and agreement: they may begin again, or not."""
        with self._engine.begin() as connection:
            connection.execute(delete(_answers).where(_answers.c.rater == rater))
            connection.execute(update(_raters).where(_raters.c.id == rater).values(agreed=None))

    def ratings(self) -> Ratings:
        """Return all ratings but attention checks; one of equal sentences counts for every system that says so.

        A pair counts for each pair of such systems, on pages of their own: `PAGE+1` and so on.
        """
        rows: list[dict[str, Any]] = []
        for rater, page, system, criterion, value in self._rows():
            item = self.study.item_by_id[page.item]
            if item.check is not None:
                continue
            common = {"item": item.id, "rater": rater, "criterion": criterion, "value": value, "corpus": item.corpus}
            rows += [
                {**common, "system": name, "page": place, "output": item.sentences[name]}
                for name, place in self._sharing(page, system)
            ]
        return Ratings(rows)

    def _sharing(self, page: StudyPage, system: str) -> list[tuple[str, str]]:
        """Return the systems that a rating goes to, each with a page."""
        own = self.study.shared(page, system)
        if self.study.scale is not None:
            return [(name, page.id) for name in own]
        pairs = list(product(*(self.study.shared(page, name) for name in page.systems)))
        place = page.systems.index(system)
        return [(pair[place], f"{page.id}+{at}" if at else page.id) for at, pair in enumerate(pairs)]

    def _rows(self) -> Iterator[tuple[str, StudyPage, str, str, float]]:
        pages = {page.id: page for rater in self.study.raters for page in rater.pages}
        order = {name: at for at, name in enumerate(pages)}
        criteria = {criterion.name: at for at, criterion in enumerate(self.study.criteria)}
        with self._engine.connect() as connection:
            found = [row for row in connection.execute(select(_answers)) if row.page in pages]
        found.sort(key=lambda row: (order[row.page], criteria.get(row.criterion, 0), row.system))
        yield from ((row.rater, pages[row.page], row.system, row.criterion, row.value) for row in found)


def read_ratings(folder: Path, database: str | None = None) -> Ratings:
    """Return what raters of a study have said so far.

    Args:
        folder: the study's.
        database: its address, if the ratings are not in the folder.

    Raises:
        StudyError: the folder is no study, its database cannot be read, or there are no ratings yet.
    """
    study = Study.load(folder)
    if database is None and not (folder / FILE).is_file():
        raise StudyError(f"{folder} has no ratings yet: dactnlg study serve {folder} collects them")
    storage = Storage(study, database or sqlite_url(folder))
    try:
        found = storage.ratings()
    finally:
        storage.close()
    if not found.rows:
        raise StudyError(f"{folder} has no ratings yet: send the links of links.csv to raters")
    return found


def sqlite_url(folder: Path) -> str:
    """Return the address of the database in a study's folder."""
    return f"sqlite:///{(folder / FILE).resolve()}"


def _engine(url: str) -> Engine:
    try:
        engine = create_engine(url, pool_pre_ping=True)
    except ArgumentError:
        raise StudyError("--database wants an address such as postgresql+psycopg://user:password@host/name") from None
    except (NoSuchModuleError, ModuleNotFoundError) as error:
        raise StudyError(f"--database: {error}; for PostgreSQL: pip install 'dactnlg[postgresql]'") from None
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _careful)
    return engine


def _careful(connection: Any, _record: object) -> None:
    """Let SQLite's readers and its writer work at once, wait for each other, and write through to the disk."""
    cursor = connection.cursor()
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "busy_timeout = 15000"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


@contextmanager
def _plain_errors() -> Iterator[None]:
    try:
        yield
    except DBAPIError as error:
        # The address stays unsaid: it may hold a password.
        first = next(iter(str(error.orig).strip().splitlines()), type(error.orig).__name__)
        raise StudyError(f"the database cannot be used: {first}") from None
    except SQLAlchemyError as error:
        raise StudyError(f"the database cannot be used: {type(error).__name__}") from None


def _now() -> datetime:
    return datetime.now(UTC)
