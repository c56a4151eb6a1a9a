"""Reads scores and their statistics back from files written by `score --json` and `evaluate --json`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from dactnlg.errors import MetricError
from dactnlg.evaluation.lines import read_document
from dactnlg.metrics import resampling
from dactnlg.metrics.base import Array
from dactnlg.metrics.combining import scorer


@dataclass(frozen=True, slots=True)
class Family:
    """The scores computed from the same statistics.

    Attributes:
        names: all scores of the family, in the order of `combine`.
        combine: computes scores from summed statistics, (..., S) -> (..., K).
        statistics: those of each segment, (N, S).
    """

    names: tuple[str, ...]
    combine: resampling.Score
    statistics: Array


@dataclass(frozen=True, slots=True)
class StoredScores:
    """One system's scores under one preset.

    Attributes:
        preset: the preset's name.
        size: the number of segments.
        values: score -> value, None where undefined.
        signatures: score -> signature.
        hashes: score -> hash.
        segments: score -> its value for each segment, (N,); NaN where undefined.
        families: score -> the family it belongs to; scores that cannot be resampled are left out.
        texts: `act`, `hypothesis`, `reference` and `key` of each segment; empty for files without texts.
    """

    preset: str
    size: int
    values: dict[str, float | None]
    signatures: dict[str, str]
    hashes: dict[str, str]
    segments: dict[str, Array]
    families: dict[str, Family]
    texts: list[dict[str, str | None]] = field(default_factory=list)

    def reordered(self, order: list[int]) -> StoredScores:
        """Return the same scores with the segments in another order."""
        families = {
            name: Family(family.names, family.combine, family.statistics[order])
            for name, family in self.families.items()
        }
        segments = {name: values[order] for name, values in self.segments.items()}
        texts = [self.texts[index] for index in order]
        return replace(self, segments=segments, families=families, texts=texts)


def read_scores(path: str | Path) -> dict[str, StoredScores]:
    """Return the scores of a JSON file by preset; the first one is that at the top level.

    Raises:
        MetricError: the file, which the message names, cannot be read or does not contain scores.
    """
    return stored_scores(read_document(path), str(path))


def stored_scores(data: Any, where: str) -> dict[str, StoredScores]:
    """Return the scores of JSON data by preset; arguments and errors as `read_scores`."""
    try:
        presets = data.get("presets") or {data.get("preset", ""): data}
        return {name: _one(name, part, where) for name, part in presets.items()}
    except (AttributeError, KeyError, TypeError, ValueError, IndexError, OverflowError):
        raise MetricError(
            f"{where} holds no scores; write them with: dactnlg score --json FILE, or dactnlg evaluate --json FILE"
        ) from None


def aligned(a: StoredScores, b: StoredScores) -> tuple[StoredScores, StoredScores] | None:
    """Return both with their segments in A's order, which hashes ignore but paired tests depend on.

    None if segments have no keys, or others: which ones are pairs is then unknown.
    """
    keys, others = ([text["key"] for text in system.texts] for system in (a, b))
    if len(keys) != a.size or Counter(keys) != Counter(others):
        return None
    if keys == others:
        return a, b
    places: dict[str | None, list[int]] = defaultdict(list)
    for index in reversed(range(len(others))):
        places[others[index]].append(index)
    return a, b.reordered([places[key].pop() for key in keys])


def unpaired(a: StoredScores, b: StoredScores) -> str:
    """Return why it is unknown which segments are pairs."""
    without = " and ".join(label for label, system in (("A", a), ("B", b)) if len(system.texts) != system.size)
    return f"the segments of {without} have no keys to pair them by" if without else "the keys of segments differ"


def _one(preset: str, data: Mapping[str, Any], where: str) -> StoredScores:
    scores, rows = data["scores"], data["segments"]
    signatures = {name: str(score["signature"]) for name, score in scores.items()}
    segments = {
        name: np.array([_number(row["scores"][name]) for row in rows], np.float64)
        for name in scores
        # Scores of whole corpora, such as diversity, have no values for segments.
        if not rows or any(name in row["scores"] for row in rows)
    }
    values = {name: None if score["value"] is None else _number(score["value"]) for name, score in scores.items()}
    families = _families(rows, signatures, values, where)
    # All segments have a key or none does: segments of two systems are paired by it.
    keyed = any("key" in row for row in rows)
    names = ("act", "hypothesis", "reference")
    texts = [{"key": _text(row["key"]), **{k: _text(row.get(k)) for k in names}} for row in rows if keyed]
    hashes = {name: str(score["hash"]) for name, score in scores.items()}
    return StoredScores(preset, len(rows), values, signatures, hashes, segments, families, texts)


def _number(value: object) -> float:
    """Return a score, NaN for None.

    Raises:
        TypeError: it is not a number.
        ValueError: it is not finite; JSON's 1e999 is read as infinity.
        OverflowError: it is an integer too large for a float.
    """
    if value is None:
        return np.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(value)
    if not np.isfinite(number := float(value)):
        raise ValueError(value)
    return number


def _text(value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError(value)
    return value


def _families(
    rows: list[Any], signatures: dict[str, str], values: dict[str, float | None], where: str
) -> dict[str, Family]:
    found: dict[str, Family] = {}
    for name in rows[0].get("statistics", {}) if rows else ():
        statistics = np.array([row["statistics"][name] for row in rows], np.float64)
        if not np.isfinite(statistics).all():
            raise ValueError(name)
        made = scorer(name, signatures, statistics.shape[1])
        if made is None:
            continue
        names, combine = made
        again = combine(statistics.sum(axis=0))
        for column, score in enumerate(names):
            value = values.get(score)
            if score in values and not np.isclose(again[column], np.nan if value is None else value, equal_nan=True):
                raise MetricError(f"{where}: {score} is {value}, but its segments give {again[column]:.6f}")
        found |= {score: Family(names, combine, statistics) for score in names if score in values}
    return found
