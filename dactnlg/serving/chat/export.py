"""Export of chats: conversations as JSON Lines, votes and ratings as long CSV, as `study analyse` reads it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dactnlg.dialogue.conversations import Conversation, Utterance, write_conversations
from dactnlg.serving.chat.conversation import Chat
from dactnlg.serving.chat.storage import ChatStorage
from dactnlg.serving.chat.study import ChatStudy
from dactnlg.studies.database import FILE as DATABASE
from dactnlg.studies.database import connect
from dactnlg.studies.ratings import Ratings
from dactnlg.studies.storage import NoRatingsError
from dactnlg.studies.study import StudyError

CONVERSATIONS, VOTES, RATINGS = "conversations.jsonl", "votes.csv", "ratings.csv"


def read_chats(study: ChatStudy, folder: Path, database: str | None = None) -> list[Chat]:
    """Return the conversations of a study so far; its server may be running.

    Args:
        study: the study.
        folder: its folder.
        database: the address of its database; None for `ratings.sqlite` in the folder.

    Raises:
        StudyError: there is no such database, or it is damaged.
        NoRatingsError: nobody has said anything.
    """
    if database is None and not (folder / DATABASE).is_file():
        raise NoRatingsError(f"{folder}: nobody has chatted yet: there is no {DATABASE} (dactnlg chat serve makes it)")
    # Read inside `connect`, so that damage found while reading gives the same message as damage found on opening.
    with connect(folder, database, to_read=True) as engine:
        storage = ChatStorage(engine, study)
        chats = storage.all_chats() if storage.entered() else []
    storage.close()
    if not chats:
        raise NoRatingsError(f"{folder}: nobody has chatted yet")
    return chats


def conversation(chat: Chat) -> Conversation:
    """Return a chat as a conversation, with votes on its utterances and its ratings as further keys."""
    turns = []
    for place, (text, moment) in enumerate(zip(chat.texts, chat.moments, strict=True)):
        more: dict[str, Any] = {"time": datetime.fromtimestamp(moment, UTC).isoformat()}
        if place in chat.votes:
            more["vote"] = chat.votes[place]
        turns.append(Utterance("bot" if place % 2 else "user", text, more))
    facts: dict[str, Any] = {"id": name_of(chat), "rater": chat.rater}
    return Conversation(tuple(turns), chat.system, facts | ({"ratings": dict(chat.ratings)} if chat.rated else {}))


def rating_rows(chats: Sequence[Chat], study: ChatStudy) -> Ratings:
    """Return the ratings of conversations.

    An item is a round in which a person meets every system once, so that systems are compared within people; `output`
    is the name of the conversation.
    """
    count = len(study.systems)
    return Ratings(
        [
            _row(chat, f"{chat.rater}-round-{(chat.number - 1) // count + 1}", name, value, name_of(chat))
            for chat in chats
            for name, value in chat.ratings.items()
        ]
    )


def vote_rows(chats: Sequence[Chat]) -> Ratings:
    """Return the votes in force, 1 or -1; an item is an answer."""
    return Ratings(
        [
            _row(chat, f"{name_of(chat)}-{place:03}", "vote", float(vote), chat.texts[place])
            for chat in chats
            for place, vote in sorted(chat.votes.items())
        ]
    )


def write_chats(chats: Sequence[Chat], study: ChatStudy, folder: Path) -> None:
    """Write `conversations.jsonl`, `votes.csv` and `ratings.csv` into a folder, which is created if missing.

    Raises:
        StudyError: one of them exists already.
    """
    if there := [name for name in (CONVERSATIONS, VOTES, RATINGS) if (folder / name).exists()]:
        raise StudyError(f"{folder / there[0]} exists already; name another folder with --output")
    folder.mkdir(parents=True, exist_ok=True)
    write_conversations(folder / CONVERSATIONS, map(conversation, chats))
    vote_rows(chats).write(folder / VOTES)
    rating_rows(chats, study).write(folder / RATINGS)


def name_of(chat: Chat) -> str:
    """Return the name of a conversation: the person and the number."""
    return f"{chat.rater}-{chat.number:02}"


def _row(chat: Chat, item: str, criterion: str, value: float, output: str) -> dict[str, Any]:
    row = {"item": item, "system": chat.system, "rater": chat.rater, "criterion": criterion, "value": value}
    return row | {"output": output}
