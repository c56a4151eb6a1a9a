"""Sampling over a step function in NumPy: temperature, top-k (Fan et al. 2018), nucleus (Holtzman et al. 2020).

What the rules forbid is never drawn. A sentence depends on its own random numbers alone, which come from the seed and
its place, so neighbours and the size of a batch change nothing; a sentence that has ended is advanced no further.

Shape letters: B acts, N sentences, L live ones of them, V vocabulary, T longest sentence with its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dactnlg.errors import UserError
from dactnlg.search.constraints import Rules
from dactnlg.search.hypotheses import IMPOSSIBLE, Hypothesis
from dactnlg.search.numpy_step import Ints, State, Step, chosen_rows

Chances = NDArray[np.float64]


class Sampling(NamedTuple):
    """What a word is drawn from: the temperature first, then the k best words, then the nucleus of what is left.

    Attributes:
        temperature: divides log probabilities; 0 takes the best word always, 1 leaves the model as it is.
        top_k: draw from the k most probable words; 0 from all.
        top_p: draw from the fewest words that have this much probability together; 1 from all.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0

    def changed(self, temperature: float | None, top_k: int | None, top_p: float | None) -> Sampling:
        """Return the same with what is given in its place.

        Raises:
            UserError: a value outside its bounds.
        """
        new = Sampling(
            self.temperature if temperature is None else temperature,
            self.top_k if top_k is None else top_k,
            self.top_p if top_p is None else top_p,
        )
        if not 0.0 <= new.temperature < np.inf:
            raise UserError(f"the temperature of sampling must be at least 0, not {new.temperature}")
        if new.top_k < 0:
            raise UserError(f"top_k must be at least 1, or 0 for all words, not {new.top_k}")
        if not 0.0 < new.top_p <= 1.0:
            raise UserError(f"top_p must be above 0 and at most 1, not {new.top_p}")
        return new


def chances(seed: int, places: Sequence[int], draws: range, length: int) -> Chances:
    """Return the random numbers of sentences, (places * draws, T); no sentence's depend on those of another.

    Args:
        seed: of everything.
        places: where each act stands in its sequence.
        draws: which of an act's sentences are wanted, numbered from 0.
        length: T.
    """
    drawn = [np.random.default_rng([seed, place]).random((draws.stop, length))[draws.start :] for place in places]
    return np.concatenate(drawn) if drawn else np.zeros((0, length))


def sample(
    step: Step, state: State, chances: Chances, sampling: Sampling, *, owner: Ints, rules: Rules
) -> list[Hypothesis]:
    """Draw sentences word by word.

    Args:
        step: returns log probabilities under the rules.
        state: the first state of every act, each (B, ...).
        chances: a number in [0, 1) for each word of each sentence, (N, T).
        sampling: what words are drawn from.
        owner: the act of each sentence, (N,).
        rules: what may be generated.

    Returns:
        A sentence for each owner, with its log probability under the step function itself, as a beam search has it.
    """
    (count, length), eos = chances.shape, rules.eos
    words = np.full((count, length), eos, np.intp)
    scores = np.zeros(count, np.float64)
    live = np.arange(count)  # (L,)
    state = chosen_rows(state, owner)
    last = np.full(count, rules.bos, np.intp)
    for t in range(length):
        if not len(live):
            break
        log_probs, state = step(state, last, owner[live])
        last = draw(log_probs, chances[live, t], sampling)
        scores[live] += log_probs[np.arange(len(live)), last]
        words[live, t] = last
        going = np.flatnonzero(last != eos)
        live, last, state = live[going], last[going], chosen_rows(state, going)
    finished = np.ones(count, bool)
    finished[live] = False
    lengths = np.where(finished, (words == eos).argmax(axis=1), length)
    rows = zip(words.tolist(), lengths.tolist(), scores.tolist(), finished.tolist(), strict=True)
    return [Hypothesis(tuple(row[:end]), score, done) for row, end, score, done in rows]


def draw(log_probs: NDArray[np.floating], chance: Chances, sampling: Sampling) -> Ints:
    """Return the word that each row's number in [0, 1) falls on, (L, V) and (L,) -> (L,)."""
    if sampling.temperature == 0.0 or sampling.top_k == 1:
        best: Ints = log_probs.argmax(axis=1)
        return best
    scaled = (log_probs - log_probs.max(axis=1, keepdims=True)).astype(np.float64) / sampling.temperature
    # However hot: what is forbidden is not merely improbable.
    scaled[log_probs < IMPOSSIBLE / 2] = -np.inf
    order = None
    if sampling.top_k or sampling.top_p < 1.0:
        order = np.argsort(-scaled, axis=1)[:, : sampling.top_k or None]
        scaled = np.take_along_axis(scaled, order, axis=1)
    heaped = np.exp(scaled).cumsum(axis=1)
    total = heaped[:, -1:]
    if sampling.top_p < 1.0:
        # The word that reaches the mass belongs to the nucleus, so there always is one.
        reached = (heaped < sampling.top_p * total).sum(axis=1, keepdims=True)
        total = np.take_along_axis(heaped, reached, axis=1)
    # A word of probability 0 has no share of the line. A product may round up to the very end of it.
    found = np.minimum((heaped <= chance[:, None] * total).sum(axis=1), (heaped < total).sum(axis=1))
    return found if order is None else np.take_along_axis(order, found[:, None], axis=1)[:, 0]
