"""A study, its server as a process, and simulated raters over HTTP, for `study_server.py` and the server's tests."""

from __future__ import annotations

import csv
import http.client
import re
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Protocol
from urllib.parse import urlencode, urlsplit

from dactnlg.studies.study import Criterion, Scale, Study, StudyItem, StudyPage, StudyRater, StudySystem

SYSTEMS = ("secret-alpha", "secret-beta", "secret-gamma")
OWNER = "an-owner-token-of-a-test"


def small_study(design: str = "likert", raters: int = 3, items: int = 4) -> Study:
    """Return a study with an attention check and three systems, two of which say the same for the second item."""
    pairwise = design == "pairwise"
    said = [
        {name: f"The <b>place</b> {number} of voice {at}." for at, name in enumerate(SYSTEMS)}
        for number in range(items)
    ]
    said[1]["secret-gamma"] = said[1]["secret-alpha"]
    found = [
        StudyItem(
            id=f"item-{at}", corpus="trails", act="inform(name=x)", words=f"say the name: {at}\nbriefly", sentences=s
        )
        for at, s in enumerate(said)
    ]
    names = ("check", "check-other") if pairwise else ("check",)
    check = StudyItem(
        id="check-1", words="do it", sentences={n: f"Take {len(n)}." for n in names}, check=1 if pairwise else 2
    )
    scale = {"likert": Scale(low=1, high=5), "continuous": Scale(low=0, high=100, step=0.5), "pairwise": None}[design]
    everybody = []
    for rater in range(1, raters + 1):
        pages = []
        for number, item in enumerate([*found[:2], check, *found[2:]], 1):
            shown = list(dict.fromkeys(item.sentences.values()))
            first = [next(n for n, text in item.sentences.items() if text == each) for each in shown][
                : 2 if pairwise else 3
            ]
            turned = tuple(reversed(first)) if rater % 2 else tuple(first)
            pages.append(StudyPage(id=f"r{rater:03}-{number:03}", item=item.id, systems=turned))
        everybody.append(StudyRater(id=f"r{rater:03}", pages=tuple(pages)))
    return Study(
        name="a study",
        seed=1,
        design=design,  # type: ignore[arg-type]
        scale=scale,
        criteria=(
            Criterion(name="quality", question="How good is it?", low_label="bad", high_label="good"),
            Criterion(name="naturalness", question="Could a person say it?"),
        ),
        instructions="Judge.\nTake your time.",
        consent="I agree.",
        systems=tuple(StudySystem(name=name) for name in SYSTEMS),
        items=(*found, check),
        raters=tuple(everybody),
    )


