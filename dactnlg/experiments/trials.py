"""The trials of a sweep: their results, read from their run folders."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from dactnlg._utils.tables import aligned
from dactnlg._utils.terminal import printable
from dactnlg.evaluation.comparable import differences
from dactnlg.experiments.sweep_specification import SweepSpecification
from dactnlg.runs.run import Run

SPLIT = "valid"
"""The split on which trials are ranked; never the test split, whose scores would then no longer be unbiased."""


class RecordedScore(NamedTuple):
    """A score in a run's manifest with its preset, hash and signature; ("", None) if there is none."""

    preset: str
    value: float | None
    hash: str = ""
    signature: str = ""


class Outcome(NamedTuple):
    """The settings of a trial that has ended, and why it failed, if it did."""

    settings: dict[str, Any]
    message: str = ""


@dataclass(frozen=True, slots=True)
class Trial:
    """One run of a sweep.

    Attributes:
        run: its folder.
        settings: dotted key -> the value tried.
        score: on the validation split; None if undefined, or if the trial failed.
        valid_loss: validation loss of the best epoch.
        epochs: number of epochs trained.
        seconds: time of training.
        status: `done`, `stopped` (early) or `failed`.
        message: why it failed.
        hash: of the score; those with different hashes may not be compared.
        signature: of the score: the settings that the hash covers.
    """

    run: str
    settings: dict[str, Any]
    score: float | None
    valid_loss: float | None
    epochs: int | None
    seconds: float | None
    status: str
    message: str = ""
    hash: str = ""
    signature: str = ""


@dataclass(frozen=True, slots=True)
class SweepResult:
    """The trials of a sweep.

    Attributes:
        metric: the score by which they are ranked.
        preset: its evaluation protocol.
        trials: the trials, best first; if their scores have several hashes, those of the most frequent one first, and
            the best first among those of each.
    """

    metric: str
    preset: str
    trials: list[Trial]

    @property
    def failed(self) -> list[Trial]:
        """The trials that ended with an error."""
        return [trial for trial in self.trials if trial.status == "failed"]

    @property
    def notes(self) -> list[str]:
        """Which trials are ranked apart from the first ones, as their scores may not be compared, and what differs."""
        groups: dict[str, list[Trial]] = {}
        for trial in self.trials:
            if trial.score is not None:
                groups.setdefault(trial.hash, []).append(trial)
        best = [group[0] for group in groups.values()]
        return [
            f"{', '.join(trial.run for trial in groups[other.hash])}: ranked apart from {best[0].run}, as their scores "
            f"may not be compared: {'; '.join(differences(asdict(best[0]), asdict(other)))}"
            for other in best[1:]
        ]

    def to_json(self) -> dict[str, Any]:
        """Return metric, preset, split, trials and notes as JSON data."""
        rows = [asdict(trial) for trial in self.trials]
        return {
            "metric": self.metric,
            "preset": self.preset,
            "split": SPLIT,
            "trials": rows,
            "notes": self.notes,
        }

    def table(self, width: int | None = None) -> str:
        """Return the trials as a text table."""
        head = ["run", self.metric, "valid loss", "epochs", "seconds", *self.trials[0].settings]
        rows = [head]
        for trial in self.trials:
            numbers = [_shown(trial.score, 4), _shown(trial.valid_loss, 4)]
            epochs = f"{_shown(trial.epochs)}{' (stopped)' if trial.status == 'stopped' else ''}"
            rows.append(
                [trial.run, *numbers, epochs, _shown(trial.seconds, 0), *map(_setting, trial.settings.values())]
            )
        title = f"{self.metric} ({self.preset}) on the validation split"
        return "\n".join([title, "", aligned(rows, left=None, width=width), *map(printable, self.notes)])


def recorded_score(folder: Path, specification: SweepSpecification) -> RecordedScore:
    """Return the score by which a sweep ranks, from the manifest of one of its runs."""
    if Run(folder).manifest_path.exists():
        metric = specification.metric
        for entry in Run(folder).manifest().get("evaluations", []):
            for preset, scores in entry["scores"].items():
                if entry["split"] == SPLIT and preset == (specification.preset or preset) and metric in scores:
                    found = scores[metric]
                    return RecordedScore(preset, found["value"], found["hash"], found["signature"])
    return RecordedScore("", None)


def read_trial(folder: Path, specification: SweepSpecification, outcome: Outcome) -> Trial:
    """Return the result of a trial.

    Args:
        folder: its run folder.
        specification: of the sweep.
        outcome: how it ended.
    """
    run = Run(folder)
    training = run.manifest()["training"] if run.manifest_path.exists() else {}
    recorded = recorded_score(folder, specification)
    return Trial(
        run=str(folder),
        settings=outcome.settings,
        score=recorded.value,
        valid_loss=training.get("best_valid_loss"),
        epochs=training.get("epochs"),
        seconds=training.get("seconds"),
        status="failed" if outcome.message else "stopped" if training.get("stopped") else "done",
        message=outcome.message,
        hash=recorded.hash,
        signature=recorded.signature,
    )


def _shown(value: float | None, digits: int = 0) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _setting(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else value if isinstance(value, str) else json.dumps(value)
