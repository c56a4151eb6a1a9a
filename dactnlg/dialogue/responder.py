"""Generating the next turn of conversations with a run of a dialogue model."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dactnlg._utils.hashing import digest
from dactnlg._utils.threads import one_blas_thread
from dactnlg.data.teacher_arrays import TeacherArrays, load_teacher_arrays
from dactnlg.errors import RunError, UserError
from dactnlg.generation.decoders.decoder import REQUIRED, Arrays, Plan, take
from dactnlg.models.dialogue_sections import DIALOGUE
from dactnlg.runs.run import Run
from dactnlg.search.hypotheses import Hypothesis
from dactnlg.search.sampling import Sampling, sample
from dactnlg.text.dialogue_preprocessor import DialoguePreprocessor

WIDTH = 5
"""Beam width, as in Ghandeharioun et al. 2019."""


class Responder:
    """A trained dialogue model, ready to answer; thread-safe.

    A model that takes teacher arrays as inputs (`ei: input`) can only answer contexts whose turns are in the file that
    it was trained with.

    Args:
        run: a run folder.
        beam_width: width of the beam search.
        max_length: maximum length of an answer in tokens, including the end.

    Raises:
        RunError: the folder is not a run of a dialogue model, or is damaged.
        UserError: the file with the teacher arrays is missing or has changed, or a number is below 1.
    """

    def __init__(self, run: str | os.PathLike[str], *, beam_width: int = WIDTH, max_length: int = 40) -> None:
        from dactnlg.generation.decoders.keras_decoder import KerasDecoder
        from dactnlg.models import checked_section, load_model

        if beam_width < 1 or max_length < 1:
            raise UserError("beam_width and max_length are 1 or more")
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
        self.teacher: TeacherArrays | None = None
        if "emotions" in self.model.inputs:
            self.teacher = load_teacher_arrays(config.model.model_dump()["teacher"])
            if self.teacher.id != self.preprocessor.teacher:
                raise UserError(
                    f"{self.run.path} takes the arrays of {self.preprocessor.teacher} as inputs; {self.teacher.id} is "
                    "in their file now"
                )
        # The decoder only needs members that a preprocessor of contexts has, too.
        preprocessor: Any = self.preprocessor
        self._decoder = KerasDecoder(self.model, preprocessor, max_length=max_length, batch_sizes=(1, 16))

    def __repr__(self) -> str:
        return f"Responder({str(self.run.path)!r})"

    def reply(
        self,
        histories: Sequence[Sequence[str]],
        *,
        seeds: Sequence[int] | None = None,
        acts: Sequence[Sequence[str]] | None = None,
    ) -> list[str]:
        """Return the next turn of each conversation, by beam search.

        Args:
            histories: the turns of each conversation so far, oldest first. The model sees the last five (or as many as
                it was trained with). An empty history is the start of a conversation.
            seeds: one per conversation, for sampling the opening word by word and, if the model has them, the latent
                variables; a latent variable of the whole conversation depends on the seed alone. The same seed and
                history give the same answer. With None nothing is drawn, and latent variables take their means.
            acts: labels of what each answer is to do, such as `[["question"]]`, for a model that was trained with
                `acts`; without a label the model is free to choose.

        Returns:
            One answer per history, in order, of at most `max_length` tokens.

        Raises:
            UnknownNameError: a label is not in the training data.
            UserError: a history is a string, or the teacher arrays of a model with `ei: input` lack a turn.
            ValueError: the number of seeds or acts is not that of the histories.
        """
        if isinstance(histories, str) or any(isinstance(history, str) for history in histories):
            raise UserError('a history is a list of turns: reply([["How are you?"]])')
        if not histories:
            return []
        for name, given in (("seeds", seeds), ("acts", acts)):
            if given is not None and len(given) != len(histories):
                raise ValueError(f"{len(given)} {name} for {len(histories)} histories")
        inputs = self.inputs(histories, seeds, acts)
        inputs[REQUIRED] = np.zeros((len(histories), 0), np.float32)
        begun = [row for row, history in enumerate(histories) if history or seeds is None]
        found: dict[int, Hypothesis] = {}
        if begun:
            plan = Plan(self.beam_width, hard=False)
            found |= zip(begun, (best for best, *_ in self._decoder.search_all(take(inputs, begun), plan)), strict=True)
        if seeds is not None and len(found) < len(histories):
            fresh = [row for row, history in enumerate(histories) if not history]
            drawn = self._beginnings(take(inputs, fresh), [seeds[row] for row in fresh])
            found |= zip(fresh, drawn, strict=True)
        tokens = [self.preprocessor.vocabulary.decode(found[row].tokens) for row in range(len(histories))]
        return [self.preprocessor.text(each) for each in tokens]

    def _beginnings(self, inputs: Arrays, seeds: Sequence[int]) -> list[Hypothesis]:
        """Sample the openings of conversations: a search would open all of them alike."""
        numbers = np.stack([np.random.default_rng(seed).random(self._decoder.max_length) for seed in seeds])
        with one_blas_thread:
            rules, step, state = self._decoder.constrained(inputs, hard=False)
            return sample(step, state, numbers, Sampling(), owner=np.arange(len(seeds)), rules=rules)

    def inputs(
        self,
        histories: Sequence[Sequence[str]],
        seeds: Sequence[int] | None,
        acts: Sequence[Sequence[str]] | None = None,
    ) -> Arrays:
        """Return the model's input arrays, each (B, ...)."""
        inputs = self.preprocessor.arrays(histories, acts)
        if self.teacher is not None:
            inputs |= self.teacher.of(histories, self.preprocessor.turns)
        for name, (size,) in self._noises().items():
            inputs[name] = np.zeros((len(histories), size), np.float32)
            for row, seed in enumerate(seeds or ()):
                # The variable of the whole conversation does not depend on the turns so far.
                said = [] if name == "conversation_noise" else list(histories[row])
                inputs[name][row] = _normal([seed, name, said], size)
        return inputs

    def _noises(self) -> dict[str, tuple[int]]:
        shapes = self.model.float_inputs()
        return {name: shapes[name] for name in ("noise", "conversation_noise") if name in self.model.inputs}


def answers_contexts(run: str | os.PathLike[str]) -> bool:
    """Return whether a run's model answers contexts, rather than saying acts.

    Raises:
        RunError: the folder is not a run.
    """
    return Run(Path(run)).check().model.name in DIALOGUE


def _normal(key: list[Any], size: int) -> NDArray[np.float32]:
    """Return standard normal numbers, (Z,), determined by the key alone."""
    return np.random.default_rng(int(digest(key)[:15], 16)).standard_normal(size).astype(np.float32)
