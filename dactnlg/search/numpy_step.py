"""A model's step under rules, in NumPy: the basis of all searches on CPUs.

Shape letters: B acts, N sentences, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dactnlg.search.constraints import Rules
from dactnlg.search.hypotheses import IMPOSSIBLE

Flags = NDArray[np.bool_]
Floats = NDArray[np.float32]
Ints = NDArray[np.intp]
State = list[Floats]
Step = Callable[[State, Ints, Ints], tuple[Floats, State]]
"""(states (N, ...), last tokens (N,), their acts (N,)) -> (scores of the next tokens (N, V), states); the caller may
modify the scores. A model's step returns logits, `ConstrainedStep` log probabilities."""


class ConstrainedStep:
    """Advances sentences by one token and scores the next tokens under the rules.

    Args:
        step: the model's step, which returns logits.
        rules: what may be generated. The state is the model's, followed by the owed array of each constraint, (N, C).
    """

    def __init__(self, step: Step, rules: Rules) -> None:
        self._step, self._rules = step, rules

    def __call__(self, state: State, last: Ints, owner: Ints) -> tuple[Floats, State]:
        """Return log probabilities of the next tokens, (N, V), with forbidden ones made impossible, and new states."""
        rules = self._rules
        cut = len(state) - len(rules.constraints)
        logits, new = self._step(state[:cut], last, owner)
        log_probs = log_softmax(logits)
        # One by one is faster than indexing with a list.
        for token in rules.blocked:
            log_probs[:, token] = IMPOSSIBLE
        for constraint, owed in zip(rules.constraints, state[cut:], strict=True):
            owed = constraint.advance(np, owed, last)
            if constraint.high > constraint.low:
                stretch = log_probs[:, constraint.low : constraint.high]
                np.copyto(stretch, np.float32(IMPOSSIBLE), where=constraint.forbidden(np, owed))
            log_probs[constraint.pending(np, owed), rules.eos] = IMPOSSIBLE
            new = [*new, owed]
        return log_probs, new


def log_softmax(logits: Floats) -> Floats:
    """Return log probabilities, (N, V); the logits are overwritten."""
    logits -= logits.max(axis=1, keepdims=True)
    # Multiplying by a vector of ones sums rows several times faster than `sum`.
    total = np.exp(logits) @ _ones(logits.shape[1])
    logits -= np.log(total)[:, None]
    return logits


def chosen_rows(state: Sequence[Floats], rows: Ints) -> State:
    """Return the given rows of every state array."""
    return [part.take(rows, axis=0) for part in state]


@lru_cache(maxsize=8)
def _ones(size: int) -> Floats:
    return np.ones(size, np.float32)
