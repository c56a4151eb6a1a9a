"""Making generators and sentences: `train` and `generate`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from dactnlg.cli import options
from dactnlg.cli.options import Constraint
from dactnlg.errors import UserError

if TYPE_CHECKING:
    from dactnlg.generation.speaking import Speaker


@click.command()
@click.argument(
    "config", type=options.PATH, metavar="CONFIG", help="A YAML file, or the name of one that comes with dactnlg."
)
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override one key; may be repeated.")
@click.option("--output", type=options.PATH, metavar="RUN", help="The run folder to write. [default: runs/CONFIG]")
@click.option("--resume", is_flag=True, help="Go on from the last finished epoch of RUN.")
@options.data_dir
@click.option(
    "--devices",
    type=int,
    default=1,
    metavar="N",
    help="Divide each batch among the first N GPUs; training.backend=keras.",
)
@click.option(
    "--workers", metavar="HOST:PORT,...", help="Addresses of all processes that train together, the chief's first."
)
@click.option("--worker", type=int, metavar="I", help="Which of the workers this is, from 0.")
def train(
    config: Path,
    overrides: tuple[str, ...],
    output: Path | None,
    resume: bool,
    data_dir: Path | None,
    devices: int,
    workers: str | None,
    worker: int | None,
) -> None:
    """Train a generator and write its run folder.

    Several GPUs, or processes on several machines, can train together. Each process is started with the same command
    and its own --worker; the first one writes RUN. The losses are those of one process.

    \b
    dactnlg train trails-sclstm
    dactnlg train configs/restaurants-sclstm.yaml --set training.epochs=20 --output runs/mine
    dactnlg train e2e-sclstm --set training.backend=keras --devices 4
    dactnlg train e2e-sclstm --set training.backend=keras --workers 10.0.0.1:8701,10.0.0.2:8701 --worker 0
    """
    from dactnlg import models
    from dactnlg.cli.quiet import own_standard_output
    from dactnlg.runs.config import load_config
    from dactnlg.training.workers import Cluster

    cluster = Cluster.read(devices, workers, worker)
    placed = [f"corpus.data_dir={json.dumps(str(data_dir))}"] if data_dir else []
    checked = load_config(config, [*overrides, *placed], models)

    from dactnlg.training.train import train as train_model

    if cluster.workers > 1:
        own_standard_output()
        print(f"dactnlg: worker {cluster.rank} of {cluster.workers} joins {cluster.addresses[0]}", file=sys.stderr)
    folder = output or Path("runs") / config.stem
    run = train_model(checked, folder, resume=resume, progress=sys.stderr.isatty(), cluster=cluster)
    if cluster.rank == 0:
        print(run.path)


@click.command()
@options.model
@click.argument("acts", nargs=-1, metavar="[ACT]...", help="Acts, one an argument.")
@click.option("--input", "input_file", metavar="FILE", help="Acts, one a line; - is standard input.")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json"]),
    default="text",
    help="A sentence a line, or a JSON object.",
)
@click.option(
    "--n-best",
    type=click.IntRange(min=1),
    default=1,
    help="Sentences an act; as text they stand in one line, parted by tabs.",
)
@click.option("--beam-width", type=click.IntRange(min=1), help="[default: the run's]")
@click.option("--constraint", type=options.CONSTRAINT, help="[default: the run's]")
@options.sample
@options.temperature
@options.top_k
@options.top_p
@options.seed
@click.option(
    "--backend",
    type=click.Choice(["auto", "numpy", "keras"]),
    default="auto",
    help="What searches: numpy starts at once; keras can use a GPU.",
)
@click.option(
    "--output", type=options.PATH, metavar="FILE", help="Write the sentences here. [default: standard output]"
)
@click.option("--resume", is_flag=True, help="Go on with the FILE of --output.")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="Processes that say the acts of --input (2 or more: through Ray).",
)
def generate(
    model: Path,
    acts: tuple[str, ...],
    input_file: str | None,
    output_format: str,
    n_best: int,
    beam_width: int | None,
    constraint: Constraint | None,
    sample: bool | None,
    temperature: float | None,
    top_k: int | None,
    top_p: float | None,
    seed: int | None,
    backend: str,
    output: Path | None,
    resume: bool,
    jobs: int,
) -> None:
    """Say acts as sentences: one line an act, in order.

    Acts come from the arguments, from --input, or from a pipe. A line that is blank or not an act ends
    the output there, with exit code 2.

    What --output has begun and anything has stopped, --resume brings to its end, as if nothing had happened; FILE.state
    beside it says how far it is. With --jobs several processes say the acts, through Ray, and the output is the same.
    $RAY_ADDRESS names a cluster to be used in place of this machine.

    \b
    dactnlg generate --model runs/trails-sclstm "inform(name='Ivy Cutting';difficulty=easy)"
    dactnlg generate --model runs/trails-sclstm --input acts.txt --format json > answers.jsonl
    dactnlg generate --model runs/trails-sclstm --sample --temperature 0.8 --n-best 5 --seed 7 "goodbye()"
    dactnlg generate --model runs/trails-sclstm --input acts.txt --output sentences.txt --jobs 4 --resume
    """
    from tqdm import tqdm

    from dactnlg._utils.files import check_folders
    from dactnlg.acts import parse
    from dactnlg.generation.lines import checked, open_acts, parsed_chunks

    if acts and input_file is not None:
        raise UserError("give acts as arguments or with --input, not both")
    # Acts on the command line are few: all are checked before the model is loaded.
    given = [(parse(checked(text, f"act {n}"), where=f"act {n}"), f"act {n}") for n, text in enumerate(acts, 1)]
    if resume and output is None:
        raise UserError("--resume goes on with a file: name it with --output")
    if acts and output is not None:
        raise UserError("--output is for the acts of a file or a pipe: give them with --input")
    if jobs > 1 and (output is None or not Path(input_file or "-").is_file()):
        raise UserError("--jobs is for the acts of a file, into another: name them with --input and --output")
    check_folders(output)
    if not given and input_file is None and sys.stdin.isatty():
        raise UserError("no acts: give them as arguments, with --input FILE, or through a pipe")

    with open_acts(input_file or "-") as source:
        from dactnlg.generation.speaking import Speaker

        ways: dict[str, Any] = {"constraint": constraint, "beam_width": beam_width, "n_best": n_best, "seed": seed}
        ways |= {"sample": sample, "temperature": temperature, "top_k": top_k, "top_p": top_p}
        speaker = Speaker(model, backend, output_format, ways)
        # One process of several may need all of a GPU: here nothing is loaded onto it.
        if jobs == 1 or speaker.settings()["backend"] != "keras":
            speaker.load()
        if output is not None:
            _write(output, source, input_file or "-", speaker, resume, jobs)
            return
        done = 0
        # Where the sentences appear at the terminal they are progress enough.
        quiet = True if sys.stdout.isatty() else None
        with tqdm(desc="generating", unit=" acts", delay=2, leave=False, disable=quiet) as bar:
            for chunk in [given] if given else parsed_chunks(source, input_file or "-"):
                for text in speaker.say(chunk, done):
                    print(text)
                sys.stdout.flush()
                done += len(chunk)
                bar.update(len(chunk))


def _write(path: Path, source: BinaryIO, name: str, speaker: Speaker, resume: bool, jobs: int) -> None:
    """Write a file of sentences; after Ctrl-C, tell how to go on."""
    from tqdm import tqdm

    from dactnlg.generation.bulk import SentenceFile, count_lines, stretches

    if jobs > 1:
        from dactnlg._utils import cluster

        cluster.check_installed()
    file = SentenceFile(path, speaker.settings())
    total = count_lines(Path(name)) if Path(name).is_file() else None
    shown = "standard input" if name == "-" else name
    with file.opened(source, shown, resume):
        if jobs > 1:
            from dactnlg.generation.parallel import said_by_many

            places = stretches(Path(name), source.tell(), file.lines)
            steps = file.write_said(source, shown, said_by_many(speaker, Path(name), shown, places, jobs))
        else:
            steps = file.write(source, shown, speaker.say, speaker.forget)
        bar = tqdm(desc="generating", unit=" acts", total=total, initial=file.lines, delay=2, leave=False, disable=None)
        try:
            with bar:
                for done in steps:
                    bar.update(done - bar.n)
        except KeyboardInterrupt:
            print(
                f"dactnlg: {file.path} holds the sentences of the first {file.lines} acts; go on with the same command "
                "and --resume",
                file=sys.stderr,
            )
            raise
