"""The server of chats under load: twenty people at once while it is killed again and again, then hostile requests.

    python benchmarks/chat.py [--run FOLDER] [--chats 6] [--turns 12] [--requests 20000] [--postgresql URL]

For each database twenty people chat, vote and rate over loopback, each in a thread, and send some requests twice. The
server is killed (kill -9) ten times, and after each kill the database is checked for everything that the server has
acknowledged. The systems are two runs of a small corpus, random baselines by default, since the server is what is
measured. Then hostile requests are sent: each must be answered with a 2xx, 3xx or 4xx, and memory must stay constant.
"""

from __future__ import annotations

import argparse
import http.client
import signal
import tempfile
import threading
import time
from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
from chat_people import ChatProcess, Person, lacking, small_chats
from chat_requests import hostile_requests
from common import resident
from study_raters import rate_all, request, tokens

from dactnlg import models
from dactnlg.runs.config import load_config
from dactnlg.serving.chat.storage import ChatStorage
from dactnlg.serving.chat.study import ChatStudy
from dactnlg.training.train import train

PEOPLE = 20
KILLS = 10


def main() -> None:
    """Print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, help="the run that talks [default: a random baseline]")
    parser.add_argument("--chats", type=int, default=6, help="conversations of each person")
    parser.add_argument("--turns", type=int, default=12, help="a person's messages in a conversation")
    parser.add_argument("--requests", type=int, default=20_000, help="hostile requests")
    parser.add_argument("--postgresql", metavar="URL", help="of an empty database, which is tried after SQLite")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        run = given.run or train(load_config("trails-random", [], models), Path(name) / "run", progress=False).path
        for database in (None, given.postgresql) if given.postgresql else (None,):
            crashes(run, given.chats, given.turns, database)
        refusals(run, given.requests)


def crashes(run: Path, chats: int, turns: int, database: str | None) -> None:
    """Let people chat while the server is killed, and print what was lost."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        study = small_chats((str(run), str(run)), PEOPLE, chats)
        study.save(folder)
        arguments = ("--database", database) if database else ()
        server = [ChatProcess(folder, *arguments)]
        people = [Person(person, token, chats, turns) for person, token in tokens(folder).items()]
        wrong: list[str] = []
        messages = PEOPLE * chats * turns
        begun = time.perf_counter()
        everybody = threading.Thread(target=lambda: wrong.extend(rate_all(people, server, 600)))
        everybody.start()
        lost, kills = list[str](), 0
        for kill in range(KILLS):
            wanted = (kill + 0.5) / KILLS * messages
            while sum(person.acknowledged for person in people) < wanted and everybody.is_alive():
                time.sleep(0.01)
            if not everybody.is_alive():
                break
            server[0].end(signal.SIGKILL)
            kills += 1
            lost += missing(people, study, folder, database)
            server[0] = ChatProcess(folder, *arguments, port=server[0].port)
        everybody.join()
        seconds = time.perf_counter() - begun
        lost += missing(people, study, folder, database)
        storage = ChatStorage.open(folder, study, database)
        kept = storage.all_chats()
        storage.close()
        server[0].end()
        texts = sum(len(chat.texts) for chat in kept)
        waits = np.array([wait for person in people for wait in person.waits]) * 1000
        half, most = np.percentile(waits, [50, 95])
        retries = sum(person.retries for person in people)
        print(
            f"{'PostgreSQL' if database else 'SQLite'}: {PEOPLE} people, {messages:,} messages in {len(kept)} chats, "
            f"{kills} kills, {retries} requests without an answer sent again, {seconds:.0f} s: {len(lost)} lost; "
            f"{texts:,} texts for {2 * messages:,}; answers after {half:.0f} ms (median), {most:.0f} ms (95%); "
            f"errors: {[*lost[:3], *wrong] or 'none'}"
        )


def missing(people: list[Person], study: ChatStudy, folder: Path, database: str | None) -> list[str]:
    """Return what was acknowledged and is missing from the database or differs there."""
    storage = ChatStorage.open(folder, study, database)
    chats = storage.all_chats()
    storage.close()
    return lacking(people, chats, [criterion.name for criterion in study.criteria])


def refusals(run: Path, count: int) -> None:
    """Send hostile requests; print the statuses of the answers, and the memory before and after."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small_chats((str(run), str(run)), people=1, most_turns=1000).save(folder)
        server = ChatProcess(folder)
        (token,) = tokens(folder).values()
        connection = http.client.HTTPConnection(server.address, timeout=60)
        request(connection, "POST", f"/r/{token}/consent", {"agree": "yes"})
        statuses: Counter[int] = Counter()
        before, begun = 0.0, time.perf_counter()
        for number, hostile in enumerate(islice(hostile_requests(f"/r/{token}", 1), count)):
            if number == count // 10:
                before = resident(server.pid)
            try:
                connection.request(hostile.method, hostile.path, hostile.body, hostile.headers)
                answer = connection.getresponse()
                answer.read()
                statuses[answer.status] += 1
            except (OSError, http.client.HTTPException):
                # The server closes the connection when it refuses a body without reading it.
                connection.close()
                statuses[0] += 1
        seconds = time.perf_counter() - begun
        told = ", ".join(f"{status or 'closed'}: {times:,}" for status, times in sorted(statuses.items()))
        wrong = sum(times for status, times in statuses.items() if status >= 500)
        print(f"{count:,} hostile requests in {seconds:.0f} s: {told}; 5xx: {wrong or 'none'}")
        print(f"resident memory {before:.0f} MB before, {resident(server.pid):.0f} MB after; alive: {server.alive}")
        server.end()


if __name__ == "__main__":
    main()
