"""The chat server as a process: twenty people at once, through two kill -9."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from chat_people import ChatProcess, Person, lacking, small_chats
from study_raters import rate_all, tokens

from dactnlg.serving.chat.storage import ChatStorage

PEOPLE, CHATS, TURNS = 20, 2, 3


@pytest.fixture
def server() -> Iterator[list[ChatProcess]]:
    """Give a list for the server that runs, and end it if the test fails."""
    running: list[ChatProcess] = []
    yield running
    for each in running:
        if each.alive:
            each.end(signal.SIGKILL)


def test_twenty_people_at_once_lose_nothing_when_the_server_is_killed(
    tmp_path: Path, random_run: Path, database: str | None, server: list[ChatProcess]
) -> None:
    study = small_chats((str(random_run), str(random_run)), PEOPLE, CHATS)
    study.save(tmp_path)
    arguments = () if database is None else ("--database", database)
    server.append(ChatProcess(tmp_path, *arguments))
    people = [Person(name, token, CHATS, TURNS) for name, token in tokens(tmp_path).items()]
    criteria = [criterion.name for criterion in study.criteria]
    wrong: list[str] = []
    everybody = threading.Thread(target=lambda: wrong.extend(rate_all(people, server, 90)))
    everybody.start()
    for share in (0.25, 0.6):
        while sum(p.acknowledged for p in people) < share * PEOPLE * CHATS * TURNS and everybody.is_alive():
            time.sleep(0.01)
        server[0].end(signal.SIGKILL)
        # What has been acknowledged is stored, before anybody repeats a request.
        storage = ChatStorage.open(tmp_path, study, database)
        assert lacking(people, storage.all_chats(), criteria) == []
        storage.close()
        server[0] = ChatProcess(tmp_path, *arguments, port=server[0].port)
    everybody.join()
    assert wrong == []
    storage = ChatStorage.open(tmp_path, study, database)
    chats = storage.all_chats()
    assert lacking(people, chats, criteria) == []
    # Nothing is stored twice, and nothing else is stored.
    assert len(chats) == PEOPLE * CHATS
    for chat in chats:
        noted = people[study.place_of[chat.rater]].noted[chat.number]
        assert list(chat.texts) == noted.texts
        assert dict(chat.votes) == {place: vote for place, vote in noted.votes.items() if vote}
        assert chat.system == study.system(chat.rater, chat.number)
    storage.close()
    assert sum(person.retries for person in people) > 0
    assert server[0].end() == 0
