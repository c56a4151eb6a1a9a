"""What a sweep has found: its trials, the best first."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from dactnlg._utils.tables import aligned

SPLIT = "valid"
"""What trials are ranked on. Never the test split: a setting chosen on it would say nothing of other data."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One run of a sweep.

    Attributes:
        run: its folder.
        settings: what it tried.
        score: on the validation split; None where there is none.
        valid_loss: of the best epoch.
        epochs: trained.
        seconds: of training.
        status: `done`, `stopped` (early) or `failed`.
        message: why it failed.
    """

    run: str
    settings: dict[str, Any]
    score: float | None
    valid_loss: float | None
    epochs: int | None
    seconds: float | None
    status: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """The trials of a sweep, the best first, and the score that they are ranked by."""

    metric: str
    preset: str
    trials: list[Trial]

    @property
    def failed(self) -> list[Trial]:
        """The trials without a score for a reason of their own."""
        return [trial for trial in self.trials if trial.status == "failed"]

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON has it."""
        rows = [asdict(trial) for trial in self.trials]
        return {"metric": self.metric, "preset": self.preset, "split": SPLIT, "trials": rows}

    def table(self) -> str:
        """Return the trials as text."""
        head = ["run", self.metric, "valid loss", "epochs", "seconds", *self.trials[0].settings]
        rows = [head]
        for trial in self.trials:
            numbers = [_shown(trial.score, 4), _shown(trial.valid_loss, 4)]
            epochs = f"{_shown(trial.epochs)}{' (stopped)' if trial.status == 'stopped' else ''}"
            rows.append(
                [trial.run, *numbers, epochs, _shown(trial.seconds, 0), *map(_setting, trial.settings.values())]
            )
        return "\n".join([f"{self.metric} ({self.preset}) on the validation split", "", aligned(rows, left=None)])


def _shown(value: float | None, digits: int = 0) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _setting(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else value if isinstance(value, str) else json.dumps(value)
