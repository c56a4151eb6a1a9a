"""Whether two scores may be compared, and if not, what differs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dactnlg.errors import MetricError

_WORDS = {
    "preset": "preset",
    "tok": "tokenisation",
    "vocabulary": "vocabulary (F with R)",
    "frequent": "frequent vocabulary F",
    "cues": "cues of the slot checker",
}


def differences(one: Mapping[str, Any], two: Mapping[str, Any]) -> list[str]:
    """Return what makes two scores incomparable, a phrase each; an empty list where their hashes agree.

    Args:
        one, two: `{"signature": ..., "hash": ...}` as score JSON has them, and, where known, "acts" and "references",
            the hashes of `ReferenceHash.parts`, which tell another corpus from other references.
    """
    if one["hash"] == two["hash"]:
        return []
    first, second = _parts(one["signature"]), _parts(two["signature"])
    found = []
    for key in dict.fromkeys((*first, *second)):
        if first.get(key) != second.get(key):
            values = " against ".join(str(parts.get(key, "none")) for parts in (first, second))
            found.append(f"{_WORDS.get(key, key)}: {values}")
    acts, references = (
        None if name not in one or name not in two else one[name] != two[name] for name in ("acts", "references")
    )
    if acts:
        found.append("corpus: other acts")
    elif references:
        found.append("references: the acts are the same, their sentences are not")
    elif not found or (acts is None and first == second):
        found.append("corpus or references: another test set under the same recipe")
    return found


def refuse_incomparable(one: Mapping[str, Any], two: Mapping[str, Any]) -> None:
    """Do nothing where two scores may be compared.

    Raises:
        MetricError: their hashes differ; the message says what does.
    """
    found = differences(one, two)
    if found:
        raise MetricError(f"{_parts(one['signature'])['score']} cannot be compared; what differs: {'; '.join(found)}")


def _parts(signature: str) -> dict[str, str]:
    name, *settings = signature.split("|")
    return {"score": name, **dict(setting.partition(":")[::2] for setting in settings)}
