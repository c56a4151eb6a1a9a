"""Ensembles of trained models: the mean of their log probabilities, token by token.

An ensemble has the interface of a single model, so that nothing changes for search, constraints and reranking.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from dactnlg.search.numpy_step import Floats, Ints, State, log_softmax

if TYPE_CHECKING:
    from dactnlg.models.base import NeuralModel, Tensor, Tensors
    from dactnlg.models.numpy.inference import NumpyModel
    from dactnlg.models.numpy.seq2seq import NumpySeq2Seq

    Searched = NumpyModel | NumpySeq2Seq

Contexts = list[tuple[Any, int]]
"""For each model, its context and the number of its state arrays."""


def all_inputs(models: Sequence[Searched] | Sequence[NeuralModel]) -> tuple[str, ...]:
    """Return the names of the preprocessor's arrays that any of the models takes."""
    return tuple(dict.fromkeys(name for model in models for name in model.inputs))


class NumpyEnsemble:
    """NumPy models that step together.

    Args:
        models: at least one; all must have the same vocabulary.

    Attributes:
        inputs: names of the arrays that they take from the preprocessor.
        traced: always None, because each model has a state of its own.
    """

    traced: str | None = None

    def __init__(self, models: Sequence[Searched]) -> None:
        self.models, self.inputs = models, all_inputs(models)

    def trace(self, context: Contexts, state: State) -> Floats:
        """Not supported; see `traced`."""
        raise NotImplementedError

    def prepare(self, inputs: Mapping[str, NDArray[Any]]) -> tuple[Contexts, State]:
        """Return the contexts and initial states of some acts; see `NumpyModel.prepare`."""
        contexts: Contexts = []
        states: State = []
        for model in self.models:
            context, state = model.prepare(inputs)
            contexts.append((context, len(state)))
            states += state
        return contexts, states

    def step(self, contexts: Contexts, state: State, tokens: Ints, owner: Ints) -> tuple[Floats, State]:
        """Advance every sentence by one token.

        Returns:
            The mean log probabilities of the next token, (N, V), instead of logits, and the new state.
        """
        total: Floats | None = None
        states: State = []
        start = 0
        for model, (context, count) in zip(self.models, contexts, strict=True):
            logits, new = model.step(context, state[start : start + count], tokens, owner)
            log_probs = log_softmax(logits)
            total = log_probs if total is None else total + log_probs
            states += new
            start += count
        if total is None:
            raise ValueError("an ensemble of no models")
        total /= len(self.models)
        return total, states


class KerasEnsemble:
    """Keras models that step together; see `NumpyEnsemble`.

    Args:
        models: at least one; all must have the same vocabulary.

    Attributes:
        inputs: names of the arrays that they take from the preprocessor.
        traced: always None, because each model has a state of its own.
    """

    traced: str | None = None

    def __init__(self, models: Sequence[NeuralModel]) -> None:
        self.models, self.inputs = models, all_inputs(models)

    def trace(self, context: Tensors, state: Tensors) -> Tensor:
        """Not supported; see `traced`."""
        raise NotImplementedError

    def prepare(self, inputs: Tensors) -> tuple[Tensors, Tensors]:
        """Return the contexts and initial states of some acts; see `NeuralModel.prepare`."""
        contexts: Tensors = {}
        states: Tensors = {}
        for number, model in enumerate(self.models):
            context, state = model.prepare({name: inputs[name] for name in model.inputs})
            contexts |= {f"{number}/{name}": part for name, part in context.items()}
            states |= {f"{number}/{name}": part for name, part in state.items()}
        return contexts, states

    def step(self, contexts: Tensors, states: Tensors, tokens: Tensor) -> tuple[Tensor, Tensors]:
        """Advance every sentence by one token; see `NumpyEnsemble.step`."""
        from keras import ops

        new_states: Tensors = {}
        found = []
        for number, model in enumerate(self.models):
            context, state = (_own(parts, f"{number}/") for parts in (contexts, states))
            logits, new = model.step(context, state, tokens)
            found.append(ops.log_softmax(logits))
            new_states |= {f"{number}/{name}": part for name, part in new.items()}
        return sum(found[1:], found[0]) / len(found), new_states


def _own(parts: Tensors, prefix: str) -> Tensors:
    return {name.removeprefix(prefix): part for name, part in parts.items() if name.startswith(prefix)}