class StudyProcess:
    """`dactnlg study serve` as a process.

    Args:
        folder: the study's folder.
        arguments: further arguments of the command.
        port: 0 for any free port.
    """

    command = ("study", "serve")

    def __init__(self, folder: Path, *arguments: str, port: int = 0) -> None:
        command = [sys.executable, "-m", "dactnlg", *self.command, str(folder), "--port", str(port)]
        command += ["--owner-token", OWNER, *arguments]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line.startswith("http"):
            raise RuntimeError(f"the server did not start: {line!r}")
        self.address = urlsplit(line.split()[0]).netloc
        self.port = int(self.address.rpartition(":")[2])
        self.pid = self._process.pid
        self._wait()

    def _wait(self) -> None:
        """Wait until the server answers."""
        connection = http.client.HTTPConnection(self.address, timeout=60)
        connection.request("GET", "/common/base.css")
        connection.getresponse().read()
        connection.close()

    @property
    def alive(self) -> bool:
        """Whether the process is running."""
        return self._process.poll() is None

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and return the exit code."""
        self._process.send_signal(number)
        self._process.communicate(timeout=60)
        return self._process.returncode


@contextmanager
def serving(folder: Path, *arguments: str, kind: type[StudyProcess] = StudyProcess) -> Iterator[StudyProcess]:
    """Start a server for the body of a `with` statement, and kill it afterwards."""
    process = kind(folder, *arguments)
    try:
        yield process
    finally:
        if process.alive:
            process.end(signal.SIGKILL)


def tokens(folder: Path) -> dict[str, str]:
    """Return the token of each rater."""
    with (folder / "links.csv").open(encoding="utf-8", newline="") as file:
        return {row["rater"]: row["token"] for row in csv.DictReader(file)}


def value_of(rater: str, page: int, field: str, values: tuple[str, ...]) -> str:
    """Return the answer of a rater, which is always the same to the same question."""
    return values[zlib.crc32(f"{rater} {page} {field}".encode()) % len(values)]


class Rater:
    """A rater who reads pages and sends forms, and notes what is acknowledged.

    Args:
        name: `r001` and so on.
        token: the secret part of the link.
    """

    def __init__(self, name: str, token: str) -> None:
        self.name, self.path = name, f"/r/{token}"
        self.acknowledged: dict[int, dict[str, str]] = {}
        self.done = False

    def step(self, connection: http.client.HTTPConnection) -> None:
        """Read the next page and answer it; some pages are sent twice, as by a double click."""
        status, text = request(connection, "GET", self.path)
        if status != 200:
            raise RuntimeError(f"{status}: {text[:200]}")
        if "Thank you" in text:
            self.done = True
            return
        if f'action="{self.path}/consent"' in text:
            self._expect(303, *request(connection, "POST", f"{self.path}/consent", {"agree": "yes"}))
            return
        found = re.search(rf'action="{self.path}/pages/(\d+)"', text)
        if not found:
            raise RuntimeError(text)
        page = int(found[1])
        form = self.answers(text, page)
        for _ in range(1 + page % 2):
            self._expect(303, *request(connection, "POST", f"{self.path}/pages/{page}", form))
            self.acknowledged[page] = form

    def answers(self, text: str, page: int) -> dict[str, str]:
        """Return the completed form of a page."""
        choices: dict[str, list[str]] = {}
        for name, value in re.findall(r'type="radio" name="(\w+)" value="([^"]*)"', text):
            choices.setdefault(name, []).append(value)
        for name in re.findall(r'type="number" name="(\w+)"', text):
            choices[name] = ["0", "12.5", "50", "100"]
        return {field: value_of(self.name, page, field, tuple(values)) for field, values in choices.items()}

    @staticmethod
    def _expect(wanted: int, status: int, text: str) -> None:
        if status != wanted:
            raise RuntimeError(f"{status}: {text[:300]}")


def request(
    connection: http.client.HTTPConnection,
    method: str,
    path: str,
    form: dict[str, str] | None = None,
    accept: str = "text/html",
) -> tuple[int, str]:
    """Send a request as a browser would, and return status and text."""
    headers = {"Accept": accept}
    if form is not None:
        headers |= {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}
    connection.request(method, path, urlencode(form) if form is not None else None, headers)
    answer = connection.getresponse()
    return answer.status, answer.read().decode("utf-8")


def answered(form: dict[str, str]) -> dict[tuple[int, str], float]:
    """Return the values, by place and criterion, that the database should hold of a form of `small_study`."""
    criteria = ("quality", "naturalness")
    found = {}
    for field, value in form.items():
        place, _, criterion = field.removeprefix("s").rpartition("q")
        if place:
            found[int(place) - 1, criteria[int(criterion) - 1]] = float(value)
            continue
        for at, points in enumerate({"first": (1.0, 0.0), "second": (0.0, 1.0), "tie": (0.5, 0.5)}[value]):
            found[at, criteria[int(criterion) - 1]] = points
    return found


class Participant(Protocol):
    """Somebody who opens a link and goes on in steps until they are done."""

    name: str
    path: str
    done: bool

    def step(self, connection: http.client.HTTPConnection) -> None:
        """Send what comes next.

        Raises:
            OSError, HTTPException: the server was killed; the step is tried again.
            RuntimeError: the answer is wrong.
        """


def rate_all(people: Sequence[Participant], server: list[StudyProcess], seconds: float) -> list[str]:
    """Run all participants at once, each in a thread, through crashes of the server; return what went wrong.

    Args:
        people: raters of a study, or people who chat.
        server: the running server, which another thread may replace.
        seconds: how long they try.
    """
    wrong: list[str] = []

    def rate(person: Participant) -> None:
        until = time.monotonic() + seconds
        while not person.done:
            connection = http.client.HTTPConnection(server[0].address, timeout=60)
            try:
                status, _ = request(connection, "GET", person.path)
                if status != 200:
                    raise RuntimeError(f"the link is answered with {status}")
                while not person.done:
                    person.step(connection)
            except (OSError, http.client.HTTPException):
                # The server was killed: they open the link again.
                if time.monotonic() > until:
                    wrong.append(f"{person.name} did not finish")
                    return
                time.sleep(0.1)
            except RuntimeError as error:
                wrong.append(f"{person.name}: {error}")
                return
            finally:
                connection.close()

    threads = [Thread(target=rate, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return wrong
