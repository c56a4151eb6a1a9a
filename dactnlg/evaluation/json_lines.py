"""Single lines of JSON Lines: a sentence with its references, with its act, or with both."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dactnlg._utils.reading import parse_json, short
from dactnlg.acts import Turn
from dactnlg.errors import MetricError
from dactnlg.evaluation.lines import FORMS, TextPair, read_turn

_SAID = "hypothesis", "text"
"""What a sentence to be scored or checked is called; `text` by `generate` and in corpora."""


def pair(line: str, where: str) -> TextPair:
    """Return a hypothesis with its references and, if known, its turn.

    Raises:
        MetricError: the line is not of that form; the message begins with `where`.
    """
    form = '{"hypothesis": text, "references": [text, ...]}, with "act" if it is known'
    row = _object(line, where, form, f"plain text needs its references beside it: {FORMS}")
    if "references" not in row and _key(row, _SAID):
        raise MetricError(f"{where}: no 'references'; expected {form}, or references in files of their own: {FORMS}")
    for key in ("hypothesis", "references"):
        if key not in row:
            raise _lacking(row, where, form, key)
    return TextPair(_text(row, "hypothesis", where), _texts(row, where), read_turn(row.get("act"), where))


def output(line: str, where: str) -> TextPair:
    """Return a hypothesis, or `text` as `generate` calls it, with its references and its turn if the line has them.

    Raises:
        MetricError: the line is not of that form; the message begins with `where`.
    """
    form = '{"hypothesis": text}, or "text" for "hypothesis", with "act" if it is known'
    row = _object(line, where, form, f"expected {form}")
    said = _key(row, _SAID)
    if said is None:
        raise _lacking(row, where, form, "hypothesis")
    return TextPair(_text(row, said, where), _texts(row, where), read_turn(row.get("act"), where))


def checked(line: str, where: str) -> Iterator[tuple[Turn, str]]:
    """Yield the turn of a line with its hypothesis, text, or each of its references: the first of them that it has.

    Raises:
        MetricError: the line is not of that form; the message begins with `where`.
    """
    form = '{"act": act, "hypothesis": text}, or "text", or "references", for "hypothesis"'
    row = _object(line, where, form, f"expected {form}, one per line, or a table with the columns act and hypothesis")
    said = _key(row, (*_SAID, "references"))
    if said is None:
        raise _lacking(row, where, form, "hypothesis")
    texts = _texts(row, where) if said == "references" else (_text(row, said, where),)
    turn = read_turn(row.get("act"), where)
    if turn is None:
        raise MetricError(f"{where}: no 'act' to check the sentence against")
    yield from each(turn, texts, where)


def each(turn: Turn, texts: Sequence[str], where: str) -> Iterator[tuple[Turn, str]]:
    """Yield a turn with each of its sentences; there must be one.

    Raises:
        MetricError: there is none; the message begins with `where`.
    """
    if not texts:
        raise MetricError(f"{where}: no sentence to check")
    yield from ((turn, text) for text in texts)


def _key(row: Mapping[str, Any], keys: Iterable[str]) -> str | None:
    """Return the first of several keys that a row has."""
    return next((key for key in keys if key in row), None)


def _object(line: str, where: str, form: str, hint: str) -> dict[str, Any]:
    """Return the JSON object of a line; `hint` is added to the message about one that looks like plain text."""
    try:
        row = parse_json(line)
    except json.JSONDecodeError as error:
        more = "" if line.lstrip()[:1] in ("{", "[") else f"; {hint}"
        raise MetricError(f"{where}: not JSON ({error.msg}){more}") from None
    if not isinstance(row, dict):
        raise MetricError(f"{where}: expected {form}")
    return row


def _lacking(row: Mapping[str, Any], where: str, form: str, key: str) -> MetricError:
    unknown = sorted(set(row) - {"hypothesis", "references", "act"})
    hint = f" (it has {', '.join(unknown):.200})" if unknown else ""
    return MetricError(f"{where}: no '{key}'{hint}; expected {form}")


def _text(row: Mapping[str, Any], key: str, where: str) -> str:
    text = row[key]
    if not isinstance(text, str):
        raise MetricError(f"{where}: '{key}' must be text, not {short(text)}")
    return text


def _texts(row: Mapping[str, Any], where: str) -> tuple[str, ...]:
    references = row.get("references", [])
    if isinstance(references, str):
        references = [references]
    if not isinstance(references, list) or not all(isinstance(text, str) for text in references):
        raise MetricError(f"{where}: 'references' must be a list of texts, not {short(references)}")
    return tuple(references)
