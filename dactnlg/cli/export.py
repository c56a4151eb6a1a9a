"""`dactnlg export`: a trained model for other programs."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from dactnlg.cli import options
from dactnlg.cli.options import Constraint
from dactnlg.errors import UserError


@click.command()
@options.run()
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["saved-model", "onnx", "templates"]),
    required=True,
    help="Write a TensorFlow SavedModel of the whole search, ONNX of one step, or a file of templates.",
)
@click.option(
    "--output",
    type=options.PLACE,
    required=True,
    metavar="PATH",
    help="The folder (saved-model) or file (onnx, templates) to write; parent folders are created.",
)
@click.option(
    "--beam-width",
    type=click.IntRange(min=1),
    metavar="N",
    help="saved-model: keep N hypotheses while searching. [default: the run's]",
)
@click.option(
    "--constraint",
    type=options.CONSTRAINT,
    help="saved-model: how slots are enforced, as in `generate`. [default: the run's]",
)
@click.option(
    "--corpus",
    type=options.FILE,
    metavar="NAME",
    help="templates: generate the acts of this corpus. [default: the run's]",
)
@options.data_dir
def export(
    *,
    run: Path,
    output_format: str,
    output: Path,
    beam_width: int | None,
    constraint: Constraint | None,
    corpus: str | None,
    data_dir: Path | None,
) -> None:
    """Write a trained model for other programs.

    A SavedModel maps DA vectors and required placeholders to token numbers with scores; it contains the whole beam
    search. An ONNX file is one step: state and last tokens in, log probabilities and the new state out (this needs
    dactnlg[export]). Both contain the vocabulary and the names of the DA vector's entries. A file of templates (CSV if
    its name says so, otherwise JSONL) has every act of a corpus without its values, said once with {slot} in their
    place.

    \b
    dactnlg export runs/trails-sclstm --format saved-model --output exported-trails
    dactnlg export --model runs/trails-sclstm --format onnx --output trails-step.onnx
    dactnlg export runs/trails-sclstm --format templates --output templates.csv
    """
    from dactnlg._utils.files import check_folders

    # Missing parent folders are created later, and an existing folder is reported by the function that writes.
    check_folders(output if output.parent.is_dir() and not output.is_dir() else None)
    if output_format == "templates":
        if (beam_width, constraint) != (None, None):
            raise UserError("templates are said as the run says acts: leave out beam width and constraint")
        _write_templates(run, output, corpus, data_dir)
        return
    if (corpus, data_dir) != (None, None):
        raise UserError("--corpus and --data-dir go with --format templates")
    from dactnlg.generation.exports.export import export as export_run

    export_run(run, output_format, output, beam_width=beam_width, constraint=constraint)
    print(output)


def _write_templates(path: Path, output: Path, corpus: str | None, data_dir: Path | None) -> None:
    from dactnlg._utils.files import made_folder
    from dactnlg.cli import streams
    from dactnlg.data.corpus import load_corpus
    from dactnlg.generation.generator import Generator
    from dactnlg.generation.template_files import write_templates
    from dactnlg.runs.run import Run

    generator = Generator.load(path)
    section = Run(path).check().corpus
    found = load_corpus(corpus or section.name, data_dir or (None if corpus else section.data_dir))
    with made_folder(output.parent):
        count = write_templates(generator, found, output, progress=sys.stderr.isatty())
    streams.tell(f"{count} templates")
    print(output)
