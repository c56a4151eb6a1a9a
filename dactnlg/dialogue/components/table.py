"""The components of conversations, one row per conversation.

Names are the paper's, with a suffix for the utterances they are computed on: `-U` the user's, `-B` the bot's, `-U/B` a
user's utterance and the bot's answer, `-B/B` two consecutive utterances of the bot. The value of a conversation is the
mean over its utterances or pairs. Self-play has no user: `-U` is then computed on the bot's utterances and `-U/B` on
consecutive ones, so that weights learned from conversations with people apply (section 4.3, "Self-play").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dactnlg._utils.hashing import digest
from dactnlg.dialogue.components import engagement
from dactnlg.dialogue.components.coherence import WordCoherence
from dactnlg.dialogue.components.sentiment import cosines, min_max_slope, sentiment, transitions
from dactnlg.dialogue.components.teachers import EmotionTeacher
from dactnlg.dialogue.conversations import Conversation
from dactnlg.metrics.sentence_encoder.encoders import Encoder

Array = NDArray[np.float64]
ALONE = ("sentiment", "sentiment transition", "sentiment min-max", "laughter", "question score", "words")
"""Components of one speaker's utterances: `-U`, `-B`."""
PAIRED = ("sentiment coherence", "semantic similarity", "average coherence", "extrema coherence", "greedy coherence")
"""Components of two utterances: `-U/B`, `-B/B`."""
NAMES = tuple(
    [f"{name} {side}" for side in ("-U", "-B") for name in ALONE]
    + [f"{name} {side}" for side in ("-U/B", "-B/B") for name in PAIRED]
)
EXTRAS = ("slot error", "success", "turns")
"""Task terms, which are not in the paper and are kept apart from its components."""


@dataclass(frozen=True)
class ComponentTable:
    """Components of C conversations.

    Attributes:
        names: F components.
        values: (C, F); NaN where a component is undefined for a conversation.
        signature: teachers and settings; values are comparable if their signatures are equal.
    """

    names: tuple[str, ...]
    values: Array
    signature: dict[str, Any]

    @property
    def hash(self) -> str:
        """The hash of the signature."""
        return digest(self.signature)

    def column(self, name: str) -> Array:
        """Return the values of one component, (C,)."""
        found: Array = self.values[:, self.names.index(name)]
        return found


class MakesComponents(Protocol):
    """Computes the components of conversations."""

    def table(self, conversations: Sequence[Conversation]) -> ComponentTable:
        """Return the components of conversations."""


class EngagementMaker:
    """Computes the components that need no teacher: laughter, question score and words."""

    def table(self, conversations: Sequence[Conversation]) -> ComponentTable:
        """Return the components of conversations, for the user and the bot."""
        parts = {
            "laughter": engagement.laughter,
            "question score": engagement.question_scores,
            "words": engagement.word_counts,
        }
        names = tuple(f"{name} {side}" for side in ("-U", "-B") for name in parts)
        rows = [[mean(part(said)) for said in sides(talk) for part in parts.values()] for talk in conversations]
        signature = {"components": "ghandeharioun2019 without teachers", "longest": engagement.LONGEST}
        return ComponentTable(names, np.array(rows).reshape(-1, len(names)), signature)


