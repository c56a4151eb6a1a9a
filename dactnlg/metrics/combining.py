"""Computes scores from stored statistics, given signatures alone, so that scores read from a file can be resampled.

What a metric needs to read text (METEOR's tables, word vectors) is not needed to combine its statistics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dactnlg.metrics import bleu, perplexity, slot_error
from dactnlg.metrics.base import Array, Metric, Segment, mean, settings_of
from dactnlg.metrics.nist import Nist
from dactnlg.metrics.resampling import Score
from dactnlg.metrics.sacre import Chrf, Ter

_MEANS = (("embedding-average", "vector-extrema", "greedy-matching"), ("ROUGE-1", "ROUGE-2"))
"""Families of several means; a family of one mean needs no entry."""


class Adder(Metric):
    """Stands in for a metric when only its statistics are left: combines them, but cannot read text.

    Args:
        names: the family's scores.
        combine: computes scores from summed statistics.
    """

    def __init__(self, names: tuple[str, ...], combine: Score) -> None:
        self.names, self.settings, self._combine = names, {}, combine

    def statistics(self, segments: Sequence[Segment]) -> Array:
        """Raise TypeError: text cannot be scored here."""
        raise TypeError(f"{self.names[0]} can only be added up here; score the {len(segments)} segments again")

    def score(self, sums: Array) -> Array:
        """Return the scores of summed statistics, (..., S) -> (..., K)."""
        return self._combine(sums)


def adders(statistics: Mapping[str, Array], signatures: Mapping[str, str]) -> dict[str, Metric]:
    """Return an `Adder` for each family; families that this version cannot combine are left out.

    Args:
        statistics: family -> statistics, (N, S).
        signatures: score -> signature.
    """
    made = {family: scorer(family, signatures, found.shape[1]) for family, found in statistics.items()}
    return {family: Adder(*found) for family, found in made.items() if found is not None}


def scorer(family: str, signatures: Mapping[str, str], width: int) -> tuple[tuple[str, ...], Score] | None:
    """Return the names of a family's scores and the function that computes them from summed statistics.

    Args:
        family: the family's first name, under which its statistics are stored.
        signatures: score -> signature, of all stored scores.
        width: the number of statistics per segment.

    Returns:
        None for a family that this version cannot combine.
    """
    if family == bleu.Bleu.names[0]:
        variants = {settings_of(signatures[name]).get("variant") for name in bleu.Bleu.names if name in signatures}
        return next(((bleu.Bleu.names, bleu.create(v).score) for v in variants if v in bleu.VARIANTS), None)
    if family == perplexity.NAMES[0]:
        return perplexity.NAMES, perplexity.combine
    if family in _PLAIN:
        return (family,), _PLAIN[family]()
    # Means over segments: the values, then 1 where they are defined.
    names = next((names for names in _MEANS if names[0] == family), (family,))
    return (names, mean) if width == len(names) + 1 else None


def _meteor() -> Score:
    # Imported late: the module is large.
    from dactnlg.metrics.meteor.meteor import combine

    return combine


_PLAIN: dict[str, Callable[[], Score]] = {
    Nist.names[0]: lambda: Nist().score,
    Chrf.names[0]: lambda: Chrf().score,
    Ter.names[0]: lambda: Ter().score,
    "METEOR-1.5": _meteor,
    slot_error.SlotErrorRate.names[0]: lambda: slot_error.combine,
}
