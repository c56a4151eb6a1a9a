"""Caveats of an evaluation: few references, leakage, short hypotheses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from dactnlg.evaluation.scores import Scores

FEW_SEGMENTS = 100
SHORT = 0.9
"""Hypotheses are short if they have less than this share of their references' words."""


def find_warnings(
    results: Sequence[Scores],
    records: Sequence[Any],
    gold: Sequence[Sequence[str]],
    train: Iterable[tuple[str, Sequence[str]]] | None = None,
) -> list[str]:
    """Return warnings of one or two sentences; arguments as for `content.gather`, records as from `scores.record`."""
    found = [warning for result in results for warning in result.warnings]
    return [*dict.fromkeys(found), *_few(records), *_short(records), *_copied(records), *_leaked(records, gold, train)]


def _few(records: Sequence[Any]) -> Iterable[str]:
    if len(records) < FEW_SEGMENTS:
        yield f"Only {len(records)} segments: the intervals are wide, and small differences mean nothing."
    counts = [len(set(row["references"])) for row in records if row["references"]]
    if counts and sum(counts) < 2 * len(counts):
        yield (
            f"Few references: {sum(counts) / len(counts):.1f} different ones a segment. A good sentence in other words "
            "scores low; compare systems rather than believe the values."
        )


def _short(records: Sequence[Any]) -> Iterable[str]:
    empty = sum(not row["read"].strip() for row in records)
    if empty:
        yield f"{empty} of {len(records)} hypotheses are empty."
    words = reference_words = 0
    for row in records:
        if row["references"]:
            length = len(row["read"].split())
            words += length
            reference_words += min((len(r.split()) for r in row["references"]), key=lambda n: (abs(n - length), n))
    if reference_words and words < SHORT * reference_words:
        yield (
            f"Short hypotheses: {words / reference_words:.0%} of the length of the nearest references. BLEU is lowered "
            "by its brevity penalty; look for slots left out."
        )


def _copied(records: Sequence[Any]) -> Iterable[str]:
    scored = [row for row in records if row["references"]]
    same = sum(row["read"] in row["references"] for row in scored)
    if scored and same == len(scored):
        yield "Every hypothesis is one of its own references: were the right files given?"


def _leaked(
    records: Sequence[Any], gold: Sequence[Sequence[str]], train: Iterable[tuple[str, Sequence[str]]] | None
) -> Iterable[str]:
    if train is None:
        return
    known: dict[str, set[str]] = defaultdict(set)
    for act, sentences in train:
        known[act].update(map(_folded, sentences))
    acts = sum(row["act"] in known for row in records)
    pairs = sum(
        bool(known.get(row["act"], set()) & set(map(_folded, own))) for row, own in zip(records, gold, strict=True)
    )
    if acts:
        yield (
            f"Leakage: {acts} of {len(records)} acts of this split also occur in the training data"
            + (f", {pairs} of them with a reference word for word." if pairs else ".")
            + " What was learned by heart scores well here."
        )


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
