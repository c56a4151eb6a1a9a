"""The default length of training, derived from the number of pairs.

A model for a few hundred pairs needs as many steps as one for a few thousand, and batches small enough to allow them.
So updates are counted, not epochs: about `UPDATES` at most, ending after `PATIENT_UPDATES` without a better epoch.
They are rounded up to whole epochs. A model that tells more pairs apart than are counted here, by the order of slots or
the words of values, makes more of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from dactnlg.runs.config import Config, TrainingConfig
from dactnlg.text.encoding import features
from dactnlg.text.example import Pair

UPDATES, PATIENT_UPDATES, DECAY_UPDATES = 6000, 600, 150
"""The most updates; and updates without a better epoch until training ends, and until the learning rate is lowered."""
EPOCHS, PATIENCE = (10, 500), 5
"""The fewest and most epochs; the lowest patience in epochs."""
BATCH_SIZES = ((1000, 16), (4000, 32))
"""(number of pairs, batch size for fewer pairs than that); otherwise `LARGE_BATCH`."""
LARGE_BATCH = 64


class Schedule(TrainingConfig):
    """The section `training` with all values filled in.

    Attributes:
        epochs, batch_size, patience, decay_patience: see `TrainingConfig`.
    """

    epochs: int
    batch_size: int
    patience: int
    decay_patience: int


def scheduled(config: Config, pairs: Sequence[Pair]) -> Config:
    """Return a configuration whose section `training` is a `Schedule`, given the training pairs."""
    options = config.training
    # Pairs that look the same to a delexicalised model count once.
    count = len({(frozenset(features(pair.turn)), pair.corpus, pair.tokens) for pair in pairs})
    size = options.batch_size or next((size for below, size in BATCH_SIZES if count < below), LARGE_BATCH)
    batches = -(-count // size)
    fewest, most = EPOCHS
    found = {
        "epochs": min(max(-(-UPDATES // batches), fewest), most),
        "batch_size": size,
        "patience": max(-(-PATIENT_UPDATES // batches), PATIENCE),
        "decay_patience": max(-(-DECAY_UPDATES // batches), 1),
    }
    given = {name: value for name, value in options.model_dump().items() if value is not None}
    return config.model_copy(update={"training": Schedule(**{**found, **given})})
