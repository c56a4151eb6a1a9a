"""Words that a sentence needs if it is to state a fact: what a search can hold on to while it is owed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dactnlg.fidelity.reader import Reader
from dactnlg.fidelity.samples import Sample
from dactnlg.text.placeholders import is_placeholder

COVERAGE = 0.95
"""At least this share of the sentences that state a fact hold one of its words."""
MOST = 8
"""Words of a fact at most."""
LIFT = 2.0
"""Sentences that state the fact have a word at least so many times as often as others."""


def learn_triggers(reader: Reader, rows: Sequence[Sample]) -> dict[str, list[str]]:
    """Return for each special value the words of which hardly any sentence that states it lacks all."""
    total = Counter(word for row in rows for word in set(row.sentence.words))
    triggers = {}
    logits = [reader.logits(row.sentence) if any(f.kind[:1] == "=" for f in row.facts) else {} for row in rows]
    for name, fact in reader.facts.items():
        # Yes and no have their words in common, and hardly a sentence says either without them.
        if fact.kind[:1] != "=" or fact.kind in ("=yes", "=no"):
            continue
        least = reader.limits[name].least
        about = [(row, found[name]) for row, found in zip(rows, logits, strict=True) if fact in row.facts]
        stating = [frozenset(row.sentence.words) for row, logit in about if logit >= least]
        words = _cover(stating, total, len(rows))
        if stating and words:
            triggers[name] = words
    return triggers


def _cover(rows: Sequence[frozenset[str]], total: Counter[str], size: int) -> list[str]:
    counts = Counter(word for row in rows for word in row if not is_placeholder(word))
    usual = {
        w: n
        for w, n in counts.items()
        if len(w) > 2 and n / len(rows) >= LIFT * (total[w] - n + 1) / (size - len(rows) + 1)
    }
    left, words = list(rows), list[str]()
    while len(left) > (1 - COVERAGE) * len(rows) and len(words) < MOST:
        gains = Counter(word for row in left for word in row if word in usual)
        if not gains:
            break
        best = max(gains, key=lambda word: (gains[word], word))
        words.append(best)
        left = [row for row in left if best not in row]
    return words if len(left) <= (1 - COVERAGE) * len(rows) else []
