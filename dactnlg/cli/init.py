"""`dactnlg init`: a card and a configuration for your own data."""

from __future__ import annotations

from pathlib import Path

import click

from dactnlg.cli import options


@click.command()
@click.argument("data", type=options.PATH, metavar="FILE", help="Acts and sentences: CSV, TSV, JSON or JSONL.")
@click.option(
    "--act", metavar="COLUMN", help="The column, or key, of the acts. [default: act, mr, or what looks like acts]"
)
@click.option(
    "--text",
    metavar="COLUMN",
    help="The column, or key, of the sentences. [default: text, ref, or what looks like sentences]",
)
@click.option("--output", type=options.PLACE, metavar="DIR", help="Write the two files here. [default: beside FILE]")
@click.option("--overwrite", is_flag=True, help="Replace an existing card and configuration.")
def init(*, data: Path, act: str | None, text: str | None, output: Path | None, overwrite: bool) -> None:
    """Analyse FILE, and write a data card and a configuration for it.

    FILE.card.yaml gets splits, aliases of values, and phrases that identify yes, no, dontcare and none; FILE.yaml gets
    a model that fits the size of the data. Both explain what each key changes. The command prints what it is unsure
    about, and the next commands.

    \b
    dactnlg init flights.csv
    dactnlg init trainset.tsv --act mr --text ref --output mine
    """
    from dactnlg._utils.terminal import LINES, printable
    from dactnlg.data.proposal_files import initialize

    print(printable("\n".join(initialize(data, act, text, output, overwrite=overwrite).summary), LINES))
