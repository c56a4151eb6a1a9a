"""The weights of the models that NumPy supports: their shapes and initial values.

They have the distributions of Keras' initializers of the same names, but NumPy's random numbers, so that training in
NumPy does not need Keras. Training on Keras starts from the same weights.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dactnlg._utils.threads import one_blas_thread
from dactnlg.models.numpy.cells import Floats
from dactnlg.runs.config import ModelSection
from dactnlg.text.encoding import Sizes

Kind = Literal["uniform", "glorot_uniform", "orthogonal", "zeros", "forget_gate"]


class Weight(NamedTuple):
    """The shape and initialisation of a weight.

    Attributes:
        shape: its shape.
        kind: how its initial values are drawn.
        hidden: for a bias of kind `forget_gate`, the hidden units of the cell, whose forget gates start open.
    """

    shape: tuple[int, ...]
    kind: Kind
    hidden: int = 0


def weights_of(section: ModelSection, sizes: Sizes) -> dict[str, Weight]:
    """Return the weights of a supported model by name.

    Args:
        section: of the model.
        sizes: the sizes of the preprocessor's vocabularies.
    """
    keys = section.keywords()
    hidden, embedding = int(keys["hidden_size"]), int(keys["embedding_size"])
    plain = section.name in ("lstm", "seq2seq")
    gates = 4 * hidden + (0 if plain else sizes.act)
    found = {
        "embedding": Weight((sizes.vocabulary, embedding), "uniform"),
        "projection": Weight((embedding, gates), "glorot_uniform"),
        "bias": Weight((gates,), "forget_gate", hidden),
        "cell/recurrent": Weight((hidden, 4 * hidden), "orthogonal"),
        "output_kernel": Weight((hidden, sizes.vocabulary), "glorot_uniform"),
        "output_bias": Weight((sizes.vocabulary,), "zeros"),
    }
    if not plain:
        found["cell/reading"] = Weight((hidden, sizes.act), "glorot_uniform")
        found["cell/act"] = Weight((sizes.act, hidden), "glorot_uniform")
    if section.name != "sclstm":
        found["act_projection"] = Weight((sizes.act, gates), "glorot_uniform")
    if section.name == "hierarchical":
        found |= _encoder(int(keys["value_size"]), int(keys["encoder_size"]), sizes, gates)
    if section.name == "seq2seq":
        return found | _attention(keys, sizes)
    if section.sees_context:
        found["context_words"] = Weight((sizes.context, embedding), "uniform")
        found["context_projection"] = Weight((embedding, gates), "glorot_uniform")
    return found


def _encoder(value: int, encoder: int, sizes: Sizes, gates: int) -> dict[str, Weight]:
    found = {
        "words": Weight((sizes.words, value), "uniform"),
        "entries": Weight((sizes.act + 1, value), "glorot_uniform"),
        "encoder_projection": Weight((encoder, gates), "glorot_uniform"),
    }
    for name, inputs, hidden in (("lower", value, value), ("upper", 2 * value, encoder)):
        found[f"{name}/projection"] = Weight((inputs, 4 * hidden), "glorot_uniform")
        found[f"{name}/bias"] = Weight((4 * hidden,), "forget_gate", hidden)
        found[f"{name}/cell/recurrent"] = Weight((hidden, 4 * hidden), "orthogonal")
    return found


def _attention(keys: Mapping[str, Any], sizes: Sizes) -> dict[str, Weight]:
    """Return the weights that `seq2seq` has in addition to those of an LSTM."""
    hidden, embedding, size = (int(keys[name]) for name in ("hidden_size", "embedding_size", "encoder_size"))
    shapes = {"entries/entries": (sizes.act + 1, size), "entries/words": (sizes.words, size)}
    shapes |= {"entries/act": (sizes.act, size), "start": (2 * size, 2 * hidden), "score": (2 * size, hidden)}
    shapes |= {"mixture": (hidden + 2 * size, hidden)}
    if keys.get("copying"):
        copying = {"places": (2 * size, hidden), "tokens": (embedding, hidden), "gate": (hidden, 1)}
        shapes |= {f"copy_mechanism/{name}": shape for name, shape in copying.items()}
    found = {name: Weight(shape, "glorot_uniform") for name, shape in shapes.items()}
    if keys.get("copying"):
        found["copy_mechanism/gate_bias"] = Weight((1,), "zeros")
    if keys.get("context"):
        found["context_words"] = Weight((sizes.context, size), "uniform")
    for name in ("encoder", *(("context_encoder",) if keys.get("context") else ())):
        for where in (f"{name}/{way}_layer/cell" for way in ("forward", "backward")):
            found[f"{where}/kernel"] = Weight((size, 4 * size), "glorot_uniform")
            found[f"{where}/recurrent_kernel"] = Weight((size, 4 * size), "orthogonal")
            found[f"{where}/bias"] = Weight((4 * size,), "forget_gate", size)
    return found


def fresh_weights(section: ModelSection, sizes: Sizes, seed: int) -> dict[str, Floats]:
    """Return the initial weights of a supported model, by name.

    Args:
        section: of the model.
        sizes: the sizes of the preprocessor's vocabularies.
        seed: equal seeds give equal weights.
    """
    rng = np.random.default_rng([seed, 0])
    # More threads would sum in another order and change the last digits.
    with one_blas_thread:
        return {name: _drawn(weight, rng).astype(np.float32) for name, weight in weights_of(section, sizes).items()}


def _drawn(weight: Weight, rng: np.random.Generator) -> NDArray[np.float64]:
    shape, kind, hidden = weight
    if kind == "uniform":
        return rng.uniform(-0.05, 0.05, shape)
    if kind == "glorot_uniform":
        # Glorot and Bengio 2010, equation 16.
        limit = math.sqrt(6 / sum(shape))
        return rng.uniform(-limit, limit, shape)
    if kind == "orthogonal":
        # Saxe et al. 2014; correcting the signs makes the distribution uniform.
        rows, columns = max(shape), min(shape)
        q, r = np.linalg.qr(rng.standard_normal((rows, columns)))
        found = q * np.sign(np.diag(r))
        return found.T if shape[0] < shape[1] else found
    found = np.zeros(shape)
    if kind == "forget_gate":
        found[hidden : 2 * hidden] = 1.0
    return found
