"""Arguments that several commands have in common."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import click

from dactnlg.errors import UserError

Split = Literal["train", "valid", "test"]
Constraint = Literal["none", "rerank", "hard"]
Command = TypeVar("Command", bound=Callable[..., Any])
Option = Callable[[Command], Command]
CommandOption = Callable[[Callable[..., None]], Callable[..., None]]


class _Path(click.Path):
    """A path that is not empty: an empty one would mean the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            raise UserError(f"{param.opts[0] if param else 'a path'} is empty: give a name")
        return super().convert(value, param, ctx)


class _Place(_Path):
    """Where to write a folder or a binary file, which standard output cannot take."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "-":
            raise UserError(f"{param.opts[0] if param else 'this'} cannot be standard output: give a name")
        return super().convert(value, param, ctx)


class Number(click.FloatRange):
    """A finite number within bounds; click's range accepts nan, and without an upper bound inf."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number, or fail if it is not finite."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


PATH = _Path(path_type=Path)
PLACE = _Place(path_type=Path)
"""Where a command writes a folder or a binary file."""
FILE = _Path()
"""The name of a file, or of a corpus, as text; `-` is a standard stream."""


def json_of(data: str) -> CommandOption:
    """Return the option --json FILE of a command that may write this data."""
    return click.option(
        "--json", "json_file", type=FILE, metavar="FILE", help=f"Write {data} as JSON; - is standard output."
    )


json = json_of("the result")
SPLIT, CONSTRAINT = click.Choice(get_args(Split)), click.Choice(get_args(Constraint))
data_dir = click.option(
    "--data-dir",
    type=PATH,
    metavar="DIR",
    help="Look for corpus files here first, then in $DACTNLG_DATA and in the user's cache.",
)
metrics = click.option(
    "--metric",
    multiple=True,
    metavar="NAME",
    help="Compute a score, a family or a group, such as `diversity`; may be repeated. [default: the preset's]",
)
vectors = click.option(
    "--vectors",
    type=PATH,
    metavar="FILE",
    help="Read word vectors from FILE: GloVe or word2vec text, or .npz. [default: $DACTNLG_VECTORS]",
)
report = click.option(
    "--report",
    type=PATH,
    metavar="FILE",
    help="Write a report to FILE: an HTML page if its name ends in .html, otherwise Markdown.",
)
intervals = click.option("--confidence", is_flag=True, help="Add bootstrap 95% intervals to the table and JSON.")
SEVERAL = "The folder that `dactnlg train` wrote; several runs of one corpus have their log probabilities averaged."
models = click.option("--model", "models", type=PATH, required=True, multiple=True, metavar="RUN", help=SEVERAL)
table_format = click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "markdown", "csv", "latex"]),
    default="text",
    help="Print tables as text (wrapped to the terminal's width), Markdown, CSV or LaTeX.",
)
backend = click.option(
    "--backend",
    type=click.Choice(["auto", "numpy", "keras"]),
    default="auto",
    help="The library that runs the model: numpy starts at once; keras can use a GPU.",
)

