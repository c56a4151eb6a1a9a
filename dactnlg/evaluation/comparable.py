"""Whether two scores may be compared, and if not, which settings differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from dactnlg.errors import MetricError
from dactnlg.metrics.base import settings_of

_WORDS = {
    "preset": "preset",
    "tok": "tokenisation",
    "vocabulary": "vocabulary (F with R)",
    "frequent": "frequent vocabulary F",
    "cues": "cues of the slot checker",
}


class Differing(NamedTuple):
    """A setting in which two signatures differ; `none` for a signature that lacks it."""

    what: str
    first: str
    second: str


def differing(one: str, two: str) -> Iterator[Differing]:
    """Yield the settings in which two signatures differ, beginning with the score's name."""
    first, second = ({"score": _score(signature), **settings_of(signature)} for signature in (one, two))
    for key in dict.fromkeys((*first, *second)):
        if first.get(key) != second.get(key):
            yield Differing(_WORDS.get(key, key), first.get(key, "none"), second.get(key, "none"))


def differences(one: Mapping[str, Any], two: Mapping[str, Any]) -> list[str]:
    """Return the reasons why two scores are not comparable, as phrases; an empty list if their hashes agree.

    Args:
        one, two: `{"signature": ..., "hash": ...}` as in the JSON of scores and, if known, "acts" and "references", the
            hashes of `ReferenceHash.parts`, which distinguish another corpus from other references.
    """
    if one["hash"] == two["hash"]:
        return []
    settings = list(differing(one["signature"], two["signature"]))
    found = [f"{part.what}: {part.first} against {part.second}" for part in settings]
    acts, references = (
        None if name not in one or name not in two else one[name] != two[name] for name in ("acts", "references")
    )
    if acts:
        found.append("corpus: other acts")
    elif references:
        found.append("references: the acts are the same, their sentences are not")
    elif not found or (acts is None and not settings):
        found.append("corpus or references: another test set under the same recipe")
    return found


def refuse_incomparable(one: Mapping[str, Any], two: Mapping[str, Any]) -> None:
    """Raise an error unless two scores may be compared.

    Raises:
        MetricError: their hashes differ; the message names the settings that differ.
    """
    found = differences(one, two)
    if found:
        raise MetricError(f"{_score(one['signature'])} cannot be compared; what differs: {'; '.join(found)}")


def _score(signature: str) -> str:
    return signature.partition("|")[0]
