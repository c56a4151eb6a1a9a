"""The whole analysis of a study's ratings, question by question."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from dactnlg._utils.reading import regular_file
from dactnlg.errors import UnknownNameError
from dactnlg.studies.analysis.agreement import Kappas, kappas
from dactnlg.studies.analysis.ambiguous import Ambiguous, ambiguous
from dactnlg.studies.analysis.anova import Anova, Type, anova
from dactnlg.studies.analysis.clustered import Over
from dactnlg.studies.analysis.coefficients import Name
from dactnlg.studies.analysis.correlation import Level, MetricCorrelations, correlate
from dactnlg.studies.analysis.filtering import FilteredRaters, filter_raters
from dactnlg.studies.analysis.human import SplitHalves, split_halves
from dactnlg.studies.analysis.judgements import pairwise
from dactnlg.studies.analysis.metric_scores import MetricScores, common_order
from dactnlg.studies.analysis.mixed import MixedModel, mixed_model
from dactnlg.studies.analysis.normalization import Way, normalize, scale_notes
from dactnlg.studies.analysis.paired import PairedSentences, paired
from dactnlg.studies.analysis.permutation import permute_metrics
from dactnlg.studies.analysis.ranking import RUNS, Ranking, rank_systems
from dactnlg.studies.analysis.reliability import Reliability, reliability
from dactnlg.studies.analysis.results import Result
from dactnlg.studies.analysis.systems import SystemMeans, WinLossTie, head_to_head, means
from dactnlg.studies.analysis.williams import MetricDifferences, compare_metrics
from dactnlg.studies.metric_values import study_scores
from dactnlg.studies.ratings import Ratings, RatingsError
from dactnlg.studies.study import FILE, Study

PERMUTATIONS = 200
"""Permutations of PERM-BOTH: as many as tell .05 from .01; each pair of metrics takes them anew."""
Properties = Mapping[str, Mapping[str, str]]
Progress = Callable[[str], object]


@dataclass(frozen=True, kw_only=True)
class AnalysisOptions:
    """How ratings are analysed.

    Attributes:
        criteria: which ones; all by default.
        threshold: kappa that pairs of raters must exceed, or one of the two leaves; None keeps everybody.
        rule: which rater leaves, by a name of `filtering.RULES`.
        normalization: what is done to each rater's values before means and models (`normalization.METHODS`).
        over: what the intervals of means are for: other items and raters, other items, or other raters.
        baseline: the system that all others are compared with; without it every pair is.
        properties: system -> property -> level, for the analysis of variance; without any there is none.
        anova_type: of the sums of squares, 2 or 3.
        runs: tournaments of TrueSkill.
        seed: of everything that is drawn.
        scores: values of metrics for the sentences that were judged; without any, nothing is said of metrics.
        people: systems whose sentences people wrote: metrics are given with and without them.
        permutations: of PERM-BOTH; 0 leaves that test out.
    """

    criteria: Sequence[str] = ()
    threshold: float | None = None
    rule: str = "lowest-mean"
    normalization: Way = "none"
    over: Over = "both"
    baseline: str | None = None
    properties: Properties = field(default_factory=dict)
    anova_type: Type = 2
    runs: int = RUNS
    seed: int = 1
    scores: MetricScores | None = None
    people: Sequence[str] = ()
    permutations: int = PERMUTATIONS


@dataclass(frozen=True)
class MetricAnalysis(Result):
    """How metrics agree with people.

    Attributes:
        pairings: what was compared, for pictures.
        levels: correlations of sentences, of sentences within items, of systems.
        halves: people with each other.
        differences: which metrics Williams' test tells apart, by Spearman's coefficient and by Pearson's.
        permuted: the same by PERM-BOTH, for Pearson's; None where it was left out.
    """

    pairings: tuple[PairedSentences, ...]
    levels: tuple[MetricCorrelations, ...]
    halves: SplitHalves
    differences: tuple[MetricDifferences, ...]
    permuted: MetricDifferences | None

    def to_json(self) -> dict[str, Any]:
        """Return the fields but the sentences themselves."""
        return {name: value for name, value in super().to_json().items() if name != "pairings"}


@dataclass(frozen=True)
class Analysis(Result):
    """What ratings say.

    Attributes:
        raters, items, systems, ratings: how many were analysed.
        notes: what should be told of all of it.
        kappas, reliabilities, ambiguous: agreement, one entry a criterion.
        filtered: who left; None where nobody was to.
        means, wins: systems.
        rankings, models: one entry a criterion.
        anova: None without properties.
        metrics: None without metrics.
    """

    raters: int
    items: int
    systems: int
    ratings: int
    notes: tuple[str, ...]
    kappas: tuple[Kappas, ...]
    reliabilities: tuple[Reliability, ...]
    ambiguous: tuple[Ambiguous, ...]
    filtered: FilteredRaters | None
    means: SystemMeans
    wins: WinLossTie
    rankings: tuple[Ranking, ...]
    models: tuple[MixedModel, ...]
    anova: Anova | None
    metrics: MetricAnalysis | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON has them, without the ratings themselves."""
        found = super().to_json()
        if self.filtered is not None:
            found["filtered"] = {name: value for name, value in found["filtered"].items() if name != "ratings"}
        return found | {"metrics": self.metrics.to_json() if self.metrics else None}


