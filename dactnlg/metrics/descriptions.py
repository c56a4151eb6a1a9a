"""One-line descriptions of the metrics: the first paragraph of the docstring of the file or the class."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from types import ModuleType
from typing import NamedTuple

from dactnlg import metrics
from dactnlg.metrics.base import Named
from dactnlg.metrics.registry import GROUPS, NAMES
from dactnlg.metrics.slot_error import SlotErrorRate

_STATISTICS = re.compile(r"[;,] S = .*", re.DOTALL)


class Description(NamedTuple):
    """A metric as shown in lists.

    Attributes:
        names: the names of its scores.
        group: the group that selects it together with others; empty if there is none.
        about: what it is, in one line.
    """

    names: tuple[str, ...]
    group: str
    about: str


def describe() -> list[Description]:
    """Return all metrics, those that need a model last; the scores of a family are one entry."""
    groups = {name: group for group, names in GROUPS.items() for name in names}
    order = {name: place for place, name in enumerate((*NAMES, *SlotErrorRate.names))}
    found: dict[tuple[str, ...], Description] = {}
    for module, classes in _modules():
        # The docstring of a file describes its one family; in files with several, those of the classes do.
        several = len({cls.names for cls in classes}) > 1
        for cls in classes:
            found[cls.names] = Description(cls.names, groups.get(cls.names[0], ""), _about(cls if several else module))
    return sorted(found.values(), key=lambda entry: order.get(entry.names[0], len(order)))


def _modules() -> Iterator[tuple[ModuleType, list[type[Named]]]]:
    """Yield each module that defines metrics, late imports included, with its metrics."""
    for entry in pkgutil.walk_packages(metrics.__path__, f"{metrics.__name__}."):
        module = importlib.import_module(entry.name)
        classes = [
            cls
            for _, cls in inspect.getmembers(module, inspect.isclass)
            if issubclass(cls, Named) and cls.__module__ == module.__name__ and "names" in vars(cls)
        ]
        if classes:
            yield module, classes


def _about(documented: type[Named] | ModuleType) -> str:
    """Return the first paragraph of a docstring in one line, without the shape of the statistics."""
    text = " ".join((inspect.getdoc(documented) or "").partition("\n\n")[0].split())
    return _STATISTICS.sub("", text).rstrip(".")
