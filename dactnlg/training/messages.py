"""Messages of a training: one line per epoch, and at the end how faithfully its sentences express their acts.

All are logged at level INFO below the logger `dactnlg.training`; no line is longer than 79 columns.
"""

from __future__ import annotations

import logging
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from dactnlg.acts import Turn
from dactnlg.generation.generation import Generation
from dactnlg.generation.generator import Generator
from dactnlg.models import numpy as numpy_models
from dactnlg.runs.run import Run
from dactnlg.text.example import Example
from dactnlg.text.slots import SlotChecker
from dactnlg.training.schedule import Schedule
from dactnlg.training.selection import spread

LOG = logging.getLogger(__name__)
COLUMNS = 79
ACTS, SHOWN = 100, 3
"""At the end, how many validation acts are generated at most, and how many of them are shown."""


def heard() -> bool:
    """Whether messages are logged at all."""
    return LOG.isEnabledFor(logging.INFO)


def tell_left_out(notes: Mapping[str, int]) -> None:
    """Log what reading a corpus left out, with counts."""
    for what, count in sorted(notes.items()):
        LOG.info("%s %s", f"{count:,}", what)


def tell_start(options: Schedule, pairs: int) -> None:
    """Log the number of pairs and the schedule."""
    length = f"at most {options.epochs} epochs, or {options.patience} after the best"
    LOG.info("%s pairs, %s a batch; %s", f"{pairs:,}", options.batch_size, length)


def tell_epoch(row: Mapping[str, Any], options: Schedule, seconds: float, *, best: bool) -> None:
    """Log an epoch's losses, speed (or BLEU) and the remaining time.

    Args:
        row: of the history.
        options: the training options.
        seconds: the time of all epochs so far.
        best: whether the epoch is the best so far.
    """
    epoch, last = row["epoch"], options.epochs
    left = duration(seconds / epoch * (last - epoch))
    losses = f"train {row['loss']:.3f}  valid {row['valid_loss']:.3f}"
    speed = f"{row['tokens_per_second']:,} tokens/s"
    if "valid_bleu" in row:
        speed = f"BLEU {row['valid_bleu']:.3f}"
    mark = "best" if best else "    "
    LOG.info("%s", f"epoch {epoch:>{len(str(last))}}/{last}  {losses}  {mark}  {speed:>16}  <{left} left")


def tell_end(run: Run, summary: Mapping[str, Any], examples: Sequence[Example]) -> None:
    """Log the best epoch, the slot faults of generated validation acts, and some examples.

    Args:
        run: the trained run.
        summary: of the training.
        examples: the validation split.
    """
    best, loss = f"best epoch {summary['best_epoch']} of {summary['epochs']}", summary["best_valid_loss"]
    LOG.info("%s, lowest validation loss %.3f; trained for %s", best, loss, duration(summary["seconds"]))
    chosen = [examples[place] for place in spread(examples, ACTS)]
    if not chosen:
        return
    # The output does not depend on the backend, and NumPy needs no compilation.
    backend = "numpy" if numpy_models.supports(run.check().model.name) else "auto"
    generator = Generator.load(run, backend)
    acts = [example.turn for example in chosen]
    said = generator.generate(acts, strict=False, context=[example.context for example in chosen])
    LOG.info("%s", fidelity(acts, said, generator.preprocessor.checker))
    for number in range(SHOWN):
        each = said[number * len(said) // SHOWN]
        for text, indent in ((each.act, "  "), (each.text, "    ")):
            LOG.info("%s", textwrap.fill(text, COLUMNS, initial_indent=indent, subsequent_indent=indent))


def fidelity(acts: Sequence[Turn], said: Sequence[Generation], checker: SlotChecker) -> str:
    """Return, as text, how many sentences have no slot fault, and the slot error rate."""
    whole = sum(each.slots_ok for each in said)
    tallies = [checker.check(turn, each.raw).values for turn, each in zip(acts, said, strict=True)]
    required, faults = sum(t.required for t in tallies), sum(len(t.missing) + len(t.extra) for t in tallies)
    rate = f"; SER {faults / required:.4f}" if required else ""
    unchecked = sum(each.slots_ok and bool(each.unchecked) for each in said)
    part = f" ({unchecked} in part unchecked)" if unchecked else ""
    return f"{whole} of {len(said)} validation acts faultless{part}{rate}"


def duration(seconds: float) -> str:
    """Format a time as 1:23, or 1:02:03."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
