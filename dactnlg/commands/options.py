"""Arguments that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

Split = Literal["train", "valid", "test"]
Constraint = Literal["none", "rerank", "hard"]
DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", help="Look for corpus files here first, then in $DACTNLG_DATA and the user's cache."),
]
Json = Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write the scores as JSON; - is stdout.")]
Metrics = Annotated[
    list[str] | None,
    typer.Option("--metric", metavar="NAME", help="A score, family or group, such as `diversity`; may be repeated."),
]
Vectors = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Word vectors: GloVe or word2vec text, or .npz. [default: $DACTNLG_VECTORS]"),
]
Report = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write a report for people: a page if FILE is .html, else Markdown."),
]
Intervals = Annotated[bool, typer.Option("--confidence", help="Add bootstrap 95% intervals to table and JSON.")]
Model = Annotated[Path, typer.Option("--model", metavar="RUN", help="The folder that `dactnlg train` wrote.")]
Seed = Annotated[int | None, typer.Option(min=0, help="Of sampling and of the random model. [default: the run's]")]
Sample = Annotated[
    bool | None,
    typer.Option("--sample/--no-sample", help="Draw sentences in place of the beam search. [default: the run's]"),
]
Temperature = Annotated[float | None, typer.Option(min=0.0, help="Sampling: 0 takes the best word always.")]
TopK = Annotated[int | None, typer.Option(min=0, help="Sampling: from the K best words; 0 is all.")]
TopP = Annotated[float | None, typer.Option(help="Sampling: from the fewest words with this probability together.")]
