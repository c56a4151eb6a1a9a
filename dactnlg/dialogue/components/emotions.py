"""The shipped emotion teacher: softmax regression on sentence vectors, trained on DailyDialog's labels.

DailyDialog (Li et al. 2017) labels each turn with one of Ekman's six emotions, or none. Most turns have none, so the
training turns of each label are capped at the same number.

Shapes: N texts, K = 7 emotions, D dimensions.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from dactnlg._utils.hashing import digest
from dactnlg._utils.reading import parse_json, short
from dactnlg.data.readers.reading import read_lines
from dactnlg.dialogue.components.teachers import Array
from dactnlg.errors import UserError
from dactnlg.metrics.sentence_encoder.encoders import Encoder

EMOTIONS = ("no emotion", "anger", "disgust", "fear", "happiness", "sadness", "surprise")
VALENCE = (0.0, -1.0, -1.0, -1.0, 1.0, -1.0, 0.0)
"""The valence of each emotion; the sentiment score is its expectation."""
MOST = 1500
"""Maximum number of training turns per emotion."""
STRENGTH = 1.0
"""Strength of the L2 penalty."""
STEPS = 200


class LabelledTurns(NamedTuple):
    """Turns with their emotions.

    Attributes:
        texts: N turns.
        labels: the index of each turn's emotion in `EMOTIONS`.
    """

    texts: list[str]
    labels: list[int]


class LearnedEmotions:
    """Softmax regression: p = softmax(W e(text) + b).

    Args:
        encoder: computes e(text).
        weights: W, (D, K).
        bias: b, (K,).
        name: for signatures; the encoder's name is appended.
    """

    def __init__(self, encoder: Encoder, weights: Array, bias: Array, name: str) -> None:
        self._encoder, self._matrix, self._bias = encoder, weights, bias
        self.name = f"{name}+{encoder.name}"
        self.weights: Array = np.array(VALENCE)

    def probabilities(self, texts: Sequence[str]) -> Array:
        """Return each text's distribution over `EMOTIONS`, (N, 7)."""
        if not texts:
            return np.empty((0, len(EMOTIONS)))
        found: Array = softmax(np.asarray(self._encoder.encode(texts), np.float64) @ self._matrix + self._bias, axis=1)
        return found


def read_dailydialog(path: Path) -> LabelledTurns:
    """Read the turns of a JSONL file of dialogues, one `{"turns": [text, ...], "emotions": [emotion, ...]}` per line.

    Raises:
        UserError: the file cannot be read, or a line is not such a dialogue; the message gives its number.
    """
    texts, labels = list[str](), list[int]()
    for place, line in read_lines(path):
        try:
            data = parse_json(line)
            pairs = list(zip(data["turns"], data["emotions"], strict=True))
            labels += [EMOTIONS.index(emotion) for _, emotion in pairs]
            texts += [str(text) for text, _ in pairs]
        except (json.JSONDecodeError, LookupError, TypeError, ValueError) as error:
            raise UserError(f"{path}, {place}: no labelled dialogue: {short(str(error))}") from None
    return LabelledTurns(texts, labels)


def learn_emotions(encoder: Encoder, turns: LabelledTurns, *, most: int = MOST, seed: int = 1) -> LearnedEmotions:
    """Train a teacher on labelled turns.

    Args:
        encoder: the sentence encoder.
        turns: the training turns with their labels.
        most: maximum number of turns per emotion.
        seed: for the choice of turns.

    Raises:
        UserError: there are no turns.
    """
    if not turns.texts:
        raise UserError("no labelled turns: there is nothing to learn emotions from")
    labels = np.array(turns.labels)
    order = np.random.default_rng(seed).permutation(len(labels))
    rows = np.concatenate([order[labels[order] == k][:most] for k in range(len(EMOTIONS))])
    texts, wanted = [turns.texts[row] for row in rows], labels[rows]
    vectors = np.asarray(encoder.encode(texts), np.float64)
    weights, bias = fit_softmax(vectors, wanted, len(EMOTIONS))
    learned_from = digest([texts, wanted.tolist(), EMOTIONS, STRENGTH])
    return LearnedEmotions(encoder, weights, bias, f"dailydialog-emotions@{learned_from[:12]}")


def fit_softmax(vectors: Array, labels: Array, count: int) -> tuple[Array, Array]:
    """Fit a softmax regression (L-BFGS) and return its weights, (D, K), and biases, (K,).

    Args:
        vectors: (N, D).
        labels: 0 to K - 1, (N,).
        count: K.
    """
    targets = np.eye(count)[labels]
    size = vectors.shape[1]

    def loss(parameters: Array) -> tuple[float, Array]:
        matrix, bias = parameters[: size * count].reshape(size, count), parameters[size * count :]
        logs = log_softmax(vectors @ matrix + bias, axis=1)
        errors = np.exp(logs) - targets
        total = -(targets * logs).sum() + 0.5 * STRENGTH * (matrix * matrix).sum()
        gradient = np.concatenate([(vectors.T @ errors + STRENGTH * matrix).ravel(), errors.sum(axis=0)])
        return float(total), gradient

    start = np.zeros(size * count + count)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS}).x
    return found[: size * count].reshape(size, count), found[size * count :]
