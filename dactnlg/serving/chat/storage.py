"""Storage of chats in the database of a study, SQLite or PostgreSQL; whatever was acknowledged is on disk."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import ColumnElement, Row, Table, func, insert, select, update
from sqlalchemy.engine import Connection, Engine

from dactnlg.serving.chat.conversation import Chat, ChatterState
from dactnlg.serving.chat.study import ChatStudy
from dactnlg.serving.chat.tables import chats, utterances, verdicts, votes
from dactnlg.studies.database import connect
from dactnlg.studies.enrolment import Enrolment, OutOfOrder
from dactnlg.studies.storage import AnswersConflict
from dactnlg.studies.study import StudyError
from dactnlg.studies.tables import raters

Vote = Literal[1, -1]
MINUTE = 60


class TooManyMessages(StudyError):
    """A person has sent too many messages within a minute.

    Attributes:
        wait: seconds until the next message is accepted.
    """

    def __init__(self, most: int, wait: int) -> None:
        super().__init__(f"more than {most} messages in a minute; please wait {wait} seconds")
        self.wait = wait


class ChatStorage(Enrolment):
    """The chats of one study.

    Every change first locks the person's row, so that concurrent requests of a person see each other's changes.

    Args:
        engine: the database, from `database.connect`.
        study: the study.
    """

    def __init__(self, engine: Engine, study: ChatStudy) -> None:
        super().__init__(engine, study.digest, study.name, (verdicts, votes, utterances, chats))
        self._study = study

    @classmethod
    def open(cls, folder: Path, study: ChatStudy, database: str | None = None) -> ChatStorage:
        """Open the database of a study, creating it if missing; see `studies.storage.Storage.open`.

        Raises:
            StudyError: the address is invalid, the database cannot be reached, or it holds answers to a different
                study with this name.
        """
        with connect(folder, database) as engine:
            return cls(engine, study).enter()

    def state(self, rater: str) -> ChatterState:
        """Return the progress of a person."""
        with self._reading() as connection:
            columns = select(raters.c.consented, raters.c.withdrawn).where(self._is(rater))
            row = connection.execute(columns).one_or_none()
            if row is None:
                return ChatterState(rater)
            return ChatterState(
                rater, row.consented is not None, row.withdrawn is not None, self._latest(connection, rater)
            )

    def begin(self, rater: str, number: int) -> None:
        """Begin a conversation; does nothing if it has begun already.

        Raises:
            OutOfOrder: it is not the person's next one, or they have not agreed to take part, or have withdrawn.
        """
        with self._writing() as connection:
            self._lock(connection, rater)
            latest = self._latest(connection, rater)
            begun = 0 if latest is None else latest.number
            if number <= begun:
                return
            if number > begun + 1 or number > self._study.chats or (latest is not None and not latest.rated):
                raise OutOfOrder("please rate the conversation that you are in first, and open your link again")
            row = {"study": self._key, "rater": rater, "chat": number, "begun": int(time.time())}
            connection.execute(insert(chats).values(**row, system=self._study.system(rater, number)))

    def say(self, rater: str, number: int, request: str, text: str) -> tuple[Chat, int]:
        """Store a person's message; a retry changes nothing.

        Args:
            rater: the person.
            number: the number of the conversation.
            request: id of the message, the same in every retry.
            text: the message.

        Returns:
            The conversation, and the index of the message in it; if it is the last text, it has no answer yet.

        Raises:
            OutOfOrder: the conversation is not open or has its maximum of messages, or the last message has no answer
                yet.
            AnswersConflict: a different message was stored with the same `request`.
            TooManyMessages: there were too many in the last minute.
        """
        limits = self._study.limits
        with self._writing() as connection:
            chat = self._open(connection, rater, number, request, utterances)
            mine = self._in(utterances, rater, number) & (utterances.c.request == request)
            known = connection.execute(select(utterances.c.place, utterances.c.text).where(mine)).one_or_none()
            if known is not None:
                if known.text != text:
                    raise AnswersConflict("another message came with this id; that one stands")
                return chat, known.place
            if chat.waiting:
                raise OutOfOrder("your last message has no answer yet; please wait for it")
            if chat.turns >= limits.most_turns:
                raise OutOfOrder(f"this conversation has had its {limits.most_turns} messages; please rate it")
            self._check_pace(connection, rater)
            place = len(chat.texts)
            self._add(connection, rater, number, place, text, request)
            return self._chat(connection, rater, number), place

    def answer(self, rater: str, number: int, place: int, text: str) -> Chat:
        """Store a system's answer at the index `place`, unless there is one already, and return the conversation.

        Raises:
            OutOfOrder: the person has withdrawn meanwhile.
        """
        with self._writing() as connection:
            self._lock(connection, rater)
            if len(self._chat(connection, rater, number).texts) == place:
                self._add(connection, rater, number, place, text, None)
            return self._chat(connection, rater, number)

    def vote(self, rater: str, number: int, request: str, place: int, vote: Vote) -> Chat:
        """Store a vote on an answer: the same vote again clears it, the other replaces it; a retry changes nothing.

        Raises:
            OutOfOrder: the conversation is not open, or has no answer at the index `place`.
            AnswersConflict: a different vote, or one on another answer, was stored with the same `request`.
        """
        with self._writing() as connection:
            chat = self._open(connection, rater, number, request, votes)
            if place % 2 == 0 or place >= len(chat.texts):
                raise OutOfOrder(f"there is no answer at place {place}")
            mine = select(votes).where(self._in(votes, rater, number)).order_by(votes.c.number)
            clicks, standing = connection.execute(mine).all(), dict[int, int]()
            for click in clicks:
                # A vote that was cleared is stored as 0: it was the one that stood before it.
                if click.request == request:
                    if (click.place, click.vote or standing[click.place]) != (place, vote):
                        raise AnswersConflict("another vote came with this id; that one stands")
                    return chat
                standing[click.place] = click.vote
            stands = 0 if chat.votes.get(place) == vote else vote
            key = {"study": self._key, "rater": rater, "chat": number, "number": len(clicks)}
            row = {**key, "place": place, "vote": stands, "request": request, "voted": int(time.time())}
            connection.execute(insert(votes).values(**row))
            return self._chat(connection, rater, number)

    def rate(self, rater: str, number: int, ratings: Mapping[str, float]) -> None:
        """Store the ratings of a conversation and end it; the same ratings again change nothing.

        Args:
            rater: the person.
            number: the number of the conversation.
            ratings: criterion -> value, validated, for all criteria.

        Raises:
            OutOfOrder: the conversation has not begun, or is too short.
            AnswersConflict: it already has different ratings.
        """
        with self._writing() as connection:
            self._lock(connection, rater)
            chat = self._chat(connection, rater, number)
            if chat.rated:
                if dict(chat.ratings) != dict(ratings):
                    raise AnswersConflict("this conversation was rated before, otherwise; that stands")
                return
            check_length(self._study, chat)
            key = {"study": self._key, "rater": rater, "chat": number}
            rows = [{**key, "criterion": name, "value": value} for name, value in ratings.items()]
            connection.execute(insert(verdicts), rows)
            connection.execute(update(chats).where(self._in(chats, rater, number)).values(rated=int(time.time())))

    def all_chats(self) -> list[Chat]:
        """Return every conversation with at least one message, sorted by person and number."""
        with self._reading() as connection:
            found = self._chats(connection, lambda table: table.c.study == self._key)
        return [chat for chat in found if chat.texts]

    def _lock(self, connection: Connection, rater: str) -> None:
        if not self._agreed(connection, rater):
            raise OutOfOrder("you have not agreed to take part yet")

    def _open(self, connection: Connection, rater: str, number: int, request: str, table: Table) -> Chat:
        """Return a conversation that is open, or in whose `table` this request is stored already."""
        self._lock(connection, rater)
        chat = self._chat(connection, rater, number)
        repeated = select(table.c.place).where(self._in(table, rater, number) & (table.c.request == request))
        if chat.rated and connection.execute(repeated).first() is None:
            raise OutOfOrder("this conversation is rated, and has ended; please open your link again")
        return chat

    def _chat(self, connection: Connection, rater: str, number: int) -> Chat:
        found = self._chats(connection, lambda table: self._in(table, rater, number))
        if not found:
            raise OutOfOrder("this conversation has not begun; please open your link again")
        return found[0]

    def _chats(self, connection: Connection, wanted: Callable[[Table], ColumnElement[bool]]) -> list[Chat]:
        """Return the conversations whose rows meet a condition, sorted by person and number."""

        def rows(table: Table, *order: str) -> dict[tuple[str, int], list[Row[Any]]]:
            found: dict[tuple[str, int], list[Row[Any]]] = {}
            for row in connection.execute(
                select(table).where(wanted(table)).order_by(*(table.c[key] for key in order))
            ):
                found.setdefault((row.rater, row.chat), []).append(row)
            return found

        begun, said = rows(chats, "rater", "chat"), rows(utterances, "place")
        clicks, given = rows(votes, "number"), rows(verdicts)
        found = []
        for key, (chat,) in begun.items():
            texts = said.get(key, [])
            # The last click on an answer counts.
            standing = {row.place: row.vote for row in clicks.get(key, [])}
            values = {row.criterion: row.value for row in given.get(key, [])}
            found.append(
                Chat(
                    *key,
                    chat.system,
                    tuple(each.text for each in texts),
                    {place: vote for place, vote in standing.items() if vote},
                    chat.rated is not None,
                    {each.name: values[each.name] for each in self._study.criteria if each.name in values},
                    tuple(each.said for each in texts),
                )
            )
        return found

    def _latest(self, connection: Connection, rater: str) -> Chat | None:
        mine = (chats.c.study == self._key) & (chats.c.rater == rater)
        number = connection.execute(select(func.max(chats.c.chat)).where(mine)).scalar()
        return None if number is None else self._chat(connection, rater, number)

    def _add(self, connection: Connection, rater: str, number: int, place: int, text: str, request: str | None) -> None:
        row = {"study": self._key, "rater": rater, "chat": number, "place": place, "text": text, "request": request}
        connection.execute(insert(utterances).values(**row, said=int(time.time())))

    def _check_pace(self, connection: Connection, rater: str) -> None:
        most, now = self._study.limits.per_minute, int(time.time())
        mine = (utterances.c.study == self._key) & (utterances.c.rater == rater) & utterances.c.request.is_not(None)
        recent = select(utterances.c.said).where(mine & (utterances.c.said > now - MINUTE))
        times = connection.execute(recent.order_by(utterances.c.said)).scalars().all()
        if len(times) >= most:
            raise TooManyMessages(most, max(1, times[-most] + MINUTE - now))

    def _in(self, table: Table, rater: str, number: int) -> ColumnElement[bool]:
        return (table.c.study == self._key) & (table.c.rater == rater) & (table.c.chat == number)


def check_length(study: ChatStudy, chat: Chat) -> None:
    """Refuse to rate a conversation that is too short.

    Raises:
        OutOfOrder: it is.
    """
    least = study.limits.least_turns
    if chat.turns < least:
        raise OutOfOrder(f"a conversation can be rated after at least {least} messages; this one has {chat.turns}")
