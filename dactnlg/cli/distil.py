"""`dactnlg distil`: filter paraphrases, and train a run on them."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from dactnlg.cli import options
from dactnlg.errors import UserError


@click.command()
@click.argument("pairs", type=options.PATH, metavar="PAIRS", help="Acts and sentences: JSONL, JSON, CSV or TSV.")
@click.option("--output", type=options.PLACE, required=True, metavar="RUN", help="The run folder to write.")
@click.option(
    "--check-with",
    metavar="CORPUS",
    help="Learn from this corpus, or its file, what sentences say. [default: the pairs themselves]",
)
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override one key; may be repeated.")
@click.option("--overwrite", is_flag=True, help="Replace an existing run and its pairs.")
@options.data_dir
def distil(
    *,
    pairs: Path,
    output: Path,
    check_with: str | None,
    overrides: tuple[str, ...],
    overwrite: bool,
    data_dir: Path | None,
) -> None:
    """Keep the sentences that say what their acts say, reject the others, and train on what is kept.

    PAIRS are sentences that a language model, or people, wrote for acts: one `{"act", "text"}` per line; see
    `dactnlg prompts`. The folder RUN-pairs gets pairs.jsonl, rejected.jsonl (with the reasons for each), a card, a
    configuration and summary.json. Finally the command reports how many acts per second the run generates, and for what
    share of unseen slot combinations it is faithful. Nothing is sent anywhere.

    \b
    dactnlg distil pairs.jsonl --output runs/mine
    dactnlg distil pairs.jsonl --check-with trails --output runs/mine --set training.epochs=20
    """
    if data_dir is not None and check_with is None:
        raise UserError("--data-dir is for the files of --check-with: name that corpus, too")
    from dactnlg._utils.terminal import LINES, printable
    from dactnlg.experiments.distillation import distil as run_distil

    found = run_distil(
        pairs,
        output,
        check_with=check_with,
        overrides=overrides,
        data_dir=data_dir,
        overwrite=overwrite,
        progress=sys.stderr.isatty(),
    )
    print(printable("\n".join(found.lines()), LINES))
