"""Traces: which part of an act a model is dealing with at each word of a sentence, as far as the model shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.errors import UserError
from dactnlg.generation.generator import Generator
from dactnlg.text.encoding import entries, features
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.vocabulary import BOS_ID


class TracedEntry(NamedTuple):
    """A row of a trace.

    Attributes:
        name: an act type or a slot name.
        value: the slot's value; None for an act type, and for a slot without value.
        place: index of the slot among all slots of the turn, in written order; None for an act type.
    """

    name: str
    value: str | None
    place: int | None


class Trace(NamedTuple):
    """A model's view of the act during a sentence.

    Attributes:
        kind: `left`, how much of an entry is still to be expressed after each token (the reading gates of Wen et al.
            2015b, section 3.1: 1 at first, 0 when used up); `attention`, the share of attention that an entry receives
            when each token is chosen.
        tokens: T tokens, with placeholders; for `left`, the first one is `<bos>`.
        entries: E act types and slots; for `attention`, the act as a whole comes first.
        weights: (E, T), 0 to 1.
    """

    kind: str
    tokens: tuple[str, ...]
    entries: tuple[TracedEntry, ...]
    weights: NDArray[np.float32]


def trace(generator: Generator, turn: Turn, tokens: Sequence[str], context: str = "") -> Trace:
    """Return the trace of any sentence, by feeding its tokens to the model (teacher forcing).

    Args:
        generator: the generator of the run.
        turn: the act.
        tokens: the sentence, with placeholders; words outside the vocabulary are read as the unknown word.
        context: what the user has said before.

    Raises:
        UserError: the model has nothing to show (neither reading gates nor attention), or there are no tokens.
    """
    decoder, preprocessor = generator.decoder, generator.preprocessor
    prepared = preprocessor.delexicalizer.prepared(turn)
    inputs = decoder.inputs([prepared], contexts=[context]) if decoder is not None else {}
    show = decoder.tracer(inputs) if decoder is not None else None
    if decoder is None or decoder.traced is None or show is None:
        raise UserError("this model has nothing to show: it has neither reading gates nor attention over the slots")
    if not tokens:
        raise UserError("a trace is of a sentence; this one has no tokens")
    step, state = decoder.stepper(inputs)
    spoken = [preprocessor.vocabulary.tokens[BOS_ID], *tokens]
    owner, rows = np.zeros(1, np.intp), []
    for number in preprocessor.vocabulary.encode(spoken):
        _, state = step(state, np.array([number], np.intp), owner)
        rows.append(show(state)[0])
    named = _entries(preprocessor, turn, prepared)
    if decoder.traced == "left":
        columns, shown = _left(preprocessor, prepared), spoken
    else:
        # The attention after a token is used to choose the next one; that for choosing the end is not shown.
        columns, shown, rows = _looked_at(preprocessor, prepared), spoken[1:], rows[:-1]
        named.insert(0, TracedEntry("whole act", None, None))
    table = np.array(rows, np.float32).reshape(len(rows), -1)  # (T, columns)
    found = [(entry, table[:, own].max(axis=1)) for entry, own in zip(named, columns, strict=True) if own]
    weights = np.array([row for _, row in found], np.float32).reshape(len(found), len(rows))
    return Trace(decoder.traced, tuple(shown), tuple(entry for entry, _ in found), weights)


def _entries(preprocessor: Preprocessor, turn: Turn, prepared: Turn) -> list[TracedEntry]:
    """Return the entries of a prepared turn, with the places of its slots in the turn as written.

    A slot that is split into several values has an entry for each; of repeated acts and slots, only the first has one.
    """
    written, place = dict[DialogueAct, list[tuple[Slot, int]]](), 0
    for act in turn:
        placed = enumerate(act.slots, place)
        parts = [(part, at) for at, slot in placed for part in preprocessor.delexicalizer.parts(slot)]
        written.setdefault(DialogueAct(act.act_type, tuple(part for part, _ in parts)), parts)
        place += len(act.slots)
    found = list[TracedEntry]()
    for act, parts in zip(prepared, written.values(), strict=True):
        found.append(TracedEntry(act.act_type, None, None))
        rest = iter(parts)
        for slot in act.slots:
            found.append(TracedEntry(slot.name, slot.value, next(at for part, at in rest if part == slot)))
    return found


def _left(preprocessor: Preprocessor, prepared: Turn) -> list[list[int]]:
    """Return for each entry its columns among those entries of the DA vector that are set for the turn."""
    names = features(prepared, preprocessor.encoder.corpus)
    used = [name for name in preprocessor.encoder.features if name in names]
    # A slot has an entry fused with its act and one by itself: it is left as long as either is.
    return [[used.index(name) for name in {fused, alone} & set(used)] for fused, alone, _ in entries(prepared)]


def _looked_at(preprocessor: Preprocessor, prepared: Turn) -> list[list[int]]:
    """Return for each entry its column in the attention weights; the first column is the whole act."""
    known = set(preprocessor.encoder.features)
    columns, at = [[0]], 0
    for fused, alone, _ in entries(prepared):
        is_known = fused in known or alone in known
        at += is_known
        columns.append([at] if is_known else [])
    return columns
