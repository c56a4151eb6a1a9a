"""The hash of what a score was computed on."""

from __future__ import annotations

from collections.abc import Sequence

from dactnlg._utils.hashing import MultisetHash
from dactnlg.acts import Turn


class ReferenceHash:
    """The hash of a test set as a multiset of (act, references) pairs, built one segment at a time.

    The order of segments, and of the references of one segment, leaves the hash alone, as it leaves the scores. The
    references of two acts swapped, or one pair repeated, moves it.
    """

    def __init__(self) -> None:
        self._pairs, self._acts = MultisetHash(), MultisetHash()

    def update(self, references: Sequence[str], turn: Turn | None = None) -> None:
        """Add one segment."""
        act = None if turn is None else str(turn)
        self._pairs.add([act, sorted(references)])
        self._acts.add(act)

    def hexdigest(self, signature: str = "") -> str:
        """Return the hash of the test set under a signature: what one score's comparability depends on."""
        return self._pairs.hexdigest(signature)

    def parts(self) -> dict[str, str]:
        """Return hashes of the acts alone and of the acts with references: they tell why two scores' hashes differ."""
        return {"acts": self._acts.hexdigest(), "references": self._pairs.hexdigest()}
