"""The configuration sections of the models that answer a dialogue context; importing them does not import Keras."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from dactnlg.errors import RunError
from dactnlg.models.sections import LSTMSection, TransformerSection
from dactnlg.runs.config import ModelSection

Regularization = Literal["none", "emotion", "embedding", "both", "input"]


class DialogueSection(ModelSection):
    """The keys that all dialogue models share.

    Attributes:
        word_drop: share of the decoder's input words that are `<unk>` in training (Bowman et al. 2016, section 3.1).
        turns: how many of the last turns of a context are seen.
        longest: how many tokens of a turn are seen, including its end.
        most_words: largest size of the vocabulary.
        dialogues: use only this many dialogues of each split, the first ones; None for all.
        teacher: the file of a teacher's arrays; see `dactnlg.dialogue.teaching`.
    """

    word_drop: float = Field(default=0.25, ge=0.0, lt=1.0)
    turns: int = Field(default=5, ge=1, le=100)
    longest: int = Field(default=30, ge=2, le=1000)
    most_words: int = Field(default=20_000, ge=1, le=10**7)
    dialogues: int | None = Field(default=None, ge=1, le=10**9)
    teacher: str | None = None

    def keywords(self) -> dict[str, Any]:
        """Return the keyword arguments of the model's class."""
        apart = ("turns", "longest", "most_words", "dialogues", "teacher")
        return {name: value for name, value in super().keywords().items() if name not in apart}


class GRUSection(DialogueSection, LSTMSection):
    """The configuration of `gru_lm`, and the base of all dialogue models with a GRU decoder.

    Attributes:
        hidden_size, embedding_size, dropout: see `LSTMSection`.
    """

    hidden_size: int = Field(default=256, ge=1, le=8192)
    embedding_size: int = Field(default=128, ge=1, le=8192)
    dropout: float = Field(default=0.2, ge=0.0, lt=1.0)


class GRUSeq2SeqSection(GRUSection):
    """The configuration of `gru_seq2seq`.

    Attributes:
        encoder_size: units of the encoder in either direction.
        turns: see `DialogueSection`.
    """

    encoder_size: int = Field(default=128, ge=1, le=8192)
    turns: int = Field(default=1, ge=1, le=100)


class VAELMSection(GRUSection):
    """The configuration of `vae_lm`.

    Attributes:
        utterance_size: units of the GRU over the words of a turn.
        latent_size, annealing, free_bits: see `VHREDSection`.
    """

    utterance_size: int = Field(default=256, ge=1, le=8192)
    latent_size: int = Field(default=64, ge=1, le=8192)
    annealing: int = Field(default=25_000, ge=1, le=10**9)
    free_bits: float = Field(default=0.0, ge=0.0, le=1e3)


class TransformerLMSection(DialogueSection, TransformerSection):
    """The configuration of `transformer_lm`: the keys of dialogue models and those of a Transformer."""


class TransformerSeq2SeqSection(TransformerLMSection):
    """The configuration of `transformer_seq2seq`.

    Attributes:
        turns: see `DialogueSection`.
    """

    turns: int = Field(default=1, ge=1, le=100)


class HREDSection(GRUSection):
    """The configuration of `hred`.

    Attributes:
        utterance_size: units of the GRU over the words of a turn.
        context_size: units of the GRU over turns.
        ei: what the context RNN learns to predict of each turn (Ghandeharioun et al. 2019, section 3): nothing, its
            emotion, its embedding, or both; with `input` it gets both as inputs instead and predicts nothing.
        emotion_weight: of the cross entropy of emotions, a mean over turns, relative to the summed loss of tokens.
        embedding_weight: of the squared error of embeddings, a mean over turns and dimensions.
        emotions, vector_size: how many emotions the teacher distinguishes, and the length of its vectors.
        acts: whether the decoder is given the labels of the acts of the turn to generate.
        act_drop: share of the training turns for which these labels are withheld, so that it also works without.
    """

    utterance_size: int = Field(default=256, ge=1, le=8192)
    context_size: int = Field(default=256, ge=1, le=8192)
    ei: Regularization = "none"
    emotion_weight: float = Field(default=25.0, ge=0.0, le=1e9)
    embedding_weight: float = Field(default=25_000.0, ge=0.0, le=1e9)
    emotions: int = Field(default=7, ge=1, le=10**4)
    vector_size: int = Field(default=384, ge=1, le=10**5)
    acts: bool = False
    act_drop: float = Field(default=0.25, ge=0.0, le=1.0)

    @model_validator(mode="after")
    def _taught(self) -> HREDSection:
        if self.ei != "none" and self.teacher is None:
            message = f"ei: {self.ei} needs the arrays of a teacher: set teacher to their file"
            raise PydanticCustomError("teacher", "{m}", {"m": message})
        return self


class VHREDSection(HREDSection):
    """The configuration of `vhred`.

    Attributes:
        latent_size: length of the latent variable.
        annealing: batches until the KL term has its full weight, exactly 1.
        free_bits: nats of KL per dimension of a latent variable that cost nothing, on average over a batch.
    """

    latent_size: int = Field(default=64, ge=1, le=8192)
    annealing: int = Field(default=25_000, ge=1, le=10**9)
    free_bits: float = Field(default=0.0, ge=0.0, le=1e3)


class VHCRSection(VHREDSection):
    """The configuration of `vhcr`.

    Attributes:
        sentence_drop: share of the turns of a context that are hidden in training.
    """

    sentence_drop: float = Field(default=0.25, ge=0.0, lt=1.0)


DIALOGUE: dict[str, type[DialogueSection]] = {
    "gru_lm": GRUSection,
    "vae_lm": VAELMSection,
    "transformer_lm": TransformerLMSection,
    "gru_seq2seq": GRUSeq2SeqSection,
    "transformer_seq2seq": TransformerSeq2SeqSection,
    "hred": HREDSection,
    "vhred": VHREDSection,
    "vhcr": VHCRSection,
}
"""The sections of the models that learn from dialogues."""


def check_says_acts(name: str, run: Path) -> None:
    """Refuse a run whose model answers dialogue contexts where one that verbalises acts is needed.

    Args:
        name: of the model.
        run: the run's folder, for the message.

    Raises:
        RunError: the model answers contexts.
    """
    if name in DIALOGUE:
        raise RunError(f"{run} answers contexts (model '{name}'); it is for evaluate, selfplay --open and chat")
