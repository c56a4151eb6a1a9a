"""What the LSTM decoders compute around their cells, in NumPy: the gates' arguments and the logits.

Shape letters: B acts, N sentences, U tokens, V vocabulary, H hidden units, G gates, C encoder size.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dactnlg.models.numpy.cells import Floats

Weights = Mapping[str, Floats]


def token_gates(weights: Weights, tokens: Any = ...) -> Floats:
    """Return the share of each token in the gates' arguments, (U, G); of all tokens, (V, G), where none are given."""
    gates: Floats = weights["embedding"][tokens] @ weights["projection"]
    gates += weights["bias"]
    return gates


def act_gates(weights: Weights, act: Floats, summary: Floats | None) -> Floats | None:
    """Return the share of each act in the gates' arguments, (B, G); None where a model has none.

    Args:
        weights: the model's, by name.
        act: the DA vectors, (B, D).
        summary: what the encoder of the hierarchical model says of them, (B, C).
    """
    if "act_projection" not in weights:
        return None
    gates: Floats = act @ weights["act_projection"]
    if summary is not None:
        gates += summary @ weights["encoder_projection"]
    return gates


def logits(weights: Weights, hidden: Floats) -> Floats:
    """Return the logits of the next tokens, (N, V), given the hidden states, (N, H)."""
    found: Floats = hidden @ weights["output_kernel"]
    found += weights["output_bias"]
    return found
