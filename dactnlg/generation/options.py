"""Generation options: the same for the command line, Python, bulk files and services."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from pydantic import Field, ValidationError

from dactnlg.errors import UnknownNameError, UserError
from dactnlg.runs.config import CONSTRAINTS, Constraint, DecodingConfig
from dactnlg.runs.mistakes import wrong_value
from dactnlg.runs.sections import MOST_SENTENCES, SEEDS
from dactnlg.search.sampling import Sampling


@dataclass(frozen=True, kw_only=True, repr=False)
class GenerationOptions:
    """How sentences are generated; options that are None are taken from the run's configuration.

    >>> GenerationOptions(constraint="rerank", beam_width=20)
    GenerationOptions(constraint='rerank', beam_width=20)

    Attributes:
        constraint: `none`, `rerank` (Wen et al. 2015b, section 3.4) or `hard` (no slot is dropped or invented).
        beam_width: hypotheses that the beam search keeps.
        n_best: maximum number of sentences in `n_best` of each result; there are fewer if the search finds fewer
            different ones. If it exceeds the beam width, the beam is widened. For more sentences the search goes on
            for longer, so that it may find a better first one, too.
        seed: for sampling and the random baseline.
        sample: draw sentences instead of searching. Those in `n_best` may be equal. They are in the order drawn; under
            `rerank`, which draws as many as the beam is wide, in the order of their costs.
        temperature: divides log probabilities before drawing; 0 always takes the best word. Giving any of
            `temperature`, `top_k` and `top_p` turns sampling on.
        top_k: draw from the k most probable words; 0 for all.
        top_p: draw from the smallest set of words with at least this total probability; 1 for all.
        append_questions: under `hard`, append questions that the sentence for a turn of several acts lacks.
        mbr: minimum Bayes risk: among the beam's sentences with the fewest slot errors, choose the one most similar to
            the others instead of the most probable one.
        length_normalization: a hypothesis's log probability is divided by its length to this power.
        slot_error_weight: cost of one slot error, in log probability.
    """

    constraint: Constraint | None = None
    beam_width: int | None = None
    n_best: int = 1
    seed: int | None = None
    sample: bool | None = None
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    append_questions: bool | None = None
    mbr: bool | None = None
    length_normalization: float | None = None
    slot_error_weight: float | None = None

    def __repr__(self) -> str:
        """Show only options that differ from the defaults, to keep signatures in the documentation short."""
        usual = {field.name: field.default for field in fields(self)}
        given = {name: value for name, value in self.chosen().items() if value != usual[name]}
        return f"GenerationOptions({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    def chosen(self) -> dict[str, Any]:
        """Return the options that are not None, by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    def resolve(self, defaults: DecodingConfig, seed: int) -> ResolvedOptions:
        """Return the options with open ones filled in from the run's configuration.

        Args:
            defaults: the run's decoding section.
            seed: the run's seed.

        Raises:
            UnknownNameError: there is no such constraint.
            UserError: a number is of the wrong type or out of bounds, or sampling options are given while sampling is
                turned off.
        """
        if self.constraint is not None and self.constraint not in CONSTRAINTS:
            raise UnknownNameError("constraint", str(self.constraint), CONSTRAINTS)
        # `n_best` cannot be left open: None is passed on to be rejected.
        chosen = {"n_best": self.n_best, **{name: _plain(value) for name, value in self.chosen().items()}}
        try:
            found = _Checked.model_validate({"seed": seed, **defaults.model_dump(), **chosen})
        except ValidationError as error:
            first = error.errors()[0]
            raise UserError(f"{first['loc'][0]} {wrong_value(first)}") from None
        return ResolvedOptions(
            constraint=found.constraint,
            beam_width=max(found.beam_width, found.n_best),
            n_best=found.n_best,
            seed=found.seed,
            sampling=self._sampling(defaults),
            append_questions=found.append_questions,
            slot_error_weight=found.slot_error_weight,
            length_normalization=found.length_normalization,
            mbr=found.mbr,
        )

    def _sampling(self, defaults: DecodingConfig) -> Sampling | None:
        """Return the sampling parameters; None if sentences are searched for."""
        usual = Sampling(defaults.temperature, defaults.top_k, defaults.top_p)
        sampling = usual.changed(self.temperature, self.top_k, self.top_p)
        if self.sample is False and sampling != usual:
            raise UserError(
                "temperature, top_k and top_p are options of sampling, which is turned off: leave out either"
            )
        asked = any(value is not None for value in (self.temperature, self.top_k, self.top_p))
        sample = (defaults.sample or asked) if self.sample is None else self.sample
        return sampling if sample else None


class _Checked(DecodingConfig):
    """The bounds of all options: those of a configuration, and of options that a configuration does not have."""

    n_best: int = Field(default=1, ge=1, le=MOST_SENTENCES)
    seed: int = Field(default=1, ge=0, lt=SEEDS)


def _plain(value: Any) -> Any:
    """Convert NumPy scalars to Python numbers, which strict type validation requires."""
    return value.item() if isinstance(value, np.generic) else value


@dataclass(frozen=True, kw_only=True)
class ResolvedOptions:
    """The `GenerationOptions` of one call with all values filled in.

    Attributes:
        sampling: the sampling parameters; None for beam search.
        slot_error_weight: cost of a slot error, in log probability (Wen et al. 2015b, equation 16).
        length_normalization: a hypothesis's log probability is divided by its length to this power.
        mbr: whether to choose by minimum Bayes risk.
    """

    constraint: str
    beam_width: int
    n_best: int
    seed: int
    sampling: Sampling | None
    append_questions: bool
    slot_error_weight: float
    length_normalization: float
    mbr: bool

    @property
    def hard(self) -> bool:
        """Whether exactly the required placeholders are generated."""
        return self.constraint == "hard"

    def normalized(self, score: float, tokens: Sequence[str]) -> float:
        """Divide a log probability by the sentence's length, including its end, to the power `length_normalization`."""
        length: float = (len(tokens) + 1) ** self.length_normalization
        return float(score) / length
