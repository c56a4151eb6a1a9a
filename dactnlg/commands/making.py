"""Making generators and sentences: `train` and `generate`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from dactnlg.commands import options
from dactnlg.commands.options import Constraint
from dactnlg.errors import UserError

if TYPE_CHECKING:
    from dactnlg.bulk import Say, SentenceFile
    from dactnlg.generation import Generation, Generator
    from dactnlg.lines import PlacedTurn


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
    from dactnlg.workers import Cluster
    from dactnlg.config import load_config
    from dactnlg.quiet import own_standard_output

    cluster = Cluster.read(devices, workers, worker)
    placed = [f"corpus.data_dir={json.dumps(str(data_dir))}"] if data_dir else []
    checked = load_config(config, [*overrides, *placed])

    from dactnlg.training import train as train_model

    if cluster.workers > 1:
        own_standard_output()
        print(f"dactnlg: worker {cluster.worker} of {cluster.workers} joins {cluster.addresses[0]}", file=sys.stderr)
    run = train_model(checked, output or Path("runs") / config.stem, resume, sys.stderr.isatty(), cluster)
    if cluster.chief:
        print(run)


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
) -> None:
    """Say acts as sentences: one line an act, in order.

    Acts come from the arguments, from --input, or from a pipe. A line that is blank or not an act ends
    the output there, with exit code 2.

    What --output has begun and anything has stopped, --resume brings to its end, as if nothing had happened; FILE.state
    beside it says how far it is.

    \b
    dactnlg generate --model runs/trails-sclstm "inform(name='Ivy Cutting';difficulty=easy)"
    dactnlg generate --model runs/trails-sclstm --input acts.txt --format json > answers.jsonl
    dactnlg generate --model runs/trails-sclstm --sample --temperature 0.8 --n-best 5 --seed 7 "goodbye()"
    dactnlg generate --model runs/trails-sclstm --input acts.txt --output sentences.txt --resume
    """
    from tqdm import tqdm

    from dactnlg import __version__
    from dactnlg.acts import parse
    from dactnlg.bulk import SentenceFile, model_hash
    from dactnlg.files import check_folders
    from dactnlg.lines import answer_each, checked, open_acts, parsed_chunks

    if acts and input_file is not None:
        raise UserError("give acts as arguments or with --input, not both")
    # Acts on the command line are few: all are checked before the model is loaded.
    given = [(parse(checked(text, f"act {n}"), where=f"act {n}"), f"act {n}") for n, text in enumerate(acts, 1)]
    if resume and output is None:
        raise UserError("--resume goes on with a file: name it with --output")
    if acts and output is not None:
        raise UserError("--output is for the acts of a file or a pipe: give them with --input")
    check_folders(output)
    if not given and input_file is None and sys.stdin.isatty():
        raise UserError("no acts: give them as arguments, with --input FILE, or through a pipe")

    with open_acts(input_file or "-") as source:
        from dactnlg.generation import Generator

        generator = Generator.load(model, backend)
        ways: dict[str, Any] = {"constraint": constraint, "beam_width": beam_width, "n_best": n_best, "seed": seed}
        ways |= {"sample": sample, "temperature": temperature, "top_k": top_k, "top_p": top_p}
        answer = partial(generator.generate, **ways)

        def say(chunk: list[PlacedTurn], first: int) -> Iterator[str]:
            return (_shown(generation, output_format, n_best) for generation in answer_each(answer, chunk, first))

        if output is not None:
            # The same words may come out differently in another version, or where something else searches.
            ways |= {"backend": type(generator.decoder).__name__, "version of dactnlg": __version__}
            ways |= {"model": model_hash(model), "format": output_format}
            _write(SentenceFile(output, ways), source, input_file or "-", say, generator, resume)
            return
        done = 0
        # Where the sentences appear at the terminal they are progress enough.
        quiet = True if sys.stdout.isatty() else None
        with tqdm(desc="generating", unit=" acts", delay=2, leave=False, disable=quiet) as bar:
            for chunk in [given] if given else parsed_chunks(source, input_file or "-"):
                for text in say(chunk, done):
                    print(text)
                sys.stdout.flush()
                done += len(chunk)
                bar.update(len(chunk))


def _write(file: SentenceFile, source: BinaryIO, name: str, say: Say, generator: Generator, resume: bool) -> None:
    """Write a file of sentences; after Ctrl-C, tell how to go on."""
    from tqdm import tqdm

    from dactnlg.bulk import count_lines

    forget = generator.decoder.forget if generator.decoder else lambda: None
    total = count_lines(Path(name)) if Path(name).is_file() else None
    shown = "standard input" if name == "-" else name
    with file.opened(source, shown, resume):
        try:
            with tqdm(
                desc="generating", unit=" acts", total=total, initial=file.lines, delay=2, leave=False, disable=None
            ) as bar:
                for done in file.write(source, shown, say, forget):
                    bar.update(done - bar.n)
        except KeyboardInterrupt:
            print(
                f"dactnlg: {file.path} holds the sentences of the first {file.lines} acts; go on with the same command "
                "and --resume",
                file=sys.stderr,
            )
            raise


def _shown(generation: Generation, output_format: str, n_best: int) -> str:
    if output_format == "json":
        return json.dumps(generation.to_json(), ensure_ascii=False)
    texts = [generation.text] if n_best == 1 else [best.text for best in generation.n_best]
    # A value may hold a line break or a tab; the output is one line an act all the same.
    return "\t".join(" ".join(text.split()) for text in texts)
