"""Sentence encoders: the protocols that metrics require, and the default encoder.

Sharma et al. 2017 (section 3.2.1) used Skip-Thought, whose weights are no longer published; any other encoder gives
other numbers, so its name is in the signature.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from dactnlg.metrics.sentence_encoder.minilm import MiniLM


class Encoder(Protocol):
    """Encodes each sentence as one vector; implement it to score with another model."""

    @property
    def name(self) -> str:
        """Which encoder in which version, for signatures."""

    def encode(self, sentences: Sequence[str]) -> NDArray[np.floating]:
        """Return the vectors of N sentences, (N, D), finite and of any norm."""


class TokenEncoder(Protocol):
    """Encodes each token of a sentence as a vector, in its context."""

    @property
    def name(self) -> str:
        """Which encoder in which version, for signatures."""

    def encode_tokens(self, sentences: Sequence[str], layer: int) -> list[NDArray[np.floating]]:
        """Return the vectors of each sentence's tokens, (T, D); the first and last are those of [CLS] and [SEP]."""


def load_minilm(folder: str | Path | None = None) -> Encoder:
    """Return all-MiniLM-L6-v2, run by NumPy.

    Args:
        folder: contains `model.safetensors`, `tokenizer.json` and `config.json`; by default the installed package's.

    Raises:
        MetricError: the package or a library is not installed, or the folder does not contain such a model.
    """
    return _minilm(folder)


def load_minilm_tokens(folder: str | Path | None = None) -> TokenEncoder:
    """Return the same as an encoder of tokens; arguments and errors as `load_minilm`."""
    return _minilm(folder)


def _minilm(folder: str | Path | None) -> MiniLM:
    # Imported late: few metrics need the module.
    from dactnlg.metrics.sentence_encoder.minilm import MiniLM

    return MiniLM(folder)
