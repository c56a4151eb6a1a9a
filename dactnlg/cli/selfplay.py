"""`dactnlg selfplay`: runs talk with simulated users."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from dactnlg.cli import options
from dactnlg.cli.output import width
from dactnlg.errors import UserError

if TYPE_CHECKING:
    from dactnlg._utils.tables import Format
    from dactnlg.dialogue.files import PlayedRun
    from dactnlg.generation.options import GenerationOptions

Played = TypeVar("Played", bound="PlayedRun")


@click.command()
@click.argument("runs", nargs=-1, required=True, type=options.PATH, metavar="RUN...")
@click.option(
    "--output", type=options.PLACE, required=True, metavar="FOLDER", help="Write conversations and scores here."
)
@click.option(
    "--conversations", type=click.IntRange(1, 10_000), default=100, metavar="N", help="Conversations per run."
)
@click.option(
    "--turns",
    type=click.IntRange(4, 100),
    default=10,
    metavar="N",
    help="Maximum number of utterances in a conversation, user and system together; 5 or more without --open.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, metavar="N", help="Seed of the goals; with --open, of everything."
)
@click.option("--open", "alone", is_flag=True, help="Let dialogue models talk to themselves, starting from nothing.")
@click.option(
    "--emotions",
    type=options.PATH,
    metavar="JSONL",
    help="With --open: dialogues labelled with emotions, in DailyDialog's format, to learn sentiment from.",
)
@click.option(
    "--vectors", type=options.PATH, metavar="FILE", help="With --open: word vectors (GloVe or word2vec) for coherence."
)
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
    alone: bool,
    emotions: Path | None,
    vectors: Path | None,
    output_format: Format,
    data_dir: Path | None,
    generation: GenerationOptions,
) -> None:
    """Let each RUN talk with simulated users, who read its sentences, and report how many get what they want.

    Goals come from the values of the run's corpus. A user has constraints and questions, asks again about anything it
    has not read, and believes what it has read: a dropped slot costs turns, a swapped value costs success. All runs of
    a corpus meet the same users. FOLDER gets RUN.jsonl, one conversation per line, and selfplay.json.

    With --open each RUN is a dialogue model that talks to itself, starting from nothing. The conversations are all
    different, and the model sees the last five utterances; the table has their components (laughter, questions and
    words; with --emotions and --vectors all those of Ghandeharioun et al. 2019).

    \b
    dactnlg selfplay runs/trails-sclstm --output selfplay/trails
    dactnlg selfplay runs/seed-1 runs/seed-2 --output selfplay/seeds --conversations 300 --seed 7
    """
    from dactnlg.dialogue.files import check_output, run_names
    from dactnlg.dialogue.task.selfplay import self_play, table

    check_output(output)
    if alone:
        if generation != type(generation)():
            raise UserError("options of generation are for acts: they do not go with --open")
        if data_dir:
            raise UserError("--data-dir is for a generator's corpus: it does not go with --open")
        from dactnlg.dialogue.components.shipped import shipped_maker
        from dactnlg.dialogue.open_play import components_table, open_self_play
        from dactnlg.dialogue.talkers import load_dialogue

        talkers = {name: load_dialogue(run) for name, run in zip(run_names(runs), runs, strict=True)}
        talked = open_self_play(talkers, shipped_maker(emotions, vectors), conversations, turns, seed=seed)
        print(components_table(_written(output, talked), output_format, width()))
        return
    if emotions or vectors:
        raise UserError("--emotions and --vectors go with --open")
    counts = {"conversations": conversations, "turns": turns, "seed": seed}
    played = self_play(runs, **counts, options=generation, data_dir=data_dir)
    print(table(_written(output, played), output_format, width()))


def _written(output: Path, runs: Iterable[Played]) -> list[Played]:
    """Write each run as soon as it has been played, so that Ctrl-C loses no finished one, then the summary of all."""
    from dactnlg.dialogue.files import write_conversations_of, write_summary

    played = []
    for run in runs:
        write_conversations_of(output, run)
        played.append(run)
    write_summary(output, played)
    return played
