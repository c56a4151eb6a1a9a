"""The protocol of callbacks that observe training and may end it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Callback(Protocol):
    """An object that the training loop calls after each epoch."""

    def on_epoch_end(self, row: Mapping[str, Any]) -> bool:
        """Receive an epoch's row of the history; return whether to continue.

        If it returns False, training ends with the best weights so far. A resumed training first calls it with the last
        row of the history.
        """
