"""`dactnlg selfplay`: runs speak with simulated users."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dactnlg.cli import options
from dactnlg.cli.output import width

if TYPE_CHECKING:
    from dactnlg._utils.tables import Format
    from dactnlg.generation.options import GenerationOptions


@click.command()
@click.argument("runs", nargs=-1, required=True, type=options.PATH, metavar="RUN...")
@click.option(
    "--output", type=options.PATH, required=True, metavar="FOLDER", help="Write conversations and scores here."
)
@click.option(
    "--conversations", type=click.IntRange(1, 10_000), default=100, metavar="N", help="Conversations of each run."
)
@click.option(
    "--turns",
    type=click.IntRange(4, 100),
    default=10,
    metavar="N",
    help="Utterances of a conversation at most, user's and system's together.",
)
@click.option("--seed", type=click.IntRange(min=0), default=1, metavar="N", help="Seed of the users' goals.")
@options.table_format
@options.data_dir
@options.sampling
def selfplay(
    *,
    runs: tuple[Path, ...],
    output: Path,
    conversations: int,
    turns: int,
    seed: int,
    output_format: Format,
    data_dir: Path | None,
    generation: GenerationOptions,
) -> None:
    """Let each RUN speak with simulated users, who read its sentences, and tell how many get what they want.

    Goals come from the values of the run's corpus. A user has wishes and questions, asks again what it has not read,
    and believes what it has: a dropped slot costs turns, a swapped value success. All runs of a corpus meet the same
    users. FOLDER gets RUN.jsonl, a conversation a line, and selfplay.json.

    \b
    dactnlg selfplay runs/trails-sclstm --output selfplay/trails
    dactnlg selfplay runs/seed-1 runs/seed-2 --output selfplay/seeds --conversations 300 --seed 7
    """
    from dactnlg.dialogue.task.selfplay import check_output, self_play, table, write_conversations_of, write_summary

    check_output(output)
    played = []
    counts = {"conversations": conversations, "turns": turns, "seed": seed}
    for each in self_play(runs, **counts, options=generation, data_dir=data_dir):
        # One after the other: Ctrl-C takes nothing away that is done.
        write_conversations_of(output, each)
        played.append(each)
    write_summary(output, played)
    print(table(played, output_format, width()))
