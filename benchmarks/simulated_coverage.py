"""Coverage of intervals: how often they contain the truth in simulated studies, analysed like real ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from simulated_ratings import CONSTANT, Panel, simulate

from dactnlg.studies.analysis.coefficients import NAMES, Name
from dactnlg.studies.analysis.correlation import correlate
from dactnlg.studies.analysis.filtering import RULES, filter_raters
from dactnlg.studies.analysis.intervals import METHODS, Kind
from dactnlg.studies.analysis.results import Result


@dataclass(frozen=True)
class Held:
    """Coverage of one kind of interval for one metric's coefficient.

    Attributes:
        kind: the kind of interval.
        metric: the metric.
        coefficient: the coefficient.
        studies: number of studies with an interval.
        held: number of those whose interval contains the truth.
    """

    kind: Kind
    metric: str
    coefficient: Name
    studies: int
    held: int

    @property
    def share(self) -> float | None:
        """The coverage: `held` over `studies`, None without studies."""
        return self.held / self.studies if self.studies else None


@dataclass(frozen=True)
class Coverage(Result):
    """Coverage for all kinds, metrics and coefficients; `studies` is the number of simulated studies."""

    rows: tuple[Held, ...]
    studies: int
    method: str

    def share(self, kind: Kind) -> float | None:
        """Return the coverage of a kind of interval over all metrics and coefficients."""
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
    """Simulate studies, filter their raters, and count the intervals that contain the truth for the remaining raters.

    Args:
        panels: one entry per study: its raters and systems, and its seed.
        items: number of items in each study.
        kinds: kinds of intervals.
        threshold: kappa that pairs of raters must exceed.
        rule: which rater is removed, a key of `filtering.RULES`.
        resamples: number of bootstrap resamples.
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