_GENERATION = (
    click.option(
        "--constraint",
        type=CONSTRAINT,
        help="none; rerank: fewest slot errors first; hard: no slot dropped or invented. [default: the run's]",
    ),
    click.option(
        "--beam-width",
        type=click.IntRange(min=1),
        metavar="N",
        help="Keep N hypotheses while searching. [default: the run's]",
    ),
    click.option(
        "--n-best",
        type=click.IntRange(min=1),
        default=1,
        metavar="N",
        help="Up to N sentences per act, different unless sampled; as text they are on one line, separated by tabs.",
    ),
    click.option(
        "--length-normalization",
        type=Number(min=0.0),
        metavar="P",
        help="Divide a sentence's log probability by its length to the power P. [default: the run's]",
    ),
    click.option(
        "--slot-error-weight",
        type=Number(min=0.0),
        metavar="W",
        help="Subtract W from the log probability for each slot error when ranking. [default: the run's]",
    ),
    click.option(
        "--mbr/--no-mbr",
        default=None,
        help="Pick the beam's sentence most similar to the others, not the most probable. [default: the run's]",
    ),
    click.option(
        "--sample/--no-sample",
        default=None,
        help="Draw sentences from the model instead of searching with a beam. [default: the run's]",
    ),
    click.option(
        "--temperature",
        type=Number(min=0.0),
        metavar="T",
        help="Turn sampling on, and divide log probabilities by T; 0 always takes the best word. [default: the run's]",
    ),
    click.option(
        "--top-k",
        type=click.IntRange(min=0),
        metavar="K",
        help="Turn sampling on, and draw from the K most probable words; 0 means all. [default: the run's]",
    ),
    click.option(
        "--top-p",
        type=Number(min=0.0, max=1.0, min_open=True),
        metavar="P",
        help="Turn sampling on, and draw from the fewest words whose probabilities sum to P. [default: the run's]",
    ),
    click.option(
        "--append-questions/--no-append-questions",
        default=None,
        help="Constraint hard: append a question missing from a turn of several acts. [default: the run's]",
    ),
    click.option(
        "--seed",
        type=click.IntRange(min=0),
        metavar="N",
        help="Seed of sampling and of the random baseline. [default: the run's]",
    ),
)
_FIELDS = (
    "constraint",
    "beam_width",
    "n_best",
    "length_normalization",
    "slot_error_weight",
    "mbr",
    "sample",
    "temperature",
    "top_k",
    "top_p",
    "append_questions",
    "seed",
)


def run(
    *, kind: Any = PATH, about: str = "The folder that `dactnlg train` wrote.", required: bool = True
) -> CommandOption:
    """Give a command one run, as an argument RUN or as the option --model RUN, under the name `run`."""

    def give(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def call(**given: Any) -> None:
            named = [each for each in (given.pop("run"), given.pop("named_run")) if each is not None]
            if len(named) > 1:
                raise UserError("the run is named twice: give RUN or --model RUN, not both")
            if required and not named:
                raise UserError("name the run: RUN, or --model RUN")
            command(**given, run=next(iter(named), None))

        option = click.option("--model", "named_run", type=kind, metavar="RUN", help="Same as RUN.")
        return click.argument("run", type=kind, required=False, metavar="[RUN]", help=about)(option(call))

    return give


def runs(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command runs, as arguments RUN... or as options --model RUN, under the name `models`."""

    @wraps(command)
    def call(**given: Any) -> None:
        named, placed = given.pop("named_runs"), given.pop("runs")
        if bool(named) == bool(placed):
            raise UserError(
                "the run is named twice: give RUN or --model RUN, not both"
                if named
                else "name the run: RUN, or --model RUN"
            )
        command(**given, models=named or placed)

    option = click.option(
        "--model", "named_runs", type=PATH, multiple=True, metavar="RUN", help="Same as RUN; may be repeated."
    )
    return click.argument("runs", nargs=-1, type=PATH, metavar="[RUN]...", help=SEVERAL)(option(call))


def generation(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of generation, collected in one `GenerationOptions` as its argument `generation`."""
    return _collected(command, _GENERATION, {name: name for name in _FIELDS})


def sampling(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that generates one sentence per act the same options, except for `--n-best`.

    The seed is `--sampling-seed`, because `--seed` means another one there.
    """
    own = click.option(
        "--sampling-seed",
        "sampling_seed",
        type=click.IntRange(min=0),
        metavar="N",
        help="Seed of sampling and of the random baseline. [default: the run's]",
    )
    kept = {name: option for name, option in zip(_FIELDS, _GENERATION, strict=True) if name not in ("n_best", "seed")}
    return _collected(command, (*kept.values(), own), {**{name: name for name in kept}, "sampling_seed": "seed"})


def _collected(
    command: Callable[..., None], given_options: Sequence[Option[Any]], fields: Mapping[str, str]
) -> Callable[..., None]:
    """Give a command options, collected in one `GenerationOptions`; `fields` maps their names to its fields."""

    @wraps(command)
    def run(**given: Any) -> None:
        # Imported late, to keep `--help` fast.
        from dactnlg.generation.options import GenerationOptions

        chosen = {field: given.pop(name) for name, field in fields.items()}
        command(**given, generation=GenerationOptions(**chosen))

    for option in reversed(given_options):
        run = option(run)
    return run
