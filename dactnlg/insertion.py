"""A place for what training never said: a placeholder that the vocabulary lacks is put where the model minds it least.

Every gap of the sentence is tried; the sentence around it is scored by the model, with the newcomer read as the
placeholders that it does know are read on average.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dactnlg.acts import Turn
from dactnlg.delexicalization import Required

if TYPE_CHECKING:
    from dactnlg.decoding import Decoder


def insert_missing(
    decoder: Decoder, turn: Turn, tokens: tuple[str, ...], unknown: Sequence[Required]
) -> list[tuple[tuple[str, ...], float]]:
    """Return the best sentences with every unknown placeholder inserted, each with its score, best first."""
    return []
