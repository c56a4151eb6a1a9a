"""The server of a study under load: fifty raters while it is killed again and again, then 20,000 bad requests.

    python benchmarks/study_server.py [--items 120] [--requests 20000] [--postgresql URL]

For each database fifty raters answer 120 items each over loopback, each in a thread, and send some pages twice. The
server is killed (kill -9) ten times, and after each kill the database is checked for everything that the server has
acknowledged. Then bad requests are sent: each must be answered with a 4xx, and memory must stay constant.
"""

from __future__ import annotations

import argparse
import http.client
import signal
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from common import resident
from study_raters import Rater, StudyProcess, answered, rate_all, request, small_study, tokens
from study_requests import Target, bad_requests, from_openapi, send, send_raw

from dactnlg.studies.storage import Storage

RATERS = 50
KILLS = 10


def main() -> None:
    """Print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=120, help="items that each rater answers")
    parser.add_argument("--requests", type=int, default=20_000, help="bad requests")
    parser.add_argument("--postgresql", metavar="URL", help="of an empty database, which is tried after SQLite")
    given = parser.parse_args()
    for database in (None, given.postgresql) if given.postgresql else (None,):
        crashes(given.items, database)
    refusals(given.requests)


def crashes(items: int, database: str | None) -> None:
    """Let raters answer while the server is killed, and print what was lost."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        study = small_study("likert", RATERS, items)
        study.save(folder)
        arguments = ("--database", database) if database else ()
        server = [StudyProcess(folder, *arguments)]
        raters = [Rater(rater, token) for rater, token in tokens(folder).items()]
        wrong: list[str] = []
        pages = sum(len(rater.pages) for rater in study.raters)
        begun = time.perf_counter()
        everybody = threading.Thread(target=lambda: wrong.extend(rate_all(raters, server, 600)))
        everybody.start()
        lost = kills = 0
        for kill in range(KILLS):
            wanted = (kill + 0.5) / KILLS * pages
            while sum(len(rater.acknowledged) for rater in raters) < wanted and everybody.is_alive():
                time.sleep(0.01)
            if not everybody.is_alive():
                break
            server[0].end(signal.SIGKILL)
            kills += 1
            lost += missing(raters, study, folder, database)
            server[0] = StudyProcess(folder, *arguments, port=server[0].port)
        everybody.join()
        seconds = time.perf_counter() - begun
        lost += missing(raters, study, folder, database)
        storage = Storage.open(folder, study, database)
        rows = sum(map(len, storage.values().values()))
        storage.close()
        questions = sum(2 * len(page.systems) for rater in study.raters for page in rater.pages)
        server[0].end()
        kind = "PostgreSQL" if database else "SQLite"
        print(
            f"{kind}: {RATERS} raters, {pages:,} pages, {kills} kills, {pages / seconds:.0f} pages/s: "
            f"{lost} acknowledged pages lost; {rows:,} values for {questions:,} questions; errors: {wrong or 'none'}"
        )


def missing(raters: list[Rater], study: object, folder: Path, database: str | None) -> int:
    """Return how many acknowledged pages are missing from the database or differ there."""
    acknowledged = {(rater.name, page): form for rater in raters for page, form in dict(rater.acknowledged).items()}
    storage = Storage.open(folder, study, database)  # type: ignore[arg-type]
    kept = storage.values()
    storage.close()
    return sum(kept.get(f"{name}-{page:03}") != answered(form) for (name, page), form in acknowledged.items())


def refusals(count: int) -> None:
    """Send bad requests; print the statuses of the answers, and the memory before and after."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small_study(raters=3).save(folder)
        server = StudyProcess(folder)
        links = tokens(folder)
        rater = Rater("r001", links["r001"])
        connection = http.client.HTTPConnection(server.address, timeout=30)
        for _ in range(3):
            rater.step(connection)
        form = rater.answers(request(connection, "GET", f"/r/{links['r001']}")[1], 3)
        target = Target(server.address, links["r001"], links["r002"], 3, 5, form)
        statuses: Counter[int] = Counter()
        wrong: list[str] = []
        first = send(target, bad_requests(target, 1), count // 10)
        before, begun = resident(server.pid), time.perf_counter()
        for outcome in (
            first,
            send(target, bad_requests(target, 2), count - count // 10),
            send_raw(target, count // 20, 3),
            from_openapi(target, count // 100),
        ):
            statuses += outcome.statuses
            wrong += outcome.wrong
        seconds = time.perf_counter() - begun
        told = ", ".join(f"{status}: {times:,}" for status, times in sorted(statuses.items()))
        print(f"{sum(statuses.values()):,} bad requests in {seconds:.0f} s: {told}; other than 4xx: {wrong or 'none'}")
        print(f"resident memory {before:.0f} MB before, {resident(server.pid):.0f} MB after; alive: {server.alive}")
        server.end()


if __name__ == "__main__":
    main()
