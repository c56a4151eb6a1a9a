"""Many runs from one configuration: `sweep`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from dactnlg.cli import options
from dactnlg.errors import ConfigError


@click.command()
@click.argument(
    "space", type=options.PATH, metavar="SWEEP", help="A YAML file, or the name of one that comes with dactnlg."
)
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override one key of all trials.")
@click.option("--output", type=options.PATH, metavar="DIR", help="A folder for the runs. [default: sweeps/SWEEP]")
@click.option("--samples", type=click.IntRange(min=1), help="Draws for each point of the grid. [default: the file's]")
@click.option(
    "--jobs", type=click.IntRange(min=1), default=1, metavar="N", help="Trials side by side, each on one core."
)
@click.option("--metric", metavar="NAME", help="The score to rank by. [default: the file's, else BLEU-4]")
@click.option("--preset", metavar="NAME", help="Its protocol. [default: the file's, else the corpus's]")
@click.option(
    "--early-stopping/--no-early-stopping", default=None, help="Stop trials whose validation loss falls behind."
)
@click.option("--resume", is_flag=True, help="Go on with the sweep in DIR.")
@click.option("--json", "json_file", metavar="FILE", help="Write the trials as JSON too.")
@options.data_dir
def sweep(
    space: Path,
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

    Trials run through Ray Tune (pip install 'dactnlg[ray]'), here or on the cluster that $RAY_ADDRESS names. DIR then
    holds an ordinary run folder for each. After Ctrl-C or a kill --resume goes on from the last epoch of every trial.

    \b
    dactnlg sweep trails-sclstm --jobs 2
    dactnlg sweep my-sweep.yaml --output sweeps/mine --samples 20 --set training.epochs=10 --resume
    dactnlg leaderboard sweeps/mine/trial-*
    """
    from dactnlg._utils.files import check_folders, written
    from dactnlg.experiments.sweep import sweep as run_sweep
    from dactnlg.experiments.sweep_specification import load_sweep
    from dactnlg.runs.config import read_override

    check_folders(json_file)
    fixed: dict[str, Any] = {"corpus.data_dir": str(data_dir.absolute())} if data_dir else {}
    for override in overrides:
        try:
            section, key, value = read_override(override)
        except ValueError as error:
            raise ConfigError(f"--set {override}: {error}") from None
        fixed[f"{section}.{key}"] = value
    given = {"samples": samples, "metric": metric, "preset": preset, "early_stopping": early_stopping}
    checked = load_sweep(space, {key: value for key, value in given.items() if value is not None}, fixed)
    folder = output or Path("sweeps") / space.stem
    try:
        result = run_sweep(checked, folder, jobs=jobs, resume=resume, progress=sys.stderr.isatty())
    except KeyboardInterrupt:
        print(f"dactnlg: {folder} keeps what was done; go on with the same command and --resume", file=sys.stderr)
        raise
    if json_file is not None:
        with written(json_file) as target:
            json.dump(result.to_json(), target, ensure_ascii=False, indent=1)
            target.write("\n")
    if json_file != "-":
        print(result.table())
    if result.failed:
        told = "".join(f"\n  {trial.run}: {trial.message}" for trial in result.failed)
        print(f"dactnlg: {len(result.failed)} of {len(result.trials)} trials failed:{told}", file=sys.stderr)
        raise click.exceptions.Exit(1)
