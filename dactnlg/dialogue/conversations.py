"""Conversations: turns with a speaker, one conversation per line of a JSONL file.

A line is `{"turns": [{"speaker": "user" or "bot", "text": ...}, ...], "bot"?, "score"?, "ratings"?, ...}`; further keys
of lines and turns (such as acts and readings) are kept in `more`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from dactnlg._utils.files import written
from dactnlg._utils.reading import parse_json, short
from dactnlg.data.readers.reading import read_lines
from dactnlg.errors import UserError

Speaker = Literal["user", "bot"]


@dataclass(frozen=True)
class Utterance:
    """One turn.

    Attributes:
        speaker: `user` or `bot`.
        text: the utterance.
        more: further keys, such as `act` and `read`.
    """

    speaker: Speaker
    text: str
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Conversation:
    """Turns in order.

    Attributes:
        turns: the utterances; speakers need not alternate.
        bot: the name of the system.
        more: further keys, such as `score`, `ratings`, `success`.
    """

    turns: tuple[Utterance, ...]
    bot: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)

    def texts(self, speaker: Speaker) -> list[str]:
        """Return the utterances of one speaker."""
        return [turn.text for turn in self.turns if turn.speaker == speaker]

    def to_json(self) -> dict[str, Any]:
        """Return the conversation as the JSON data of one line."""
        turns = [{"speaker": turn.speaker, "text": turn.text, **turn.more} for turn in self.turns]
        return {**({"bot": self.bot} if self.bot else {}), **self.more, "turns": turns}


def read_conversations(path: Path) -> list[Conversation]:
    """Read a JSONL file of conversations.

    Raises:
        UserError: the file cannot be read or is not UTF-8, or a line is not a conversation; the message gives its
            number.
    """
    found = []
    for place, line in read_lines(path):
        try:
            found.append(_conversation(parse_json(line)))
        except (json.JSONDecodeError, UserError) as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else error
            raise UserError(f"{path}, {place}: no conversation: {reason}") from None
    return found


def lines(conversations: Iterable[Conversation]) -> Iterator[str]:
    """Yield each conversation as a line of JSON, including the newline."""
    for conversation in conversations:
        yield json.dumps(conversation.to_json(), ensure_ascii=False) + "\n"


def write_conversations(path: str | Path, conversations: Iterable[Conversation]) -> None:
    """Write conversations as JSONL; the file only appears once it is complete."""
    with written(path) as target:
        target.writelines(lines(conversations))


def _conversation(data: Any) -> Conversation:
    if not isinstance(data, dict) or not isinstance(data.get("turns"), list):
        raise UserError(f'a line is {{"turns": [{{"speaker", "text"}}, ...]}}, not {short(data)}')
    turns = tuple(_utterance(turn) for turn in data["turns"])
    more = {key: value for key, value in data.items() if key not in ("turns", "bot")}
    bot = data.get("bot")
    return Conversation(turns, "" if bot is None else str(bot), more)


def _utterance(data: Any) -> Utterance:
    speaker = data.get("speaker") if isinstance(data, dict) else None
    text = data.get("text") if isinstance(data, dict) else None
    if speaker not in ("user", "bot") or not isinstance(text, str):
        raise UserError(f'a turn is {{"speaker": "user" or "bot", "text": ...}}, not {short(data)}')
    return Utterance(speaker, text, {key: value for key, value in data.items() if key not in ("speaker", "text")})
