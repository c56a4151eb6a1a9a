"""One step of a model as ONNX, converted from the Keras model by tf2onnx.

Inputs are `tokens` (N,), the parts of the state (such as `h`, `c`, `d`) and of the context (such as `gates`), as
returned by the model's `prepare` for the acts of the N sentences; outputs are `log_probs` (N, V) and the parts of the
new state (`new_h`, ...). N is dynamic, and so are sizes that depend on the length of an act.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import keras
from keras import ops

from dactnlg.errors import UserError
from dactnlg.models.base import NeuralModel
from dactnlg.models.weights import example_batch

OPSET = 17
"""Old enough for common runtimes, new enough for all operations of a step."""


def write_step(model: NeuralModel, description: Mapping[str, Any], path: Path) -> None:
    """Write one step of a model as an ONNX file.

    Args:
        model: the model.
        description: stored in the file's metadata, as JSON under the key `dactnlg`.
        path: the file.

    Raises:
        UserError: a library is not installed, or Keras does not use TensorFlow.
    """
    if keras.backend.backend() != "tensorflow":
        raise UserError(f"ONNX goes through TensorFlow: set KERAS_BACKEND to tensorflow, not {keras.backend.backend()}")
    try:
        import onnx
        import tf2onnx
    except ImportError:
        raise UserError("ONNX is written by a library: pip install 'dactnlg[export]'") from None
    import tensorflow as tf

    (context, state), (context_of_more, state_of_more) = (
        model.prepare({name: tf.constant(array) for name, array in example_batch(model, length).items()})
        for length in (4, 8)
    )
    parts, others = {**state, **context}, {**state_of_more, **context_of_more}
    names = list(parts)
    signature = [tf.TensorSpec((None,), tf.int64, "tokens")]
    for name, part in parts.items():
        # Sizes that depend on the length of an act, such as what attention looks at, are dynamic.
        shape = [size if size == other else None for size, other in zip(part.shape, others[name].shape, strict=True)]
        signature.append(tf.TensorSpec((None, *shape[1:]), part.dtype, name))

    def step(tokens: Any, *given: Any) -> dict[str, Any]:
        by_name = dict(zip(names, given, strict=True))
        now = {name: by_name[name] for name in state}
        logits, new = model.step({name: by_name[name] for name in context}, now, ops.cast(tokens, "int32"))
        # The identity makes parts that a step does not change outputs, too.
        after = {f"new_{name}": tf.identity(part) for name, part in new.items()}
        return {"log_probs": ops.log_softmax(logits), **after}

    function = tf.function(step, input_signature=signature, autograph=False)
    whole, _ = tf2onnx.convert.from_function(function, signature, opset=OPSET)
    outputs = {output.name: output for output in whole.graph.output}
    del whole.graph.output[:]
    whole.graph.output.extend(outputs[name] for name in ("log_probs", *(f"new_{name}" for name in state)))
    onnx.helper.set_model_props(whole, {"dactnlg": json.dumps(dict(description), ensure_ascii=False)})
    onnx.checker.check_model(whole, full_check=True)
    path.write_bytes(whole.SerializeToString())
