"""`dactnlg chat create`: systems, people and limits of a study of chats."""

from __future__ import annotations

from pathlib import Path

import click

from dactnlg.cli import options, streams
from dactnlg.errors import UserError


@click.command()
@click.argument("systems", nargs=-1, required=True, metavar="RUN|NAME=RUN...")
@click.option("--people", type=click.IntRange(1, 10_000), default=20, metavar="N", help="How many are asked.")
@click.option("--chats", type=click.IntRange(1, 1_000), default=3, metavar="N", help="Of each person at most.")
@click.option(
    "--least-turns",
    type=click.IntRange(1, 100),
    default=3,
    metavar="N",
    help="Messages of the person before a chat can be rated.",
)
@click.option("--most-turns", type=click.IntRange(1, 1_000), default=30, metavar="N", help="Messages at most.")
@click.option(
    "--message-length", type=click.IntRange(1, 10_000), default=500, metavar="N", help="Characters of a message."
)
@click.option("--per-minute", type=click.IntRange(1, 1_000), default=20, metavar="N", help="Messages of a person.")
@click.option("--name", default="Chat", metavar="TEXT", help="What people read as the study's name.")
@click.option("--instructions", type=options.PATH, metavar="FILE", help="What people read first, instead of our text.")
@click.option("--consent", type=options.PATH, metavar="FILE", help="What people agree to, instead of our text.")
@click.option("--seed", type=click.IntRange(min=0), default=1, metavar="N", help="Decides who meets which system.")
@click.option("--output", type=options.PATH, required=True, metavar="CHATS", help="The folder of the study; a new one.")
def create(
    *,
    systems: tuple[str, ...],
    people: int,
    chats: int,
    least_turns: int,
    most_turns: int,
    message_length: int,
    per_minute: int,
    name: str,
    instructions: Path | None,
    consent: Path | None,
    seed: int,
    output: Path,
) -> None:
    """Create a study of chats: people talk with one of the RUNs, picked at random, without knowing which.

    A run is a model of dialogue, or a generator: that says the acts of a policy, which hears what the fidelity check
    reads of a person's messages, so its corpus must be one that `dactnlg selfplay` can play. Nobody meets a system
    again before having met all. After three messages at least a chat is rated on seven-point scales: quality, fluency,
    diversity, contingency, empathy. Texts and questions stand in CHATS/chat.json, and may be changed there.

    \b
    dactnlg chat create runs/trails-sclstm runs/trails-lstm --people 20 --output chats
    dactnlg chat create old=runs/1 new=runs/2 --chats 2 --seed 7 --output pilot
    """
    from dactnlg._utils.reading import read_text
    from dactnlg.serving.chat.create import create as make
    from dactnlg.serving.chat.create import parse_system
    from dactnlg.serving.chat.study import FILE, ChatLimits

    if (output / FILE).exists():
        raise UserError(f"{output} holds a study already, perhaps with chats; name another folder with --output")
    if most_turns < least_turns:
        raise UserError(f"--most-turns {most_turns} is less than --least-turns {least_turns}: no chat could be rated")
    limits = ChatLimits(
        least_turns=least_turns, most_turns=most_turns, message_length=message_length, per_minute=per_minute
    )
    found = make(
        name,
        [parse_system(text) for text in systems],
        people,
        chats=chats,
        limits=limits,
        seed=seed,
        instructions=read_text(instructions) if instructions else None,
        consent=read_text(consent) if consent else None,
    )
    found.save(output)
    streams.tell(f"{output}: {len(found.systems)} systems, {people} people with up to {chats} chats each")
