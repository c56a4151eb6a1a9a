"""The likelihood of next turns under a dialogue model: perplexity by importance sampling, and KL per token."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dactnlg.errors import UserError
from dactnlg.text.dialogue_preprocessor import ContextPair
from dactnlg.text.vocabulary import UNK_ID

if TYPE_CHECKING:
    from dactnlg.dialogue.responder import Responder

SAMPLES = 100
"""Draws of the latent variables per pair."""
ROWS = 64
"""Pairs per batch."""


class Likelihood(NamedTuple):
    """The likelihood of a set of pairs.

    Attributes:
        perplexity: exp of the mean negative log likelihood per token, including ends. Words outside the vocabulary are
            one token, `<unk>`, so it is not comparable between models with different vocabularies.
        divergence: KL(q || p) in nats per token; 0 without a latent variable.
        tokens: number of target tokens.
        unknown: how many of them were `<unk>`.
    """

    perplexity: float
    divergence: float
    tokens: int
    unknown: int = 0

    def fair(self, rare: int) -> float:
        """Return the perplexity with the probability of `<unk>` spread over `rare` words outside the vocabulary.

        It is comparable between models with different vocabularies (Huang et al. 2020, section 2.2).
        """
        return self.perplexity * math.exp(math.log(max(rare, 1)) * self.unknown / self.tokens)


def likelihood(
    responder: Responder, pairs: Sequence[ContextPair], *, samples: int = SAMPLES, seed: int = 1
) -> Likelihood:
    """Return the likelihood of targets given their contexts.

    log p(x|c) is estimated as log (1/S) sum_s p(x, z_s|c) / q(z_s|x, c), with z_s drawn from q (Burda et al. 2016); the
    expected estimate is a lower bound that rises with S. Without a latent variable one draw is exact.

    Args:
        responder: the model.
        pairs: contexts and targets.
        samples: S.
        seed: for the draws.

    Raises:
        UserError: there are no pairs, or the teacher arrays of a model with `ei: input` lack a turn.
    """
    from dactnlg.models.backend import compiled_draws, to_numpy
    from dactnlg.training.dialogue import encode

    if not pairs:
        raise UserError("there are no turns to find probable: the split has no dialogue of two turns")
    model: Any = responder.model
    data = encode(responder.preprocessor, pairs, model, responder.teacher)
    model.reseed(seed)
    program = compiled_draws(model, model.log_weights)
    draws = samples if model.latent_size else 1

    def weights(batch: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        found = [[to_numpy(part) for part in program(batch)] for _ in range(draws)]
        return np.array([logs for logs, _ in found]), found[0][1]

    said = apart = 0.0
    for batch, _ in data.in_few_lengths().batches(ROWS):
        real = batch["lengths"] > 0
        logs, divergence = weights(batch)
        said += float(estimate(logs[:, real]).sum())
        apart += float(divergence[real].sum(dtype=np.float64))
    tokens = int(data.lengths.sum())
    unknown = int((data.tokens == UNK_ID).sum())
    return Likelihood(math.exp(-said / tokens), apart / tokens, tokens, unknown)


def estimate(logs: NDArray[Any]) -> NDArray[np.float64]:
    """Return the log likelihoods, (N,), estimated from log importance weights, (S, N)."""
    found: NDArray[np.float64] = np.logaddexp.reduce(np.asarray(logs, np.float64), axis=0) - math.log(len(logs))
    return found