def analyse(ratings: Ratings, options: AnalysisOptions, progress: Progress | None = None) -> Analysis:
    """Return everything that is computed of ratings.

    Agreement is that of all raters, before any leaves; the rest is of those who stay. Wins, losses, ties and ranks need
    no normalisation: a rater is compared with nobody else in them.

    Args:
        ratings: the judgements.
        options: how they are analysed.
        progress: called with the name of each step as it begins.

    Raises:
        RatingsError: there are no ratings, or nobody stays.
        UnknownNameError: a criterion, a rule or a system that does not exist.
    """
    step = progress or (lambda _name: None)
    ratings = _chosen(ratings, options.criteria)
    each = [ratings.where(criterion=name) for name in ratings.names("criterion")]
    step("agreement")
    agreed = tuple(kappas(part, seed=options.seed) for part in each)
    reliable = tuple(reliability(part) for part in each)
    spread = tuple(ambiguous(part) for part in each)
    filtered = None
    if options.threshold is not None:
        filtered = filter_raters(ratings, options.threshold, options.rule)
        ratings = filtered.ratings
        if not ratings.rows:
            raise RatingsError(f"no two raters agree beyond a kappa of {options.threshold:g}: nobody stays")
    scaled = normalize(ratings, options.normalization)
    step("means")
    averages, wins = means(scaled.ratings, over=options.over), head_to_head(ratings, options.baseline)
    rankings, models = [], []
    # Values that were normalised do not show any more that two of them are one judgement.
    compared = [name for name in ratings.names("criterion") if pairwise(ratings, name)]
    for name in ratings.names("criterion"):
        step(f"order of systems: {name}")
        rankings.append(rank_systems(ratings, name, options.runs, options.seed))
        step(f"mixed-effects model: {name}")
        models.append(mixed_model(ratings if name in compared else scaled.ratings, name))
    step("analysis of variance")
    found = _anova(ratings if compared else scaled.ratings, options)
    step("metrics")
    metrics = _metrics(ratings, options) if options.scores is not None else None
    told = [*ratings.notes, *(scale_notes(ratings) if options.normalization == "none" else ()), *scaled.notes]
    told += [f"values are normalised: {scaled.method}"] * (options.normalization != "none")
    return Analysis(
        raters=len(ratings.names("rater")),
        items=len(ratings.names("item")),
        systems=len(ratings.names("system")),
        ratings=len(ratings.rows),
        notes=tuple(dict.fromkeys(told)),
        kappas=agreed,
        reliabilities=reliable,
        ambiguous=spread,
        filtered=filtered,
        means=averages,
        wins=wins,
        rankings=tuple(rankings),
        models=tuple(models),
        anova=found,
        metrics=metrics,
    )


def _metrics(ratings: Ratings, options: AnalysisOptions) -> MetricAnalysis | None:
    scores, gold = options.scores, options.people
    if scores is None:
        return None
    levels: list[Level] = ["segment", "item", "system"]
    coefficients: list[Name] = ["spearman", "pearson"]
    permuted = None
    if options.permutations:
        permuted = permute_metrics(ratings, scores, gold=gold, count=options.permutations, seed=options.seed)
    return MetricAnalysis(
        pairings=tuple(paired(ratings, scores, gold)),
        levels=tuple(correlate(ratings, scores, gold=gold, level=level, seed=options.seed) for level in levels),
        halves=split_halves(ratings, gold=gold, seed=options.seed),
        differences=tuple(compare_metrics(ratings, scores, gold=gold, name=name) for name in coefficients),
        permuted=permuted,
    )


