"""Engagement and laughter (Ghandeharioun et al. 2019, section 4.3), computed from texts.

Shapes: T texts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
LONGEST = 30
"""Cap on the word count: pasting a page is no sign of engagement."""
QUESTION_WORDS = frozenset(("how", "what", "when", "where", "which", "who", "whom", "whose", "why"))
_WORD = re.compile(r"\w+(?:['\u2019]\w+)*")


def tokens(text: str) -> list[str]:
    """Return the words of a text in lower case, without punctuation."""
    return _WORD.findall(text.lower())


def laughter(texts: Sequence[str]) -> Array:
    """Return how often the word "ha" occurs in each text, (T,); neither "that" nor "haha" counts."""
    return np.array([float(tokens(text).count("ha")) for text in texts])


def question_scores(texts: Sequence[str]) -> Array:
    """Return .5 [has a question word] + .5 [has a question mark] for each text, (T,)."""
    return np.array([0.5 * (not QUESTION_WORDS.isdisjoint(tokens(text))) + 0.5 * ("?" in text) for text in texts])


def word_counts(texts: Sequence[str]) -> Array:
    """Return the number of words of each text, at most 30, (T,)."""
    return np.array([float(min(len(tokens(text)), LONGEST)) for text in texts])
