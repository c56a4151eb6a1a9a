"""The configuration sections of the models that come with dactnlg, apart from Keras, which takes seconds to import.

So a mistake in a configuration is reported at once. A model may as well have its section in its own file.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator
from pydantic_core import PydanticCustomError

from dactnlg.runs.config import ModelSection


class RandomSection(ModelSection):
    """The configuration of `random`, which has no keys but its name."""


class LSTMSection(ModelSection):
    """The configuration of `lstm`, and of every LSTM decoder.

    Attributes:
        hidden_size: units of the decoder.
        embedding_size: length of a token's vector.
        dropout: share of the output units dropped in training.
    """

    hidden_size: int = Field(default=100, ge=1, le=8192)
    embedding_size: int = Field(default=100, ge=1, le=8192)
    dropout: float = Field(default=0.0, ge=0.0, lt=1.0)


class ContextSection(LSTMSection):
    """The configuration of every LSTM decoder that can see what the user has said before.

    Attributes:
        context: whether it does.
    """

    context: bool = False

    @model_serializer(mode="wrap")
    def _as_before(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave the key out where it is false: runs are then told apart by what they were before there was one."""
        data: dict[str, Any] = handler(self)
        return data if self.context else {name: value for name, value in data.items() if name != "context"}


class SCLSTMSection(ContextSection):
    """The configuration of `sclstm`.

    Attributes:
        alpha: weight of the hidden state in the reading gate.
        eta, xi: the term sum_t eta * xi^||d_{t+1} - d_t|| of the loss.
    """

    alpha: float = Field(default=0.5, ge=0.0, le=1e3)
    eta: float = Field(default=1e-4, ge=0.0, le=1e3)
    xi: float = Field(default=100.0, gt=0.0, le=1e6)


class HierarchicalSection(SCLSTMSection):
    """The configuration of `hierarchical`.

    Attributes:
        value_size: units of the LSTM over the words of a value.
        encoder_size: units of the LSTM over the entries of the act.
    """

    value_size: int = Field(default=50, ge=1, le=8192)
    encoder_size: int = Field(default=100, ge=1, le=8192)


class Seq2SeqSection(ContextSection):
    """The configuration of `seq2seq`.

    Attributes:
        encoder_size: length of an entry's vector, and units of the encoder in either direction.
    """

    encoder_size: int = Field(default=100, ge=1, le=8192)


class CVAESection(LSTMSection):
    """The configuration of `cvae`.

    Attributes:
        latent_size: length of the latent variable.
        annealing: batches until the KL term has its whole weight.
        free_bits: nats of KL that a dimension of the latent variable has for nothing.
    """

    latent_size: int = Field(default=32, ge=1, le=8192)
    annealing: int = Field(default=1000, ge=1, le=10**9)
    free_bits: float = Field(default=0.05, ge=0.0, le=1e3)


class TransformerSection(ModelSection):
    """The configuration of `transformer`.

    Attributes:
        hidden_size: length of all vectors between layers; divisible by `heads`.
        heads: of each attention.
        layers: of the encoder, and as many of the decoder.
        dropout: share of the units dropped in training, of embeddings and of what each sublayer adds.
        window: how many tokens back a word sees.
    """

    hidden_size: int = Field(default=128, ge=2, le=8192)
    heads: int = Field(default=4, ge=1, le=64)
    layers: int = Field(default=2, ge=1, le=64)
    dropout: float = Field(default=0.0, ge=0.0, lt=1.0)
    window: int = Field(default=64, ge=1, le=1000)

    @model_validator(mode="after")
    def _divisible(self) -> TransformerSection:
        if self.hidden_size % self.heads:
            message = f"hidden_size {self.hidden_size} is not divisible by heads {self.heads}"
            raise PydanticCustomError("heads", "{m}", {"m": message})
        return self


SHIPPED: dict[str, type[ModelSection]] = {
    "random": RandomSection,
    "lstm": LSTMSection,
    "sclstm": SCLSTMSection,
    "hierarchical": HierarchicalSection,
    "seq2seq": Seq2SeqSection,
    "transformer": TransformerSection,
    "cvae": CVAESection,
}
