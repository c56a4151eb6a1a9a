"""Trigger words, which a sentence needs to state a fact, and telling words, which indicate a slot of its act.

Triggers guide the search while a fact is still required; telling words reveal invented slots.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dactnlg.fidelity.facts import told_of
from dactnlg.fidelity.reader import Reader
from dactnlg.fidelity.samples import FUNCTION_WORDS, Sample
from dactnlg.text.nearness import names_slot
from dactnlg.text.placeholders import is_placeholder

COVERAGE = 0.95
"""Minimum share of the sentences stating a fact that contain one of its trigger words."""
MOST = 8
"""Maximum number of trigger words of a fact."""
LIFT = 2.0
"""A trigger word is at least this many times as frequent in sentences that state the fact as in others."""
SURE, FEWEST, SHORTEST = 0.98, 20, 3
"""For a telling word: minimum share of its sentences whose acts have the slot, minimum number of its sentences, and
minimum number of its letters."""
EXPECTED, RARER = 10, 25
"""For a telling word of a slot that most acts have: minimum number of its sentences that would lack the slot by chance,
and how many times as few of them lack it."""


def learn_triggers(reader: Reader, rows: Sequence[Sample]) -> dict[str, list[str]]:
    """Return special value -> trigger words, at least one of which nearly every sentence that states it contains."""
    total = Counter(word for row in rows for word in set(row.sentence.words))
    triggers = {}
    logits = [reader.logits(row.sentence) if any(f.special for f in row.facts) else {} for row in rows]
    for name, fact in reader.facts.items():
        # Yes and no share their words, and hardly any sentence states either without them.
        if not fact.special or fact.kind in ("=yes", "=no"):
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
    """Return word -> the slot it names, or kind of special values, without which the word hardly ever occurs.

    "power" indicates `powerconsumption`, "care" some `=dontcare`: in a sentence of an act without it they are extra.
    """
    total = Counter[str]()
    # word -> act types -> the slots and kinds of the acts of its sentences.
    groups: dict[str, dict[str, list[set[str]]]] = {}
    for row in rows:
        held = told_of(row.facts, row.slots)
        total.update(held)
        for word in set(filter(str.isalpha, row.sentence.words)):
            groups.setdefault(word, {}).setdefault(row.sentence.acts, []).append(held)
    found = {}
    for word, by_acts in groups.items():
        places = [held for group in by_acts.values() for held in group]
        if len(places) < FEWEST or len(word) < SHORTEST or word in FUNCTION_WORDS:
            continue
        counts = Counter(name for held in places for name in held)
        # If it occurs with several, the rarest is the one that it is about: "phone" with `phone`, not with `name`.
        sure = [(total[name], name) for name, n in counts.items() if n >= SURE * len(places)]
        number, name = min(sure, default=(len(rows), ""))
        lacking = len(places) * (1 - number / len(rows))
        rare = lacking >= EXPECTED and RARER * (len(places) - counts[name]) <= lacking
        if not rare or not (name[0] == "=" or names_slot(word, name)):
            continue
        # Ignore words of acts that usually name slots they lack: a welcome says what one can ask for.
        if all(2 * sum(name in held for held in group) >= len(group) for group in by_acts.values()):
            found[word] = name
    return found
