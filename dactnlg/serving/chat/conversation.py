"""A chat conversation, and the progress of a person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Chat:
    """One conversation.

    Attributes:
        rater: the person.
        number: which of the person's conversations, from 1.
        system: the name of the system.
        texts: the messages and answers, alternating, starting with the person.
        votes: index of an answer in `texts` -> 1 or -1.
        rated: whether it is rated, and therefore over.
        ratings: criterion -> value.
        moments: when each text was stored, in seconds since 1970.
    """

    rater: str
    number: int
    system: str
    texts: tuple[str, ...] = ()
    votes: Mapping[int, int] = field(default_factory=dict)
    rated: bool = False
    ratings: Mapping[str, float] = field(default_factory=dict)
    moments: tuple[int, ...] = ()

    @property
    def turns(self) -> int:
        """The number of answered messages."""
        return len(self.texts) // 2

    @property
    def waiting(self) -> bool:
        """Whether the person's last message has no answer yet."""
        return len(self.texts) % 2 == 1


@dataclass(frozen=True)
class ChatterState:
    """The progress of a person.

    Attributes:
        rater: the person.
        consented: whether they have agreed to take part.
        withdrawn: whether they have withdrawn, and their data is deleted.
        latest: the conversation that they began last; None before the first.
    """

    rater: str
    consented: bool = False
    withdrawn: bool = False
    latest: Chat | None = None

    @property
    def finished(self) -> int:
        """The number of rated conversations."""
        return 0 if self.latest is None else self.latest.number - (not self.latest.rated)
