"""Simulated studies with a known truth: raters judge sentences as in Sharma et al. 2017, section 5.3.

The quality of a sentence is the sum of effects of its item and system, and of chance. A rater perceives it with noise
and an individual bias, and maps it to 1 to 5; careless raters answer at random. A metric measures the quality with
noise, part of which is common to all sentences of an item.

The truth is the result with infinitely many items and the same raters and systems, which is what intervals over items
are about.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dactnlg.studies.analysis.coefficients import NAMES, Name
from dactnlg.studies.analysis.correlation import correlation_values
from dactnlg.studies.analysis.metric_scores import MetricScores
from dactnlg.studies.ratings import Ratings

SYSTEMS = {"gold": 1.6, "hld-scLSTM": 1.2, "d-scLSTM": 1.0, "LSTM": 0.9, "random": -1.6}
METRICS = {"weak": 0.15, "middling": 0.4, "strong": 1.2}
"""Weight of the quality in each metric, relative to noise of standard deviation 1."""
CONSTANT = "constant"
"""A metric that gives every sentence the same value."""
_ITEM, _SENTENCE, _SHARED = 0.4, 0.7, 0.5
_CUTS = np.array([-1.5, -0.5, 0.3, 1.2])
_MANY_ITEMS = 40_000
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Panel:
    """The raters, systems and metrics of simulated studies.

    Attributes:
        bias: (R,), how lenient each rater is.
        noise: (R,), standard deviation of each rater's noise.
        careless: (R,), whether each rater answers at random.
        systems: system -> quality.
        metrics: metric -> weight of the quality.
        seed: of the panel.
        truths: a cache of `truth`, by raters.
    """

    bias: Floats
    noise: Floats
    careless: NDArray[np.bool_]
    systems: Mapping[str, float]
    metrics: Mapping[str, float]
    seed: int
    truths: dict[tuple[str, ...], dict[tuple[str, Name], float]] = field(default_factory=dict, compare=False)

    @property
    def raters(self) -> tuple[str, ...]:
        """Names of the raters."""
        return tuple(f"r{place + 1:03}" for place in range(len(self.bias)))

    def truth(self, raters: Collection[str]) -> dict[tuple[str, Name], float]:
        """Return each metric's correlations with the mean of these raters, over 40,000 items (accurate to about .003).

        The constant metric is not included.
        """
        chosen = tuple(name for name in self.raters if name in raters)
        if chosen not in self.truths:
            values, metrics = _draw(self, _MANY_ITEMS, np.random.default_rng([self.seed, 1]))
            people = values[..., [name in raters for name in self.raters]].mean(axis=-1, dtype=np.float64).ravel()
            self.truths[chosen] = {
                (metric, name): correlation_values(name, column.ravel(), people)[0] or 0.0
                for metric, column in metrics.items()
                for name in NAMES
            }
        return self.truths[chosen]


@dataclass(frozen=True)
class SimulatedStudy:
    """A simulated study: ratings and metric values."""

    ratings: Ratings
    scores: MetricScores


def panel(raters: int = 18, careless: int = 7, seed: int = 1) -> Panel:
    """Return a panel, by default of 18 raters of whom 7 are careless, as in the paper, and five systems."""
    generator = np.random.default_rng([seed, 0])
    bias, noise = generator.normal(0, 0.35, raters), generator.uniform(0.3, 1.0, raters)
    return Panel(bias, noise, np.arange(raters) >= raters - careless, SYSTEMS, METRICS, seed)


def simulate(people: Panel, items: int = 20, seed: int = 1, corpus: str = "simulated") -> SimulatedStudy:
    """Return a study with one sentence per item and system, and the criterion `quality`."""
    values, metrics = _draw(people, items, np.random.default_rng([people.seed, 2, seed]))
    names = list(people.systems)
    rows = [
        {
            "item": f"{corpus}-{item + 1:03}",
            "system": system,
            "rater": rater,
            "criterion": "quality",
            "value": float(values[item, place, who]),
            "corpus": corpus,
        }
        for item in range(items)
        for place, system in enumerate(names)
        for who, rater in enumerate(people.raters)
    ]
    columns = {**metrics, CONSTANT: np.ones((items, len(names)))}
    scores = {
        metric: {
            (corpus, f"{corpus}-{item + 1:03}", system): float(column[item, place])
            for item in range(items)
            for place, system in enumerate(names)
        }
        for metric, column in columns.items()
    }
    return SimulatedStudy(Ratings(rows), MetricScores(scores))


def join(studies: Collection[SimulatedStudy]) -> SimulatedStudy:
    """Join studies of different corpora with the same raters."""
    rows = [row for study in studies for row in study.ratings.rows]
    metrics: dict[str, dict[tuple[str, str, str], float]] = {}
    for study in studies:
        for metric, column in study.scores.values.items():
            metrics.setdefault(metric, {}).update(column)
    return SimulatedStudy(Ratings(rows), MetricScores(metrics))


def _draw(people: Panel, items: int, generator: np.random.Generator) -> tuple[NDArray[np.int8], dict[str, Floats]]:
    """Return simulated ratings, (I, S, R), and each metric's values, (I, S)."""
    systems = np.array(list(people.systems.values()))
    shape = items, len(systems)
    quality = systems + generator.normal(0, _ITEM, (items, 1)) + generator.normal(0, _SENTENCE, shape)
    values = np.empty((*shape, len(people.bias)), dtype=np.int8)
    for rater, (bias, noise) in enumerate(zip(people.bias, people.noise, strict=True)):
        seen = quality + bias + generator.normal(0, noise, shape)
        careful = np.searchsorted(_CUTS, seen.ravel()).reshape(shape) + 1
        values[..., rater] = generator.integers(1, 6, shape) if people.careless[rater] else careful
    metrics = {}
    for metric, weight in people.metrics.items():
        shared = generator.normal(0, _SHARED, (items, 1))
        metrics[metric] = weight * quality + shared + generator.normal(0, 1, shape)
    # Overlap with the reference is at most 1, a value that many sentences share, as in Figure 3.
    strong = max(people.metrics, key=lambda name: people.metrics[name])
    metrics[strong] = np.minimum(metrics[strong], 1.5)
    return values, metrics
