"""A chat study: systems, people and questions; the file `chat.json`."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from dactnlg.studies.study import Criterion, Name, Scale, StudyFile, StudySystem, Text

FILE = "chat.json"
SCALE = Scale(low=1, high=7)
CRITERIA = (
    Criterion(
        name="quality",
        question="How good was the conversation in all?",
        low_label="very bad",
        high_label="very good",
    ),
    Criterion(
        name="fluency", question="Was what it said fluent and correct?", low_label="not at all", high_label="perfectly"
    ),
    Criterion(
        name="diversity",
        question="Did it say different things, or the same again and again?",
        low_label="always the same",
        high_label="very varied",
    ),
    Criterion(
        name="contingency",
        question="Did what it said have to do with what you had said?",
        low_label="not at all",
        high_label="always",
    ),
    Criterion(
        name="empathy", question="Did it respond to how you felt?", low_label="not at all", high_label="very much"
    ),
)
"""The five scales of Ghandeharioun et al. 2019, with the names of table 2 (section 5.2) and seven points (section 7.8);
the wording of the questions is ours."""
LEAST_TURNS = 3
INSTRUCTIONS = """You will chat with a computer program. Write whatever you like; it answers each of your messages.
With the arrows beside an answer you can say that it was a good or a bad one; the same arrow again takes that back.
After at least {least} messages you can close the chat, and answer some questions about it.
Please do not write anything that tells who you are."""
CONSENT = """I take part of my own free will and may stop at any time.
What I write, my votes and my answers are kept without my name or address, and may be published."""


class ChatLimits(BaseModel):
    """Limits on a person's messages.

    Attributes:
        least_turns: messages needed before a conversation can be rated.
        most_turns: maximum number of messages per conversation.
        message_length: maximum number of characters per message.
        per_minute: maximum number of messages per minute and person.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    least_turns: Annotated[int, Field(ge=1, le=100)] = LEAST_TURNS
    most_turns: Annotated[int, Field(ge=1, le=1000)] = 30
    message_length: Annotated[int, Field(ge=1, le=10_000)] = 500
    per_minute: Annotated[int, Field(ge=1, le=1000)] = 20

    @model_validator(mode="after")
    def _can_be_rated(self) -> ChatLimits:
        if self.most_turns < self.least_turns:
            raise ValueError(f"{self.most_turns} messages at most, of which {self.least_turns} are needed for a rating")
        return self


class ChatStudy(StudyFile):
    """The design of a chat study.

    Attributes:
        format_version: version of the file format.
        name: the name of the study that people see.
        seed: determines who meets which system.
        systems: the systems, with run folders as `source`; people never see their names.
        people: number of people.
        chats: maximum number of conversations per person.
        limits: limits on their messages.
        scale, criteria: the questions about a conversation.
        instructions: the text that people read before they begin.
        consent: the text that they agree to.
    """

    file_name, kind, maker = FILE, "study of chats", "dactnlg chat create"

    format_version: Literal[1] = 1
    name: Name
    seed: int = Field(ge=0)
    systems: tuple[StudySystem, ...] = Field(min_length=1)
    people: Annotated[int, Field(ge=1, le=10_000)]
    chats: Annotated[int, Field(ge=1, le=1000)] = 3
    limits: ChatLimits = ChatLimits()
    scale: Scale = SCALE
    criteria: tuple[Criterion, ...] = Field(CRITERIA, min_length=1)
    instructions: Text = ""
    consent: Text = ""

    @model_validator(mode="after")
    def _names_differ(self) -> ChatStudy:
        for what, found in (("systems", self.systems), ("criteria", self.criteria)):
            names = Counter(each.name for each in found)
            if twice := next((name for name, count in names.items() if count > 1), None):
                raise ValueError(f"two {what} are called {twice!r}")
        return self

    @cached_property
    def place_of(self) -> Mapping[str, int]:
        """The people, `r001` and so on -> index from 0."""
        return {f"r{number:03}": number - 1 for number in range(1, self.people + 1)}

    @property
    def digest(self) -> str:
        """The SHA-256 of the seed, systems, criteria (by name) and scale; the rest of the study may change later."""
        names = [criterion.name for criterion in self.criteria]
        systems = [system.name for system in self.systems]
        asked = ["chats", self.seed, systems, names, self.scale.model_dump(mode="json")]
        return hashlib.sha256(json.dumps(asked).encode()).hexdigest()

    def system(self, rater: str, chat: int) -> str:
        """Return the name of the system that a person meets in a conversation, counted from 1.

        The order is random, determined by the seed. A person meets every system once before meeting one again, and in
        each block of as many people as systems, everyone meets a different system first.
        """
        count, place = len(self.systems), self.place_of[rater]
        block, at = divmod(chat - 1, count)
        order = np.random.default_rng([self.seed, place // count, block]).permutation(count)
        return self.systems[int(order[(at + place) % count])].name
