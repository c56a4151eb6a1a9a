"""`dactnlg train`: train a generator."""

from __future__ import annotations

import json
import logging
import shlex
import sys
from pathlib import Path

import click

from dactnlg.cli import options, streams


@click.command()
@click.argument(
    "config", type=options.PATH, metavar="CONFIG", help="A YAML file, or the name of one that comes with dactnlg."
)
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override one key; may be repeated.")
@click.option("--output", type=options.PLACE, metavar="RUN", help="The run folder to write. [default: runs/CONFIG]")
@click.option("--resume", is_flag=True, help="Continue from the last finished epoch of RUN.")
@click.option("--overwrite", is_flag=True, help="Replace an existing run in RUN, once the new one is complete.")
@click.option("--quiet", is_flag=True, help="Write only errors and warnings to standard error.")
@options.data_dir
@click.option(
    "--devices",
    type=int,
    default=1,
    metavar="N",
    help="Divide each batch among the first N GPUs; needs training.backend=keras.",
)
@click.option(
    "--workers", metavar="HOST:PORT,...", help="Addresses of all processes that train together, rank 0 first."
)
@click.option("--worker", type=int, metavar="RANK", help="The rank of this process among the workers, from 0.")
def train(
    *,
    config: Path,
    overrides: tuple[str, ...],
    output: Path | None,
    resume: bool,
    overwrite: bool,
    quiet: bool,
    data_dir: Path | None,
    devices: int,
    workers: str | None,
    worker: int | None,
) -> None:
    """Train a generator and write its run folder.

    After Ctrl-C or a kill, --resume continues from the last finished epoch; the result is the same as without the stop.
    An existing run in RUN is replaced only with --overwrite, and only once the new one is complete.

    Several GPUs, or processes on several machines, can train together. Start each process with the same command and
    its own --worker; rank 0 writes RUN. Without dropout and latent variables the losses are those of one process.

    \b
    dactnlg train trails-sclstm
    dactnlg train configs/restaurants-sclstm.yaml --set training.epochs=20 --output runs/mine
    dactnlg train laptop --set model.initialize_from=runs/tv
    dactnlg train e2e-sclstm --set training.backend=keras --devices 4
    dactnlg train e2e-sclstm --set training.backend=keras --workers 10.0.0.1:8701,10.0.0.2:8701 --worker 0
    """
    from dactnlg import models
    from dactnlg._utils.quiet import own_standard_output
    from dactnlg.runs.config import load_config
    from dactnlg.runs.place import beside
    from dactnlg.runs.run import Run
    from dactnlg.training.devices.workers import Cluster

    cluster = Cluster.read(devices, workers, worker)
    if data_dir:
        overrides = (*overrides, f"corpus.data_dir={json.dumps(str(data_dir))}")
    checked = load_config(config, overrides, models)

    from dactnlg.training.train import train as train_model

    if cluster.workers > 1:
        own_standard_output()
        if not quiet:
            streams.tell(f"worker {cluster.rank} of {cluster.workers} joins {cluster.addresses[0]}")
    progress = sys.stderr.isatty() and not quiet
    if not quiet:
        logging.getLogger("dactnlg").setLevel(logging.INFO)
    folder = output or Path("runs") / config.stem
    try:
        run = train_model(checked, folder, resume=resume, overwrite=overwrite, progress=progress, cluster=cluster)
    except KeyboardInterrupt:
        again = ["dactnlg", "train", str(config), *(word for each in overrides for word in ("--set", each))]
        if cluster.devices > 1:
            again += ["--devices", str(devices)]
        if workers is not None:
            again += ["--workers", workers, "--worker", str(worker)]
        kept = overwrite and beside(Run(folder)).path.exists()
        command = shlex.join([*again, "--output", str(folder), *(["--overwrite"] if overwrite else []), "--resume"])
        unchanged = f"{folder} is as it was; " if kept else ""
        raise KeyboardInterrupt(f"interrupted; {unchanged}go on with: {command}") from None
    if cluster.rank == 0:
        if (origin := run.manifest()["training"].get("initialized")) and not quiet:
            streams.tell(
                f"{origin['share']:.0%} of the weights began as those of {origin.get('run') or origin['pretrained']}"
            )
        print(run.path)