class ComponentMaker:
    """Computes all components.

    Args:
        emotions: the emotion teacher, for sentiment.
        encoder: the sentence encoder, for semantic similarity.
        words: word coherence.
    """

    def __init__(self, emotions: EmotionTeacher, encoder: Encoder, words: WordCoherence) -> None:
        self.emotions, self.encoder, self.words = emotions, encoder, words

    @property
    def signature(self) -> dict[str, Any]:
        """The teachers and settings that determine the values."""
        return {
            "components": "ghandeharioun2019",
            "emotions": self.emotions.name,
            "valence": self.emotions.weights.tolist(),
            "sentences": self.encoder.name,
            "words": self.words.name,
            "longest": engagement.LONGEST,
        }

    def table(self, conversations: Sequence[Conversation]) -> ComponentTable:
        """Return the components of conversations."""
        found = np.full((len(conversations), len(NAMES)), np.nan)
        for row, series in zip(found, self.series(conversations), strict=True):
            slopes = {f"sentiment min-max {side}": min_max_slope(series[f"sentiment {side}"]) for side in ("-U", "-B")}
            values = {**{name: mean(values) for name, values in series.items()}, **slopes}
            row[:] = [values[name] for name in NAMES]
        return ComponentTable(NAMES, found, self.signature)

    def series(self, conversations: Sequence[Conversation]) -> list[dict[str, Array]]:
        """Return the per-turn values of every component but min-max for each conversation."""
        texts = list(dict.fromkeys(turn.text for talk in conversations for turn in talk.turns))
        places = {text: place for place, text in enumerate(texts)}
        emotions = self.emotions.probabilities(texts)
        vectors = np.array(self.encoder.encode(texts), np.float64) if texts else np.empty((0, 0))
        # An encoder gives even white space a vector that resembles others.
        vectors[[not text.strip() for text in texts]] = 0
        return [
            {**self._alone(talk, emotions, places), **self._paired(talk, emotions, vectors, places)}
            for talk in conversations
        ]

    def _alone(self, talk: Conversation, emotions: Array, places: dict[str, int]) -> dict[str, Array]:
        found: dict[str, Array] = {}
        for side, said in zip(("-U", "-B"), sides(talk), strict=True):
            scores = sentiment(emotions[[places[text] for text in said]], self.emotions.weights)
            parts = {
                "sentiment": scores,
                "sentiment transition": transitions(scores),
                "laughter": engagement.laughter(said),
                "question score": engagement.question_scores(said),
                "words": engagement.word_counts(said),
            }
            found |= {f"{name} {side}": values for name, values in parts.items()}
        return found

    def _paired(self, talk: Conversation, emotions: Array, vectors: Array, places: dict[str, int]) -> dict[str, Array]:
        found: dict[str, Array] = {}
        for side, pairs in zip(("-U/B", "-B/B"), (answers(talk), consecutive(sides(talk)[1])), strict=True):
            one, other = [a for a, _ in pairs], [b for _, b in pairs]
            first, second = [places[text] for text in one], [places[text] for text in other]
            words = self.words.scores(one, other)
            columns = (cosines(emotions[first], emotions[second]), cosines(vectors[first], vectors[second]), *words.T)
            found |= {f"{name} {side}": values for name, values in zip(PAIRED, columns, strict=True)}
        return found


def mean(values: Array) -> float:
    """Return the mean of the values, ignoring NaN; NaN if there are none."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def sides(talk: Conversation) -> tuple[list[str], list[str]]:
    """Return the utterances of the user and of the bot; in self-play the bot's stand for both."""
    users, bots = talk.texts("user"), talk.texts("bot")
    return users or bots, bots


def answers(talk: Conversation) -> list[tuple[str, str]]:
    """Return pairs of a user utterance and the bot's immediate answer; in self-play, consecutive utterances."""
    if not talk.texts("user"):
        return consecutive(talk.texts("bot"))
    turns = zip(talk.turns, talk.turns[1:], strict=False)
    return [(a.text, b.text) for a, b in turns if (a.speaker, b.speaker) == ("user", "bot")]


def consecutive(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return each text paired with the next."""
    return list(zip(texts, texts[1:], strict=False))


def with_extras(table: ComponentTable, conversations: Sequence[Conversation]) -> ComponentTable:
    """Append the task terms to a table: slot error rate, success (1 or 0) and number of utterances."""
    rows = [
        [talk.more["slot_errors"] / max(talk.more["slots"], 1), float(talk.more["success"]), float(len(talk.turns))]
        for talk in conversations
    ]
    values = np.hstack([table.values, np.array(rows).reshape(-1, len(EXTRAS))])
    return ComponentTable((*table.names, *EXTRAS), values, {**table.signature, "extras": list(EXTRAS)})
