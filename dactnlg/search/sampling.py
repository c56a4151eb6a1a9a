"""Sampling over a step function in NumPy: temperature, top-k (Fan et al. 2018), nucleus (Holtzman et al. 2020).

Tokens that the rules forbid are never drawn. A sentence depends only on its own random numbers, which are derived from
the seed and its position, so the other sentences and the size of a batch have no effect; finished sentences are not
advanced.

Shape letters: B acts, N sentences, L live sentences, V vocabulary, T longest sentence including its end token.
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
    """Sampling parameters, applied in this order: temperature, top-k, then the nucleus of what is left.

    Attributes:
        temperature: divides log probabilities; 0 always takes the best word, 1 leaves the distribution unchanged.
        top_k: draw from the k most probable words; 0 for all.
        top_p: draw from the smallest set of words with at least this total probability; 1 for all.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0

    def changed(self, temperature: float | None, top_k: int | None, top_p: float | None) -> Sampling:
        """Return a copy in which arguments other than None replace the values.

        Raises:
            UserError: a value is out of bounds.
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
    """Return random numbers for sentences, (places * draws, T), independent of which other sentences are drawn.

    Args:
        seed: the overall seed.
        places: the position of each act in the caller's sequence.
        draws: the sentences to draw for each act, numbered from 0.
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
        state: the initial state of every act, each (B, ...).
        chances: a number in [0, 1) for each word of each sentence, (N, T).
        sampling: the sampling parameters.
        owner: the act of each sentence, (N,).
        rules: what may be generated.

    Returns:
        A sentence for each owner, with its log probability under the unmodified step function, as in beam search.
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
    """Draw one word per row by inverse transform sampling, (L, V) and numbers in [0, 1), (L,) -> words, (L,)."""
    if sampling.temperature == 0.0 or sampling.top_k == 1:
        best: Ints = log_probs.argmax(axis=1)
        return best
    # Near temperature 0, improbable words overflow to minus infinity, as they should.
    with np.errstate(over="ignore"):
        scaled = (log_probs - log_probs.max(axis=1, keepdims=True)).astype(np.float64) / sampling.temperature
    # At no temperature may forbidden words be drawn.
    scaled[log_probs < IMPOSSIBLE / 2] = -np.inf
    order = None
    if sampling.top_k or sampling.top_p < 1.0:
        order = np.argsort(-scaled, axis=1)[:, : sampling.top_k or None]
        scaled = np.take_along_axis(scaled, order, axis=1)
    heaped = np.exp(scaled).cumsum(axis=1)
    total = heaped[:, -1:]
    if sampling.top_p < 1.0:
        # The word that reaches the mass belongs to the nucleus, which is thus never empty.
        reached = (heaped < sampling.top_p * total).sum(axis=1, keepdims=True)
        total = np.take_along_axis(heaped, reached, axis=1)
    # Words of probability 0 are never drawn: the second term guards against a product that rounds up to the total.
    found = np.minimum((heaped <= chance[:, None] * total).sum(axis=1), (heaped < total).sum(axis=1))
    return found if order is None else np.take_along_axis(order, found[:, None], axis=1)[:, 0]
