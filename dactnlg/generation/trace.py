"""Traces: which part of an act a model is at with every word of a sentence, as far as the model shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dactnlg.acts import Turn
from dactnlg.errors import UserError
from dactnlg.generation.generator import Generator
from dactnlg.text.encoding import entries, features
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.vocabulary import BOS_ID


class TracedEntry(NamedTuple):
    """A row of a trace.

    Attributes:
        name: an act type, or a slot's name.
        value: the slot's; None for an act type, and where only the slot is named.
        place: index of the slot among all slots of the turn, as they are written; None for an act type.
    """

    name: str
    value: str | None
    place: int | None


class Trace(NamedTuple):
    """What a model shows of an act while it says a sentence.

    Attributes:
        kind: `left`, how much of an entry is still to be said after each token (the reading gates of Wen et al. 2015b,
            section 3.1: 1 at first, 0 when it is used up); `attention`, the share of attention that an entry has when
            each token is chosen.
        tokens: T tokens, with placeholders; with `left` the first one is the beginning of the sentence, `<bos>`.
        entries: E act types and slots; with `attention`, the act as a whole comes first.
        weights: (E, T), 0 to 1.
    """

    kind: str
    tokens: tuple[str, ...]
    entries: tuple[TracedEntry, ...]
    weights: NDArray[np.float32]


def trace(generator: Generator, turn: Turn, tokens: Sequence[str], context: str = "") -> Trace:
    """Return the trace of a sentence, whoever chose it: the model's state is led through its tokens.

    Args:
        generator: of the run.
        turn: the act.
        tokens: the sentence, with placeholders; words that the model does not know are unknown to it here too.
        context: what the user has said before.

    Raises:
        UserError: the model shows nothing, such as one whose act does not change while it speaks, or there is no token.
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
    named = _entries(preprocessor, turn)
    if decoder.traced == "left":
        columns, shown = _left(preprocessor, prepared), spoken
    else:
        # After each token the model looks for the next one; nobody sees it look for the end.
        columns, shown, rows = _looked_at(preprocessor, prepared), spoken[1:], rows[:-1]
        named.insert(0, TracedEntry("whole act", None, None))
    table = np.array(rows, np.float32).reshape(len(rows), -1)  # (T, columns)
    found = [(entry, table[:, own].max(axis=1)) for entry, own in zip(named, columns, strict=True) if own]
    weights = np.array([row for _, row in found], np.float32).reshape(len(found), len(rows))
    return Trace(decoder.traced, tuple(shown), tuple(entry for entry, _ in found), weights)


def _entries(preprocessor: Preprocessor, turn: Turn) -> list[TracedEntry]:
    """Return the entries of a prepared turn, as they were written."""
    found, place = list[TracedEntry](), 0
    for act in turn:
        found.append(TracedEntry(act.act_type, None, None))
        for slot in act.slots:
            parts = preprocessor.delexicalizer.parts(slot)
            found += [TracedEntry(part.name, part.value, place) for part in parts]
            place += 1
    return found


def _left(preprocessor: Preprocessor, prepared: Turn) -> list[list[int]]:
    """Return for each entry its columns among the entries of the DA vector that the turn has."""
    names = features(prepared, preprocessor.encoder.corpus)
    used = [name for name in preprocessor.encoder.features if name in names]
    # Fused with its act, and by itself: while either is left, so is the slot.
    return [[used.index(name) for name in {fused, alone} & set(used)] for fused, alone, _ in entries(prepared)]


def _looked_at(preprocessor: Preprocessor, prepared: Turn) -> list[list[int]]:
    """Return for each entry its column among those looked at; the first one is the whole act."""
    known = set(preprocessor.encoder.features)
    columns, at = [[0]], 0
    for fused, alone, _ in entries(prepared):
        is_known = fused in known or alone in known
        at += is_known
        columns.append([at] if is_known else [])
    return columns
