"""The configuration sections of the models that come with dactnlg.

They need no Keras, which takes seconds to import, so a mistake in a configuration is reported at once. A model may
also define its section in its own file.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator
from pydantic_core import PydanticCustomError

from dactnlg.runs.config import ModelSection


class RandomSection(ModelSection):
    """The configuration of `random`, which has no key but the name."""


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
    """The configuration of every LSTM decoder that can see the user's preceding words.

    Attributes:
        context: whether it sees them.
    """

    context: bool = False

    @model_serializer(mode="wrap")
    def _as_before(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omit these keys if false, so that the configurations of older runs, which lack them, still compare equal."""
        data: dict[str, Any] = handler(self)
        return {name: value for name, value in data.items() if name not in ("context", "copying") or value}


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
        copying: whether placeholders and words of values can be copied from the act.
    """

    encoder_size: int = Field(default=100, ge=1, le=8192)
    copying: bool = False


class CVAESection(LSTMSection):
    """The configuration of `cvae`.

    Attributes:
        latent_size: length of the latent variable.
        annealing: batches until the KL term has its full weight.
        free_bits: nats of KL per dimension of the latent variable that cost nothing.
    """

    latent_size: int = Field(default=32, ge=1, le=8192)
    annealing: int = Field(default=1000, ge=1, le=10**9)
    free_bits: float = Field(default=0.05, ge=0.0, le=1e3)


class TransformerSection(ModelSection):
    """The configuration of `transformer`.

    Attributes:
        hidden_size: length of all vectors between layers; divisible by `heads`.
        heads: per attention.
        layers: of the encoder, and of the decoder.
        dropout: share of the units dropped in training, in embeddings and in the output of each sublayer.
        window: how many tokens back a word sees.
    """

    hidden_size: int = Field(default=128, ge=2, le=8192)
    heads: int = Field(default=4, ge=1, le=64)
    layers: int = Field(default=2, ge=1, le=64)
    dropout: float = Field(default=0.0, ge=0.0, lt=1.0)
    window: int = Field(default=64, ge=1, le=1000)

    @model_validator(mode="after")
    def _divisible(self) -> TransformerSection:
        _check_heads(self.hidden_size, self.heads)
        return self


class GPT2Section(ModelSection):
    """The configuration of `gpt2`.

    Attributes:
        pretrained: a folder with a GPT-2 checkpoint in Hugging Face's format, with whose weights training starts.
        hidden_size, heads, layers, positions: those of the checkpoint; without one 128, 4, 2 and 256.
        dropout: share of the units dropped in training, in embeddings and in the output of each sublayer.
        window: how many tokens back a word sees, in addition to the act.
    """

    pretrained: str | None = None
    hidden_size: int | None = Field(default=None, ge=2, le=8192)
    heads: int | None = Field(default=None, ge=1, le=64)
    layers: int | None = Field(default=None, ge=1, le=64)
    dropout: float = Field(default=0.0, ge=0.0, lt=1.0)
    positions: int | None = Field(default=None, ge=1, le=1 << 16)
    window: int = Field(default=64, ge=1, le=1000)

    @model_validator(mode="before")
    @classmethod
    def _sized(cls, data: Any) -> Any:
        """Fill in the default sizes of a model that does not start from a checkpoint."""
        if not isinstance(data, dict) or data.get("pretrained") is not None:
            return data
        sizes = {"hidden_size": 128, "heads": 4, "layers": 2, "positions": 256}
        return data | {name: size for name, size in sizes.items() if data.get(name) is None}

    @model_validator(mode="after")
    def _fitting(self) -> GPT2Section:
        if self.hidden_size and self.heads:
            _check_heads(self.hidden_size, self.heads)
        if self.pretrained is not None and self.initialize_from is not None:
            message = "pretrained and initialize_from: a model begins with one or the other; leave one out"
            raise PydanticCustomError("initialize", "{m}", {"m": message})
        return self


SHIPPED: dict[str, type[ModelSection]] = {
    "random": RandomSection,
    "lstm": LSTMSection,
    "sclstm": SCLSTMSection,
    "hierarchical": HierarchicalSection,
    "seq2seq": Seq2SeqSection,
    "transformer": TransformerSection,
    "gpt2": GPT2Section,
    "cvae": CVAESection,
}


def _check_heads(hidden_size: int, heads: int) -> None:
    if hidden_size % heads:
        message = f"hidden_size {hidden_size} is not divisible by heads {heads}"
        raise PydanticCustomError("heads", "{m}", {"m": message})
