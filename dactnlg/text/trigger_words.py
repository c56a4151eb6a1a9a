"""Trigger words: the words that express a special value, learned from sentences in which its cues match.

A value has a placeholder, so a search can see that it is still owed. `familyFriendly=no` has none, but hardly any
sentence says it without "family", "kid" or "child". Until one of these trigger words is generated, the sentence may
not end. Whether it then says yes or no is checked by cues. A question among other acts
(`inform(count=3)&request(area)`) has trigger words, too, or it would be lost if training never had just these acts
together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from dactnlg.acts import Turn
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.report_names import act_name, question_name
from dactnlg.text.slots import SlotChecker
from dactnlg.text.surface import detokenize

TriggerWords = dict[str, tuple[str, ...]]
"""The words of each special value, by `trigger`: `{"familyFriendly": ("family", "kid"), "food=dontcare": ("any",)}`"""

COVERAGE = 0.98
"""At least this share of the sentences that show a value hold one of its trigger words."""
PRECISION = (0.3, 0.9)
"""At least this share of the sentences with a trigger word must show its value, or it is an ordinary word. The first
applies where few sentences show the value, rising to the second where half of all sentences do."""
QUESTION = "?"
"""The key of the trigger words of all questions: the question mark, if sentences have it."""
GAIN = 0.003
"""Each further trigger word must add at least this share of the sentences that show a value."""


def trigger(name: str) -> str:
    """Return the key of a special value's (`familyFriendly=no`) trigger words: its slot if it is yes or no.

    Yes and no share their words; what distinguishes them ("not") occurs in other sentences, too.
    """
    slot, _, value = name.partition("=")
    return slot if value in ("yes", "no") else name


def bare_slots(turn: Turn) -> tuple[str, ...]:
    """Return the slots without a value, such as those asked for, and the acts without slots after the first act.

    There is nothing in `request(food)` or `?reqmore()` that a checker could find, but the question has trigger words.
    """
    named = [question_name(act.act_type, slot.name) for act, slot in turn.slots() if slot.value is None]
    return tuple(dict.fromkeys(named + [act_name(act.act_type) for act in turn.acts[1:] if not act.slots]))


def learn_trigger_words(pairs: Iterable[tuple[Turn, Sequence[str]]], checker: SlotChecker) -> TriggerWords:
    """Return the trigger words of every special value that the checker has cues for.

    Args:
        pairs: turns and their delexicalised sentences.
        checker: knows the cues.
    """
    turns: dict[tuple[str, ...], set[str]] = {}
    for turn, tokens in pairs:
        # An act without slots says the same alone as after others.
        alone = [act_name(act.act_type) for act in turn.acts if not act.slots]
        alone += [QUESTION for act in turn.acts if act.is_question]
        turns.setdefault(tuple(tokens), set()).update((*checker.special(turn), *bare_slots(turn), *alone))
    holders: Counter[str] = Counter()
    shown: dict[str, list[frozenset[str]]] = {}
    for tokens, asked in turns.items():
        words = frozenset(token for token in tokens if not is_placeholder(token))
        holders.update(words)
        text = detokenize(list(tokens))
        for name in asked:
            slot, special, value = name.partition("=")
            if not special or value in checker.shown_cues(slot, text):
                shown.setdefault(trigger(name), []).append(words)
    found = {name: _cover(rows, holders, len(turns)) for name, rows in sorted(shown.items())}
    return {name: words for name, words in found.items() if words}


def _cover(rows: Sequence[frozenset[str]], holders: Mapping[str, int], total: int) -> tuple[str, ...]:
    """Return a few words such that nearly every row has one and few other sentences do; empty if there are none.

    Args:
        rows: the words of the sentences that show a value.
        holders: how many sentences hold each word.
        total: how many sentences there are.
    """
    low, high = PRECISION
    least = min(low + 2 * (high - low) * len(rows) / total, high)
    counts = Counter(word for row in rows for word in row)
    precise = {word: count / holders[word] for word, count in counts.items() if count >= least * holders[word]}
    left, words = list(rows), []
    while len(left) > (1 - COVERAGE) * len(rows):
        gains = Counter(word for row in left for word in row if word in precise)
        best = max(gains, key=lambda word: (gains[word] * precise[word], word), default=None)
        if best is None or gains[best] < max(GAIN * len(rows), 1):
            break
        words.append(best)
        left = [row for row in left if best not in row]
    return tuple(words) if len(left) <= (1 - COVERAGE) * len(rows) else ()
