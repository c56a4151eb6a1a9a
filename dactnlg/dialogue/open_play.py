"""Open self-play (Ghandeharioun et al. 2019, section 4.3): a model of dialogue talks to itself, from nothing.

What it says is what it hears next. Conversations have ten utterances, of which the model sees the last five; a hundred
different ones tell what it is like to talk with it.
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
"""Utterances that the model sees."""
ROUNDS = 20
"""Times that what was said before is drawn anew, before giving up."""


@dataclass(frozen=True)
class OpenPlayed:
    """What a model said to itself.

    Attributes:
        name: of the run, and of its file.
        conversations: different ones.
        components: what they are like.
        signature: what decides on them beside the run.
    """

    name: str
    conversations: list[Conversation]
    components: ComponentMeans
    signature: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return all but the conversations as JSON data."""
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
    """Return different conversations of a talker with itself; all of them step together.

    Each has a seed of its own; one that was had before is drawn anew, with another. Equal arguments give equal
    conversations.

    Args:
        talker: what answers; to an empty history it says how it begins.
        conversations: how many.
        turns: utterances of each.
        seed: of everything that is drawn.
        history: utterances that the talker sees, the last ones.
        progress: show a progress bar on standard error.

    Raises:
        UserError: it does not say so many different ones, or gives another number of answers than it was asked for.
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
    """Let runs talk to themselves, and yield what each said when it is done.

    Args:
        talkers: name of a run -> what answers.
        maker: computes components.
        conversations: of each run.
        turns: utterances of each.
        seed: of everything that is drawn.

    Raises:
        UserError: a run does not say so many different ones.
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
    """Return the components as a table: a row a component, a column a run, means with 95% intervals over conversations.

    A model that talks to itself has no user: components of the user are those of the bot, and are left out.
    """
    names = [name for name in played[0].components.names if not name.endswith(("-U", "-U/B"))]
    rows = [["component", *(each.name for each in played)]]
    rows += [[name, *(each.components.cell(name) for each in played)] for name in names]
    return formatted(rows, output_format, 1, rule=True, width=width)
