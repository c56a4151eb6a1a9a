"""`dactnlg tune`: the decoding settings of a run, chosen on validation data."""

from __future__ import annotations

from pathlib import Path

import click

from dactnlg.cli import options
from dactnlg.cli.output import show, width


@click.command()
@options.run()
@click.option(
    "--preset",
    metavar="NAME",
    help="Score under this evaluation protocol. [default: the one that fits the corpus and the run]",
)
@click.option("--metric", default="BLEU-4", metavar="NAME", help="Choose by this score.")
@click.option(
    "--acts",
    type=click.IntRange(min=1),
    default=1000,
    metavar="N",
    help="Generate sentences for at most N acts with each setting.",
)
@click.option("--dry-run", is_flag=True, help="Do not write to RUN.")
@options.json_of("all settings")
@options.backend
@options.data_dir
def tune(
    *,
    run: Path,
    preset: str | None,
    metric: str,
    acts: int,
    dry_run: bool,
    json_file: str | None,
    backend: str,
    data_dir: Path | None,
) -> None:
    """Choose RUN's decoding settings on the validation split, and store them in RUN.

    This tries length normalisation, constraint, beam width and the weight of slot errors, one after the other. Only
    the most faithful settings are eligible: their slot error rate must not be higher than the lowest, and the share of
    sentences with a slot fault not higher by more than one in a thousand. `generate` and `evaluate` then use these
    settings; their options still override them. Scores in the manifest that belong to other settings are deleted.

    \b
    dactnlg tune runs/trails-sclstm
    dactnlg tune runs/tv --preset rnnlg --acts 500 --json tuned.json
    dactnlg tune runs/trails-sclstm --metric ROUGE-L --dry-run
    """
    from dactnlg._utils.files import check_folders
    from dactnlg.experiments.tuning import tune as tune_run

    check_folders(json_file)
    result = tune_run(
        run, preset=preset, metric=metric, acts=acts, data_dir=data_dir, backend=backend, write=not dry_run
    )
    show(result.table(width()), result.to_json(), json_file)
