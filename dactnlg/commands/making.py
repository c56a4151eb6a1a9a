"""Making generators and sentences: `train` and `generate`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Literal

import typer

from dactnlg.commands.options import Constraint, DataDir, Model, Sample, Seed, Temperature, TopK, TopP
from dactnlg.errors import UserError

if TYPE_CHECKING:
    from dactnlg.speaking import Speaker


def train(
    config: Annotated[
        Path, typer.Argument(metavar="CONFIG", help="A YAML file, or the name of one that comes with dactnlg.")
    ],
    overrides: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override one key; may be repeated.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="RUN", help="The run folder to write. [default: runs/CONFIG]")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the last finished epoch of RUN.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Train a generator and write its run folder.

    \b
    dactnlg train trails-sclstm
    dactnlg train configs/restaurants-sclstm.yaml --set training.epochs=20 --output runs/mine
    """
    from dactnlg.config import load_config

    overrides = [*(overrides or ())]
    if data_dir:
        overrides.append(f"corpus.data_dir={json.dumps(str(data_dir))}")
    checked = load_config(config, overrides)

    from dactnlg.training import train as train_model

    run = train_model(checked, output or Path("runs") / config.stem, resume=resume, progress=sys.stderr.isatty())
    print(run)


def generate(
    model: Model,
    acts: Annotated[list[str] | None, typer.Argument(metavar="ACT", help="Acts, one an argument.")] = None,
    input_file: Annotated[
        str | None, typer.Option("--input", metavar="FILE", help="Acts, one a line; - is standard input.")
    ] = None,
    output_format: Annotated[
        Literal["text", "json"], typer.Option("--format", help="A sentence a line, or a JSON object.")
    ] = ("text"),
    n_best: Annotated[
        int, typer.Option(min=1, help="Sentences an act; as text they stand in one line, parted by tabs.")
    ] = 1,
    beam_width: Annotated[int | None, typer.Option(min=1, help="[default: the run's]")] = None,
    constraint: Annotated[Constraint | None, typer.Option(help="[default: the run's]")] = None,
    sample: Sample = None,
    temperature: Temperature = None,
    top_k: TopK = None,
    top_p: TopP = None,
    seed: Seed = None,
    backend: Annotated[
        Literal["auto", "numpy", "keras"],
        typer.Option(help="What searches: numpy starts at once; keras can use a GPU."),
    ] = "auto",
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the sentences here. [default: standard output]")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the FILE of --output.")] = False,
    jobs: Annotated[
        int, typer.Option(min=1, metavar="N", help="Processes that say the acts of --input (2 or more: through Ray).")
    ] = 1,
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

    from dactnlg.acts import parse
    from dactnlg.files import check_folders
    from dactnlg.lines import checked, open_acts, parsed_chunks

    if acts and input_file is not None:
        raise UserError("give acts as arguments or with --input, not both")
    # Acts on the command line are few: all are checked before the model is loaded.
    given = [(parse(checked(text, f"act {n}"), where=f"act {n}"), f"act {n}") for n, text in enumerate(acts or (), 1)]
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
        from dactnlg.speaking import Speaker

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

    from dactnlg.bulk import SentenceFile, count_lines, stretches

    if jobs > 1:
        from dactnlg import cluster

        cluster.check_installed()
    file = SentenceFile(path, speaker.settings())
    total = count_lines(Path(name)) if Path(name).is_file() else None
    shown = "standard input" if name == "-" else name
    with file.opened(source, shown, resume):
        if jobs > 1:
            from dactnlg.parallel import said_by_many

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
