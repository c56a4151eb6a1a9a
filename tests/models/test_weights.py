"""Weights by name: stable names, files, and clear errors where they do not fit."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
from small_models import KEYWORDS, MODELS, D, V, W, build, inputs, loss

from dactnlg.errors import RunError
from dactnlg.generation.generator import Generator
from dactnlg.models import load_model
from dactnlg.models.backend import to_numpy
from dactnlg.models.base import NeuralModel, Tensor, Tensors
from dactnlg.models.weights import assign_weights, create_weights, load_arrays, named_weights, save_arrays
from dactnlg.text.encoding import Sizes

LSTM_NAMES = {"embedding", "projection", "bias", "output_kernel", "output_bias", "cell/recurrent"}
ENCODERS = {f"{layer}/{rest}" for layer in ("lower", "upper") for rest in ("projection", "bias", "cell/recurrent")}
SEQ2SEQ = {
    f"encoder/{way}_layer/cell/{kind}"
    for way in ("forward", "backward")
    for kind in ("kernel", "recurrent_kernel", "bias")
}
EMBEDDED = {f"entries/{table}" for table in ("act", "entries", "words")}
NORM, DENSE = ("gamma", "beta"), ("kernel", "bias")
ATTENTION = {"query/kernel", "memory/kernel", "output_layer/kernel", "output_layer/bias"}
SUBLAYERS = {f"itself/{name}" for name in ATTENTION} | {
    f"{part}/{kind}" for part in ("inner", "outer") for kind in DENSE
}
SUBLAYERS |= {f"{part}_norm/{kind}" for part in ("itself", "inner") for kind in NORM}
LOOKS = {f"act/{name}" for name in ATTENTION} | {f"act_norm/{kind}" for kind in NORM}
TRANSFORMER = {f"{part}/0/{name}" for part in ("encoder", "decoder") for name in SUBLAYERS}
TRANSFORMER |= {f"decoder/0/{name}" for name in LOOKS}
TRANSFORMER |= {f"{part}/{kind}" for part in ("encoded", "decoded") for kind in NORM}
GPT2_PARTS = ("attention", "attention_output", "inner", "outer")
GPT2 = {f"decoder/{i}/{part}/{kind}" for i in (0, 1) for part in GPT2_PARTS for kind in DENSE}
GPT2 |= {f"decoder/{i}/{part}_norm/{kind}" for i in (0, 1) for part in ("attention", "inner") for kind in NORM}
NAMES = {
    "lstm": LSTM_NAMES | {"act_projection"},
    "sclstm": LSTM_NAMES | {"cell/reading", "cell/act"},
    "hierarchical": LSTM_NAMES
    | ENCODERS
    | {"cell/reading", "cell/act", "act_projection", "encoder_projection", "words", "entries"},
    "seq2seq": LSTM_NAMES | SEQ2SEQ | EMBEDDED | {"act_projection", "start", "score", "mixture"},
    "cvae": LSTM_NAMES
    | {f"reader/cell/{kind}" for kind in ("kernel", "recurrent_kernel", "bias")}
    | {"act_projection", "prior_kernel", "posterior_kernel", "latent_projection", "batches"},
    "transformer": TRANSFORMER | EMBEDDED | {"embedding", "output_bias"},
    "gpt2": GPT2 | EMBEDDED | {"embedding", "positions", "norm/gamma", "norm/beta"},
}


class Nested(NeuralModel):
    """A model of layers in lists and dictionaries, some of which have no weights before their first input."""

    def __init__(self, sizes: Sizes, **kwargs: Any) -> None:
        super().__init__(sizes, **kwargs)
        self.table = keras.layers.Embedding(sizes.vocabulary, 4)
        self.stack = [keras.layers.Dense(4), keras.layers.Dense(4)]
        self.parts = {"query": keras.layers.Dense(4), "pair": (keras.layers.Dense(4), keras.layers.Dense(4))}
        self.attention = keras.layers.MultiHeadAttention(2, 4)
        self.last = keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(sizes.vocabulary)])

    def logits(self, batch: Tensors, *, training: bool = False) -> Tensor:
        x = self.table(batch["tokens"])
        for layer in (*self.stack, self.parts["query"], *self.parts["pair"]):
            x = layer(x)
        return self.last(self.attention(x, x))


def nested(seed: int = 0) -> Nested:
    keras.utils.set_random_seed(seed)
    model = Nested(Sizes(V, D, W))
    create_weights(model)
    return model


def values(model: NeuralModel) -> dict[str, np.ndarray]:
    return {name: to_numpy(weight) for name, weight in named_weights(model).items()}


@pytest.mark.parametrize("name", MODELS)
def test_names_are_paths_of_attributes(name: str) -> None:
    model = build(name)
    assert set(named_weights(model)) == NAMES[name]
    assert len(model.weights) == len(NAMES[name])
    # Neither further models of the class nor Keras' training variables change names.
    again = build(name)
    again.compile(optimizer=keras.optimizers.Adam(), jit_compile=False)
    again.optimizer.build(again.trainable_variables)
    assert list(named_weights(again)) == list(named_weights(model))


def test_layers_of_lists_and_dictionaries_have_names_of_their_own() -> None:
    model = nested()
    names = list(named_weights(model))
    wanted = ["stack/0/kernel", "stack/1/kernel", "parts/query/kernel", "parts/pair/0/bias", "parts/pair/1/bias"]
    assert set(wanted) < set(names)
    assert len(names) == len(set(names)) == len(model.weights)
    assert list(named_weights(nested())) == names


@pytest.mark.parametrize("name", MODELS)
def test_names_are_the_same_on_pytorch_where_layers_that_are_attributes_are_kept_apart(name: str) -> None:
    model = build(name)
    apart = {key: value for key, value in vars(model).items() if isinstance(value, keras.layers.Layer)}
    for key in apart:
        del vars(model)[key]
    # On PyTorch the layers of the whole model would also be found here.
    vars(model).update(_modules={**apart, "_layers": [*apart.values()]}, _torch_params=model.weights)
    assert set(named_weights(model)) == NAMES[name]


def test_a_weight_that_no_attribute_leads_to_is_an_error() -> None:
    model = nested()
    hidden = {keras.layers.Dense(4)}
    (layer,) = hidden
    layer.build((None, 3))
    model._layers.append(layer)
    with pytest.raises(ValueError, match="no attribute leads to: .*kernel"):
        named_weights(model)


@pytest.mark.parametrize("name", MODELS)
def test_a_saved_model_is_the_same_model(name: str, tmp_path: Path) -> None:
    model, batch = build(name), inputs([3, 5], 6)
    save_arrays(tmp_path / "weights.safetensors", values(model))
    keras.utils.set_random_seed(7)
    again = load_model(name, Sizes(V, D, W), tmp_path / "weights.safetensors", KEYWORDS[name])
    assert float(loss(model, batch)) == float(loss(again, batch))
    assert all(np.array_equal(array, values(again)[name]) for name, array in values(model).items())


def test_a_saved_model_of_nested_layers_is_the_same_model(tmp_path: Path) -> None:
    model, other = nested(1), nested(2)
    assert not np.array_equal(values(model)["stack/1/kernel"], values(other)["stack/1/kernel"])
    save_arrays(tmp_path / "weights.safetensors", values(model))
    assign_weights(other, load_arrays(tmp_path / "weights.safetensors"), "the file")
    assert float(loss(other, inputs([3, 5], 6))) == float(loss(model, inputs([3, 5], 6)))


def test_arrays_come_back_as_they_were(tmp_path: Path) -> None:
    """Also scalars, and arrays that are not contiguous."""
    arrays = {
        "steps": np.array(7),
        "rate": np.array(0.1),
        "turned": np.arange(6.0).reshape(2, 3).T,
        "none": np.zeros(0),
    }
    save_arrays(tmp_path / "arrays.safetensors", arrays)
    again = load_arrays(tmp_path / "arrays.safetensors")
    assert set(again) == set(arrays)
    for name, array in arrays.items():
        assert again[name].shape == array.shape and again[name].dtype == array.dtype
        np.testing.assert_array_equal(again[name], array)


def copy(run: Path, folder: Path) -> Path:
    return Path(shutil.copytree(run, folder / "run"))


def refused(run: Path, backend: str) -> str:
    """Return the one-line message with which a run is refused."""
    with pytest.raises(RunError) as caught:
        Generator.load(run, backend=backend)
    message = str(caught.value)
    assert "\n" not in message and len(message) < 400
    return message


@pytest.mark.parametrize("backend", ["numpy", "keras"])
def test_weights_that_do_not_fit_are_refused(backend: str, poor_run: Callable[[str], Path], tmp_path: Path) -> None:
    run = copy(poor_run("hierarchical"), tmp_path)
    path = run / "weights.safetensors"
    arrays = load_arrays(path)
    save_arrays(path, {name: array for name, array in arrays.items() if name != "lower/cell/recurrent"})
    assert (
        refused(run, backend)
        == f"{path} holds no weight 'lower/cell/recurrent': it belongs to another model or version"
    )
    save_arrays(path, {**arrays, "bias": arrays["bias"][:-1]})
    count = len(arrays["bias"])
    assert refused(run, backend) == f"{path}: weight 'bias' is {count - 1}, not {count}: it belongs to another run"
    save_arrays(path, {**arrays, "cell/act": arrays["cell/act"].T})
    shape = arrays["cell/act"].shape
    assert f"weight 'cell/act' is {shape[1]}x{shape[0]}, not {shape[0]}x{shape[1]}" in refused(run, backend)
    # The weights of another model.
    shutil.copy(poor_run("sclstm") / path.name, path)
    assert "holds no weight" in refused(run, backend) or "belongs to another run" in refused(run, backend)
    for damaged in (b"", b"no weights at all", path.read_bytes()[:1000]):
        path.write_bytes(damaged)
        assert "cannot be read as weights" in refused(run, backend)
