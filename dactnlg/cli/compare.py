"""`dactnlg compare`: compare two systems."""

from __future__ import annotations

from pathlib import Path

import click

from dactnlg.cli import options
from dactnlg.cli.options import Split
from dactnlg.cli.output import write_json


@click.command()
@click.argument("first", metavar="A", help="Scores as JSON, or a run folder.")
@click.argument("second", metavar="B", help="The same of the other system.")
@click.option("--metric", metavar="NAME", help="The score that acts and segments are ordered by.")
@click.option("--top", type=click.IntRange(min=0), default=5, metavar="N", help="Show N segments of each kind.")
@click.option(
    "--resamples",
    type=click.IntRange(min=1),
    default=1000,
    metavar="N",
    help="Draw N bootstrap samples; approximate randomisation takes ten times as many.",
)
@click.option("--seed", type=click.IntRange(min=0), default=12345, metavar="N", help="Seed of the resampling.")
@options.json
@click.option("--corpus", metavar="NAME", help="For run folders, as in `evaluate`.")
@click.option("--split", type=options.SPLIT, default="test", help="For run folders, as in `evaluate`.")
@click.option("--preset", multiple=True, metavar="NAME", help="For run folders, as in `evaluate`.")
@options.data_dir
def compare(
    *,
    first: str,
    second: str,
    metric: str | None,
    top: int,
    resamples: int,
    seed: int,
    json_file: str | None,
    corpus: str | None,
    split: Split,
    preset: tuple[str, ...],
    data_dir: Path | None,
) -> None:
    """Compare two systems: is B better than A, how certain is that, and where.

    A and B are files that `score --json` or `evaluate --json` wrote, or run folders. Scores whose hashes differ
    (another variant, other references) are not ranked, and the message says what differs.

    \b
    dactnlg compare old.json new.json
    dactnlg compare runs/trails-lstm runs/trails-sclstm --metric BLEU-4 --json -
    """
    from dactnlg._utils.files import check_folders
    from dactnlg.evaluation import comparison
    from dactnlg.evaluation.report import compared

    check_folders(json_file)
    systems = [
        comparison.load_system(source, corpus=corpus, split=split, presets=preset, data_dir=data_dir)
        for source in (first, second)
    ]
    found = comparison.compare(systems[0], systems[1], (first, second), metric, resamples, 10 * resamples, seed)
    if json_file is not None:
        write_json(json_file, found.to_json())
    if json_file != "-":
        print(compared.text(found, top))
