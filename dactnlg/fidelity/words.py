"""Words that a sentence needs if it is to state a fact, and words that no sentence has without a slot of its act.

The first are what a search can hold on to while a fact is owed; the second tell of slots that are invented.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dactnlg.fidelity.facts import told_of
from dactnlg.fidelity.reader import Reader
from dactnlg.fidelity.samples import FUNCTION_WORDS, Sample
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.values.nearness import names_slot

COVERAGE = 0.95
"""At least this share of the sentences that state a fact hold one of its words."""
MOST = 8
"""Words of a fact at most."""
LIFT = 2.0
"""Sentences that state the fact have a word at least so many times as often as others."""
SURE, FEWEST, SHORTEST = 0.98, 20, 3
"""Share of the sentences with a word whose acts have a slot, from which on it tells of the slot; the least number of
these sentences, and of its letters."""
USUAL = 0.5
"""Slots of so large a share of all acts are told of by nearly any word."""


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


def learn_telling(rows: Sequence[Sample]) -> dict[str, str]:
    """Return words that name a slot, or say that any does not matter, and that stand only where the act has that.

    "power" tells of `powerconsumption`, "care" of some `=dontcare`: a sentence for an act without it says too much.
    """
    total = Counter[str]()
    # For each word what the acts of its sentences have, by act types.
    groups: dict[str, dict[str, list[set[str]]]] = {}
    for row in rows:
        held = told_of(row.facts, row.slots)
        total.update(held)
        for word in set(filter(str.isalpha, row.sentence.words)):
            groups.setdefault(word, {}).setdefault(row.sentence.acts, []).append(held)
    found, others = {}, frozenset(FUNCTION_WORDS.split())
    for word, by_acts in groups.items():
        places = [held for group in by_acts.values() for held in group]
        if len(places) < FEWEST or len(word) < SHORTEST or word in others:
            continue
        counts = Counter(name for held in places for name in held)
        # Where it goes with several, the rarest of them is what it is about: "phone" with `phone`, not with `name`.
        sure = [(total[name], name) for name, n in counts.items() if n >= SURE * len(places)]
        number, name = min(sure, default=(len(rows), ""))
        if number >= USUAL * len(rows) or not (name[0] == "=" or names_slot(word, name)):
            continue
        # Acts that name what they lack as a rule: a welcome says what one can ask for.
        if all(2 * sum(name in held for held in group) >= len(group) for group in by_acts.values()):
            found[word] = name
    return found
