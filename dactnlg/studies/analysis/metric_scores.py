"""Metric values of the sentences that people judged."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dactnlg.evaluation import scores as evaluated
from dactnlg.evaluation.stored import read_scores
from dactnlg.studies.analysis.judgements import Sentence
from dactnlg.studies.ratings import Ratings, RatingsError, TableRows, by, finite, open_table

KEYS = ("corpus", "item", "system")
LOWER_IS_BETTER = evaluated.LOWER_IS_BETTER | {"WER"}
"""Metrics for which smaller values are better; their sign is inverted when metrics are compared."""


@dataclass(frozen=True)
class MetricScores:
    """Values of metrics for sentences.

    Attributes:
        values: metric -> sentence (corpus, item, system) -> value; missing or undefined values are left out. An empty
            corpus stands for any.
        lower_is_better: metrics for which smaller values are better.
    """

    values: Mapping[str, Mapping[Sentence, float]]
    lower_is_better: frozenset[str] = LOWER_IS_BETTER

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics."""
        return tuple(self.values)

    def value(self, metric: str, sentence: Sentence) -> float:
        """Return a metric's value for a sentence, NaN if it has none."""
        found = self.values[metric]
        return found.get(sentence, found.get(("", *sentence[1:]), math.nan))

    def sign(self, metric: str) -> int:
        """Return -1 for a metric for which smaller values are better, else 1."""
        return -1 if metric.split(" ")[0] in self.lower_is_better else 1

    def only(self, metrics: Iterable[str]) -> MetricScores:
        """Return the values of some of the metrics.

        Raises:
            RatingsError: there are no values of a metric.
        """
        wanted = tuple(metrics)
        if unknown := [name for name in wanted if name not in self.values]:
            raise RatingsError(f"there are no values of {unknown[0]}; metrics: {', '.join(self.values)}")
        return MetricScores({name: self.values[name] for name in wanted}, self.lower_is_better)

    @classmethod
    def of(cls, rows: Iterable[tuple[Sentence, Mapping[str, float | None]]]) -> MetricScores:
        """Build scores from sentences, each with a mapping of metric -> value; None and NaN are left out."""
        values: dict[str, dict[Sentence, float]] = {}
        for sentence, scores in rows:
            for metric, value in scores.items():
                column = values.setdefault(metric, {})
                if value is not None and math.isfinite(value):
                    column[sentence] = float(value)
        return cls(values)

    @classmethod
    def read_csv(cls, path: Path) -> MetricScores:
        """Read a CSV file with columns item, system, optionally corpus, and one per metric, whose cells may be empty.

        Raises:
            RatingsError: a column is missing, a value is not a finite number, or a sentence occurs twice.
            OSError: it cannot be read.
        """
        with open_table(path) as (header, table):
            return cls.of(_rows(header, table, str(path)))

    @classmethod
    def read(cls, sources: Sequence[str], items: Sequence[str] = ()) -> MetricScores:
        """Read a CSV file, or a `SYSTEM=FILE.json` for each system, as given to `--scores`.

        Raises:
            RatingsError: a source is neither, a system is repeated, or as in `read_csv` and `read_json`.
        """
        if len(sources) == 1 and "=" not in sources[0]:
            return cls.read_csv(Path(sources[0]))
        files: dict[str, Path] = {}
        for source in sources:
            system, _, path = source.partition("=")
            if not system or not path:
                raise RatingsError(f"scores {source!r}: give one CSV file, or SYSTEM=FILE.json for every system")
            if system in files:
                raise RatingsError(f"scores {source!r}: there are scores of {system} already")
            files[system] = Path(path)
        return cls.read_json(files, items)

    @classmethod
    def read_json(cls, files: Mapping[str, Path], items: Sequence[str], corpus: str = "") -> MetricScores:
        """Read the output of `dactnlg score --json` or `evaluate --json`, one file per system.

        Args:
            files: system -> file, whose segments are in the order of `items`.
            items: the items, one per segment.
            corpus: the items' corpus; any by default.

        Raises:
            RatingsError: a file has a different number of segments.
            MetricError: a file does not contain scores.
        """
        rows: list[tuple[Sentence, dict[str, float | None]]] = []
        for system, path in files.items():
            presets = read_scores(path)
            for preset, stored in presets.items():
                if stored.size != len(items):
                    raise RatingsError(f"{path}: it has {stored.size} segments, and there are {len(items)} items")
                names = {name: f"{name} ({preset})" if len(presets) > 1 else name for name in stored.segments}
                for place, item in enumerate(items):
                    scores = {names[name]: float(column[place]) for name, column in stored.segments.items()}
                    rows.append(((corpus, item, system), dict(scores)))
        return cls.of(rows)


def common_order(ratings: Ratings) -> list[str]:
    """Return the items in the order that the ratings of all raters share.

    Raises:
        RatingsError: the orders differ, as in a study with an individual order for each rater.
    """
    items = ratings.names("item")
    place = {item: at for at, item in enumerate(items)}
    for (rater,), rows in by(ratings.rows, "rater"):
        own = [place[item] for item in dict.fromkeys(row["item"] for row in rows)]
        if own != sorted(own):
            raise RatingsError(
                f"--scores SYSTEM=FILE.json: values stand in the order of items, and {rater}'s ratings have another "
                "order than those before; give a CSV file of scores (item, system, METRIC), or the study's folder"
            )
    return items


def _rows(header: Sequence[str], table: TableRows, where: str) -> Iterable[tuple[Sentence, dict[str, float | None]]]:
    if missing := [name for name in KEYS[1:] if name not in header]:
        raise RatingsError(f"{where}: there is no column {missing[0]}; scores have the columns item, system, METRIC...")
    metrics = [name for name in header if name not in KEYS]
    if not metrics:
        raise RatingsError(f"{where}: there is no column of a metric beside item and system")
    seen = set()
    for line, cells in table:
        sentence = cells.get("corpus") or "", cells["item"], cells["system"]
        if sentence in seen:
            raise RatingsError(f"{line}: {sentence[2]}'s sentence for item {sentence[1]} stands there twice")
        seen.add(sentence)
        yield sentence, {name: _number(cells[name], f"{line}: {name}") for name in metrics}


def _number(text: str, where: str) -> float | None:
    if not text.strip() or text.strip().lower() in {"nan", "null", "none"}:
        return None
    return finite(text, where)
