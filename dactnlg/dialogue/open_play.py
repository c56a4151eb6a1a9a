"""Open self-play (Ghandeharioun et al. 2019, section 4.3): a dialogue model talks to itself, from an empty history.

Each answer becomes the next input. By default a conversation has ten utterances, of which the model sees the last five,
and a hundred distinct conversations show what it is like to talk to the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tqdm import tqdm

import dactnlg
from dactnlg._utils.hashing import digest
from dactnlg._utils.tables import Format, formatted
from dactnlg.dialogue.components.summary import ComponentMeans, component_means
from dactnlg.dialogue.components.table import MakesComponents
from dactnlg.dialogue.conversations import Conversation, Utterance
from dactnlg.dialogue.talkers import Talker
from dactnlg.errors import UserError

HISTORY = 5
"""Utterances that the model sees, the most recent ones."""
ROUNDS = 20
"""Attempts to replace duplicate conversations before giving up."""


@dataclass(frozen=True)
class OpenPlayed:
    """The result of one run.

    Attributes:
        name: the name of the run, also used for its file.
        conversations: all distinct.
        components: means of their components.
        signature: everything but the run that determines the result.
    """

    name: str
    conversations: list[Conversation]
    components: ComponentMeans
    signature: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return everything but the conversations as JSON data."""
        data: dict[str, Any] = {"conversations": len(self.conversations), "components": self.components.to_json()}
        return data | {"signature": self.signature, "hash": digest(self.signature)}


def talk_alone(
    talker: Talker,
    conversations: int = 100,
    turns: int = 10,
    *,
    seed: int = 1,
    history: int = HISTORY,
    progress: bool = True,
) -> list[Conversation]:
    """Return distinct conversations of a talker with itself, generated in parallel.

    Each conversation has its own seed; a duplicate is drawn again with another seed. Equal arguments give equal
    conversations.

    Args:
        talker: the model; given an empty history, it opens the conversation.
        conversations: how many.
        turns: utterances per conversation.
        seed: for all draws.
        history: utterances that the talker sees, the most recent ones.
        progress: show a progress bar on standard error.

    Raises:
        UserError: the talker does not produce that many distinct conversations, or returns the wrong number of answers.
    """
    found: dict[tuple[str, ...], None] = {}
    total = conversations * turns
    hidden = None if progress else True
    with tqdm(desc="talking", total=total, unit=" utterances", delay=2, leave=False, disable=hidden) as bar:
        for number in range(ROUNDS):
            texts: list[list[str]] = [[] for _ in range(conversations - len(found))]
            seeds = np.random.SeedSequence([seed, number]).generate_state(len(texts)).tolist()
            for _ in range(turns):
                said = talker.reply([each[-history:] for each in texts], seeds=seeds)
                if len(said) != len(texts):
                    raise UserError(f"the run gave {len(said)} answers to {len(texts)} histories")
                for each, text in zip(texts, said, strict=True):
                    each.append(text)
            before = len(found)
            found |= dict.fromkeys(map(tuple, texts))
            bar.update((len(found) - before) * turns)
            if len(found) == conversations:
                return [Conversation(tuple(Utterance("bot", text) for text in each)) for each in found]
    raise UserError(
        f"the run has {len(found)} different conversations with itself, not {conversations}: ask for fewer, or for "
        "longer ones"
    )


def open_self_play(
    talkers: Mapping[str, Talker],
    maker: MakesComponents,
    conversations: int = 100,
    turns: int = 10,
    *,
    seed: int = 1,
) -> Iterator[OpenPlayed]:
    """Let runs talk to themselves, and yield the result of each run as it finishes.

    Args:
        talkers: name of a run -> its talker.
        maker: computes components.
        conversations: per run.
        turns: utterances per conversation.
        seed: for all draws.

    Raises:
        UserError: a run does not produce that many distinct conversations.
    """
    for name, talker in talkers.items():
        try:
            said = talk_alone(talker, conversations, turns, seed=seed)
        except UserError as error:
            raise UserError(f"{name}: {error}") from None
        named = [Conversation(talk.turns, name, {"id": number}) for number, talk in enumerate(said)]
        table = maker.table(named)
        signature = {"play": "open", "seed": seed, "turns": turns, "history": HISTORY, "version": dactnlg.__version__}
        yield OpenPlayed(name, named, component_means(table), signature | {"components": table.signature})


def components_table(played: Sequence[OpenPlayed], output_format: Format = "text", width: int | None = None) -> str:
    """Return the components as a table: rows are components, columns are runs, cells are means with 95% intervals.

    Without a user, the user's components are computed from the bot's utterances and would repeat; they are left out.
    """
    names = [name for name in played[0].components.names if not name.endswith(("-U", "-U/B"))]
    rows = [["component", *(each.name for each in played)]]
    rows += [[name, *(each.components.cell(name) for each in played)] for name in names]
    return formatted(rows, output_format, 1, rule=True, width=width)