def steps(ratings: Ratings, options: AnalysisOptions) -> int:
    """Return how many steps `analyse` will name."""
    return 4 + 2 * len(options.criteria or ratings.names("criterion"))


def _chosen(ratings: Ratings, criteria: Sequence[str]) -> Ratings:
    known = ratings.names("criterion")
    if not known:
        raise RatingsError("there are no ratings")
    for name in criteria:
        if name not in known:
            raise UnknownNameError("criterion", name, known)
    return ratings.without("criterion", [name for name in known if name not in criteria]) if criteria else ratings


def _anova(ratings: Ratings, options: AnalysisOptions) -> Anova | None:
    factors = dict.fromkeys(name for own in options.properties.values() for name in own)
    if not factors:
        return None
    return anova(ratings, list(factors), options.properties, options.anova_type)


def read_properties(path: Path) -> dict[str, dict[str, str]]:
    """Read a CSV file of systems and their properties: a column `system`, and one for each property.

    Raises:
        RatingsError: there is no such column, no property, an empty cell, or a system twice; the message has the line.
        OSError: it cannot be read.
    """
    found: dict[str, dict[str, str]] = {}
    for line, row in _rows(path):
        system = row.pop("system", None)
        if system is None or not row:
            raise RatingsError(f"{path}: it needs a column system, and one for each property")
        if not all((value or "").strip() for value in (system, *row.values())):
            raise RatingsError(f"{path}, line {line}: a cell is empty")
        if system in found:
            raise RatingsError(f"{path}, line {line}: {system} stands there twice")
        found[system] = row
    return found


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    with regular_file(path).open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        try:
            for row in reader:
                if None in row or None in row.values():
                    raise RatingsError(f"{path}, line {reader.line_num}: it has more or fewer cells than the header")
                yield reader.line_num, row
        except UnicodeDecodeError:
            raise RatingsError(f"{path}: it is not text in UTF-8") from None
        except csv.Error as error:
            raise RatingsError(f"{path}: it is not CSV: {error}") from None


def study_folder(path: Path) -> Path:
    """Return the folder of a study that is named by its `study.json`; any other path as it is."""
    return path.parent if path.name == FILE else path


def read_study_ratings(path: Path, database: str | None = None) -> Ratings:
    """Return the ratings of a study's folder, or of a CSV file.

    Args:
        path: the folder, or the file.
        database: the address of the database that a study's ratings are in, if not in its folder.

    Raises:
        StudyError: the folder is no study, or has no ratings yet.
        RatingsError: the file holds no ratings.
    """
    path = study_folder(path)
    if path.is_dir():
        from dactnlg.studies.storage import read_ratings

        return read_ratings(path, database)
    return Ratings.read(path)


class MetricSource(NamedTuple):
    """Where metrics come from: files, or for a study's own sentences a protocol; and which of them are used."""

    files: Sequence[str] = ()
    preset: str | None = None
    metrics: Sequence[str] = ()


def metric_scores(path: Path, ratings: Ratings, source: MetricSource) -> MetricScores | None:
    """Return metrics of the sentences that were judged: from files, or computed for a study's folder.

    Args:
        path: the study's folder, or a CSV file of ratings.
        ratings: what is in it.
        source: where they come from.

    Returns:
        None for a CSV file without files of metrics, and for a study whose items have no references.

    Raises:
        DactnlgError: the files do not fit, nothing tells which items they are of, or there is no such preset or metric.
    """
    path = study_folder(path)
    if source.files:
        by_place = len(source.files) > 1 or "=" in source.files[0]
        # Raters saw items in orders of their own: whose answer came first says nothing about the lines of a file.
        if path.is_dir():
            items = [item.id for item in Study.load(path).items if item.check is None]
        else:
            items = common_order(ratings) if by_place else []
        found = MetricScores.read(list(source.files), items)
        return found.only(source.metrics) if source.metrics else found
    if not path.is_dir():
        if source.preset or source.metrics:
            raise RatingsError("a CSV file of ratings has no references: give the metrics with --scores")
        return None
    study = Study.load(path)
    if not any(item.references for item in study.items) and not (source.preset or source.metrics):
        return None
    return study_scores(study, source.preset, source.metrics or None)
