"""Warnings at the end of training: signs that the generated sentences are worse than they could be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from dactnlg.runs.config import TrainingConfig
from dactnlg.text.placeholders import is_placeholder
from dactnlg.training.splits import Splits

FEW_PAIRS, FEW_VALID, NAMED = 10, 30, 5
"""Warn below this many pairs of an act type, and below this many validation pairs; list at most so many act types."""
RARE = 0.5
"""Warn if more than this share of the words occurs only once."""
FLAT = 3
"""Number of epochs after which the validation loss should have fallen."""
SHORT, FALLING = 10, 0.1
"""If the last epoch was the best, warn below this many epochs, or if the last tenth lowered the loss by this share."""


def advice(
    options: TrainingConfig, splits: Splits, history: Sequence[Mapping[str, Any]], summary: Mapping[str, Any]
) -> list[str]:
    """Return warnings, one line each; none if nothing is wrong.

    Args:
        options: the training options.
        splits: the pairs.
        history: one row per epoch.
        summary: of the training.
    """
    ended = not summary["interrupted"] and not summary["stopped"]
    return [*(_of_length(options, history, summary["best_epoch"]) if ended else []), *_of_data(splits)]


def _of_length(options: TrainingConfig, history: Sequence[Mapping[str, Any]], best: int) -> list[str]:
    lowest = min(history, key=lambda row: row["valid_loss"])["epoch"]
    losses = [row["valid_loss"] for row in history]
    # Most trainings improve slightly until the end.
    falls = len(losses) < SHORT or losses[-1] < (1 - FALLING) * losses[-1 - len(losses) // 10]
    if best == len(history) == options.epochs and falls:
        return [f"the last epoch was the best: training longer may help (training.epochs is {options.epochs})"]
    if lowest == 1 and len(history) >= FLAT:
        rate = f"training.learning_rate is {options.learning_rate:g}"
        return [f"the validation loss was lowest after the first epoch: steps too large ({rate}), or other data"]
    return []


def _of_data(splits: Splits) -> list[str]:
    found = []
    words = Counter(token for pair in splits.train for token in pair.tokens if not is_placeholder(token))
    once = sum(count == 1 for count in words.values())
    if once > RARE * len(words):
        share = f"{once:,} of {len(words):,} words ({once / len(words):.0%})"
        found.append(f"{share} occur once in training: they are hardly learned; corpus.min_count=2 leaves them out")
    acts = Counter(act.act_type for pair in splits.train for act in pair.turn.acts)
    if rare := sorted((count, name) for name, count in acts.items() if count < FEW_PAIRS):
        named = ", ".join(f"{name} ({count})" for count, name in rare[:NAMED])
        more = f" and {len(rare) - NAMED} more" if len(rare) > NAMED else ""
        found.append(f"act types with fewer than {FEW_PAIRS} training pairs: {named}{more}")
    if len(splits.valid) < FEW_VALID:
        found.append(f"the validation split has {len(splits.valid)} pairs: too few to tell which epoch is the best")
    return found
