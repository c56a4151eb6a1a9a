"""A study of chats, its server as a process, and simulated people over HTTP, for `chat.py` and the server's tests."""

from __future__ import annotations

import http.client
import json
import time
import zlib
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from study_raters import StudyProcess, request, serving

from dactnlg.serving.chat.conversation import Chat
from dactnlg.serving.chat.create import create
from dactnlg.serving.chat.study import ChatLimits, ChatStudy
from dactnlg.studies.study import StudySystem

SYSTEMS = ("secret-alpha", "secret-beta")
MESSAGES = (
    "Hi there!", "I want something easy.", "Can I bring my dog?", "What about the north?", "It does not matter.",
    "<b>Is it</b> called Red Kite & Co?", "What's the phone number?", "ok", "¿Dónde? 🥾", "Thank you, goodbye.",
)  # fmt: skip
FIELDS = tuple(f"q{number}" for number in range(1, 6))


def small_chats(sources: Sequence[str] = ("", ""), people: int = 3, chats: int = 2, **limits: int) -> ChatStudy:
    """Return a study of two systems.

    Args:
        sources: their run folders.
        people: how many people take part.
        chats: conversations of each person.
        **limits: fields of `ChatLimits`.
    """
    systems = [StudySystem(name=name, source=source) for name, source in zip(SYSTEMS, sources, strict=True)]
    return create(
        "a study of chats", systems, people, chats=chats, limits=ChatLimits(**{"per_minute": 1000} | limits), seed=1
    )


class ChatProcess(StudyProcess):
    """`dactnlg chat serve` as a process."""

    command = ("chat", "serve")


chatting = partial(serving, kind=ChatProcess)
"""Start a server of chats for the body of a `with` statement, and kill it afterwards."""


@dataclass
class Noted:
    """What the server has acknowledged of one conversation: texts, votes that count, and ratings by field.

    Attributes:
        flying: the answer whose vote was sent but not acknowledged, so that it may or may not count.
    """

    texts: list[str] = field(default_factory=list)
    votes: dict[int, int] = field(default_factory=dict)
    ratings: dict[str, str] = field(default_factory=dict)
    flying: int | None = None

    def lacks(self, kept: Chat | None, criteria: Sequence[str]) -> list[str]:
        """Return how a stored conversation differs from what was acknowledged; it may contain more."""
        flying = self.flying
        if kept is None:
            return ["everything"] if self.texts else []
        wrong = []
        if list(kept.texts[: len(self.texts)]) != self.texts:
            wrong.append(f"texts {self.texts}, kept {kept.texts}")
        if any(kept.votes.get(place, 0) != vote for place, vote in self.votes.items() if place != flying):
            wrong.append(f"votes {self.votes}, kept {dict(kept.votes)}")
        values = {name: float(self.ratings[at]) for at, name in zip(FIELDS, criteria, strict=True) if self.ratings}
        if self.ratings and dict(kept.ratings) != values:
            wrong.append(f"ratings {values}, kept {dict(kept.ratings)}")
        return wrong


class Action(NamedTuple):
    """One request: its path, its form, and whether the answer is JSON."""

    path: str
    form: dict[str, str]
    json: bool = False


class Person:
    """Somebody who chats, votes and rates, notes what is acknowledged, and sends again what was not answered.

    Args:
        name: `r001` and so on; decides what they say.
        token: the secret part of the link.
        chats: how many conversations.
        turns: messages in each.

    Attributes:
        waits: for each message, the seconds until its answer.
    """

    def __init__(self, name: str, token: str, chats: int = 2, turns: int = 4) -> None:
        self.name, self.path, self._chats, self._turns = name, f"/r/{token}", chats, turns
        self.noted: dict[int, Noted] = {}
        self.done, self.retries = False, 0
        self.waits: list[float] = []
        self._script = self._steps()
        self._next = next(self._script)
        self._tried = False

    @property
    def acknowledged(self) -> int:
        """The number of messages that were answered."""
        return sum(len(noted.texts) // 2 for noted in self.noted.values())

    def step(self, connection: http.client.HTTPConnection) -> None:
        """Send the next request, or the last one again if it was not answered."""
        action = self._next
        self.retries += self._tried
        self._tried = True
        begun = time.perf_counter()
        accept = "application/json" if action.json else "*/*"
        status, text = request(connection, "POST", action.path, action.form, accept)
        if status == 503:
            raise ConnectionError(text)
        if status != (200 if action.json else 303):
            raise RuntimeError(f"{action}: {status}: {text[:300]}")
        self._tried = False
        if action.path.endswith("/messages"):
            self.waits.append(time.perf_counter() - begun)
        try:
            self._next = self._script.send(json.loads(text) if action.json else {})
        except StopIteration:
            self.done = True

    def _steps(self) -> Generator[Action, dict[str, Any]]:
        yield Action(f"{self.path}/consent", {"agree": "yes"})
        for number in range(1, self._chats + 1):
            here = f"{self.path}/chats/{number}"
            yield Action(here, {"begin": "yes"})
            noted = self.noted[number] = Noted()
            for turn in range(self._turns):
                yield from self._say(here, noted, number, turn)
            ratings = {at: str(self._draw(number, at) % 7 + 1) for at in FIELDS}
            for _ in range(2):
                yield Action(f"{here}/rating", ratings)
                noted.ratings = ratings

    def _say(self, here: str, noted: Noted, number: int, turn: int) -> Generator[Action, dict[str, Any]]:
        drawn = self._draw(number, turn)
        form = {"id": f"message-{turn}", "text": MESSAGES[drawn % len(MESSAGES)]}
        for _ in range(1 + drawn % 2):
            content = yield Action(f"{here}/messages", form, json=True)
            said = [content["text"], content["answer"]]
            if content["place"] != 2 * turn or noted.texts[2 * turn :] not in ([], said):
                raise RuntimeError(f"message {turn} has another answer: {content}")
            noted.texts[2 * turn :] = said
        # Up, up twice, down after up, or nothing: the same vote again withdraws it, another one replaces it.
        place = 2 * turn + 1
        for click, vote in enumerate((("up",), ("up", "up"), ("up", "down"), ())[drawn // 2 % 4]):
            value = 1 if vote == "up" else -1
            wanted = 0 if noted.votes.get(place) == value else value
            form = {"id": f"vote-{place}-{click}", "place": str(place), "vote": vote}
            noted.flying = place
            for _ in range(1 + click % 2):
                content = yield Action(f"{here}/votes", form, json=True)
                if content["vote"] != wanted:
                    raise RuntimeError(f"vote {vote} stands as {content['vote']}, not {wanted}")
            noted.votes[place] = wanted
            noted.flying = None

    def _draw(self, *what: object) -> int:
        return zlib.crc32(f"{self.name} {what}".encode())


def lacking(people: Sequence[Person], chats: Sequence[Chat], criteria: Sequence[str]) -> list[str]:
    """Return what was acknowledged to people and is missing from the stored conversations or differs there."""
    kept = {(chat.rater, chat.number): chat for chat in chats}
    return [
        f"{person.name}-{number}: {each}"
        for person in people
        for number, noted in list(person.noted.items())
        for each in noted.lacks(kept.get((person.name, number)), criteria)
    ]
