"""Storage of raters' answers: SQLite in the study's folder, or PostgreSQL.

Whatever has been acknowledged is on disk (SQLite: write-ahead log with `synchronous=FULL`), and the database itself
rejects a second answer to a question. For each rater it stores an identifier, the hash of a link, and the answers with
their times.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import func, insert, select
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import IntegrityError

from dactnlg.studies.answers import failed_checks, rating_rows
from dactnlg.studies.database import FILE, connect
from dactnlg.studies.enrolment import Enrolment, OutOfOrder
from dactnlg.studies.ratings import Ratings
from dactnlg.studies.study import Study, StudyError
from dactnlg.studies.tables import pages, raters, ratings


class NoRatingsError(StudyError):
    """A study that nobody has rated yet."""


class AnswersConflict(StudyError):
    """A page that was submitted before, with different answers; the earlier ones are kept."""


@dataclass(frozen=True)
class RaterState:
    """A rater's progress.

    Attributes:
        rater: the rater.
        consented: whether they have agreed to take part.
        withdrawn: whether they have withdrawn, and their answers are deleted.
        answered: number of pages answered, which are the first ones.
        latest: when the latest of them was submitted, in seconds since 1970; None before the first.
    """

    rater: str
    consented: bool = False
    withdrawn: bool = False
    answered: int = 0
    latest: int | None = None


@dataclass(frozen=True)
class Answer:
    """A value for the sentence at a position on a page (from 0), under a criterion."""

    sentence: int
    criterion: str
    value: float


class Storage(Enrolment):
    """The answers to one study.

    Args:
        engine: the database, from `database.connect`.
        study: the study.
    """

    def __init__(self, engine: Engine, study: Study) -> None:
        super().__init__(engine, study.digest, study.name, (ratings, pages))
        self._study = study

    @classmethod
    def open(cls, folder: Path, study: Study, database: str | None = None) -> Storage:
        """Open the database of a study, which is created if it is missing.

        Args:
            folder: the study's folder.
            study: the study in it.
            database: an SQLAlchemy URL; None for `ratings.sqlite` in the folder.

        Raises:
            StudyError: the URL is not supported, the database cannot be reached, or as `enter`.
        """
        with connect(folder, database) as engine:
            return cls(engine, study).enter()

    def state(self, rater: str) -> RaterState:
        """Return a rater's progress."""
        with self._reading() as connection:
            return self._states(connection, rater).get(rater, RaterState(rater))

    def states(self) -> dict[str, RaterState]:
        """Return the progress of every rater."""
        with self._reading() as connection:
            return self._states(connection)

    def answer(self, rater: str, number: int, answers: Sequence[Answer]) -> None:
        """Store the answers to a rater's page; they are on disk when this returns.

        Sending the same answers again changes nothing.

        Args:
            rater: the rater.
            number: which of the rater's pages, from 0.
            answers: all of the page's answers, validated.

        Raises:
            AnswersConflict: different answers to the page are stored already.
            OutOfOrder: it is not the rater's next page, or they have not consented, or have withdrawn.
        """
        page = self._study.rater_by_id[rater].pages[number].id
        try:
            with self._writing() as connection:
                state = self._lock(connection, rater)
                if not state.consented:
                    raise OutOfOrder("you have not agreed to take part yet")
                if number < state.answered:
                    self._compare(connection, page, answers)
                    return
                if number > state.answered:
                    raise OutOfOrder(f"page {number + 1} is not your next one, page {state.answered + 1} is")
                self._insert(connection, rater, number, answers)
        except IntegrityError:
            # Another server has just stored the same page, which a transaction does not see if the database's default
            # isolation is REPEATABLE READ.
            with self._reading() as connection:
                self._compare(connection, page, answers)

    def values(self) -> dict[str, dict[tuple[int, str], float]]:
        """Return all answers: page -> (position of the sentence, criterion) -> value."""
        found: dict[str, dict[tuple[int, str], float]] = {}
        wanted = select(ratings.c.page, ratings.c.sentence, ratings.c.criterion, ratings.c.value)
        with self._reading() as connection:
            for page, sentence, criterion, value in connection.execute(wanted.where(ratings.c.study == self._key)):
                found.setdefault(page, {})[sentence, criterion] = value
        return found

    def _insert(self, connection: Connection, rater: str, number: int, answers: Sequence[Answer]) -> None:
        page = self._study.rater_by_id[rater].pages[number].id
        key = {"study": self._key, "rater": rater, "page": page}
        connection.execute(insert(pages).values(**key, number=number, answered=int(time.time())))
        connection.execute(
            insert(ratings),
            [{**key, "sentence": a.sentence, "criterion": a.criterion, "value": a.value} for a in answers],
        )

    def _compare(self, connection: Connection, page: str, answers: Sequence[Answer]) -> None:
        wanted = select(ratings.c.sentence, ratings.c.criterion, ratings.c.value)
        mine = (ratings.c.study == self._key) & (ratings.c.page == page)
        known = {(sentence, name): value for sentence, name, value in connection.execute(wanted.where(mine))}
        if known != {(each.sentence, each.criterion): each.value for each in answers}:
            raise AnswersConflict("this page was sent before, with other answers; those stand")

    def _lock(self, connection: Connection, rater: str) -> RaterState:
        """Return a rater's progress, and lock the rater's row until the transaction ends."""
        self._agreed(connection, rater)
        return self._states(connection, rater)[rater]

    def _states(self, connection: Connection, rater: str | None = None) -> dict[str, RaterState]:
        joined = raters.outerjoin(pages, (pages.c.study == raters.c.study) & (pages.c.rater == raters.c.rater))
        wanted = (
            select(
                raters.c.rater,
                raters.c.consented,
                raters.c.withdrawn,
                func.count(pages.c.page),
                func.max(pages.c.answered),
            )
            .select_from(joined)
            .where(raters.c.study == self._key)
            .group_by(raters.c.rater, raters.c.consented, raters.c.withdrawn)
        )
        if rater is not None:
            wanted = wanted.where(raters.c.rater == rater)
        return {
            name: RaterState(name, consented is not None, withdrawn is not None, answered, latest)
            for name, consented, withdrawn, answered, latest in connection.execute(wanted)
        }


def read_ratings(study_folder: Path, database: str | None = None) -> Ratings:
    """Return the ratings so far, without attention checks (see `answers.rating_rows`); a note names who failed these.

    Args:
        study_folder: the study's folder.
        database: an SQLAlchemy URL; None for `ratings.sqlite` in the folder.

    Raises:
        StudyError: the study or database does not exist or is damaged.
        NoRatingsError: nothing has been answered yet.
    """
    study = Study.load(study_folder)
    if database is None and not (study_folder / FILE).is_file():
        raise NoRatingsError(f"{study_folder}: nobody has rated yet: there is no {FILE} (dactnlg study serve makes it)")
    # Damage may only show when rows are read: reading inside `connect` gives the same errors as opening.
    with connect(study_folder, database, to_read=True) as engine:
        storage = Storage(engine, study)
        values = storage.values() if storage.entered() else {}
    storage.close()
    rows = list(rating_rows(study, values))
    if not rows:
        raise NoRatingsError(f"{study_folder}: nobody has rated yet")
    checks = failed_checks(study, values).items()
    careless = ", ".join(f"{rater} ({failed} of {answered})" for rater, (failed, answered) in checks if failed)
    note = f"the ratings include those of raters who failed attention checks: {careless}"
    return Ratings(rows, (note,) if careless else ())
