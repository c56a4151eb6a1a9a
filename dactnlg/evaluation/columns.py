"""Tables of acts, hypotheses and references: TSV and CSV with a header line, as in the E2E challenge."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from dactnlg._utils.reading import table_rows
from dactnlg.errors import MetricError

_ACT = re.compile(r"(acts?|mrs?|da|src|source|meaning[_ .-]rep(resentation)?|dial(ogue)?[_ .-]acts?)", re.IGNORECASE)
_HYPOTHESIS = re.compile(
    r"(hyp(othes[ie]s)?|out(puts?)?|sys(tem)?([_ .-]out(puts?)?)?|predictions?|generated)", re.IGNORECASE
)
_TEXT = re.compile(r"text", re.IGNORECASE)
_REFERENCE = re.compile(r"(refs?|references?|trg|tgt|targets?|human([_ .-]refs?)?)[_ .-]?\d*", re.IGNORECASE)
NAMES = "act (mr, source), hypothesis (output, system, text) and reference (ref, target; several: ref1, ref2)"
"""Accepted names of columns, for messages."""


class SentenceRow(NamedTuple):
    """One row: the act and the hypothesis, if there is such a column, and the references that are not blank."""

    line: int
    act: str | None
    hypothesis: str | None
    references: tuple[str, ...] | None


def delimiter(header: str) -> str:
    """Return the delimiter of a header line, a tab, a comma or a semicolon; empty if there is none."""
    return next((sign for sign in "\t,;" if sign in header), "")


def known_header(header: str) -> bool:
    """Whether a line is the header of a table of sentences: it names a hypothesis or a reference, and another column.

    Without tabs, all its parts must be known names, so that a sentence with a comma is not taken for a header.
    """
    names = _names(header)
    known = [name for name in names if any(p.fullmatch(name) for p in (_ACT, _HYPOTHESIS, _TEXT, _REFERENCE))]
    wanted = any(p.fullmatch(name) for name in names for p in (_HYPOTHESIS, _TEXT, _REFERENCE))
    return wanted and (len(known) > 1 if "\t" in header else len(known) == len(names))


def read_rows(lines: Iterable[tuple[int, str]], where: str) -> list[SentenceRow]:
    """Return the rows of a table.

    Args:
        lines: line numbers and texts, the header first; blank lines are skipped.
        where: what messages call the file.

    Raises:
        MetricError: there are two columns of acts or hypotheses, no rows, or a row of another length than the header.
    """
    numbered = [(number, line) for number, line in lines if line.strip()]
    header, numbers = numbered[0][1], [number for number, _ in numbered]
    names = _names(header)
    acts, hypotheses, references = (
        [place for place, name in enumerate(names) if pattern.fullmatch(name)]
        for pattern in (_ACT, _HYPOTHESIS, _REFERENCE)
    )
    # So corpora call their sentences; beside hypotheses, it is something else.
    hypotheses = hypotheses or [place for place, name in enumerate(names) if _TEXT.fullmatch(name)]
    for what, places in (("acts", acts), ("hypotheses", hypotheses)):
        if len(places) > 1:
            found = ", ".join(names[place] for place in places[:3])
            raise MetricError(f"{where}: {found} are {len(places)} columns of {what}; one is expected")
    rows, before = [], 1
    table = table_rows((f"{line}\n" for _, line in numbered), delimiter(header))
    for end, cells in islice(_cells(table, where), 1, None):
        line, before = numbers[before], end
        if len(cells) != len(names):
            raise MetricError(f"{where}, line {line}: {len(cells)} columns, where the header has {len(names)}")
        texts = tuple(cells[place].strip("\n") for place in references if cells[place].strip())
        act = cells[acts[0]] if acts else None
        hypothesis = cells[hypotheses[0]].strip("\n") if hypotheses else None
        rows.append(SentenceRow(line, act, hypothesis, texts if references else None))
    if not rows:
        raise MetricError(f"{where} is a table with a header and no row")
    return rows


def _cells(rows: Iterable[tuple[int, list[str]]], where: str) -> Iterator[tuple[int, list[str]]]:
    try:
        yield from rows
    except csv.Error as error:
        raise MetricError(f"{where}: not a table ({error})") from None


def _names(header: str) -> list[str]:
    # Called for any line of text, which may have no delimiter, or not be a row at all.
    try:
        _, cells = next(table_rows([header], delimiter(header) or "\t"))
    except csv.Error:
        return []
    return [name.strip() for name in cells]
