"""Trained models for other programs: the whole search as a SavedModel, one step of it as ONNX.

Beside its numbers an export holds what they stand for (`describe`): the vocabulary, the entries of the DA vector, and
how the search was set. What comes before (acts to vectors) and after (tokens to text, checks) stays with dactnlg.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dactnlg.errors import RunError, UnknownNameError, UserError
from dactnlg.runs.config import CONSTRAINTS, DecodingConfig
from dactnlg.runs.run import Run
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.vocabulary import BOS_ID, EOS_ID, PAD_ID, UNK_ID

FORMATS = ("saved-model", "onnx")


def export(
    run_path: str | Path,
    output_format: str,
    output: str | Path,
    *,
    beam_width: int | None = None,
    constraint: str | None = None,
) -> None:
    """Write a run's model in a format for other programs.

    Args:
        run_path: the run folder.
        output_format: one of `FORMATS`.
        output: the folder (SavedModel) or file (ONNX) to write.
        beam_width: of the SavedModel's search; the run's own by default.
        constraint: of the SavedModel's search; the run's own by default.

    Raises:
        RunError: no run, or one that has no neural model.
        UnknownNameError: no such format or constraint.
        UserError: the output is there already, or a library that the format needs is not installed.
    """
    if output_format not in FORMATS:
        raise UnknownNameError("format", output_format, FORMATS)
    run, path = Run(run_path), Path(output)
    config = run.check()
    if config.model.name == "random":
        raise RunError(f"{run_path} holds the random baseline: it has no weights to export")
    if path.exists():
        raise UserError(f"{path} exists already: name another file with --output")
    preprocessor = Preprocessor.load(run.preprocessor_path)
    if output_format == "onnx":
        if (beam_width, constraint) != (None, None):
            raise UserError("the ONNX of a step holds no search: leave out beam width and constraint")
        from dactnlg.generation.onnx_step import write_step
        from dactnlg.models.numpy.arrays import ArrayModel

        model = ArrayModel.load(run.model_path)
        write_step(model, describe(preprocessor, config.decoding), path)
    else:
        from dactnlg.generation.saved_model import write_search
        from dactnlg.models import load_model

        constraint = constraint or config.decoding.constraint
        if constraint not in CONSTRAINTS:
            raise UnknownNameError("constraint", constraint, CONSTRAINTS)
        width = beam_width or config.decoding.beam_width
        told = describe(preprocessor, config.decoding) | {"constraint": constraint, "beam_width": width}
        write_search(load_model(run.model_path), preprocessor, told, path)


def describe(preprocessor: Preprocessor, options: DecodingConfig) -> dict[str, Any]:
    """Return what an export's numbers stand for."""
    return {
        "tokens": preprocessor.vocabulary.tokens,
        "act": preprocessor.encoder.features,
        "required": preprocessor.placeholders,
        "value_words": preprocessor.encoder.words.tokens,
        "pad": PAD_ID,
        "bos": BOS_ID,
        "eos": EOS_ID,
        "unk": UNK_ID,
        "max_length": options.max_length,
    }
