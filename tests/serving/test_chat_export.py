"""Exported chats: conversations that self-play's reader accepts, and tables for `study analyse`."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from chat_people import SYSTEMS, small_chats
from helpers import damage
from sqlalchemy import event

from dactnlg._utils.web.tokens import digest
from dactnlg.cli.main import main
from dactnlg.dialogue.conversations import read_conversations
from dactnlg.serving.chat.storage import ChatStorage
from dactnlg.studies.ratings import Ratings

PEOPLE, CHATS = 12, 2


@pytest.fixture(scope="module")
def chats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A chat study whose participants rate the second system two points higher, and vote accordingly."""
    folder, study = tmp_path_factory.mktemp("study") / "chats", small_chats(people=PEOPLE, chats=CHATS)
    study.save(folder)
    storage = ChatStorage.open(folder, study)
    storage.set_links({rater: digest(rater) for rater in study.place_of})
    for place, rater in enumerate(study.place_of):
        storage.consent(rater)
        for number in range(1, CHATS + 1):
            storage.begin(rater, number)
            better = study.system(rater, number) == SYSTEMS[1]
            for turn in range(3):
                storage.say(rater, number, f"message-{turn}", f'It "said", {turn}\u2028')
                storage.answer(rater, number, 2 * turn + 1, f"Nr. {turn}; <b>é</b>")
            storage.vote(rater, number, "the-first-vote", 1, 1 if better else -1)
            storage.vote(rater, number, "another-vote", 3, 1)
            storage.vote(rater, number, "a-vote-cleared", 3, 1)
            if (rater, number) != ("r012", 2):
                ratings = {each.name: 2.0 + 2 * better + (place + at) % 3 for at, each in enumerate(study.criteria)}
                storage.rate(rater, number, ratings)
    storage.close()
    return folder


@pytest.fixture
def folder(chats: Path, tmp_path: Path) -> Path:
    """A folder with a copy of the study in `chats`."""
    shutil.copytree(chats, tmp_path / "chats")
    return tmp_path


def test_exported_conversations_votes_and_ratings_can_be_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = folder / "said"
    assert main(["chat", "export", str(folder / "chats"), "--output", str(said)]) == 0
    assert "24 conversations, 23 of them rated, 24 votes" in capsys.readouterr().err
    talks = read_conversations(said / "conversations.jsonl")
    assert len(talks) == PEOPLE * CHATS
    assert {talk.bot for talk in talks} == set(SYSTEMS)
    first = talks[0]
    assert [turn.speaker for turn in first.turns] == ["user", "bot"] * 3
    assert first.turns[1].text == "Nr. 0; <b>é</b>"
    assert first.turns[0].text == 'It "said", 0\u2028'
    assert [turn.more.get("vote") for turn in first.turns[1::2]] == [1 if first.bot == SYSTEMS[1] else -1, None, None]
    assert first.more["id"] == "r001-01" and set(first.more["ratings"]) > {"quality", "empathy"}
    assert "ratings" not in talks[-1].more
    ratings, votes = Ratings.read(said / "ratings.csv"), Ratings.read(said / "votes.csv")
    assert (len(ratings.rows), len(votes.rows)) == (23 * 5, 24)
    by_talk = {talk.more["id"]: talk for talk in talks}
    for row in ratings.rows:
        talk = by_talk[row["output"]]
        assert (talk.bot, talk.more["rater"]) == (row["system"], row["rater"])
        assert talk.more["ratings"][row["criterion"]] == row["value"]
    assert {(row["system"], row["value"]) for row in votes.rows} == {(SYSTEMS[0], -1.0), (SYSTEMS[1], 1.0)}
    # Nothing is overwritten.
    assert main(["chat", "export", str(folder / "chats"), "--output", str(said)]) == 2


@pytest.mark.parametrize("table", ["ratings", "votes"])
def test_study_analyse_reads_exported_tables(folder: Path, table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chat", "export", str(folder / "chats"), "--output", str(folder / "said")]) == 0
    capsys.readouterr()
    found = folder / "found.json"
    arguments = ["--criterion", "quality"] if table == "ratings" else []
    assert main(["study", "analyse", str(folder / f"said/{table}.csv"), *arguments, "--json", str(found)]) == 0
    told = capsys.readouterr()
    assert all(system in told.out for system in SYSTEMS)
    assert json.loads(found.read_text(encoding="utf-8"))
    if table == "ratings":
        # Systems are compared within a person: all twelve but the one who left a chat unrated.
        shares = next(line for line in told.out.splitlines() if line.startswith(f"quality    all     {SYSTEMS[1]}"))
        assert "5.00" in shares
        assert re.search(rf"quality +all +{SYSTEMS[0]} +{SYSTEMS[1]} +0.*100.*11\n", told.out)


def test_a_chat_database_with_a_damaged_page_is_reported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damage(folder / "chats" / "ratings.sqlite", "dactnlg_utterances")
    assert main(["chat", "export", str(folder / "chats"), "--output", str(folder / "said")]) == 2
    assert "does not serve: database disk image is malformed" in capsys.readouterr().err


def test_an_export_without_chats_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small_chats().save(tmp_path)
    ChatStorage.open(tmp_path, small_chats()).close()
    assert main(["chat", "export", str(tmp_path), "--output", str(tmp_path / "said")]) == 2
    assert "nobody has chatted yet" in capsys.readouterr().err
    assert not (tmp_path / "said").exists()


def test_the_number_of_queries_does_not_grow_with_the_chats(folder: Path) -> None:
    storage, queries = ChatStorage.open(folder / "chats", small_chats(people=PEOPLE, chats=CHATS)), list[str]()
    event.listen(storage._engine, "after_cursor_execute", lambda *given: queries.append(given[2]))
    assert len(storage.all_chats()) == PEOPLE * CHATS
    assert sum(query.startswith("SELECT") for query in queries) == 4
    storage.close()


def test_chats_are_read_from_one_snapshot(tmp_path: Path, postgresql: Callable[[], str]) -> None:
    study, database = small_chats(), postgresql()
    storage, other = (ChatStorage.open(tmp_path, study, database) for _ in range(2))
    storage.set_links({rater: f"hash of {rater}" for rater in study.place_of})
    for rater in ("r001", "r002"):
        storage.consent(rater)
        storage.begin(rater, 1)
        storage.say(rater, 1, "a-message", "hello")

    def leaving(*given: object) -> None:
        if "FROM dactnlg_chats" in str(given[2]):
            other.withdraw("r002")

    event.listen(storage._engine, "after_cursor_execute", leaving)
    assert [(chat.rater, chat.texts) for chat in storage.all_chats()] == [("r001", ("hello",)), ("r002", ("hello",))]
    event.remove(storage._engine, "after_cursor_execute", leaving)
    assert [chat.rater for chat in storage.all_chats()] == ["r001"]
    storage.close()
    other.close()
