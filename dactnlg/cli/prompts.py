"""`dactnlg prompts`: prompts for a language model, and reading its answers."""

from __future__ import annotations

import json
from pathlib import Path

import click

from dactnlg.cli import options
from dactnlg.errors import UserError

PER_ACT = 5


@click.command()
@click.argument(
    "source",
    type=options.FILE,
    required=False,
    metavar="[ACTS|CORPUS]",
    help="A .txt file of acts, or a corpus or its file.",
)
@click.option(
    "--per-act", type=click.IntRange(1, 100), metavar="N", help=f"Sentences to ask for, per act. [default: {PER_ACT}]"
)
@click.option("--read", "answers", type=options.PATH, metavar="FILE", help="Read answers from FILE, and print pairs.")
@click.option("--prompts", "asked", type=options.PATH, metavar="FILE", help="The prompts that the answers belong to.")
@click.option("--output", type=options.FILE, default="-", metavar="FILE", help="Write to FILE; - is standard output.")
@options.data_dir
def prompts(
    *,
    source: str | None,
    per_act: int | None,
    answers: Path | None,
    asked: Path | None,
    output: str,
    data_dir: Path | None,
) -> None:
    """Print prompts that ask for sentences for acts, or turn the answers into pairs.

    A prompt is a line {"id", "act", "prompt"}. Send the prompts to any model you like. An answer is a line {"id",
    "answer"}, with "act" if you kept it; the answer is a list, or text with one sentence per line. dactnlg itself sends
    nothing.

    \b
    dactnlg prompts acts.txt --per-act 10 --output prompts.jsonl
    dactnlg prompts --read answers.jsonl --prompts prompts.jsonl --output pairs.jsonl
    """
    from dactnlg._utils.files import check_folders, written
    from dactnlg.experiments import prompts as made

    if (source is None) == (answers is None):
        raise UserError("name a file of acts or a corpus to make prompts for, or --read answers")
    if asked is not None and answers is None:
        raise UserError("--prompts goes with --read: it names the prompts that the answers belong to")
    if answers is not None and (per_act, data_dir) != (None, None):
        raise UserError("--per-act and --data-dir are for making prompts, not for --read")
    check_folders(output)
    if answers is not None:
        rows = made.read_answers(answers, asked)
    else:
        rows = made.prompts(made.acts_of(source or "", data_dir), per_act or PER_ACT)
    with written(output) as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
