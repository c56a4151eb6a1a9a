"""A hierarchical recurrent encoder-decoder (Serban et al. 2016), with emotion and embedding regularisation.

One GRU reads the words of each turn, a second one the turns, and a third one generates the answer. Shape letters: B
contexts, U turns, T tokens, H units, C units over turns, K emotions, D dimensions of embeddings, A labels of acts.
"""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from dactnlg.models.answers import GRUAnswerModel, log_likelihood
from dactnlg.models.base import Tensor, Tensors, positions, real_tokens, rows_of
from dactnlg.models.dialogue_sections import HREDSection
from dactnlg.text.encoding import Sizes


class HRED(GRUAnswerModel):
    """A GRU decoder conditioned on the last state of a GRU over turns.

    With `ei`, the state after each turn is trained to predict a teacher's emotions and embedding of the turn
    (Ghandeharioun et al. 2019, section 3.1): the weighted cross entropy and squared error are added to the SUMMED loss
    of a batch's tokens. This applies to training only, so that validation compares likelihoods. With `input` the
    teacher's arrays are inputs of the GRU over turns instead, and nothing is distilled (their appendix, "input only").

    With `acts` the decoder is also given the acts of the next turn: asks, tells, ...

    Args:
        sizes: see `GRUAnswerModel`.
        utterance_size, context_size, ei, emotion_weight, embedding_weight, emotions, vector_size, acts, act_drop: see
            `HREDSection`.
        **kwargs: see `GRUAnswerModel`.
    """

    inputs: tuple[str, ...] = ("turns", "turn_lengths")

    Section = HREDSection

    def __init__(self, sizes: Sizes, **kwargs: Any) -> None:
        section = type(self).Section
        mine = {name: kwargs.pop(name, section.model_fields[name].default) for name in _KEYS}
        super().__init__(sizes, **kwargs)
        self.context_size, self.ei, self.act_drop = mine["context_size"], mine["ei"], mine["act_drop"]
        self.head_weights = mine["emotion_weight"], mine["embedding_weight"]
        self.inputs = (*self.inputs, *(TAUGHT if self.ei == "input" else ()), *(("act",) if mine["acts"] else ()))
        self.given_sizes = {"emotions": mine["emotions"], "vectors": mine["vector_size"]}
        self.utterance_size = mine["utterance_size"]
        # Turns that a context lacks are all padding, which TensorFlow does not support with cuDNN.
        self.turn_reader = keras.layers.GRU(self.utterance_size, use_cudnn=False)
        self.context_reader = keras.layers.GRU(self.context_size, return_sequences=True, use_cudnn=False)
        size = self.condition_size() + (sizes.act if mine["acts"] else 0)
        self.gate_kernel = self.add_weight((size, self.cell.gate_size), "glorot_uniform", name="gate_kernel")
        self.start_kernel = self.add_weight((size, self.hidden_size), "glorot_uniform", name="start_kernel")
        if self.ei in ("emotion", "both"):
            shape = (self.context_size, mine["emotions"])
            self.emotion_head = self.add_weight(shape, "glorot_uniform", name="emotion_head")
        if self.ei in ("embedding", "both"):
            shape = (self.context_size, mine["vector_size"])
            self.embedding_head = self.add_weight(shape, "glorot_uniform", name="embedding_head")

    def condition_size(self) -> int:
        """Return the length of the decoder's condition, without the labels of acts."""
        return int(self.context_size)

    def float_inputs(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of noise and of the teacher's arrays; see `NeuralModel.float_inputs`."""
        taught = {name: (2, size) for name, size in self.given_sizes.items()}
        return {**taught, "noise": (self.latent_size,), "conversation_noise": (self.latent_size,)}

    def read_turns(self, inputs: Tensors) -> Tensor:
        """Return each turn as a vector, (B, U, H)."""
        context, lengths = inputs["turns"], inputs["turn_lengths"]
        _, turns, longest = context.shape
        read = self._read(ops.reshape(context, (-1, longest)), ops.reshape(lengths, (-1,)))
        return ops.reshape(read, (-1, turns, read.shape[-1]))

    def _read(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Return sentences, (N, T), as vectors, (N, H)."""
        mask = positions(tokens) < ops.cast(lengths, "int32")[:, None]
        return self.turn_reader(rows_of(self.embedding, ops.cast(tokens, "int32")), mask=mask)

    def read_target(self, batch: Tensors) -> Tensor:
        """Return the target, (B, T), as a vector, (B, H), for posteriors."""
        return self.turn_reader(rows_of(self.embedding, batch["targets"]), mask=real_tokens(batch))

    def read_context(self, inputs: Tensors, turns: Tensor, *more: Tensor) -> Tensor:
        """Return the state after every turn, (B, U, C); after the last real turn it stays the same.

        Args:
            inputs: the arrays of a batch.
            turns: from `read_turns`.
            more: further inputs, repeated for every turn, (B, ...).
        """
        parts = [turns, *(inputs[name] for name in TAUGHT if self.ei == "input")]
        parts += [ops.repeat(part[:, None], turns.shape[1], axis=1) for part in more]
        return self.context_reader(ops.concatenate(parts, axis=-1), mask=inputs["turn_lengths"] > 0)

    def condition(self, inputs: Tensors) -> Tensor:
        """Return the decoder's condition in generation, (B, ...)."""
        return self.read_context(inputs, self.read_turns(inputs))[:, -1]

    def informed(self, batch: Tensors, *, draw: bool, training: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the decoder's condition, and the terms of the loss, for a batch with known targets.

        Args:
            batch: with `targets`.
            draw: whether latent variables are drawn; otherwise they are the posteriors' means.
            training: whether turns are dropped (`VHCR`).

        Returns:
            The condition, (B, ...); the states after each turn, (B, U, C); KL(q || p) of each dimension, (B, Z); and
            log p(z) - log q(z), (B,).
        """
        states = self.read_context(batch, self.read_turns(batch))
        nothing = ops.zeros_like(states[:, 0, :1])
        return states[:, -1], states, nothing, nothing[:, 0]

    def prepare(self, inputs: Tensors) -> tuple[Tensors, Tensors]:
        """Return the context's contribution to the gates, and the initial state; the target is not used."""
        return self._begun(self.condition(inputs), inputs)

    def _begun(self, condition: Tensor, inputs: Tensors) -> tuple[Tensors, Tensors]:
        if "act" in self.inputs:
            condition = ops.concatenate([condition, ops.cast(inputs["act"], condition.dtype)], axis=-1)
        gates = ops.matmul(condition, self.gate_kernel)
        return {"gates": gates}, {"h": ops.tanh(ops.matmul(condition, self.start_kernel))}

    def batch_loss(self, batch: Tensors, *, training: bool = False) -> Tensor:
        """Return the loss of a batch per real token; see `NeuralModel.batch_loss`.

        It is the summed loss of tokens, plus the KL term and, in training, the weighted distillation loss, all divided
        by the number of tokens.
        """
        condition, states, divergence, _ = self.informed(batch, draw=training, training=training)
        given = self._hidden(batch) if training else batch
        logits = self._project(self.outputs(*self._begun(condition, given), given["tokens"]), training=training)
        more = self.kl_term(divergence, batch, training=training)
        if training:
            more = more + self.distillation(batch, states)
        count = ops.sum(ops.cast(real_tokens(batch), "float32") * batch["weights"][:, None])
        loss: Tensor = self.cross_entropy(batch, logits) + more / ops.maximum(count, 1.0)
        return loss

    def _hidden(self, batch: Tensors) -> Tensors:
        """Return a batch with some of the decoder's input words, and all acts of some turns, hidden."""
        given = {**batch, "tokens": self.dropped(batch["tokens"])}
        if "act" in self.inputs:
            told = keras.random.uniform((ops.shape(batch["tokens"])[0], 1), seed=self.noise) >= self.act_drop
            given["act"] = batch["act"] * ops.cast(told, batch["act"].dtype)
        return given

    def kl_term(self, divergence: Tensor, batch: Tensors, *, training: bool) -> Any:
        """Return 0, as there is no latent variable; see `LatentModel.kl_term`."""
        return 0.0

    def distillation(self, batch: Tensors, states: Tensor) -> Any:
        """Return the weighted losses of the emotion and embedding heads, means over the real turns of a batch."""
        rows = batch["weights"] * ops.cast(batch["lengths"] > 0, "float32")  # (B,)
        real = ops.cast(batch["turn_lengths"] > 0, "float32") * rows[:, None]  # (B, U)
        count, total = ops.maximum(ops.sum(real), 1.0), 0.0
        if self.ei in ("emotion", "both"):
            logs = ops.log_softmax(ops.cast(ops.matmul(states, self.emotion_head), "float32"))
            entropy = -ops.sum(batch["emotions"] * logs, axis=-1)
            total = total + self.head_weights[0] * ops.sum(entropy * real) / count
        if self.ei in ("embedding", "both"):
            apart = ops.cast(ops.matmul(states, self.embedding_head), "float32") - batch["vectors"]
            total = total + self.head_weights[1] * ops.sum(ops.mean(ops.square(apart), axis=-1) * real) / count
        return total

    def log_weights(self, batch: Tensors) -> tuple[Tensor, Tensor]:
        """Return log p(target, z) - log q(z) for one draw of z, and the KL.

        Returns:
            Two arrays, (B,), in nats. The expected exponential of the first is the likelihood; without a latent
            variable it is the log likelihood itself.
        """
        condition, _, divergence, ratio = self.informed(batch, draw=True, training=False)
        said = log_likelihood(batch, self._project(self.outputs(*self._begun(condition, batch), batch["tokens"])))
        return said + ops.cast(ratio, "float32"), ops.sum(ops.cast(divergence, "float32"), axis=-1)


TAUGHT = ("emotions", "vectors")
"""The arrays of a teacher: (B, U, K) and (B, U, D)."""
_KEYS = (
    "utterance_size",
    "context_size",
    "ei",
    "emotion_weight",
    "embedding_weight",
    "emotions",
    "vector_size",
    "acts",
    "act_drop",
)
