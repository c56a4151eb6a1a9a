"""The sections of a configuration, their keys, bounds and defaults."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from dactnlg._utils.resources import corpus_names, dialogue_names
from dactnlg.errors import suggest
from dactnlg.runs import yamlfile

Targets = Literal["human", "handcrafted", "both"]
Constraint = Literal["none", "rerank", "hard"]

MOST_SENTENCES = 1000
"""Maximum number of sentences per act kept in a search, or returned."""
DATA = (".jsonl", ".json", ".csv", ".tsv")
"""Suffixes of data files."""
_FILES = (".yaml", ".yml", *DATA)
TRAINED = "trained"
"""Validation context for the configuration of a run: the data that its training read need not exist any more."""
SEEDS = 1 << 32
"""Upper bound of seeds, exclusive."""
RANDOM = "random"
"""The name of the baseline that has no weights."""
CONSTRAINTS: tuple[str, ...] = get_args(Constraint)
Backend = Literal["auto", "numpy", "keras"]
BACKENDS: tuple[str, ...] = get_args(Backend)


class _Section(BaseModel):
    # Strict: `epochs: "3"` and `epochs: yes` are mistakes, not 3 and 1. An integer is still accepted as a float.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class CorpusConfig(_Section):
    """The data to learn from.

    Attributes:
        name: a corpus of `datasets/`, or the path of a data card, of a JSONL, JSON, CSV or TSV file, or of a folder of
            such files; a relative path starts at the current folder.
        also: further corpora to train on together with `name`; validation and evaluation use `name` alone.
        counterfeit: the slots of these further corpora are replaced by similar ones of the main corpus (see
            `data.counterfeits`), so that their sentences are learned as if they were about its own slots.
        targets: the sentences to learn: the human ones, the handcrafted generator's (RNNLG's third column), or both.
        min_count: T_min (Huang et al. 2020, 2.1): words that are rarer in training become `<unk>`, which the model
            never generates. Placeholders are always kept.
        lexicalized: slots of a closed class (area, price range, rating) whose values the model generates as words
            instead of a placeholder; checks then find them by the card's cues, or by their spellings.
        data_dir: a folder to search for corpus files first.
    """

    name: str
    also: list[str] = []
    counterfeit: bool = False
    targets: Targets = "human"
    min_count: int = Field(default=1, ge=1, le=10**9)
    lexicalized: list[str] = []
    data_dir: str | None = None

    @field_validator("name")
    @classmethod
    def _known(cls, name: str, info: ValidationInfo) -> str:
        if info.context == TRAINED:
            # Generation needs no corpus: a run can be used on other machines, and without its card.
            return name
        if not is_corpus(name):
            known = corpus_names() + dialogue_names()
            where = "" if Path(name).is_absolute() else " in the current folder, where its path begins"
            file = f"there is no such file{where}; " if Path(name).suffix in _FILES else ""
            raise PydanticCustomError(
                "corpus", "{m}", {"m": f"unknown corpus '{name:.60}'; {file}{suggest(name[:60], known)}"}
            )
        return name

    @field_validator("also")
    @classmethod
    def _all_known(cls, also: list[str], info: ValidationInfo) -> list[str]:
        return [cls._known(name, info) for name in also]

    @model_validator(mode="after")
    def _consistent(self) -> CorpusConfig:
        names = Counter([self.name, *self.also])
        if twice := sorted(name for name, count in names.items() if count > 1):
            raise PydanticCustomError("twice", "{m}", {"m": f"named more than once: {', '.join(twice)}"})
        if self.counterfeit and not self.also:
            message = "counterfeit needs also: corpora of other domains, whose slots are replaced"
            raise PydanticCustomError("counterfeit", "{m}", {"m": message})
        return self


class ModelSection(_Section):
    """The model and its sizes; each model has its own section (`NeuralModel.Section`), derived from this one.

    Attributes:
        name: the model: the name of its file in `dactnlg/models`, or of an entry point in the group `dactnlg.models`.
        initialize_from: the folder of a run from which the weights are initialised, as far as they match.
    """

    name: str
    initialize_from: str | None = None

    @model_validator(mode="after")
    def _has_weights(self) -> ModelSection:
        if self.initialize_from is not None and not self.neural:
            message = f"initialize_from: the model '{self.name}' has no weights to begin with"
            raise PydanticCustomError("initialize", "{m}", {"m": message})
        return self

    @property
    def neural(self) -> bool:
        """Whether the model has weights: all but the random baseline."""
        return self.name != RANDOM

    @property
    def sees_context(self) -> bool:
        """Whether the model sees the user's preceding utterance: its key `context` is true."""
        return getattr(self, "context", False) is True

    def keywords(self) -> dict[str, Any]:
        """Return the arguments of the model's class: all keys except its name and those that initialise weights."""
        return self.model_dump(exclude={"name", "initialize_from", "pretrained"})


class UncheckedModelSection(ModelSection):
    """The section of any model with unchecked keys, for the configuration of a run, which training has checked."""

    model_config = ConfigDict(extra="allow")


class Sections(Protocol):
    """The configuration sections of the models."""

    def names(self) -> list[str]:
        """Return the names of all models."""

    def section(self, name: str) -> type[ModelSection]:
        """Return a model's section.

        Raises:
            UnknownNameError: there is no such model.
        """


