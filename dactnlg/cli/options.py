"""Arguments that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

import click

Split = Literal["train", "valid", "test"]
Constraint = Literal["none", "rerank", "hard"]

PATH = click.Path(path_type=Path)
SPLIT, CONSTRAINT = click.Choice(get_args(Split)), click.Choice(get_args(Constraint))
data_dir = click.option(
    "--data-dir", type=PATH, help="Look for corpus files here first, then in $DACTNLG_DATA and the user's cache."
)
json = click.option("--json", "json_file", metavar="FILE", help="Write the scores as JSON; - is stdout.")
metrics = click.option(
    "--metric", multiple=True, metavar="NAME", help="A score, family or group, such as `diversity`; may be repeated."
)
vectors = click.option(
    "--vectors",
    type=PATH,
    metavar="FILE",
    help="Word vectors: GloVe or word2vec text, or .npz. [default: $DACTNLG_VECTORS]",
)
report = click.option(
    "--report", type=PATH, metavar="FILE", help="Write a report for people: a page if FILE is .html, else Markdown."
)
intervals = click.option("--confidence", is_flag=True, help="Add bootstrap 95% intervals to table and JSON.")
model = click.option("--model", type=PATH, required=True, metavar="RUN", help="The folder that `dactnlg train` wrote.")
seed = click.option(
    "--seed", type=click.IntRange(min=0), help="Of sampling and of the random model. [default: the run's]"
)
sample = click.option(
    "--sample/--no-sample", default=None, help="Draw sentences in place of the beam search. [default: the run's]"
)
temperature = click.option(
    "--temperature", type=click.FloatRange(min=0.0), help="Sampling: 0 takes the best word always."
)
top_k = click.option("--top-k", type=click.IntRange(min=0), help="Sampling: from the K best words; 0 is all.")
top_p = click.option("--top-p", type=float, help="Sampling: from the fewest words with this probability together.")
