"""Fine-tuning: a model starts from the weights of another run or of a checkpoint, as far as they correspond.

Weights of a run are matched by name. Along an axis that numbers tokens, entries of the DA vector or words, indices are
matched by meaning, so that a model for laptops can start from one for television sets (Wen et al. 2016 also start from
other domains). Weights without a match are initialised afresh.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dactnlg._utils.hashing import file_digest
from dactnlg.errors import ConfigError, RunError
from dactnlg.models.dialogue_sections import check_says_acts
from dactnlg.models.gpt2_checkpoint import SIZES, Checkpoint
from dactnlg.models.weights import load_arrays
from dactnlg.runs.config import Config, ModelSection, load_config
from dactnlg.runs.run import Run
from dactnlg.text.preprocessor import Preprocessor

Arrays = dict[str, NDArray[Any]]
Index = NDArray[np.intp]


TOKENS, WORDS, CONTEXT_WORDS = "tokens", "words", "context"
ACT, ENTRIES, GATES, READ = "act", "entries", "gates", "read"
"""What an axis numbers: tokens; words of values; words of the user; and entries of the DA vector, alone, after a
padding row, after the gates of a cell, or after its hidden units."""
_NUMBERED: Mapping[str, tuple[str, ...]] = {
    "embedding": (TOKENS, ""),
    "output_kernel": ("", TOKENS),
    "output_bias": (TOKENS,),
    "act": (ACT, ""),
    "reading": ("", ACT),
    "prior_kernel": (ACT, ""),
    "posterior_kernel": (READ, ""),
    "entries": (ENTRIES, ""),
    "words": (WORDS, ""),
    "context_words": (CONTEXT_WORDS, ""),
    "act_projection": (ACT, GATES),
    "projection": ("", GATES),
    "context_projection": ("", GATES),
    "encoder_projection": ("", GATES),
    "bias": (GATES,),
    **dict.fromkeys(("kernel", "recurrent", "recurrent_kernel", "latent_projection"), ("", "")),
    **dict.fromkeys(("start", "score", "mixture", "places", "tokens", "gate", "positions"), ("", "")),
    **dict.fromkeys(("gamma", "beta", "gate_bias"), ("",)),
}
"""What each axis of a weight numbers, by the last part of its name; "" for nothing."""


class Matching:
    """Finds the corresponding indices of two models' weights.

    Args:
        ours: the preprocessor of the model to initialise.
        theirs: that of the run.
        gates: four times our hidden size; entries of the DA vector may follow gates or hidden units. 0 if unknown.
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
        # Tables of entries have a padding row first; gates precede the entries of the reading gate; in the posterior of
        # a latent variable, the entries follow the units that have read the sentence.
        self._kinds |= {ENTRIES: act.behind(1)}
        if gates:
            self._kinds |= {GATES: act.behind(gates), READ: act.behind(gates // 4)}

    def axis(self, mine: int, other: int, names: Sequence[str] | None = None) -> tuple[Index, Index] | None:
        """Return the matching indices along an axis, ours and theirs, or None if the axes do not correspond.

        Args:
            mine: the length of our axis.
            other: the length of theirs.
            names: what the axis may number; None if that has to be inferred from its length.
        """
        for name in self._kinds if names is None else names:
            kind = self._kinds.get(name)
            if kind is not None and (mine, other) == (kind.mine, kind.other):
                return kind.ours, kind.theirs
        return (np.arange(mine), np.arange(mine)) if mine == other else None

    def axes(self, name: str, mine: Sequence[int], other: Sequence[int]) -> list[tuple[Index, Index] | None]:
        """Return the result of `axis` for each axis of a weight, given its name and both shapes."""
        known = _NUMBERED.get(name.rpartition("/")[2], ())
        names = [[each] for each in known] if len(known) == len(mine) else [None] * len(mine)
        return [self.axis(*sizes) for sizes in zip(mine, other, names, strict=True)]

    def take(self, weights: Mapping[str, NDArray[Any]], given: Mapping[str, NDArray[Any]]) -> tuple[Arrays, int]:
        """Return a copy of `weights` with matching values taken from `given`, and the number of values taken."""
        found: Arrays = {}
        count = 0
        for name, weight in weights.items():
            found[name] = weight.copy()
            other = given.get(name)
            # A scalar counts training batches: it starts from zero.
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
    """A numbering of names: how many each side has, and the indices of the common ones.

    Attributes:
        mine, other: how many names each side has.
        ours, theirs: the indices of the names that both sides have.
    """

    mine: int
    other: int
    ours: Index
    theirs: Index

    def behind(self, first: int) -> _Kind:
        """Return the numbering shifted by `first` preceding indices, which match one to one."""
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
    """Return the initial weights of a model, and what the manifest records about them.

    Args:
        section: the model's; it names the run, or the folder of a checkpoint, to start from.
        preprocessor: of the training pairs.
        weights: freshly drawn ones, by name.
        origin: the manifest's record if training is resumed; nothing is read then.

    Raises:
        RunError: the run to start from cannot be used.
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
    source = run.check().model
    check_says_acts(source.name, run.path)
    if not source.neural:
        raise RunError(f"model.initialize_from: {run.path} holds the random baseline, which has no weights")
    run.check_files()
    gates = 4 * int(section.keywords().get("hidden_size", 0))
    matching = Matching(preprocessor, Preprocessor.load(run.preprocessor_path), gates)
    found, count = matching.take(weights, load_arrays(run.weights_path))
    share = count / max(1, sum(weight.size for weight in weights.values()))
    about = {"run": str(run.path), "weights": file_digest(run.weights_path), "share": round(share, 4)}
    return found, {"initialized": about}


def sized(config: Config, run: Run, *, resume: bool) -> Config:
    """Return a configuration whose model has the sizes of the checkpoint that it starts from, if any.

    Args:
        config: the experiment.
        run: the run to train.
        resume: whether training is resumed; the run's own configuration then already has the sizes.

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
    """Return the folder of the checkpoint that a model starts from, if any."""
    return getattr(section, "pretrained", None)
