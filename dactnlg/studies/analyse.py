"""The complete analysis of a study's ratings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

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
from dactnlg.studies.ratings import Ratings, RatingsError, open_table
from dactnlg.studies.study import Study

Properties = Mapping[str, Mapping[str, str]]
Progress = Callable[[str], object]


@dataclass(frozen=True, kw_only=True)
class AnalysisOptions:
    """How ratings are analysed.

    Attributes:
        criteria: criteria to analyse; all by default.
        threshold: kappa that every pair of raters must exceed, otherwise one of the two is removed; None keeps all.
        rule: how the rater to remove is chosen, a key of `filtering.RULES`.
        normalization: how each rater's values are normalised before means and models (a key of
            `normalization.METHODS`).
        over: what the intervals of means generalise to: other items and raters, other items, or other raters.
        baseline: the system that all others are compared with; by default all pairs are compared.
        properties: system -> property -> level, for the analysis of variance, which is skipped if there are none.
        anova_type: type of the sums of squares, 2 or 3.
        runs: number of TrueSkill tournaments.
        seed: seed of all random draws.
        scores: metric values of the rated sentences; None to skip the analysis of metrics.
        people: systems whose sentences people wrote: metrics are analysed with and without them.
        permutations: number of PERM-BOTH permutations for each pair of metrics; None chooses enough for all pairs, 0
            skips the test.
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
    permutations: int | None = None


@dataclass(frozen=True)
class MetricAnalysis(Result):
    """Agreement of metrics with people.

    Attributes:
        pairings: the values that were correlated, for scatter plots.
        levels: correlations over sentences, over sentences within items, and over systems.
        halves: correlations between halves of the raters.
        differences: Williams' test of each pair of metrics, for Spearman's and for Pearson's coefficient.
        permuted: the PERM-BOTH test for Pearson's coefficient; None if it was skipped.
    """

    pairings: tuple[PairedSentences, ...]
    levels: tuple[MetricCorrelations, ...]
    halves: SplitHalves
    differences: tuple[MetricDifferences, ...]
    permuted: MetricDifferences | None

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON, except for `pairings`."""
        return {name: value for name, value in super().to_json().items() if name != "pairings"}


@dataclass(frozen=True)
class Analysis(Result):
    """The results of all analyses.

    Attributes:
        raters, items, systems, ratings: how many of each were analysed.
        notes: remarks that concern the whole analysis.
        kappas, reliabilities, ambiguous: agreement, one entry per criterion.
        filtered: the outcome of removing raters; None if no threshold was given.
        means, wins: means of the systems, and comparisons between them.
        rankings, models: one entry per criterion.
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


def analyse(ratings: Ratings, options: AnalysisOptions, progress: Progress | None = None) -> Analysis:
    """Return all analyses of ratings.

    Agreement is computed over all raters, before any are removed; everything else over those who remain. Wins, losses,
    ties and ranks use values that are not normalised, as they only compare values of the same rater.

    Args:
        ratings: the judgements.
        options: how they are analysed.
        progress: called with the name of each step as it begins.

    Raises:
        RatingsError: there are no ratings, or no rater remains.
        UnknownNameError: a criterion, a rule or a system does not exist.
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
    # Decided on the raw values: after normalisation, the two values of a pair no longer sum to 1.
    compared = [name for name in ratings.names("criterion") if pairwise(ratings, name)]
    for name in ratings.names("criterion"):
        step(f"order of systems: {name}")
        rankings.append(rank_systems(ratings, name, options.runs, options.seed))
        step(f"mixed-effects model: {name}")
        modelled = ratings if name in compared else scaled.ratings
        # Normalisation leaves a criterion out if every rater gave one value alone.
        models += [mixed_model(modelled, name)] if name in modelled.names("criterion") else []
    step("analysis of variance")
    found = _anova(ratings if compared else scaled.ratings, options)
    step("metrics")
    metrics = _metrics(ratings, options)
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
    if options.permutations != 0:
        permuted = permute_metrics(ratings, scores, gold=gold, count=options.permutations, seed=options.seed)
    return MetricAnalysis(
        pairings=tuple(paired(ratings, scores, gold)),
        levels=tuple(correlate(ratings, scores, gold=gold, level=level, seed=options.seed) for level in levels),
        halves=split_halves(ratings, gold=gold, seed=options.seed),
        differences=tuple(compare_metrics(ratings, scores, gold=gold, name=name) for name in coefficients),
        permuted=permuted,
    )


def steps(ratings: Ratings, options: AnalysisOptions) -> int:
    """Return how many times `analyse` will call `progress`."""
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
    """Read a CSV file of systems and their properties: a column `system`, and one column per property.

    Raises:
        RatingsError: there is no `system` column or no property, a cell is empty, or a system is listed twice.
        OSError: it cannot be read.
    """
    found: dict[str, dict[str, str]] = {}
    with open_table(path) as (header, table):
        if "system" not in header or len(header) < 2:
            raise RatingsError(f"{path}: it needs a column system, and one for each property")
        for line, row in table:
            if not all(value.strip() for value in row.values()):
                raise RatingsError(f"{line}: a cell is empty")
            system = row.pop("system")
            if system in found:
                raise RatingsError(f"{line}: {system} stands there twice")
            found[system] = row
    return found


def read_study_ratings(path: Path, database: str | None = None) -> Ratings:
    """Return the ratings of a study, or of a CSV file.

    Args:
        path: the study's folder or `study.json`, or the CSV file.
        database: the URL of the database with the study's ratings, if they are not in its folder.

    Raises:
        StudyError: the folder is not a study, or has no ratings yet.
        RatingsError: the file does not contain ratings, or there is a database besides it.
    """
    path = Study.folder(path)
    if path.is_dir():
        from dactnlg.studies.storage import read_ratings

        return read_ratings(path, database)
    if database:
        raise RatingsError(f"{path} is not the folder of a study: leave out --database")
    return Ratings.read(path)


class MetricSource(NamedTuple):
    """Where metric values come from: files, or else computed for a study under a preset; and which metrics to use."""

    files: Sequence[str] = ()
    preset: str | None = None
    metrics: Sequence[str] = ()


def metric_scores(path: Path, ratings: Ratings, source: MetricSource) -> MetricScores | None:
    """Return metric values of the rated sentences: read from files, or computed for a study.

    Args:
        path: the study's folder, or a CSV file of ratings.
        ratings: the ratings in it.
        source: where the values come from.

    Returns:
        The values. None if there are no files, and either `path` is a CSV file, or the study's items have no references
        and no preset or metric is asked for.

    Raises:
        DactnlgError: the files do not fit or cannot be matched to items, or there is no such preset or metric.
    """
    path = Study.folder(path)
    if source.files:
        by_place = len(source.files) > 1 or "=" in source.files[0]
        # Each rater sees the items in a different order, so the order of ratings is not that of the lines of a file.
        if path.is_dir():
            items = [item.id for item in Study.load(path).judged]
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
