"""Fine-tuning: a model begins with the weights of another run, or of a checkpoint, as far as they mean the same.

Weights of a run are matched by name. Along an axis that numbers tokens, entries of the DA vector or words of values,
rows are matched by what they stand for, so that a model of laptops may begin as one of television sets (Wen et al. 2016
begin from other domains likewise). What has no match starts anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dactnlg._utils.hashing import file_digest
from dactnlg.errors import ConfigError
from dactnlg.models.dialogue_sections import check_says_acts
from dactnlg.models.gpt2_checkpoint import SIZES, Checkpoint
from dactnlg.models.weights import load_arrays
from dactnlg.runs.config import Config, ModelSection, load_config
from dactnlg.runs.run import Run
from dactnlg.text.preprocessor import Preprocessor

Arrays = dict[str, NDArray[Any]]
Index = NDArray[np.intp]


TOKENS, ACT, ENTRIES, GATES, WORDS, CONTEXT_WORDS = "tokens", "act", "entries", "gates", "words", "context"
"""What an axis numbers: tokens, entries of the DA vector, these behind one for none, or behind gates that read them,
words of values, and words of what the user has said."""
_NUMBERED: Mapping[str, tuple[str, ...]] = {
    "embedding": (TOKENS, ""),
    "output_kernel": ("", TOKENS),
    "output_bias": (TOKENS,),
    "act": (ACT, ""),
    "reading": ("", ACT),
    "prior_kernel": (ACT, ""),
    "entries": (ENTRIES, ""),
    "words": (WORDS, ""),
    "context_words": (CONTEXT_WORDS, ""),
    "act_projection": (ACT, GATES),
    "projection": ("", GATES),
    "context_projection": ("", GATES),
    "encoder_projection": ("", GATES),
    "bias": (GATES,),
    **dict.fromkeys(("kernel", "recurrent", "recurrent_kernel", "posterior_kernel", "latent_projection"), ("", "")),
    **dict.fromkeys(("start", "score", "mixture", "places", "tokens", "gate", "positions"), ("", "")),
    **dict.fromkeys(("gamma", "beta", "gate_bias"), ("",)),
}
"""What the axes of the weights number that models here have, by the last part of the weights' names."""


class Matching:
    """Which rows of two models' weights stand for the same.

    Args:
        ours: the preprocessor of the model that is to begin.
        theirs: that of the run.
        gates: four times the hidden size of ours; entries of the DA vector may follow the gates. 0 if that is unknown.
    """

    def __init__(self, ours: Preprocessor, theirs: Preprocessor, gates: int) -> None:
        tokens, act, words = (
            _common(mine, other)
            for mine, other in (
                (ours.vocabulary.tokens, theirs.vocabulary.tokens),
                (ours.encoder.features, theirs.encoder.features),
                (ours.encoder.words.tokens, theirs.encoder.words.tokens),
            )
        )
        said = [[] if each.context is None else each.context.tokens for each in (ours, theirs)]
        self._kinds = {TOKENS: tokens, ACT: act, WORDS: words, CONTEXT_WORDS: _common(*said)}
        # 0 stands for no entry at all; gates come before the entries that they read.
        self._kinds |= {ENTRIES: act.behind(1), **({GATES: act.behind(gates)} if gates else {})}

    def axis(self, mine: int, other: int, names: Sequence[str] | None = None) -> tuple[Index, Index] | None:
        """Return which places along an axis match, ours and theirs; None for none.

        Args:
            mine: its length.
            other: the length of the other side's.
            names: what it may number; None where only its length can tell.
        """
        for name in self._kinds if names is None else names:
            kind = self._kinds.get(name)
            if kind is not None and (mine, other) == (kind.mine, kind.other):
                return kind.ours, kind.theirs
        return (np.arange(mine), np.arange(mine)) if mine == other else None

    def axes(self, name: str, mine: Sequence[int], other: Sequence[int]) -> list[tuple[Index, Index] | None]:
        """Return what `axis` does for each axis of weights of a name and two shapes."""
        known = _NUMBERED.get(name.rpartition("/")[2], ())
        names = [[each] for each in known] if len(known) == len(mine) else [None] * len(mine)
        return [self.axis(*sizes) for sizes in zip(mine, other, names, strict=True)]

    def take(self, weights: Mapping[str, NDArray[Any]], given: Mapping[str, NDArray[Any]]) -> tuple[Arrays, int]:
        """Return weights with the values of those given where they match, and how many numbers these are."""
        found: Arrays = {}
        count = 0
        for name, weight in weights.items():
            found[name] = weight.copy()
            other = given.get(name)
            # A number by itself counts what was trained: that begins anew.
            if other is None or not weight.ndim or other.ndim != weight.ndim or not np.isfinite(other).all():
                continue
            axes = self.axes(name, weight.shape, other.shape)
            matched = [axis for axis in axes if axis is not None]
            if len(matched) < len(axes):
                continue
            mine, theirs = (np.ix_(*indices) for indices in zip(*matched, strict=True))
            found[name][mine] = other[theirs]
            count += int(np.prod([len(index) for index, _ in matched]))
        return found, count


