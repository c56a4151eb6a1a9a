"""The whole search as a TensorFlow SavedModel: DA vectors in, token numbers and scores out.

The signature `serving_default` takes the arrays that `KerasDecoder.inputs` returns: `act` (B, D); under the hard
constraint `required` (B, R); for the hierarchical model and those with attention `entries` (B, N, 2) and `words`
(B, N, L); for models that copy words `copies` (B, S, 2); for models that see the context `context` (B, C). B, N, L, S
and C are dynamic. It returns `tokens` (B, K, T), padded with the end token, `scores` and `finished`, (B, K), best
first. Scores below -5e8 do not belong to a sentence. The file `assets.extra/dactnlg.json` describes the numbers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import keras
from numpy.typing import NDArray

from dactnlg.errors import UserError
from dactnlg.generation.decoders.decoder import REQUIRED, Plan
from dactnlg.generation.decoders.keras_decoder import KerasDecoder
from dactnlg.generation.options import ResolvedOptions
from dactnlg.models.weights import example_batch
from dactnlg.text.context import CONTEXT


def write_search(decoder: KerasDecoder, options: ResolvedOptions, description: Mapping[str, Any], path: Path) -> None:
    """Write a decoder's search as a SavedModel.

    Args:
        decoder: the model with its preprocessor.
        options: constraint and beam width.
        description: stored with the search.
        path: the folder.

    Raises:
        UserError: Keras does not use TensorFlow.
    """
    if keras.backend.backend() != "tensorflow":
        raise UserError(f"a SavedModel is TensorFlow's: set KERAS_BACKEND to tensorflow, not {keras.backend.backend()}")
    import tensorflow as tf

    model: Any = decoder.model
    arrays = example_batch(model)
    shapes = {name: _specification(tf, name, array) for name, array in arrays.items()}
    if options.hard and decoder.preprocessor.placeholders:
        shapes[REQUIRED] = tf.TensorSpec((None, len(decoder.preprocessor.placeholders)), tf.float32, REQUIRED)
    # Under a constraint, `Generator` looks at the whole beam, so all of it must be finished.
    plan = Plan(options.beam_width, options.hard, 1 if options.constraint == "none" else options.beam_width)

    def search(**inputs: Any) -> dict[str, Any]:
        found = decoder.trace(inputs, plan)
        tokens = _follow(tf, found.history, found.parents)
        return {"tokens": tokens, "scores": found.scores, "finished": found.finished}

    module = tf.Module()
    # Tracked by the module, so that they are saved; nothing else of Keras is.
    module.weights = [variable.value for variable in model.variables]
    module.search = tf.function(search, autograph=False)
    signature = module.search.get_concrete_function(**shapes)
    tf.saved_model.save(module, str(path), signatures={"serving_default": signature})
    extra = path / "assets.extra"
    extra.mkdir()
    (extra / "dactnlg.json").write_text(json.dumps(dict(description), ensure_ascii=False, indent=1), encoding="utf-8")


def _specification(tf: Any, name: str, array: NDArray[Any]) -> Any:
    """Return the tensor specification of an input: sizes are dynamic, except a fixed number of columns."""
    last = None if name in ("words", CONTEXT) else array.shape[-1]
    return tf.TensorSpec((*[None] * (array.ndim - 1), last), array.dtype, name)


def _follow(tf: Any, history: Any, parents: Any) -> Any:
    """Follow the parents back, as `search.hypotheses.hypotheses` does: (T, B, K) twice -> tokens (B, K, T)."""

    def back(found: Any, now: Any) -> Any:
        beam, _ = found
        tokens, parents = (tf.gather(part, beam, batch_dims=1) for part in now)
        return parents, tokens

    start = tf.zeros_like(history[0]) + tf.range(tf.shape(history)[2])
    _, tokens = tf.scan(back, (history, parents), (start, tf.zeros_like(start)), reverse=True)
    return tf.transpose(tokens, (1, 2, 0))
