"""Scores pairs under several presets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dactnlg.evaluation.pairs import TextPair
from dactnlg.evaluation.scores import Scores
from dactnlg.evaluation.scoring import DEFAULT_PRESET, score_pairs, without_ser
from dactnlg.metrics.presets import get_preset
from dactnlg.metrics.registry import NOTHING, Materials, check_used


def score_presets(
    pairs: Iterable[TextPair],
    metrics: Sequence[str] | None = None,
    presets: Sequence[str] = (),
    given: Materials = NOTHING,
    *,
    keep: bool = True,
    progress: bool = False,
    total: int | None = None,
) -> list[Scores]:
    """Score pairs under one or more distinct presets; arguments and errors as `score_pairs`.

    Word vectors and training data that no metric reads are an error, too.

    Under a single preset, pairs are streamed; for several, they are kept in memory.
    """
    check_used(without_ser(metrics) or (), given)
    chosen = list(dict.fromkeys(presets or (DEFAULT_PRESET,)))
    for name in chosen:  # before minutes of scoring, not after
        get_preset(name)
    if len(chosen) > 1:
        pairs = list(pairs)
        given = given._replace(train=None if given.train is None else list(given.train))
    return [score_pairs(pairs, metrics, n, given, keep=keep, progress=progress, total=total) for n in chosen]
