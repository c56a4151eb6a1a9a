"""Models for other programs: `export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from dactnlg.commands.options import Constraint


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder that `dactnlg train` wrote.")],
    output_format: Annotated[
        Literal["saved-model", "onnx"], typer.Option("--format", help="TensorFlow's whole search, or ONNX of one step.")
    ],
    output: Annotated[Path, typer.Option(metavar="PATH", help="The folder (saved-model) or file (onnx) to write.")],
    beam_width: Annotated[int | None, typer.Option(min=1, help="Of saved-model. [default: the run's]")] = None,
    constraint: Annotated[Constraint | None, typer.Option(help="Of saved-model. [default: the run's]")] = None,
) -> None:
    """Write a trained model for other programs.

    A SavedModel takes DA vectors and required placeholders and gives token numbers with scores, all of the beam
    search inside. An ONNX file is one step: state and last tokens in, log probabilities and the new state out (it
    needs dactnlg[export]). Both hold the vocabulary and the names of the DA vector's entries.

    \b
    dactnlg export runs/trails-sclstm --format saved-model --output exported/trails
    dactnlg export runs/trails-sclstm --format onnx --output trails-step.onnx
    """
    from dactnlg.export import export as export_run
    from dactnlg.files import check_folders

    check_folders(output)
    export_run(run, output_format, output, beam_width=beam_width, constraint=constraint)
    print(output)
