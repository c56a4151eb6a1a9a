"""The whole search as a TensorFlow SavedModel: DA vectors in, token numbers and scores out.

The signature `serving_default` takes `act` (B, D), under the hard constraint `required` (B, R), and for the
hierarchical model `entries` (B, N, 2) and `words` (B, N, L), as `CompiledDecoder.inputs` makes them; B, N and L are
free. It returns `tokens` (B, K, T), filled up with the end token, `scores` and `finished`, (B, K), best first. Scores
below -5e8 belong to no sentence. The file `assets.extra/dactnlg.json` says what the numbers stand for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import keras

from dactnlg.errors import UserError
from dactnlg.generation.keras_decoder import CompiledDecoder
from dactnlg.text.preprocessor import Preprocessor

if TYPE_CHECKING:
    from dactnlg.models.base import NeuralModel


def write_search(model: NeuralModel, preprocessor: Preprocessor, description: Mapping[str, Any], path: Path) -> None:
    """Write a model's search.

    Args:
        model: the model.
        preprocessor: its preprocessor.
        description: stored with it; `beam_width`, `constraint` and `max_length` in it set the search.
        path: the folder.

    Raises:
        UserError: Keras runs on something else than TensorFlow.
    """
    if keras.backend.backend() != "tensorflow":
        raise UserError(f"a SavedModel is TensorFlow's: set KERAS_BACKEND to tensorflow, not {keras.backend.backend()}")
    import tensorflow as tf

    width, constraint = int(description["beam_width"]), str(description["constraint"])
    decoder = CompiledDecoder(model, preprocessor, int(description["max_length"]))
    hard = constraint == "hard"
    shapes = {"act": tf.TensorSpec((None, model.act_size), tf.float32, "act")}
    if hard and preprocessor.placeholders:
        shapes["required"] = tf.TensorSpec((None, len(preprocessor.placeholders)), tf.float32, "required")
    if model.lexicalized:
        shapes["entries"] = tf.TensorSpec((None, None, 2), tf.int32, "entries")
        shapes["words"] = tf.TensorSpec((None, None, None), tf.int32, "words")

    def search(**inputs: Any) -> dict[str, Any]:
        # As many must be finished as `Generator` looks at.
        history, parents, scores, finished = decoder.trace(inputs, width, hard, 1 if constraint == "none" else width)
        return {"tokens": _follow(tf, history, parents), "scores": scores, "finished": finished}

    module = tf.Module()
    # Tracked, so that they are saved; the module is given nothing else of Keras.
    module.weights = [variable.value for variable in model.variables]
    module.search = tf.function(search, autograph=False)
    signature = module.search.get_concrete_function(**shapes)
    tf.saved_model.save(module, str(path), signatures={"serving_default": signature})
    extra = path / "assets.extra"
    extra.mkdir()
    (extra / "dactnlg.json").write_text(json.dumps(dict(description), ensure_ascii=False, indent=1), encoding="utf-8")


def _follow(tf: Any, history: Any, parents: Any) -> Any:
    """Follow the parents back, as `search.paths.hypotheses` does: (T, B, K) twice -> tokens (B, K, T)."""

    def back(found: Any, now: Any) -> Any:
        beam, _ = found
        said, came_from = (tf.gather(part, beam, batch_dims=1) for part in now)
        return came_from, said

    start = tf.zeros_like(history[0]) + tf.range(tf.shape(history)[2])
    _, tokens = tf.scan(back, (history, parents), (start, tf.zeros_like(start)), reverse=True)
    return tf.transpose(tokens, (1, 2, 0))
