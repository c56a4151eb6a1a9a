"""The configuration sections of the models that come with dactnlg, apart from Keras, which takes seconds to import.

So a mistake in a configuration is reported at once. A model may as well have its section in its own file.
"""

from __future__ import annotations

from pydantic import Field

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


class SCLSTMSection(LSTMSection):
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


SHIPPED: dict[str, type[ModelSection]] = {
    "random": RandomSection,
    "lstm": LSTMSection,
    "sclstm": SCLSTMSection,
    "hierarchical": HierarchicalSection,
}
