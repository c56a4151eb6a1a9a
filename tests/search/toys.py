"""Scripted models: the next token depends on the act, the time and the last token, by a table of random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras import ops

from dactnlg.search import keras_beam, numpy_step
from dactnlg.search.constraints import RequireSlots, Rules

BOS, EOS = 0, 1
CONSTANT = np.float32(0.5)
PLAIN = Rules(BOS, EOS)
KINDS = np.array([-1, -1, 0, 0, 1, 2, -1, -1, -1], np.int32)
"""Nine tokens, of which 2 and 3 stand for placeholder 0 (one of them with a joiner), 4 and 5 for 1 and 2."""
HARD = Rules(BOS, EOS, (), (RequireSlots(KINDS, 3),))


def random_table(seed: int, batch: int, size: int, length: int, certainty: float = 2.0) -> np.ndarray:
    """Return log probabilities of the next token by act, time and last token, (batch, length, size, size)."""
    logits = np.random.default_rng(seed).normal(size=(batch, length, size, size)).astype(np.float32) * certainty
    logits[..., BOS] = -1e9
    table: np.ndarray = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    return table


def required_slots(seed: int, batch: int) -> np.ndarray:
    """Return which placeholders of `KINDS` each act requires, (batch, 3)."""
    return np.random.default_rng(seed).integers(0, 2, (batch, 3)).astype(np.float32)


def start(batch: int) -> list[np.ndarray]:
    """Return the first state of acts for a step of `numpy_model`."""
    return [np.zeros((batch, 1), np.float32)]


def numpy_model(table: np.ndarray) -> numpy_step.Step:
    """Return the step function that reads a table; it returns logits: log probabilities and a constant."""

    def step(state: list[Any], last: Any, owner: Any) -> tuple[Any, list[Any]]:
        (time,) = state
        return table[owner, time[:, 0].astype(int), last] + CONSTANT, [time + 1]

    return step


def numpy_step_of(table: np.ndarray, rules: Rules = PLAIN) -> numpy_step.ConstrainedStep:
    """Return the same under rules: it returns log probabilities."""
    return numpy_step.ConstrainedStep(numpy_model(table), rules)


def exact_log_softmax(logits: np.ndarray) -> np.ndarray:
    """Return the log probabilities of the table that logits come from, to the last digit.

    `numpy_step.log_softmax` adds up rows by a product, whose last digits depend on how many rows there are.
    """
    return logits - CONSTANT


def keras_model(table: Any) -> tuple[keras_beam.Step, keras_beam.State]:
    """Return the step function that reads a table for a search with Keras, and the first state of every act."""
    batch, length, size, _ = table.shape
    rows = ops.reshape(table, (-1, size))

    def step(state: keras_beam.State, tokens: Any) -> tuple[Any, keras_beam.State]:
        index = ops.cast((state["act"] * length + state["time"]) * size, "int32")[:, 0] + ops.cast(tokens, "int32")
        return ops.take(rows, index, axis=0) + CONSTANT, {**state, "time": state["time"] + 1}

    return step, {"act": ops.arange(batch, dtype="float32")[:, None], "time": ops.zeros((batch, 1))}
