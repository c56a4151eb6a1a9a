"""`dactnlg sweep`: many runs from one configuration."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from dactnlg.cli import options, streams
from dactnlg.cli.output import show, width
from dactnlg.errors import ConfigError


@click.command()
@click.argument(
    "file", type=options.PATH, metavar="SWEEP", help="A YAML file, or the name of one that comes with dactnlg."
)
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override one key of all trials.")
@click.option("--output", type=options.PLACE, metavar="DIR", help="A folder for the runs. [default: sweeps/SWEEP]")
@click.option(
    "--samples", type=click.IntRange(min=1), metavar="N", help="Draw N settings per grid point. [default: SWEEP's]"
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1, max=1024),
    default=1,
    metavar="N",
    help="Run N trials in parallel, each on one core.",
)
@click.option("--metric", metavar="NAME", help="Rank by this score. [default: SWEEP's, else BLEU-4]")
@click.option("--preset", metavar="NAME", help="Score under this protocol. [default: SWEEP's, else the corpus's]")
@click.option(
    "--early-stopping/--no-early-stopping",
    default=None,
    help="Stop trials whose validation loss falls behind. [default: SWEEP's]",
)
@click.option("--resume", is_flag=True, help="Continue the sweep in DIR.")
@options.json_of("the trials")
@options.data_dir
def sweep(
    *,
    file: Path,
    overrides: tuple[str, ...],
    output: Path | None,
    samples: int | None,
    jobs: int,
    metric: str | None,
    preset: str | None,
    early_stopping: bool | None,
    resume: bool,
    json_file: str | None,
    data_dir: Path | None,
) -> None:
    """Train one run for each of many settings and rank them on the validation split.

    Trials run through Ray Tune (pip install 'dactnlg[ray]'), here or on the cluster that $RAY_ADDRESS names. DIR gets
    an ordinary run folder for each. After Ctrl-C or a kill, --resume continues every trial from its last epoch.

    \b
    dactnlg sweep trails-sclstm --jobs 2
    dactnlg sweep my-sweep.yaml --output sweeps/mine --samples 20 --set training.epochs=10 --resume
    dactnlg leaderboard sweeps/mine/trial-*
    """
    from dactnlg._utils.files import check_folders
    from dactnlg.experiments.sweep import sweep as run_sweep
    from dactnlg.experiments.sweep_specification import load_sweep

    check_folders(json_file)
    given = {"samples": samples, "metric": metric, "preset": preset, "early_stopping": early_stopping}
    chosen = {key: value for key, value in given.items() if value is not None}
    checked = load_sweep(file, chosen, _fixed(overrides, data_dir))
    folder = output or Path("sweeps") / file.stem
    try:
        result = run_sweep(checked, folder, jobs=jobs, resume=resume, progress=sys.stderr.isatty())
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"{folder} keeps what was done; go on with the same command and --resume") from None
    show(result.table(width()), result.to_json(), json_file)
    if result.failed:
        reasons = "".join(f"\n  {trial.run}: {trial.message}" for trial in result.failed)
        streams.tell(f"{len(result.failed)} of {len(result.trials)} trials failed:{reasons}")
        raise click.exceptions.Exit(1)


def _fixed(overrides: Iterable[str], data_dir: Path | None) -> dict[str, Any]:
    """Return the configuration keys that all trials share, by their dotted names.

    Raises:
        ConfigError: an override is not KEY=VALUE.
    """
    from dactnlg.runs.config import read_override

    fixed: dict[str, Any] = {"corpus.data_dir": str(data_dir.absolute())} if data_dir else {}
    for override in overrides:
        try:
            section, key, value = read_override(override)
        except ValueError as error:
            raise ConfigError(f"--set {override}: {error}") from None
        fixed[f"{section}.{key}"] = value
    return fixed
