"""What a run says and learns with Keras' backend; as a program it prints them as JSON (see `test_backends`)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

ACTS = [
    "goodbye()",
    "?request(region)",
    "inform(name='Red Kite Ridge';difficulty=moderate;length='7 km';dogsallowed=yes)",
    "inform_no_match(region='Marl Valley or Hollow Hills';stroller=yes)",
]


def said(run: Path) -> list[list[tuple[str, float]]]:
    """Return the n-best lists of some acts, texts and scores."""
    from dactnlg.generation.generator import Generator
    from dactnlg.generation.options import GenerationOptions

    results = Generator.load(run, backend="keras").generate(ACTS, GenerationOptions(n_best=3))
    return [[(other.text, other.score or 0.0) for other in result.n_best] for result in results]


def learned(run: Path) -> list[float]:
    """Return the losses of three steps from a run's weights."""
    import keras

    from dactnlg.models import load_model
    from dactnlg.models.backend import jit_compile
    from dactnlg.runs.run import Run
    from dactnlg.text.preprocessor import Preprocessor

    place = Run(run)
    section, sizes = place.check().model, Preprocessor.load(place.preprocessor_path).sizes
    model = load_model(section.name, sizes, place.weights_path, section.keywords())
    model.compile(optimizer=keras.optimizers.Adam(0.01, global_clipnorm=5.0), jit_compile=jit_compile())
    rng = np.random.default_rng(0)
    tokens = rng.integers(4, sizes.vocabulary, (8, 7)).astype(np.int32)
    batch = {"act": (rng.random((8, sizes.act)) < 0.1).astype(np.float32), "tokens": tokens[:, :-1]}
    batch |= {"targets": tokens[:, 1:], "lengths": np.arange(8, dtype=np.int32) % 7, "weights": np.ones(8, np.float32)}
    batch |= {"entries": rng.integers(0, sizes.act, (8, 4, 2)).astype(np.int32)}
    batch |= {"words": rng.integers(0, 5, (8, 4, 4)).astype(np.int32)}
    return [float(model.train_on_batch(batch)) for _ in range(3)]


def precision() -> Any:
    """Return how the backend computes products of single precision."""
    import keras

    if keras.backend.backend() == "jax":
        import jax

        return jax.config.jax_default_matmul_precision
    import tensorflow as tf

    return tf.config.experimental.tensor_float_32_execution_enabled()


def kept_precision() -> Any:
    """Return the same once it has been kept in single precision."""
    from dactnlg.models.backend import keep_float32

    keep_float32()
    return precision()


def drawn() -> list[list[list[float]]]:
    """Return log importance weights of a latent model: three draws for a row and one for two rows, twice."""
    from dactnlg.models import build_model
    from dactnlg.models.backend import compiled_draws, to_numpy
    from dactnlg.text.encoding import Sizes

    sizes = {"hidden_size": 4, "embedding_size": 4, "latent_size": 2, "utterance_size": 4}
    model: Any = build_model("vae_lm", Sizes(12, 0, 0), **sizes)
    batch = {"noise": np.zeros((1, 2), np.float32), "weights": np.ones(1, np.float32)}
    batch |= {"tokens": np.array([[1, 5, 6]], np.int32), "targets": np.array([[5, 6, 2]], np.int32)}
    batch |= {"lengths": np.array([3], np.int32)}
    both = {name: np.repeat(array, 2, axis=0) for name, array in batch.items()}
    program = compiled_draws(model, model.log_weights)

    def once() -> list[list[float]]:
        model.reseed(1)
        return [to_numpy(program(given)[0]).tolist() for given in (batch, batch, batch, both)]

    return [once(), once()]


if __name__ == "__main__":
    run = Path(sys.argv[1])
    tasks = {"said": lambda: said(run), "learned": lambda: [learned(run), precision()], "kept": kept_precision}
    tasks |= {"drawn": drawn}
    print(json.dumps({name: tasks[name]() for name in sys.argv[2:]}))
