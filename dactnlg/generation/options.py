"""What a caller may choose about generation: one record for the command line, Python, bulk files and services."""

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
    """How sentences are generated; what is None is as the run's configuration has it.

    >>> GenerationOptions(constraint="rerank", beam_width=20)
    GenerationOptions(constraint='rerank', beam_width=20)

    Attributes:
        constraint: `none`, `rerank` (Wen et al. 2015b, section 3.4) or `hard` (no slot is dropped or invented).
        beam_width: hypotheses that the beam search keeps.
        n_best: sentences that each result holds in `n_best`; more than one widens the beam if it must.
        seed: of sampling and of the random baseline.
        sample: draw sentences in the place of the beam search. Those in `n_best` may be alike. They stand in the order
            drawn; under `rerank`, which draws as many as the beam is wide, in the order of their costs.
        temperature: divides log probabilities before a draw; 0 takes the best word always. `temperature`, `top_k` and
            `top_p` each ask for sampling too.
        top_k: draw from the k most probable words; 0 for all.
        top_p: draw from the fewest words that have this much probability together; 1 for all.
        append_questions: under `hard`, put a question that a turn of several acts has lost behind the sentence.
        mbr: minimum Bayes risk: of the beam's sentences with the fewest slot errors take the one that is most like the
            others, not the most probable one.
        length_normalization: a hypothesis's log probability is divided by its length to this power.
        slot_error_weight: what one slot error costs, in log probability.
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
        """Return the options that are not the defaults: a signature shows them."""
        usual = {field.name: field.default for field in fields(self)}
        given = {name: value for name, value in self.chosen().items() if value != usual[name]}
        return f"GenerationOptions({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    def chosen(self) -> dict[str, Any]:
        """Return the options that were chosen, by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    def resolve(self, defaults: DecodingConfig, seed: int) -> ResolvedOptions:
        """Return the options with the run's own in the place of what was not chosen.

        Args:
            defaults: the run's decoding section.
            seed: the run's seed.

        Raises:
            UnknownNameError: there is no such constraint.
            UserError: a number of another type or outside its bounds, or sampling options where sampling is turned off.
        """
        if self.constraint and self.constraint not in CONSTRAINTS:
            raise UnknownNameError("constraint", str(self.constraint), CONSTRAINTS)
        # Not the number of sentences, which is always chosen.
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
        """Return what words are drawn from; None where sentences are searched for."""
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
    """The bounds of what a caller may choose: those of a configuration, and of what no configuration has."""

    n_best: int = Field(default=1, ge=1, le=MOST_SENTENCES)
    seed: int = Field(default=1, ge=0, lt=SEEDS)


def _plain(value: Any) -> Any:
    """Return a number of NumPy's as Python's own, which a check of types asks for."""
    return value.item() if isinstance(value, np.generic) else value


@dataclass(frozen=True, kw_only=True)
class ResolvedOptions:
    """`GenerationOptions` of one call, every one of them decided.

    Attributes:
        sampling: what words are drawn from; None for the beam search.
        slot_error_weight: cost of a slot error, in log probability (Wen et al. 2015b, equation 16).
        length_normalization: a hypothesis's log probability is divided by its length to this power.
        mbr: whether minimum Bayes risk chooses.
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
        """Whether placeholders are constrained to those required."""
        return self.constraint == "hard"

    def normalized(self, score: float, tokens: Sequence[str]) -> float:
        """Return a sentence's log probability, divided by its length (with its end) to `length_normalization`."""
        length: float = (len(tokens) + 1) ** self.length_normalization
        return float(score) / length
