"""`dactnlg chat create`: systems, people and limits of a chat study."""

from __future__ import annotations

from pathlib import Path

import click

from dactnlg.cli import options, streams
from dactnlg.errors import UserError


@click.command()
@click.argument("systems", nargs=-1, required=True, metavar="RUN|NAME=RUN...")
@click.option("--people", type=click.IntRange(1, 10_000), default=20, metavar="N", help="Number of people.")
@click.option(
    "--chats", type=click.IntRange(1, 1_000), default=3, metavar="N", help="Maximum number of chats per person."
)
@click.option(
    "--least-turns",
    type=click.IntRange(1, 100),
    default=3,
    metavar="N",
    help="Minimum number of messages by the person before a chat can be rated.",
)
@click.option(
    "--most-turns",
    type=click.IntRange(1, 1_000),
    default=30,
    metavar="N",
    help="Maximum number of messages by the person in a chat.",
)
@click.option(
    "--message-length",
    type=click.IntRange(1, 10_000),
    default=500,
    metavar="N",
    help="Maximum length of a message, in characters.",
)
@click.option(
    "--per-minute",
    type=click.IntRange(1, 1_000),
    default=20,
    metavar="N",
    help="Maximum number of messages per minute from one person.",
)
@click.option("--name", default="Chat", metavar="TEXT", help="The study's name, as shown to people.")
@click.option(
    "--instructions", type=options.PATH, metavar="FILE", help="The text that people read first, instead of ours."
)
@click.option("--consent", type=options.PATH, metavar="FILE", help="The text that people consent to, instead of ours.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, metavar="N", help="Seed that decides who meets which system."
)
@click.option(
    "--output", type=options.PLACE, required=True, metavar="CHATS", help="The study's folder; it must be new."
)
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
    """Create a chat study: people talk with one of the RUNs, picked at random, without knowing which.

    A run is a dialogue model, or a generator. A generator says the acts of a policy, which receives what the fidelity
    check reads in a person's messages, so its corpus must be one that `dactnlg selfplay` can play. Nobody meets a
    system again before having met all of them. After at least three messages (--least-turns), a chat is rated on
    seven-point scales: quality, fluency, diversity, contingency, empathy. Texts and questions are in CHATS/chat.json,
    and may be changed there.

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
