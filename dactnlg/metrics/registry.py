"""Metrics by the names that the command line and JSON use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from dactnlg.errors import UnknownNameError
from dactnlg.metrics import bleu
from dactnlg.metrics.base import Metric
from dactnlg.metrics.cider import Cider
from dactnlg.metrics.nist import Nist
from dactnlg.metrics.presets import Preset, get_preset
from dactnlg.metrics.rouge import RougeL
from dactnlg.metrics.sacre import Chrf, Ter

# A family makes all its scores from one pass; new metrics are entered here.
_FAMILIES: dict[tuple[str, ...], Callable[[Preset], Metric]] = {
    bleu.Bleu.names: lambda preset: bleu.create(preset.bleu, lowercase=preset.mteval),
    Nist.names: lambda preset: Nist("13a" if preset.mteval else preset.tokenizer, lowercase=preset.mteval),
    ("METEOR-1.5",): lambda preset: _meteor(preset.tokenizer),
    RougeL.names: lambda preset: RougeL(preset.rouge, preset.tokenizer),
    Cider.names: lambda preset: Cider(preset.tokenizer),
    Chrf.names: lambda preset: Chrf(),
    Ter.names: lambda preset: Ter(),
}
NAMES = tuple(name for names in _FAMILIES for name in names)


def _meteor(tokenization: str) -> Metric:
    # Late: the module is large and its data are an extra.
    from dactnlg.metrics.meteor import Meteor

    return Meteor(tokenization)


class Selected(NamedTuple):
    """A metric and those of its scores that were asked for."""

    metric: Metric
    names: tuple[str, ...]


def select(preset: str, names: Sequence[str] | None = None) -> list[Selected]:
    """Return metrics in the variants of a preset.

    Args:
        preset: the preset's name.
        names: scores (`BLEU-4`, case ignored) or families (`BLEU`); None for those that the preset gives.

    Raises:
        UnknownNameError: no such preset or metric.
        MetricError: a metric whose data are not installed.
    """
    chosen = get_preset(preset)
    wanted: set[str] = set()
    for name in chosen.metrics if names is None else names:
        found = [n for n in NAMES if name.casefold() in (n.casefold(), n.casefold().rsplit("-", 1)[0])]
        if not found:
            raise UnknownNameError("metric", name, NAMES)
        wanted.update(found)
    return [
        Selected(make(chosen), tuple(n for n in family if n in wanted))
        for family, make in _FAMILIES.items()
        if wanted.intersection(family)
    ]
