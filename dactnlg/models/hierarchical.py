"""The hierarchical lex-delex sc-LSTM ("hld-scLSTM", Sharma et al. 2017, section 4.4)."""

from __future__ import annotations

from typing import Any

from keras import ops

from dactnlg.models.base import Tensor, Tensors, rows_of, sum_rows
from dactnlg.models.cells import LSTMEncoder
from dactnlg.models.sclstm import SCLSTM
from dactnlg.models.sections import HierarchicalSection
from dactnlg.text.encoding import Sizes


class HierarchicalSCLSTM(SCLSTM):
    """An sc-LSTM decoder that also sees the values, through a two-layer encoder.

    The lower LSTM, shared by all entries, reads the words of one value. Its last state, concatenated with the embedded
    act-slot entry, is one step of the upper LSTM, whose last state E is an input of every step of the decoder, together
    with the whole DA vector.

    Args:
        sizes: V, D and the number of value words.
        value_size: hidden units of the lower LSTM, and length of a value word's vector.
        encoder_size: hidden units of the upper LSTM, the length of E.
        **kwargs: see `SCLSTM` and `RecurrentModel`.
    """

    inputs: tuple[str, ...] = ("act", "entries", "words")

    Section = HierarchicalSection

    def __init__(self, sizes: Sizes, value_size: int = 50, encoder_size: int = 100, **kwargs: Any) -> None:
        super().__init__(sizes, **kwargs)
        gates = self.cell.gate_size
        self.words = self.add_weight((sizes.words, value_size), "uniform", name="words")
        # Row 0 is padding. (The paper's one-hot vector times a matrix is a row of this table.)
        self.entries = self.add_weight((sizes.act + 1, value_size), "glorot_uniform", name="entries")
        self.lower = LSTMEncoder(value_size, value_size, name="lower")
        self.upper = LSTMEncoder(2 * value_size, encoder_size, name="upper")
        self.encoder_projection = self.add_weight((encoder_size, gates), "glorot_uniform", name="encoder_projection")
        self.act_projection = self.add_weight((sizes.act, gates), "glorot_uniform", name="act_projection")

    def encode(self, inputs: Tensors) -> Tensor:
        """Return E, (B, encoder_size), from `entries` (B, N, 2) and `words` (B, N, L); 0 is padding in both."""
        entries, words = inputs["entries"], inputs["words"]
        # Dynamic sizes: the splits of a corpus differ in the lengths of their longest act and value.
        _, count, length = ops.shape(words)
        flat = ops.reshape(words, (-1, length))  # (B * N, L)
        # An entry without a value reads one padding token: a sequence must not be all padding.
        first = ops.cast(ops.arange(length) == 0, "bool")[None, :]
        values = self.lower(rows_of(self.words, flat), mask=ops.logical_or(flat > 0, first))
        values = ops.reshape(values, (-1, count, self.words.shape[1]))  # (B, N, value_size)
        slots = sum_rows(self.entries, entries)  # (B, N, value_size)
        first = ops.cast(ops.arange(count) == 0, "bool")[None, :]
        steps = ops.concatenate([values, slots], axis=-1)
        encoded: Tensor = self.upper(steps, mask=ops.logical_or(ops.any(entries > 0, axis=2), first))
        return encoded

    def act_gates(self, inputs: Tensors) -> Tensor:
        """Return the projected E and DA vector, (B, 4H + D)."""
        act = ops.matmul(inputs["act"], self.act_projection)
        gates = ops.matmul(self.encode(inputs), self.encoder_projection) + act
        said = super().act_gates(inputs)
        return gates if said is None else gates + said
