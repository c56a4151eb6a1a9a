"""A comparison of two systems as text."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dactnlg._utils.tables import aligned
from dactnlg._utils.terminal import printable
from dactnlg.evaluation.comparison import Change, Difference, SystemComparison
from dactnlg.evaluation.scores import shown

TOP = 5


def text(found: SystemComparison, top: int = TOP) -> str:
    """Return a comparison for people: scores with intervals and p-values, then acts and segments that changed.

    What the files say is made printable, line by line.
    """
    return "\n".join(map(printable, _lines(found, top)))


def _lines(found: SystemComparison, top: int) -> list[str]:
    header = ["", "A", "B", "B - A", "95% interval", "p (bootstrap)", "p (swapping)", "better"]
    several = len({item.preset for item in found.differences}) > 1
    lines = [f"A: {found.labels[0]}", f"B: {found.labels[1]}", ""]
    lines += aligned([header, *(_row(item, with_preset=several) for item in found.differences)], rule=True).split("\n")
    lines.append("better: both tests give p < .05; one in twenty such findings is chance, and more scores find more.")
    if found.refused:
        lines += ["", "Not ranked:", *(f"  {reason}" for reason in found.refused)]
    if not found.metric:
        return lines
    lines += _acts(found)
    better = [change for change in found.segments if change.gain > 0]
    worse = [change for change in reversed(found.segments) if change.gain < 0]
    for title, changes in (("better", better), ("worse", worse)):
        shown_here = f", the first {top}" if len(changes) > top else ""
        lines += ["", f"Segments that got {title} by {found.metric}: {len(changes)}{shown_here}"]
        lines += [line for change in changes[:top] for line in _segment(change)]
    return lines


def _row(item: Difference, *, with_preset: bool) -> list[str]:
    name = f"{item.preset} {item.name}" if with_preset else item.name
    test = item.test
    if test is None or not math.isfinite(test.difference):
        return [name, shown(item.first), shown(item.second), "", "", "", "", ""]
    interval = f"{test.low:+.4f} to {test.high:+.4f}" if math.isfinite(test.low) else ""
    tests = [f"{test.p_bootstrap:.4f}", f"{test.p_randomization:.4f}"]
    return [name, shown(item.first), shown(item.second), f"{test.difference:+.4f}", interval, *tests, item.better]


def _acts(found: SystemComparison) -> Sequence[str]:
    if not found.acts:
        return []
    rows = [["act", "segments", "A", "B", "B - A", ""]]
    for act in found.acts:
        verdict = "better" if act.gain > 0 else "worse"
        numbers = [shown(act.first), shown(act.second), f"{act.second - act.first:+.4f}"]
        rows.append([act.act, str(act.size), *numbers, verdict])
    return ["", f"Acts that changed by {found.metric}:", *aligned(rows, rule=True).split("\n")]


def _segment(change: Change) -> list[str]:
    texts = [f"    A {change.first:.4f}  {change.texts[0]}", f"    B {change.second:.4f}  {change.texts[1]}"]
    reference = [f"    reference {change.reference}"] if change.reference else []
    return [f"  {change.segment}  {change.act}".rstrip(), *(texts if any(change.texts) else []), *reference]
