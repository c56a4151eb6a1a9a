"""The sections of a configuration, their keys, bounds and defaults."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from dactnlg._utils import resources
from dactnlg.errors import suggest

Targets = Literal["human", "handcrafted", "both"]
Constraint = Literal["none", "rerank", "hard"]

MOST_SENTENCES = 1000
"""Sentences of one act that are kept in a search, or returned."""
DATA = (".jsonl", ".json", ".csv", ".tsv")
"""How the names of data files end."""
_FILES = (".yaml", ".yml", *DATA)
TRAINED = "trained"
"""The context in which the configuration of a run is validated: what its training has read need not be there now."""
SEEDS = 1 << 32
"""Seeds are below this."""
RANDOM = "random"
"""The name of the baseline that has no weights."""
CONSTRAINTS: tuple[str, ...] = get_args(Constraint)
Backend = Literal["auto", "numpy", "keras"]
BACKENDS: tuple[str, ...] = get_args(Backend)


class _Section(BaseModel):
    # Strict: `epochs: "3"` and `epochs: yes` are mistakes, not 3 and 1. An integer is still a float.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class CorpusConfig(_Section):
    """What is learned from.

    Attributes:
        name: a corpus of `datasets/`, the path of a data card, of a JSONL, JSON, CSV or TSV file, or of a folder of
            such files; a relative one begins at the current folder.
        also: further corpora to train on together with it; validation and evaluation use `name` alone.
        counterfeit: the slots of these further corpora are replaced by like ones of the corpus itself (see
            `data.counterfeits`): what they say of theirs is learned as said of its own.
        targets: the sentences to learn: the human ones, the handcrafted generator's (RNNLG's third column), or both.
        min_count: T_min (Huang et al. 2020, 2.1): words that training says less often are `<unk>` to the model, which
            never says that. Placeholders are always known.
        lexicalized: slots of a closed class (area, price range, rating) whose values the model says in words instead of
            a placeholder; checks then find them by the card's cues, or by their spellings.
        data_dir: a folder to look for corpus files in first.
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
            # What generates needs no corpus: a run is of use elsewhere, too, and when its card is gone.
            return name
        if not is_corpus(name):
            known = _corpus_names() + _dialogue_names()
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
    """The model and its sizes; each model has a section of its own (`NeuralModel.Section`) that builds on this one.

    Attributes:
        name: the model: the name of its file in `dactnlg/models`, or of an entry point in the group `dactnlg.models`.
        initialize_from: the folder of a run whose weights it begins with, as far as they match.
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
        """Whether the model has weights; the random baseline has none."""
        return self.name != RANDOM

    @property
    def sees_context(self) -> bool:
        """Whether the model sees what the user has said before: a key `context` that is true."""
        return getattr(self, "context", False) is True

    def keywords(self) -> dict[str, Any]:
        """Return what the model's class is made with: the section's own keys, but for what training begins with."""
        return self.model_dump(exclude={"name", "initialize_from", "pretrained"})


class UncheckedModelSection(ModelSection):
    """The section of any model, its keys as they stand in the file: that of a run, whose keys training has checked."""

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
    """How it is learned.

    `epochs`, `batch_size`, `patience` and `decay_patience` are worked out from the number of pairs where they are None
    (see `training.schedule`); a run's configuration has what was found.

    Attributes:
        epochs: at most so many; the best weights by `select` are kept.
        select: which epoch is the best: loss, by validation loss; bleu, by BLEU of what the model says for some
            validation acts, less the share of faulty sentences (see `training.selection`).
        decay: factor on the learning rate after `decay_patience` epochs without a better validation loss.
        patience: stop after so many epochs without a better one, by `select` or by validation loss.
        clip_norm: largest norm of the whole gradient.
        repetition: a pair that occurs n times in training counts n to this power: 1 as the corpus has it, 0 once.
        recombination: further pairs to learn from, for each that the corpus has: made of its sentences, for
            combinations of slots that it lacks (see `training.recombination`).
        teachers: so many models with other seeds are trained before, and what they say together for the acts of
            training is learned beside the corpus's sentences (see `training.teachers`).
        teachers_mbr: of the sentences in their beam the teachers say the one that is most like the others (minimum
            Bayes risk), so that the model need not look for it.
        invention: for each pair of the corpus so many acts with other slots are asked of the teachers, and what they
            say is learned where it reads like the corpus (see `training.invention`).
        backend: what computes: numpy (the fastest on CPUs, for the models that it supports), keras (whatever Keras runs
            on), or auto: numpy where it supports the model and the precision is float32, else keras.
        plot: draw the losses in the run's `history.png`; needs the extra `plot`.
        tensorboard: write the losses for TensorBoard, into the run's folder `tensorboard`.
        precision: keras: what layers compute in. Weights, their file, and the loss are float32 in any case.
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
    """How sentences are searched for; `generate` and `evaluate` may override it.

    Attributes:
        constraint: none; rerank (beams ordered by score and slot errors); hard (no slot is dropped or invented).
        sample: draw sentences from the model in place of the beam search.
        temperature: sampling: divides log probabilities; 0 takes the best word always.
        top_k: sampling: words to draw from at most; 0 for all.
        top_p: sampling: draw from the fewest words that have this much probability together.
        max_length: longest sentence, in tokens.
        length_normalization: a hypothesis's log probability is divided by its length to this power.
        mbr: minimum Bayes risk: of the beam's sentences with the fewest slot errors take the one that is most like the
            others, not the most probable one.
        slot_error_weight: rerank: what one slot error costs, in log probability.
        append_questions: hard: a question that a turn of several acts has lost is put behind, as training asked it.
        backend: what searches: numpy (at once, and the fastest on CPUs, for the models that it supports), keras
            (whatever Keras runs on, GPUs too), or auto: numpy where it supports the model, else keras.
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
    """One experiment: a corpus, a model, its training and its decoding."""

    corpus: CorpusConfig
    model: SerializeAsAny[UncheckedModelSection]
    training: TrainingConfig = TrainingConfig()
    decoding: DecodingConfig = DecodingConfig()

    def to_yaml(self) -> str:
        """Return the configuration with every default spelt out; `load_config` reads it back."""
        text: str = yaml.safe_dump(self.model_dump(), sort_keys=False, allow_unicode=True)
        return text


def _corpus_names() -> list[str]:
    return sorted(card.stem for card in resources.datasets_dir().glob("*.yaml"))


def _dialogue_names() -> list[str]:
    return sorted(card.stem for card in (resources.datasets_dir() / "dialogues").glob("*.yaml"))


def is_corpus(name: str) -> bool:
    """Return whether a corpus comes with dactnlg, or a name is the path of what may hold one."""
    return name in _corpus_names() + _dialogue_names() or _is_corpus_path(name)


def _is_corpus_path(name: str) -> bool:
    # These say no, where those of a Path raise, to what no path can be: too long, or with a NUL.
    is_file = Path(name).suffix in _FILES and os.path.isfile(name)  # noqa: PTH113
    return is_file or os.path.isdir(name)  # noqa: PTH112
