"""The hash of the test set that a score was computed on."""

from __future__ import annotations

from collections.abc import Sequence

from dactnlg._utils.hashing import MultisetHash
from dactnlg.acts import Turn


class ReferenceHash:
    """The hash of a test set as a multiset of (act, references) pairs, built one segment at a time.

    Like the scores, the hash does not depend on the order of segments, nor of the references of a segment. Swapping the
    references of two acts, or repeating a pair, changes it.
    """

    def __init__(self) -> None:
        self._pairs = MultisetHash()

    def update(self, references: Sequence[str], turn: Turn | None = None) -> None:
        """Add one segment."""
        self._pairs.add([None if turn is None else str(turn), sorted(references)])

    def hexdigest(self, signature: str = "") -> str:
        """Return the hash of the test set and a signature; scores are comparable if it agrees."""
        return self._pairs.hexdigest(signature)
