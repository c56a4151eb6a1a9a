"""The study server as a process: fifty raters at once, through two kill -9, and bad requests."""

from __future__ import annotations

import http.client
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from study_raters import Rater, StudyProcess, answered, rate_all, request, serving, small_study, tokens
from study_requests import Target, bad_requests, from_openapi, send, send_raw

from dactnlg.studies.storage import Storage


@pytest.fixture
def server() -> Iterator[list[StudyProcess]]:
    """Give a list for the server that runs, and end it if the test fails."""
    running: list[StudyProcess] = []
    yield running
    for each in running:
        if each.alive:
            each.end(signal.SIGKILL)


def test_fifty_raters_at_once_lose_nothing_when_the_server_is_killed(
    tmp_path: Path, database: str | None, server: list[StudyProcess]
) -> None:
    study = small_study("likert", raters=50, items=6)
    study.save(tmp_path)
    arguments = () if database is None else ("--database", database)
    server.append(StudyProcess(tmp_path, *arguments))
    raters = [Rater(name, token) for name, token in tokens(tmp_path).items()]
    wrong: list[str] = []
    everybody = threading.Thread(target=lambda: wrong.extend(rate_all(raters, server, 60)))
    everybody.start()
    for share in (0.2, 0.6):
        while sum(len(rater.acknowledged) for rater in raters) < share * 50 * 7 and everybody.is_alive():
            time.sleep(0.01)
        server[0].end(signal.SIGKILL)
        # What has been acknowledged is stored, before anybody repeats a request.
        before = {rater.name: dict(rater.acknowledged) for rater in raters}
        storage = Storage.open(tmp_path, study, database)
        assert not lost(before, storage)
        storage.close()
        server[0] = StudyProcess(tmp_path, *arguments, port=server[0].port)
    everybody.join()
    assert wrong == []
    storage = Storage.open(tmp_path, study, database)
    assert not lost({rater.name: rater.acknowledged for rater in raters}, storage)
    # Nothing is stored twice, and nothing else: there are as many rows as questions.
    expected = sum(2 * len(page.systems) for rater in study.raters for page in rater.pages)
    assert sum(map(len, storage.values().values())) == expected
    assert {state.answered for state in storage.states().values()} == {7}
    storage.close()
    assert server[0].end() == 0


def lost(acknowledged: dict[str, dict[int, dict[str, str]]], storage: Storage) -> list[str]:
    """Return the pages whose acknowledged answers are not those in the database."""
    kept = storage.values()
    return [
        f"{rater}-{page:03}"
        for rater, pages in acknowledged.items()
        for page, form in pages.items()
        if kept.get(f"{rater}-{page:03}") != answered(form)
    ]


def test_a_thousand_bad_requests_get_a_4xx_and_change_nothing(tmp_path: Path) -> None:
    study = small_study(raters=3)
    study.save(tmp_path)
    with serving(tmp_path) as server:
        links = tokens(tmp_path)
        rater = Rater("r001", links["r001"])
        connection = http.client.HTTPConnection(server.address, timeout=30)
        for _ in range(3):
            rater.step(connection)
        form = rater.answers(request(connection, "GET", f"/r/{links['r001']}")[1], 3)
        connection.close()
        target = Target(server.address, links["r001"], links["r002"], 3, 5, form)
        outcomes = [
            send(target, bad_requests(target, 1), 800),
            send_raw(target, 40, 1),
            from_openapi(target, 25),
        ]
        for outcome in outcomes:
            assert outcome.wrong == []
        assert sum(sum(outcome.statuses.values()) for outcome in outcomes) > 900
        assert server.alive
        storage = Storage.open(tmp_path, study, None)
        assert not lost({"r001": rater.acknowledged}, storage)
        assert set(storage.values()) == {"r001-001", "r001-002"}
        assert not storage.state("r002").consented
        storage.close()
        # The rater can still go on.
        assert rate_all([rater], [server], 20) == []
