"""One conversation, and how far a person is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Chat:
    """One conversation.

    Attributes:
        rater: the person.
        number: which of the person's conversations, from 1.
        system: whom they met.
        texts: what was said, the person first and in turns.
        votes: place of an answer in `texts` -> 1 or -1.
        rated: whether it is rated, and has ended.
        ratings: criterion -> value.
        moments: when each text came, in seconds since 1970.
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
        """How many of the person's messages were answered."""
        return len(self.texts) // 2

    @property
    def waiting(self) -> bool:
        """Whether the person's last message has no answer yet."""
        return len(self.texts) % 2 == 1


@dataclass(frozen=True)
class ChatterState:
    """How far a person is.

    Attributes:
        rater: the person.
        consented: whether they have agreed to take part.
        withdrawn: whether they have left, and all of theirs is deleted.
        latest: the conversation that they began last; None before the first.
    """

    rater: str
    consented: bool = False
    withdrawn: bool = False
    latest: Chat | None = None

    @property
    def finished(self) -> int:
        """How many conversations are rated."""
        return 0 if self.latest is None else self.latest.number - (not self.latest.rated)
