"""Anchors: the words by which a special value is told, learned from sentences in which its cues show.

A value has a placeholder, so a search can see that it is still owed. `familyFriendly=no` has none; but hardly a
sentence says it without "family", "kid" or "child". Such words anchor it: until one of them is said, the sentence may
not end. Whether it then says yes or no, the cues tell. A question among other acts (`inform(count=3)&request(area)`)
is anchored likewise, or it would be lost where training never had just these acts together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from dactnlg.acts import Turn
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.slots import SlotChecker
from dactnlg.text.surface import detokenize

Anchors = dict[str, tuple[str, ...]]
"""The words of each special value, by `anchored`: `{"familyFriendly": ("family", "kid"), "food=dontcare": ("any",)}`"""

COVERAGE = 0.98
"""Enough of the sentences that show a value hold one of its anchors."""
PRECISION = (0.3, 0.9)
"""At least so many of the sentences that hold an anchor show its value; fewer, and it is an ordinary word. The first
where few sentences show the value, up to the second where half of all sentences do."""
GAIN = 0.003
"""At least so many of the sentences that show a value are added by each further anchor."""


def anchored(name: str) -> str:
    """Return what anchors a special value (`familyFriendly=no`): its slot where it is yes or no, else itself.

    Yes and no have their words in common; what parts them ("not") is in other sentences too.
    """
    slot, _, value = name.partition("=")
    return slot if value in ("yes", "no") else name


def bare_slots(turn: Turn) -> tuple[str, ...]:
    """Return the slots that stand without a value, as those asked for do: `request(food)`.

    There is nothing in them that a checker could find, but the words of the question anchor them.
    """
    return tuple(dict.fromkeys(f"{act.act_type}({slot.name})" for act, slot in turn.slots() if slot.value is None))


def learn_anchors(pairs: Iterable[tuple[Turn, Sequence[str]]], checker: SlotChecker) -> Anchors:
    """Return the anchors of every special value that the checker has cues for.

    Args:
        pairs: turns and their delexicalised sentences.
        checker: knows the cues.
    """
    turns: dict[tuple[str, ...], set[str]] = {}
    for turn, tokens in pairs:
        turns.setdefault(tuple(tokens), set()).update((*checker.special(turn), *bare_slots(turn)))
    holders: Counter[str] = Counter()
    shown: dict[str, list[frozenset[str]]] = {}
    for tokens, asked in turns.items():
        words = frozenset(token for token in tokens if not is_placeholder(token))
        holders.update(words)
        text = detokenize(list(tokens))
        for name in asked:
            slot, special, value = name.partition("=")
            if not special or value in checker.shown_cues(slot, text):
                shown.setdefault(anchored(name), []).append(words)
    found = {name: _cover(rows, holders, len(turns)) for name, rows in sorted(shown.items())}
    return {name: words for name, words in found.items() if words}


def _cover(rows: Sequence[frozenset[str]], holders: Mapping[str, int], total: int) -> tuple[str, ...]:
    """Return few words of which nearly every row holds one, and which few other sentences hold; none if there are none.

    Args:
        rows: the words of the sentences that show a value.
        holders: how many sentences hold each word.
        total: how many sentences there are.
    """
    low, high = PRECISION
    least = min(low + 2 * (high - low) * len(rows) / total, high)
    counts = Counter(word for row in rows for word in row)
    precise = {word: count / holders[word] for word, count in counts.items() if count >= least * holders[word]}
    left, anchors = list(rows), []
    while len(left) > (1 - COVERAGE) * len(rows):
        gains = Counter(word for row in left for word in row if word in precise)
        best = max(gains, key=lambda word: (gains[word] * precise[word], word), default=None)
        if best is None or gains[best] < max(GAIN * len(rows), 1):
            break
        anchors.append(best)
        left = [row for row in left if best not in row]
    return tuple(anchors) if len(left) <= (1 - COVERAGE) * len(rows) else ()
