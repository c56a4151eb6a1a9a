"""`dactnlg compare`: compare two systems."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dactnlg.cli import options, streams
from dactnlg.cli.options import Split
from dactnlg.cli.output import width, write_json
from dactnlg.errors import UserError

if TYPE_CHECKING:
    from dactnlg._utils.tables import Format
    from dactnlg.generation.options import GenerationOptions


@click.command()
@click.argument("first", metavar="A", help="Scores as JSON, or a run folder.")
@click.argument("second", metavar="B", help="The same for the other system.")
@click.option("--metric", metavar="NAME", help="The score by which acts and segments are sorted.")
@click.option("--top", type=click.IntRange(min=0), default=5, metavar="N", help="Show N segments of each kind.")
@click.option(
    "--resamples",
    type=click.IntRange(min=1),
    default=1000,
    metavar="N",
    help="Draw N bootstrap samples; approximate randomisation uses ten times as many.",
)
@click.option("--seed", type=click.IntRange(min=0), default=12345, metavar="N", help="Seed for the resampling.")
@options.json
@options.report
@options.table_format
@click.option(
    "--corpus",
    type=options.FILE,
    metavar="NAME",
    help="For run folders, as in `evaluate`; the same goes for all options below.",
)
@click.option("--split", type=options.SPLIT, default="test", help="The split to generate.")
@click.option("--preset", multiple=True, metavar="NAME", help="Score under this evaluation protocol; may be repeated.")
@options.vectors
@options.sampling
@options.backend
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
    report: Path | None,
    output_format: Format,
    corpus: str | None,
    split: Split,
    preset: tuple[str, ...],
    vectors: Path | None,
    generation: GenerationOptions,
    backend: str,
    data_dir: Path | None,
) -> None:
    """Compare two systems: is B better than A, with what certainty, and where.

    A and B are files written by `score --json` or `evaluate --json`, or run folders. Scores whose hashes differ
    (another variant, other references) are not ranked, and the message says what differs. For run folders, a --metric
    that the protocol lacks is computed as well.

    \b
    dactnlg compare old.json new.json
    dactnlg compare runs/trails-lstm runs/trails-sclstm --metric BLEU-4 --json -
    dactnlg compare runs/trails-lstm runs/trails-sclstm --constraint rerank --report differences.html
    """
    from dactnlg._utils.files import check_folders
    from dactnlg.evaluation import comparison
    from dactnlg.evaluation.report import compared

    check_folders(json_file, report)
    how = comparison.RunEvaluation(
        corpus=corpus,
        split=split,
        presets=preset,
        more=() if metric is None else (metric,),
        vectors=vectors,
        options=generation,
        backend=backend,
        data_dir=data_dir,
    )
    unset = comparison.RunEvaluation(more=how.more, options=type(generation)())
    if how != unset and not any(Path(source).is_dir() for source in (first, second)):
        raise UserError("A and B hold scores already: --corpus and the options after it are for run folders")
    systems = [comparison.load_system(source, how) for source in (first, second)]
    found = comparison.compare(systems[0], systems[1], (first, second), metric, resamples, 10 * resamples, seed)
    if report:
        compared.write(report, found, top)
    if json_file is not None:
        write_json(json_file, found.to_json())
    if "-" not in (json_file, str(report)):
        print(compared.table(found, output_format, top, width()))
    if output_format == "csv":
        # As in `evaluate`: notes for people go elsewhere.
        for line in compared.notes(found):
            streams.tell(line)
