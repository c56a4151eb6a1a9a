"""Whether two scores may be compared, and if not, which settings differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

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
        one, two: `{"signature": ..., "hash": ...}`, as in the JSON of scores.
    """
    if one["hash"] == two["hash"]:
        return []
    settings = differing(one["signature"], two["signature"])
    found = [f"{part.what}: {part.first} against {part.second}" for part in settings]
    return found or ["corpus or references: another test set under the same recipe"]


def _score(signature: str) -> str:
    return signature.partition("|")[0]
