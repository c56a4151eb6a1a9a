"""What may watch a training, and end it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Callback(Protocol):
    """Is called by the training loop."""

    def on_epoch_end(self, row: Mapping[str, Any]) -> bool:
        """Take an epoch's row of the history; return whether to go on.

        Where it returns False training ends, with the best weights so far. A resumed training calls it with the last
        row of the history first.
        """
