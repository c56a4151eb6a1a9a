"""`dactnlg teach`: what teacher models say about the turns of a dialogue corpus."""

from __future__ import annotations

from pathlib import Path

import click

from dactnlg.cli import options, streams


@click.command()
@click.argument("corpus", metavar="CORPUS")
@click.option(
    "--output", type=options.PLACE, required=True, metavar="FILE", help="Write the arrays to FILE, in .npz format."
)
@click.option(
    "--dialogues", type=click.IntRange(min=1), metavar="N", help="Use only the first N dialogues of each split."
)
@options.data_dir
def teach(*, corpus: str, output: Path, dialogues: int | None, data_dir: Path | None) -> None:
    """Write what the shipped teacher models say about every turn of CORPUS: its emotion and its sentence vector.

    Dialogue models learn from these with `model.ei` (Ghandeharioun et al. 2019, section 3). Emotions are learned from
    the labels of the training split, on MiniLM's sentence vectors. FILE holds `name`, `texts` (N), `emotions` (N, K)
    and `vectors` (N, D); a file from another teacher, in the same format, works as well.

    \b
    dactnlg teach dailydialog --output teacher.npz
    dactnlg train dailydialog-hred --set model.ei=both --set model.teacher=teacher.npz --output runs/hred-ei
    """
    from dactnlg._utils.files import check_folders
    from dactnlg.dialogue.teaching import teach_corpus

    check_folders(output)
    arrays = teach_corpus(corpus, output, data_dir=data_dir, dialogues=dialogues)
    streams.tell(f"{len(arrays.texts):,} different turns in {output}, by {arrays.id}")
