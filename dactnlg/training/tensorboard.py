"""Event files for TensorBoard: `tensorboard --logdir runs`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any


class TensorBoard:
    """Training callback that writes each epoch's numbers to TensorBoard event files.

    Args:
        folder: where they are written; created with the first epoch.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writer: Any = None

    def on_epoch_end(self, row: Mapping[str, Any]) -> bool:
        """Write the numbers of an epoch; always continue."""
        # Imported only here: training in NumPy does not otherwise need TensorFlow.
        tf: Any = import_module("tensorflow")

        if self._writer is None:
            self._writer = tf.summary.create_file_writer(str(self._folder))
        # Done by hand what `tf.summary.scalar` does, which needs TensorBoard to be installed.
        about = tf.compat.v1.SummaryMetadata(plugin_data={"plugin_name": "scalars"}, data_class="DATA_CLASS_SCALAR")
        with self._writer.as_default(step=row["epoch"]):
            for name, value in row.items():
                if name != "epoch":
                    tf.summary.write(name, tf.constant(value, tf.float32), metadata=about)
        self._writer.flush()
        return True
