"""What the LSTM decoders compute around their cells, in NumPy: the gates' arguments and the logits.

Shape letters: B acts, N sentences, U tokens, V vocabulary, H hidden units, G gates, C encoder size, or words of the
user; E embedding.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dactnlg.models.numpy.cells import Floats

Weights = Mapping[str, Floats]


def token_gates(weights: Weights, tokens: Any = ...) -> Floats:
    """Return what each token adds to the gates' arguments, (U, G); for all tokens, (V, G), if none are given."""
    gates: Floats = weights["embedding"][tokens] @ weights["projection"]
    gates += weights["bias"]
    return gates


def act_gates(weights: Weights, act: Floats, summary: Floats | None, said: Floats | None = None) -> Floats | None:
    """Return what each act adds to the gates' arguments, (B, G); None if the model has no such inputs.

    Args:
        weights: the model's, by name.
        act: the DA vectors, (B, D).
        summary: the output of the hierarchical model's encoder, (B, C).
        said: the mean vectors of the user's preceding words, (B, E).
    """
    shares = (("act_projection", act), ("encoder_projection", summary), ("context_projection", said))
    gates: Floats | None = None
    for name, given in shares:
        if given is not None and name in weights:
            share: Floats = given @ weights[name]
            gates = share if gates is None else np.add(gates, share, out=gates)
    return gates


def context_mean(weights: Weights, numbers: NDArray[np.int32]) -> Floats:
    """Return the mean vectors of users' words, (B, C) -> (B, E); 0 is padding, and the mean of no words is 0."""
    rows = weights["context_words"][numbers]
    rows[numbers == 0] = 0.0
    count = np.maximum(np.count_nonzero(numbers, axis=1), 1).astype(np.float32)
    mean: Floats = rows.sum(axis=1) / count[:, None]
    return mean


def context_mean_gradients(gradients: Floats, numbers: NDArray[np.int32], out: Floats) -> None:
    """Fill `out` with the gradients of the words' vectors, given those of `context_mean`, (B, E)."""
    out[:] = 0.0
    rows, _ = real = np.nonzero(numbers)
    count = np.count_nonzero(numbers, axis=1)[rows].astype(np.float32)
    np.add.at(out, numbers[real], gradients[rows] / count[:, None])


def logits(weights: Weights, hidden: Floats) -> Floats:
    """Return the logits of the next tokens, (N, V), given the hidden states, (N, H)."""
    found: Floats = hidden @ weights["output_kernel"]
    found += weights["output_bias"]
    return found