class TrainingConfig(_Section):
    """How the model is trained.

    If `epochs`, `batch_size`, `patience` or `decay_patience` is None, it is computed from the number of pairs (see
    `training.schedule`); a run's configuration has the computed values.

    Attributes:
        epochs: maximum number of epochs; the best weights by `select` are kept.
        select: which epoch is the best: loss, by validation loss; bleu, by BLEU of the sentences generated for some
            validation acts, minus the share of faulty sentences (see `training.selection`).
        decay: factor on the learning rate after `decay_patience` epochs without a better validation loss.
        patience: stop after this many epochs without a better one, by `select` or by validation loss.
        clip_norm: maximum norm of the whole gradient.
        repetition: a pair that occurs n times in training has the weight n to this power: with 1 n, with 0 one.
        recombination: additional pairs to learn from, per pair of the corpus, made from its sentences for combinations
            of slots that it lacks (see `training.recombination`).
        teachers: number of models with other seeds that are trained first; the sentences that they generate as an
            ensemble for the training acts are learned in addition to the corpus's own (see `training.teachers`).
        teachers_mbr: the teachers choose the sentence of their beam that is most like the others (minimum Bayes risk),
            so that the model itself need not.
        invention: number of acts with other slots, per pair of the corpus, that are given to the teachers; their
            sentences are learned if they read like the corpus (see `training.invention`).
        backend: what computes: numpy (the fastest on CPUs, for the models that it supports), keras (on whatever Keras
            runs on), or auto: numpy if it supports the model and the precision is float32, else keras.
        plot: draw the losses in the run's `history.png`; needs the extra `plot`.
        tensorboard: write the losses for TensorBoard to the run's folder `tensorboard`.
        precision: keras: the precision in which layers compute. Weights, their file and the loss are always float32.
    """

    epochs: int | None = Field(default=None, ge=1, le=10**6)
    select: Literal["loss", "bleu"] = "loss"
    batch_size: int | None = Field(default=None, ge=1, le=1 << 16)
    learning_rate: float = Field(default=2e-3, gt=0.0, le=100.0)
    decay: float = Field(default=0.5, gt=0.0, le=1.0)
    decay_patience: int | None = Field(default=None, ge=1, le=10**6)
    patience: int | None = Field(default=None, ge=1, le=10**6)
    clip_norm: float = Field(default=5.0, gt=0.0, le=1e12)
    seed: int = Field(default=1, ge=0, lt=SEEDS)
    repetition: float = Field(default=1.0, ge=0.0, le=1.0)
    recombination: float = Field(default=0.0, ge=0.0, le=10.0)
    teachers: int = Field(default=0, ge=0, le=16)
    teachers_mbr: bool = False
    invention: float = Field(default=0.0, ge=0.0, le=10.0)
    backend: Backend = "auto"
    precision: Literal["float32", "mixed_bfloat16", "mixed_float16"] = "float32"
    plot: bool = False
    tensorboard: bool = False

    @model_validator(mode="after")
    def _computable(self) -> TrainingConfig:
        if self.precision != "float32" and self.backend == "numpy":
            message = f"precision {self.precision} needs backend: keras; numpy computes in float32"
            raise PydanticCustomError("precision", "{m}", {"m": message})
        if self.invention and not self.teachers:
            message = "invention needs teachers: 1 or more; they say what is invented"
            raise PydanticCustomError("invention", "{m}", {"m": message})
        return self


class DecodingConfig(_Section):
    """How sentences are decoded; `generate` and `evaluate` may override it.

    Attributes:
        constraint: none; rerank (beams ordered by score and slot errors); hard (no slot is dropped or invented).
        sample: sample sentences from the model instead of beam search.
        temperature: sampling: divides log probabilities; 0 always takes the most probable word.
        top_k: sampling: number of most probable words to draw from; 0 for all.
        top_p: sampling: draw from the fewest words that together have this probability.
        max_length: maximum length of a sentence, in tokens.
        length_normalization: a hypothesis's log probability is divided by its length to this power.
        mbr: minimum Bayes risk: of the beam's sentences with the fewest slot errors, choose the one that is most like
            the others, not the most probable one.
        slot_error_weight: rerank: penalty of one slot error, in log probability.
        append_questions: hard: a question missing from a turn of several acts is appended as worded in training.
        backend: what searches: numpy (starts at once and is the fastest on CPUs, for the models that it supports),
            keras (on whatever Keras runs on, including GPUs), or auto: numpy if it supports the model, else keras.
    """

    beam_width: int = Field(default=10, ge=1, le=MOST_SENTENCES)
    max_length: int = Field(default=80, ge=1, le=1000)
    constraint: Constraint = "hard"
    sample: bool = False
    temperature: float = Field(default=1.0, ge=0.0, le=1e6)
    top_k: int = Field(default=0, ge=0, le=10**9)
    top_p: float = Field(default=1.0, gt=0.0, le=1.0)
    length_normalization: float = Field(default=0.0, ge=0.0, le=10.0)
    mbr: bool = False
    slot_error_weight: float = Field(default=100.0, ge=0.0, le=1e6)
    append_questions: bool = True
    backend: Backend = "auto"


class Config(_Section):
    """An experiment: a corpus, a model, its training and its decoding."""

    corpus: CorpusConfig
    model: SerializeAsAny[UncheckedModelSection]
    training: TrainingConfig = TrainingConfig()
    decoding: DecodingConfig = DecodingConfig()

    def to_yaml(self) -> str:
        """Return the configuration with every default spelt out; `load_config` reads it back."""
        return yamlfile.dump(self.model_dump())


def is_corpus(name: str) -> bool:
    """Return whether a name is that of a shipped card, or the path of a file or folder that may hold a corpus."""
    return name in corpus_names() + dialogue_names() or _is_corpus_path(name)


def _is_corpus_path(name: str) -> bool:
    # For an impossible path, too long or with a NUL, these return False, while the methods of Path raise.
    is_file = Path(name).suffix in _FILES and os.path.isfile(name)  # noqa: PTH113
    return is_file or os.path.isdir(name)  # noqa: PTH112