@dataclass(frozen=True, slots=True)
class _Kind:
    """Names that are numbered: how many each side has, and the numbers of those in common.

    Attributes:
        mine, other: how many names either side has.
        ours, theirs: the numbers of the names that both have.
    """

    mine: int
    other: int
    ours: Index
    theirs: Index

    def behind(self, first: int) -> _Kind:
        """Return the same with so many places before them, which match one by one."""
        before = np.arange(first)
        ours, theirs = (np.concatenate([before, index + first]) for index in (self.ours, self.theirs))
        return _Kind(self.mine + first, self.other + first, ours, theirs)


def _common(mine: Sequence[str], other: Sequence[str]) -> _Kind:
    places = {name: place for place, name in enumerate(other)}
    pairs = [(place, places[name]) for place, name in enumerate(mine) if name in places]
    ours, theirs = np.array(pairs, np.intp).reshape(-1, 2).T
    return _Kind(len(mine), len(other), ours, theirs)


def initial_weights(
    section: ModelSection,
    preprocessor: Preprocessor,
    weights: Mapping[str, NDArray[Any]],
    origin: Mapping[str, Any] | None = None,
) -> tuple[Arrays, dict[str, Any]]:
    """Return the weights that a model begins with, and what the manifest says of them.

    Args:
        section: the model's; it names the run, or the folder of a checkpoint, to begin from.
        preprocessor: of the training pairs.
        weights: fresh ones, by name.
        origin: what the manifest says, where training goes on: nothing is read then.

    Raises:
        RunError: the run to begin from cannot be used.
        ConfigError: the checkpoint cannot be used.
    """
    if origin is not None:
        return dict(weights), dict(origin)
    if (folder := _pretrained(section)) is not None:
        found, about = Checkpoint(folder).weights(weights, preprocessor)
        return found, {"initialized": about}
    if section.initialize_from is None:
        return dict(weights), {}
    run = Run(Path(section.initialize_from))
    check_says_acts(run.check().model.name, run.path)
    run.check_files()
    gates = 4 * int(section.keywords().get("hidden_size", 0))
    matching = Matching(preprocessor, Preprocessor.load(run.preprocessor_path), gates)
    found, count = matching.take(weights, load_arrays(run.weights_path))
    share = count / max(1, sum(weight.size for weight in weights.values()))
    about = {"run": str(run.path), "weights": file_digest(run.weights_path), "share": round(share, 4)}
    return found, {"initialized": about}


def sized(config: Config, run: Run, *, resume: bool) -> Config:
    """Return a configuration whose model has the sizes of the checkpoint that it begins with, if it does with one.

    Args:
        config: the experiment.
        run: what is to be trained.
        resume: it goes on: what was begun has the sizes already.

    Raises:
        ConfigError: the checkpoint cannot be used, or the configuration has other sizes.
    """
    if (folder := _pretrained(config.model)) is None:
        return config
    begun = load_config(run.config_path).model if resume and run.config_path.exists() else None
    if begun is not None and _pretrained(begun) == folder:
        sizes = {name: size for name, size in begun.model_dump().items() if name in SIZES}
    else:
        sizes = Checkpoint(folder).sizes
    given = config.model.model_dump()
    wrong = [name for name, size in sizes.items() if given.get(name) not in (None, size)]
    if wrong:
        told = ", ".join(f"{name} {given[name]} is not its {sizes[name]}" for name in wrong)
        raise ConfigError(f"model.pretrained: {folder} has other sizes: {told}; leave them out")
    return config.model_copy(update={"model": config.model.model_copy(update=sizes)})


def _pretrained(section: ModelSection) -> str | None:
    """Return the folder of the checkpoint that a model begins with, if it does with one."""
    return getattr(section, "pretrained", None)
