"""Answering: a run of a dialogue model says the next turn of conversations."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dactnlg._utils.hashing import digest
from dactnlg.errors import RunError
from dactnlg.generation.decoder import REQUIRED, Plan
from dactnlg.models.dialogue_sections import DIALOGUE
from dactnlg.runs.run import Run
from dactnlg.text.dialogue_preprocessor import DialoguePreprocessor

WIDTH = 5
"""Of the beam, as in Ghandeharioun et al. 2019."""


class Responder:
    """A trained dialogue model, ready to answer. Several threads may use one.

    Args:
        run: a run folder.
        beam_width: of the search.
        max_length: longest answer in tokens, its end included.

    Raises:
        RunError: it is no run of a dialogue model, or a damaged one, or one that needs a teacher in generation.
    """

    def __init__(self, run: str | os.PathLike[str], *, beam_width: int = WIDTH, max_length: int = 40) -> None:
        from dactnlg.generation.keras_decoder import KerasDecoder
        from dactnlg.models import checked_section, load_model

        self.run, self.beam_width = Run(Path(run)), beam_width
        config = self.run.check()
        self.run.check_files()
        if config.model.name not in DIALOGUE:
            raise RunError(
                f"{self.run.path} says acts (model '{config.model.name}'); a dialogue model answers contexts"
            )
        section = checked_section(config.model, str(self.run.config_path))
        self.preprocessor = DialoguePreprocessor.load(self.run.preprocessor_path)
        path, keywords = self.run.weights_path, section.keywords()
        self.model: Any = load_model(section.name, self.preprocessor.sizes, path, keywords)
        if "emotions" in self.model.inputs:
            raise RunError(
                f"{self.run.path} takes its teacher's arrays as inputs (ei: input): it cannot answer by itself"
            )
        # The decoder asks a preprocessor for numbers alone: those of contexts have them.
        preprocessor: Any = self.preprocessor
        self._decoder = KerasDecoder(self.model, preprocessor, max_length=max_length, batch_sizes=(1, 16))

    def reply(self, histories: Sequence[Sequence[str]], *, seed: int | None = None) -> list[str]:
        """Return the next turn of each conversation, by beam search.

        Args:
            histories: the turns of each conversation so far, the oldest first, from the first one on: the last five (or
                as many as the model was trained with) are seen. None at all is a conversation that begins.
            seed: draw latent variables, where the model has them; the same seed and history give the same answer, and
                what stands for the whole conversation stays the same for the same first turn. None takes the means.

        Returns:
            An answer for each history, in order; never longer than `max_length` tokens.
        """
        if not histories:
            return []
        inputs = self.inputs(histories, seed)
        inputs[REQUIRED] = np.zeros((len(histories), 0), np.float32)
        found = self._decoder.search_all(inputs, Plan(self.beam_width, hard=False))
        tokens = [self.preprocessor.vocabulary.decode(hypotheses[0].tokens) for hypotheses in found]
        return [self.preprocessor.text(each) for each in tokens]

    def inputs(self, histories: Sequence[Sequence[str]], seed: int | None) -> dict[str, NDArray[Any]]:
        """Return the arrays of the model, each (B, ...)."""
        inputs = self.preprocessor.arrays(histories)
        for name, (size,) in self._noises().items():
            rows = [_noise(seed, name, history, size) for history in histories]
            inputs[name] = np.stack(rows)
        return inputs

    def _noises(self) -> dict[str, tuple[int]]:
        shapes = self.model.float_inputs()
        return {name: shapes[name] for name in ("noise", "conversation_noise") if name in self.model.inputs}


def _noise(seed: int | None, name: str, history: Sequence[str], size: int) -> NDArray[np.float32]:
    """Return normal numbers for a history, (Z,), zeros without a seed; a whole conversation has its first turn's."""
    if seed is None:
        return np.zeros(size, np.float32)
    known = list(history[:1]) if name == "conversation_noise" else list(history)
    number = int(digest([seed, name, known])[:15], 16)
    return np.random.default_rng(number).standard_normal(size).astype(np.float32)
