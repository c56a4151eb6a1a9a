"""Trained models for other programs: the whole search as a SavedModel, one step of it as ONNX.

An export includes the meaning of its numbers (`describe`): the vocabulary, the entries of the DA vector, and the
settings of the search. Encoding acts as vectors, turning tokens into text and checking it remain with dactnlg.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from dactnlg._utils.files import made_folder, replace_file
from dactnlg.errors import RunError, UnknownNameError, UserError
from dactnlg.generation.options import GenerationOptions
from dactnlg.models import checked_section, load_model
from dactnlg.models.dialogue_sections import check_says_acts
from dactnlg.runs.config import Constraint
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
    constraint: Constraint | None = None,
) -> None:
    """Write a run's model in a format for other programs.

    Args:
        run_path: the run folder.
        output_format: one of `FORMATS`.
        output: the folder (SavedModel) or file (ONNX) to write; its parent folders are created.
        beam_width: for the SavedModel's search; the run's own by default.
        constraint: for the SavedModel's search; the run's own by default.

    Raises:
        RunError: the folder is not a run, or has no neural model.
        UnknownNameError: there is no such format or constraint.
        UserError: the output exists already, beam width or constraint is given for ONNX, Keras does not use TensorFlow,
            or a library that the format needs is not installed.
    """
    if output_format not in FORMATS:
        raise UnknownNameError("format", output_format, FORMATS)
    run, path = Run(run_path), Path(output)
    config = run.check()
    check_says_acts(config.model.name, run.path)
    if not config.model.neural:
        raise RunError(f"{run_path} holds the random baseline: it has no weights to export")
    # A broken link counts as existing, too: writing would follow it.
    if os.path.lexists(path):
        raise UserError(f"{path} exists already: name another file with --output")
    preprocessor = Preprocessor.load(run.preprocessor_path)
    description = describe(preprocessor, config.decoding.max_length)
    if output_format == "onnx" and (beam_width, constraint) != (None, None):
        raise UserError("the ONNX of a step holds no search: leave out beam width and constraint")
    options = GenerationOptions(constraint=constraint, beam_width=beam_width).resolve(config.decoding, 0)
    section = checked_section(config.model, str(run.config_path))
    model = load_model(section.name, preprocessor.sizes, run.weights_path, section.keywords())
    if output_format == "onnx":
        from dactnlg.generation.exports.onnx_step import write_step

        with made_folder(path.parent), replace_file(path) as partial:
            write_step(model, description, partial)
    else:
        from dactnlg.generation.decoders.keras_decoder import KerasDecoder
        from dactnlg.generation.exports.saved_model import write_search

        description |= {"constraint": options.constraint, "beam_width": options.beam_width}
        decoder = KerasDecoder(model, preprocessor, max_length=config.decoding.max_length)
        with made_folder(path.parent), replace_file(path) as partial:
            write_search(decoder, options, description, partial)


def describe(preprocessor: Preprocessor, max_length: int) -> dict[str, Any]:
    """Return the description of an export's numbers, to be stored with it as JSON."""
    said = {} if preprocessor.context is None else {"context_words": preprocessor.context.tokens}
    return {
        **said,
        "tokens": preprocessor.vocabulary.tokens,
        "act": preprocessor.encoder.features,
        "required": preprocessor.placeholders,
        "value_words": preprocessor.encoder.words.tokens,
        "pad": PAD_ID,
        "bos": BOS_ID,
        "eos": EOS_ID,
        "unk": UNK_ID,
        "max_length": max_length,
    }
