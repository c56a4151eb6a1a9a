"""Making generators and sentences: `train` and `generate`."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from dactnlg.commands.options import Constraint, DataDir, Model, Sample, Seed, Temperature, TopK, TopP
from dactnlg.errors import UserError

if TYPE_CHECKING:
    from dactnlg.generation import Generation


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
) -> None:
    """Say acts as sentences: one line an act, in order.

    Acts come from the arguments, from --input, or from a pipe. A line that is blank or not an act ends
    the output there, with exit code 2.

    \b
    dactnlg generate --model runs/trails-sclstm "inform(name='Ivy Cutting';difficulty=easy)"
    dactnlg generate --model runs/trails-sclstm --input acts.txt --format json > answers.jsonl
    dactnlg generate --model runs/trails-sclstm --sample --temperature 0.8 --n-best 5 --seed 7 "goodbye()"
    """
    from tqdm import tqdm

    from dactnlg.acts import parse
    from dactnlg.lines import answer_each, open_acts, parsed_chunks

    if acts and input_file is not None:
        raise UserError("give acts as arguments or with --input, not both")
    # Acts on the command line are few: all are checked before the model is loaded.
    given = [(parse(text, where=f"act {number}"), f"act {number}") for number, text in enumerate(acts or (), 1)]
    if not given and input_file is None and sys.stdin.isatty():
        raise UserError("no acts: give them as arguments, with --input FILE, or through a pipe")

    with open_acts(input_file or "-") as source:
        from dactnlg.generation import Generator

        generator = Generator.load(model, backend)
        ways: dict[str, Any] = {"constraint": constraint, "beam_width": beam_width, "n_best": n_best, "seed": seed}
        ways |= {"sample": sample, "temperature": temperature, "top_k": top_k, "top_p": top_p}
        answer = partial(generator.generate, **ways)
        done = 0
        # Where the sentences appear at the terminal they are progress enough.
        quiet = True if sys.stdout.isatty() else None
        with tqdm(desc="generating", unit=" acts", delay=2, leave=False, disable=quiet) as bar:
            for chunk in [given] if given else parsed_chunks(source, input_file or "-"):
                for generation in answer_each(answer, chunk, done):
                    print(_shown(generation, output_format, n_best))
                sys.stdout.flush()
                done += len(chunk)
                bar.update(len(chunk))


def _shown(generation: Generation, output_format: str, n_best: int) -> str:
    if output_format == "json":
        return json.dumps(generation.to_json(), ensure_ascii=False)
    texts = [generation.text] if n_best == 1 else [best.text for best in generation.n_best]
    # A value may hold a line break or a tab; the output is one line an act all the same.
    return "\t".join(" ".join(text.split()) for text in texts)
