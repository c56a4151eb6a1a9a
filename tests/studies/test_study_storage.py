"""Answers of raters in SQLite and a real PostgreSQL: stored once and in order, and deleted when the rater leaves."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Timer

import pytest
from helpers import damage
from sqlalchemy import create_engine, insert
from sqlalchemy.exc import IntegrityError
from study_raters import small_study

from dactnlg.cli.main import main
from dactnlg.studies import tables
from dactnlg.studies.answers import failed_checks
from dactnlg.studies.database import FILE
from dactnlg.studies.enrolment import OutOfOrder
from dactnlg.studies.ratings import check_repetition
from dactnlg.studies.storage import Answer, AnswersConflict, RaterState, Storage, read_ratings
from dactnlg.studies.study import Scale, Study, StudyError


def opened(folder: Path, study: Study, database: str | None) -> Storage:
    storage = Storage.open(folder, study, database)
    storage.set_links({rater.id: f"hash of {rater.id}" for rater in study.raters})
    return storage


def answers(study: Study, rater: str, number: int, value: float = 3.0) -> list[Answer]:
    places = range(len(study.rater_by_id[rater].pages[number].systems))
    return [
        Answer(place, criterion.name, value if study.scale else float(place == 0))
        for place in places
        for criterion in study.criteria
    ]


def test_a_page_is_stored_once_and_in_order(tmp_path: Path, database: str | None) -> None:
    study = small_study()
    storage = opened(tmp_path, study, database)
    assert storage.rater_with("hash of r002") == "r002"
    assert storage.rater_with("hash of nobody") is None
    with pytest.raises(OutOfOrder, match="not agreed"):
        storage.answer("r001", 0, answers(study, "r001", 0))
    storage.consent("r001")
    with pytest.raises(OutOfOrder, match="page 1 is"):
        storage.answer("r001", 1, answers(study, "r001", 1))
    for _ in range(3):
        storage.answer("r001", 0, answers(study, "r001", 0))
    with pytest.raises(AnswersConflict):
        storage.answer("r001", 0, answers(study, "r001", 0, 4.0))
    with pytest.raises(AnswersConflict):
        storage.answer("r001", 0, answers(study, "r001", 0)[:-1])
    storage.close()
    # The same is read when the database is opened again.
    storage = opened(tmp_path, study, database)
    state = storage.state("r001")
    assert state == RaterState("r001", consented=True, answered=1, latest=state.latest)
    assert state.latest
    assert set(storage.values()) == {"r001-001"}
    assert set(storage.values()["r001-001"].values()) == {3.0}
    storage.close()


def test_one_set_of_answers_is_stored_when_threads_send_a_page_at_once(tmp_path: Path, database: str | None) -> None:
    study = small_study(raters=4)
    storage = opened(tmp_path, study, database)
    for rater in study.raters:
        storage.consent(rater.id)

    def send(at: int) -> str:
        rater, value = f"r{at % 4 + 1:03}", float(at % 2 + 1)
        try:
            storage.answer(rater, 0, answers(study, rater, 0, value))
        except AnswersConflict:
            return f"{rater} refused {value}"
        return f"{rater} kept {value}"

    with ThreadPoolExecutor(16) as pool:
        told = list(pool.map(send, [at + at // 4 % 2 for at in range(64)]))
    for rater in study.raters:
        (value,) = set(storage.values()[f"{rater.id}-001"].values())
        said = {each for each in told if each.startswith(rater.id)}
        assert said <= {f"{rater.id} kept {value}", f"{rater.id} refused {3 - value}"}
        assert f"{rater.id} kept {value}" in said
    storage.close()


def test_servers_may_start_at_once_on_an_empty_database(tmp_path: Path, postgresql: Callable[[], str]) -> None:
    studies = [small_study().model_copy(update={"name": name}) for name in ("one", "one", "two")]
    studies[2] = studies[2].model_copy(update={"seed": 2})
    for _ in range(3):
        database, together = postgresql(), Barrier(len(studies))

        def start(study: Study, database: str = database, together: Barrier = together) -> None:
            together.wait(30)
            Storage.open(tmp_path, study, database).close()

        with ThreadPoolExecutor(len(studies)) as pool:
            list(pool.map(start, studies))


def test_a_server_waits_while_another_creates_the_database(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / FILE, isolation_level=None, check_same_thread=False)) as other:
        other.execute("CREATE TABLE x (a)")
        other.execute("BEGIN IMMEDIATE")
        done = Timer(0.4, other.execute, ["COMMIT"])
        done.start()
        opened(tmp_path, small_study(), None).close()
        done.join()
    with contextlib.closing(sqlite3.connect(tmp_path / FILE)) as again:
        assert again.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_the_database_itself_refuses_a_second_answer(tmp_path: Path, database: str | None) -> None:
    study = small_study()
    storage = opened(tmp_path, study, database)
    storage.consent("r001")
    storage.answer("r001", 0, answers(study, "r001", 0))
    storage.close()
    engine = create_engine(database or f"sqlite:///{tmp_path / 'ratings.sqlite'}")
    key = {"study": study.digest, "rater": "r001", "page": "r001-001"}
    for table, row in (
        (tables.ratings, {**key, "sentence": 0, "criterion": "quality", "value": 5.0}),
        (tables.pages, {**key, "number": 0, "answered": 1}),
        (tables.pages, {**key, "page": "another", "number": 0, "answered": 1}),
    ):
        with pytest.raises(IntegrityError), engine.begin() as connection:
            connection.execute(insert(table).values(**row))
    engine.dispose()


def test_nothing_is_left_of_a_rater_who_withdraws(tmp_path: Path, database: str | None) -> None:
    study = small_study()
    storage = opened(tmp_path, study, database)
    for rater in ("r001", "r002"):
        storage.consent(rater)
        storage.answer(rater, 0, answers(study, rater, 0))
    storage.withdraw("r001")
    assert set(storage.values()) == {"r002-001"}
    assert storage.state("r001").withdrawn
    with pytest.raises(OutOfOrder, match="left"):
        storage.answer("r001", 0, answers(study, "r001", 0))
    with pytest.raises(OutOfOrder, match="left"):
        storage.consent("r001")
    storage.close()
    if database is None:
        # Not even in free pages of the file.
        stored = b"".join(path.read_bytes() for path in tmp_path.glob("ratings.sqlite*"))
        assert b"r002-001" in stored
        assert b"r001-001" not in stored


def test_a_database_has_one_study_of_a_name(tmp_path: Path, database: str | None) -> None:
    study = small_study()
    storage = opened(tmp_path, study, database)
    with pytest.raises(StudyError, match="restore links.csv"):
        storage.set_links({"r001": "another hash"})
    storage.set_links({"r001": "another hash"}, replace=True)
    assert storage.rater_with("hash of r001") is None
    storage.close()
    with pytest.raises(StudyError, match="another study called 'a study'"):
        Storage.open(tmp_path, small_study(items=3), database)
    # Texts for the raters may be edited, and studies with other names stored beside it.
    Storage.open(tmp_path, study.model_copy(update={"instructions": "Judge well."}), database).close()
    Storage.open(tmp_path, small_study(items=3).model_copy(update={"name": "other"}), database).close()


@pytest.mark.parametrize("design", ["likert", "continuous", "pairwise"])
def test_a_rating_counts_for_every_system_with_the_sentence(tmp_path: Path, design: str) -> None:
    study = small_study(design)
    study.save(tmp_path)
    with pytest.raises(StudyError, match="nobody has rated yet"):
        read_ratings(tmp_path)
    storage = opened(tmp_path, study, None)
    with pytest.raises(StudyError, match="nobody has rated yet"):
        read_ratings(tmp_path)
    for rater in ("r001", "r002"):
        storage.consent(rater)
        for number in range(5):
            storage.answer(rater, number, answers(study, rater, number))
    checks = failed_checks(study, storage.values())
    storage.close()
    found = read_ratings(tmp_path)
    failed = ", ".join(f"{rater} (1 of 1)" for rater, (count, _) in checks.items() if count)
    assert found.notes == (f"the ratings include those of raters who failed attention checks: {failed}",)
    check_repetition(found.rows, "test")
    assert not {row["item"] for row in found.rows} & {"check-1"}
    second = [row for row in found.rows if row["item"] == "item-1" and row["rater"] == "r002"]
    if design == "pairwise":
        # alpha and gamma have the same sentence, which won against beta: two comparisons.
        pages = {
            page: {r["system"]: r["value"] for r in second if r["page"] == page} for page in {r["page"] for r in second}
        }
        assert sorted(map(sorted, pages.values())) == [["secret-alpha", "secret-beta"], ["secret-beta", "secret-gamma"]]
        assert {value["secret-beta"] for value in pages.values()} == {0.0}
        # r001 saw the check's sentences in the other order, and chose the wrong one.
        assert checks == {"r001": (1, 1), "r002": (0, 1), "r003": (0, 0)}
    else:
        assert sorted(row["system"] for row in second if row["criterion"] == "quality") == sorted(
            study.items[0].sentences
        )
        assert {row["value"] for row in found.rows} == {3.0}
        assert checks == {"r001": (1, 1), "r002": (1, 1), "r003": (0, 0)}
    assert {row["output"] for row in found.rows} <= {text for item in study.items for text in item.sentences.values()}


@pytest.mark.parametrize("asked", [0.3, 0.1 * 3])
def test_a_check_may_ask_for_a_fraction(asked: float) -> None:
    scale = Scale(low=0, high=1, step=0.1)
    study = small_study()
    items = [item if item.check is None else item.model_copy(update={"check": asked}) for item in study.items]
    study = study.model_copy(update={"scale": scale, "items": tuple(items)})
    (page,) = [page for page in study.raters[0].pages if page.item == "check-1"]
    for given, failed in ((scale.values[3], 0), (0.4, 1)):
        values = {(0, criterion.name): given for criterion in study.criteria}
        assert failed_checks(study, {page.id: values})["r001"] == (failed, 1)
    assert scale.values == (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("nothing", "no address"),
        ("mysql://me:secret@host/x", "'mysql' is not supported"),
        ("sqlite://", "would be lost"),
        ("sqlite:///:memory:", "would be lost"),
        ("sqlite:///file:x?mode=memory&uri=true", "options after a . are not supported"),
        ("sqlite:///ratings.sqlite?timeout=5", "options after a . are not supported"),
        ("postgresql+psycopg://me:secret@127.0.0.1:1/x", "does not serve"),
        ("sqlite:////nowhere/at/all.sqlite", "does not serve"),
    ],
)
def test_a_wrong_database_is_reported_without_its_password(tmp_path: Path, address: str, told: str) -> None:
    with pytest.raises(StudyError, match=told) as error:
        Storage.open(tmp_path, small_study(), address)
    assert "secret" not in str(error.value)


def test_reading_does_not_create_a_missing_database(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small_study().save(tmp_path)
    missing = tmp_path / "mistyped.sqlite"
    assert main(["study", "export", str(tmp_path), "--database", f"sqlite:///{missing}"]) == 2
    assert f"there is no file {missing}" in capsys.readouterr().err
    assert not missing.exists()


@pytest.mark.parametrize("words", [["export"], ["analyse", "--runs", "2"], ["datasheet"]])
def test_reading_does_not_change_a_database_of_something_else(
    tmp_path: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    small_study().save(tmp_path)
    path = tmp_path / "other.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE x (a)")
    before = path.read_bytes()
    status = main(["study", words[0], str(tmp_path), "--database", f"sqlite:///{path}", *words[1:]])
    told = capsys.readouterr()
    assert status == 0 if words == ["datasheet"] else (status == 2 and "nobody has rated yet" in told.err)
    assert path.read_bytes() == before
    assert {each.name for each in tmp_path.iterdir()} == {"study.json", "other.sqlite"}


def test_the_ratings_of_a_changed_study_are_refused(tmp_path: Path, database: str | None) -> None:
    opened(tmp_path, small_study(), database).close()
    small_study(items=3).save(tmp_path)
    with pytest.raises(StudyError, match="another study called 'a study'"):
        read_ratings(tmp_path, database)


def test_a_file_that_is_not_a_database_is_reported(tmp_path: Path) -> None:
    (tmp_path / "ratings.sqlite").write_text("item,system,rater\n" * 100)
    with pytest.raises(StudyError, match="not a database"):
        Storage.open(tmp_path, small_study(), None)


def test_a_database_with_a_damaged_page_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = small_study()
    study.save(tmp_path)
    storage = opened(tmp_path, study, None)
    storage.consent("r001")
    storage.answer("r001", 0, answers(study, "r001", 0))
    storage.close()
    damage(tmp_path / FILE, "dactnlg_ratings")
    for words in (["export", str(tmp_path)], ["analyse", str(tmp_path), "--runs", "2"]):
        assert main(["study", *words]) == 2
        assert "does not serve: database disk image is malformed" in capsys.readouterr().err


def test_sqlite_is_durable_and_stores_only_the_listed_columns(tmp_path: Path) -> None:
    storage = opened(tmp_path, small_study(), None)
    with storage._reading() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2  # FULL
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
    storage.close()
    # Nothing else is stored about raters.
    kept = "study rater token consented withdrawn page number answered sentence criterion value"
    with sqlite3.connect(tmp_path / "ratings.sqlite") as plain:
        tables_ = ("raters", "pages", "ratings")
        names = {row[1] for name in tables_ for row in plain.execute(f"PRAGMA table_info(dactnlg_{name})")}
    assert names == set(kept.split())
