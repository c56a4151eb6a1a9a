"""How often do intervals hold the truth? Simulated studies, analysed as real ones are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dactnlg.studies.analysis.coefficients import NAMES, Name
from dactnlg.studies.analysis.correlation import correlate
from dactnlg.studies.analysis.filtering import RULES, filter_raters
from dactnlg.studies.analysis.intervals import METHODS, Kind
from dactnlg.studies.analysis.results import Result
from dactnlg.studies.analysis.simulation import CONSTANT, Panel, simulate


@dataclass(frozen=True)
class Held:
    """One kind of interval of one metric's coefficient.

    Attributes:
        kind: of interval.
        metric: the metric.
        coefficient: its name.
        studies: with an interval.
        held: those whose interval holds the truth.
    """

    kind: Kind
    metric: str
    coefficient: Name
    studies: int
    held: int

    @property
    def share(self) -> float | None:
        """How many of the studies."""
        return self.held / self.studies if self.studies else None


@dataclass(frozen=True)
class Coverage(Result):
    """All kinds, metrics and coefficients; `studies` is how many were simulated."""

    rows: tuple[Held, ...]
    studies: int
    method: str

    def share(self, kind: Kind) -> float | None:
        """Return the share over all metrics and coefficients of a kind."""
        rows = [row for row in self.rows if row.kind == kind]
        total = sum(row.studies for row in rows)
        return sum(row.held for row in rows) / total if total else None


def coverage(
    panels: Iterable[tuple[Panel, int]],
    *,
    items: int = 20,
    kinds: tuple[Kind, ...] = ("jackknife",),
    threshold: float = 0.1,
    rule: str = "lowest-mean",
    resamples: int = 1000,
) -> Coverage:
    """Simulate studies, filter their raters, and count the intervals that hold the truth of the raters who stay.

    Args:
        panels: one entry a study: its raters and systems, and its seed.
        items: of each study.
        kinds: of intervals.
        threshold: kappa that pairs of raters must exceed.
        rule: who leaves.
        resamples: of a bootstrap.
    """
    counts: dict[tuple[Kind, str, Name], list[int]] = {}
    studies = 0
    for people, seed in panels:
        studies += 1
        study = simulate(people, items, seed)
        kept = filter_raters(study.ratings, threshold, rule)
        truth = people.truth(kept.kept)
        for kind in kinds:
            found = correlate(kept.ratings, study.scores, kind=kind, resamples=resamples, seed=seed)
            for row in found.rows:
                for name in NAMES if row.metric != CONSTANT else ():
                    bounds = {"spearman": row.spearman, "pearson": row.pearson, "kendall": row.kendall}[name].interval
                    cell = counts.setdefault((kind, row.metric, name), [0, 0])
                    if bounds is not None:
                        cell[0] += 1
                        cell[1] += bounds[0] <= truth[row.metric, name] <= bounds[1]
    method = f"{items} items a study; raters: {RULES[rule]} (kappa {threshold:g}); "
    method += "; ".join(METHODS[kind] for kind in kinds)
    return Coverage(tuple(Held(*key, *cell) for key, cell in counts.items()), studies, method)
