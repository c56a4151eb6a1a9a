"""The database tables of chats, in the same metadata as those of other studies."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, ForeignKeyConstraint, Integer, String, Table, Text
from sqlalchemy import UniqueConstraint as Unique

from dactnlg.studies.tables import metadata

chats = Table(
    "dactnlg_chats",
    metadata,
    Column("study", String(64), primary_key=True),
    Column("rater", String(200), primary_key=True),
    Column("chat", Integer, primary_key=True),
    Column("system", String(200), nullable=False),
    Column("begun", BigInteger, nullable=False),
    Column("rated", BigInteger),
    ForeignKeyConstraint(["study", "rater"], ["dactnlg_raters.study", "dactnlg_raters.rater"]),
)
"""The conversations of each person, numbered from 1; a rated one has ended."""


def _of_chat() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["study", "rater", "chat"], ["dactnlg_chats.study", "dactnlg_chats.rater", "dactnlg_chats.chat"]
    )


utterances = Table(
    "dactnlg_utterances",
    metadata,
    Column("study", String(64), primary_key=True),
    Column("rater", String(200), primary_key=True),
    Column("chat", Integer, primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("text", Text, nullable=False),
    Column("request", String(64)),
    Column("said", BigInteger, nullable=False),
    Unique("study", "rater", "chat", "request"),
    _of_chat(),
)
"""Messages and answers: `place` is the index, even for the person's; `request` is the id that retries share."""

votes = Table(
    "dactnlg_votes",
    metadata,
    Column("study", String(64), primary_key=True),
    Column("rater", String(200), primary_key=True),
    Column("chat", Integer, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("place", Integer, nullable=False),
    Column("vote", Integer, nullable=False),
    Column("request", String(64), nullable=False),
    Column("voted", BigInteger, nullable=False),
    Unique("study", "rater", "chat", "request"),
    _of_chat(),
)
"""Every click, in order, with the vote in force after it: 1, -1, or 0 for none."""

verdicts = Table(
    "dactnlg_chat_ratings",
    metadata,
    Column("study", String(64), primary_key=True),
    Column("rater", String(200), primary_key=True),
    Column("chat", Integer, primary_key=True),
    Column("criterion", String(200), primary_key=True),
    Column("value", Double, nullable=False),
    _of_chat(),
)
"""Ratings."""
