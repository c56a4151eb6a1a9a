"""One step of a model as ONNX, made straight from its arrays: the equations of `models.arrays.ArrayModel.step`.

Inputs are `tokens` (N,), the state (`h`, `c`, and `d` where the cell carries the act), and `context` (N, G) where the
model has one, from `ArrayModel.prepare`; outputs `log_probs` (N, V) and the new state (`new_h`, ...). N is free.

Shape letters: N beams, D entries of the DA vector, H hidden units, G gates, V vocabulary.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dactnlg.errors import UserError
from dactnlg.models.numpy.arrays import ArrayModel

OPSET, IR = 17, 8
"""Old enough for the runtimes that are about, new enough for all that a step does."""


def write_step(model: ArrayModel, description: Mapping[str, Any], path: Path) -> None:
    """Write a model's step.

    Args:
        model: the model.
        description: stored with it, as JSON under the key `dactnlg`.
        path: the file.

    Raises:
        UserError: the library is not installed.
    """
    try:
        import onnx
        from onnx import TensorProto, helper, numpy_helper
    except ImportError:
        raise UserError("ONNX is written by a library: pip install 'dactnlg[export]'") from None
    graph = _Graph()
    weights = model.step_weights()
    hidden, gates = weights["kernel"].shape
    sizes = {"h": hidden, "c": hidden} | ({"d": model.act_size} if "cell/act" in weights else {})
    context = {"context": gates} if model.has_context else {}
    _build(graph, model, list(sizes), bool(context))
    inputs = [helper.make_tensor_value_info("tokens", TensorProto.INT64, ["N"])]
    inputs += [_floats(helper, name, size) for name, size in {**sizes, **context}.items()]
    outputs = [_floats(helper, "log_probs", model.vocabulary_size)]
    outputs += [_floats(helper, f"new_{name}", size) for name, size in sizes.items()]
    nodes = [helper.make_node(kind, ins, outs, **more) for kind, ins, outs, more in graph.nodes]
    constants = [numpy_helper.from_array(value, name) for name, value in graph.constants.items()]
    made = helper.make_graph(nodes, "step", inputs, outputs, constants)
    whole = helper.make_model(
        made, producer_name="dactnlg", ir_version=IR, opset_imports=[helper.make_opsetid("", OPSET)]
    )
    helper.set_model_props(whole, {"dactnlg": json.dumps(dict(description), ensure_ascii=False)})
    onnx.checker.check_model(whole, full_check=True)
    path.write_bytes(whole.SerializeToString())


class _Graph:
    """Nodes, each (operator, inputs, outputs, attributes), and constants by name."""

    def __init__(self) -> None:
        self.nodes: list[tuple[str, list[str], list[str], dict[str, Any]]] = []
        self.constants: dict[str, Any] = {}

    def add(self, kind: str, *inputs: str, to: str = "", **more: Any) -> str:
        """Add an operator with one output and return the output's name."""
        output = to or f"{kind}_{len(self.nodes)}"
        self.nodes.append((kind, list(inputs), [output], more))
        return output

    def constant(self, name: str, value: Any) -> str:
        """Add a constant and return its name."""
        self.constants[name] = np.ascontiguousarray(value)
        return name


def _build(graph: _Graph, model: ArrayModel, state: list[str], context: bool) -> None:
    weights = {name: graph.constant(name, value) for name, value in model.step_weights().items()}
    half = graph.constant("half", np.float32(0.5))
    rows = graph.add("Gather", weights["table"], "tokens", axis=0)
    gates = graph.add("Add", graph.add("MatMul", "h", weights["kernel"]), rows)
    if context:
        gates = graph.add("Add", gates, "context")
    hidden = model.hidden_size
    parts = ["i", "f", "o", "candidate", *(["r"] if "d" in state else [])]
    sizes = [hidden] * 4 + ([model.act_size] if "d" in state else [])
    split = graph.constant("sizes", np.array(sizes, np.int64))
    graph.nodes.append(("Split", [graph.add("Tanh", gates), split], parts, {"axis": 1}))

    def gate(name: str) -> str:
        # The halves inside the tanh are in the weights already.
        return graph.add("Add", graph.add("Mul", name, half), half)

    kept, new = graph.add("Mul", gate("f"), "c"), graph.add("Mul", gate("i"), "candidate")
    if "d" in state:
        d = graph.add("Mul", gate("r"), "d", to="new_d")
        new = graph.add("Add", new, graph.add("Tanh", graph.add("MatMul", d, weights["cell/act"])))
    c = graph.add("Add", kept, new, to="new_c")
    h = graph.add("Mul", gate("o"), graph.add("Tanh", c), to="new_h")
    logits = graph.add("Add", graph.add("MatMul", h, weights["output_kernel"]), weights["output_bias"])
    graph.add("LogSoftmax", logits, to="log_probs", axis=1)


def _floats(helper: Any, name: str, size: int) -> Any:
    return helper.make_tensor_value_info(name, 1, ["N", size])
