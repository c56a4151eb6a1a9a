"""Trigger words: the words that express a special value, learned from sentences in which its cues show.

A value has a placeholder, so a search can see that it is still owed. `familyFriendly=no` has none; but hardly a
sentence says it without "family", "kid" or "child". Until one of these trigger words is generated, the sentence may
not end. Whether it then says yes or no, the cues tell. A question among other acts (`inform(count=3)&request(area)`)
has trigger words likewise, or it would be lost where training never had just these acts together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from dactnlg.acts import Turn
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.sentences import Tokens
from dactnlg.text.slots import SlotChecker
from dactnlg.text.surface import detokenize
from dactnlg.text.templates import Templates
from dactnlg.text.values.nearness import names_slot

TriggerWords = dict[str, tuple[str, ...]]
"""The words of each special value, by `trigger`: `{"familyFriendly": ("family", "kid"), "food=dontcare": ("any",)}`"""

COVERAGE = 0.98
"""At least this share of the sentences that show a value hold one of its trigger words."""
PRECISION = (0.3, 0.9)
"""At least this share of the sentences that hold a trigger word show its value; with less it is an ordinary word. The
first where few sentences show the value, up to the second where half of all sentences do."""
QUESTION = "?"
"""Under this name stand the trigger words of all questions: where sentences have it, the question mark."""
RARE = 0.05
"""A word in fewer of a slot's questions does not show that they ask for it."""
_FUNCTION_WORDS = """
    about also been before could does even from have here just like looking more some something than that them then
    there they this very want what when where which will with would your
"""
GAIN = 0.003
"""At least this share of the sentences that show a value is added by each further trigger word."""


def trigger(name: str) -> str:
    """Return under which name a special value (`familyFriendly=no`) has trigger words: its slot if it is yes or no.

    Yes and no have their words in common; what tells them apart ("not") is in other sentences too.
    """
    slot, _, value = name.partition("=")
    return slot if value in ("yes", "no") else name


def bare_slots(turn: Turn) -> tuple[str, ...]:
    """Return the slots that stand without a value, as those asked for do, and the acts without slots behind others.

    There is nothing in `request(food)` or `?reqmore()` that a checker could find, but the question has trigger words.
    """
    named = [f"{act.act_type}({slot.name})" for act, slot in turn.slots() if slot.value is None]
    return tuple(dict.fromkeys(named + [f"{act.act_type}()" for act in turn.acts[1:] if not act.slots]))


def asked_slots(turn: Turn) -> tuple[str, ...]:
    """Return the slots that stand without a value beside another one in their act: `request(food;area)`.

    Training seldom has two in one act, and a model then says the one that it knows better.
    """
    found: dict[str, None] = {}
    for act in turn.acts:
        names = [f"{act.act_type}({slot.name})" for slot in act.slots if slot.value is None]
        if len(set(names)) > 1:
            found |= dict.fromkeys(names)
    return tuple(found)


class Questions(NamedTuple):
    """How training asks for a slot.

    Attributes:
        triggers: its trigger words; beside other acts a sentence without any of them does not ask for it.
        words: beside other questions of its act, those that show that it is asked for.
        slot_name: its name, whose words show that, too.
        sentences: whole ones that ask for it, without placeholders.
        marks: what all questions have in common, the question mark, if they have.
    """

    triggers: frozenset[str]
    words: frozenset[str]
    slot_name: str
    sentences: list[Tokens]
    marks: frozenset[str]

    def among(self, tokens: Iterable[str]) -> bool:
        """Whether tokens that are questions of its act ask for it."""
        return any(token in self.words or names_slot(token.casefold(), self.slot_name) for token in tokens)

    def can_tell(self, *, among: bool) -> bool:
        """Whether a sentence can be seen not to ask for it; `among`: even if by words of questions alone."""
        return bool(self.triggers or (among and self.marks and self.words))

    def asked(self, words: Collection[str], *, among: bool) -> bool:
        """Whether a sentence of these words asks for it.

        Args:
            words: its tokens.
            among: whether it is certain that they are questions of its act.
        """
        if not self.triggers.isdisjoint(words):
            return True
        if among or not self.triggers:
            return self.among(words) and (among or not self.marks.isdisjoint(words))
        return False


def read_questions(name: str, templates: Templates, trigger_words: TriggerWords) -> Questions:
    """Return how training asks for a slot (`request(food)`), or says an act without one (`?reqmore()`).

    Where it has no trigger words, because statements have the same words, there still are those that tell its questions
    from those of the same act for other slots.
    """
    act_type, _, slot_name = name.removesuffix(")").partition("(")
    own = f"{act_type}|{slot_name}" if slot_name else act_type
    triggers = frozenset(trigger_words.get(name, ()))
    sentences = templates.endings(own)
    traits = {trait for key in templates.sentences for trait in key if trait.startswith(f"{act_type}|")}
    others = Counter(word for trait in traits - {own} for ending in templates.endings(trait) for word in set(ending))
    counts = Counter(
        word for ending in sentences for word in set(ending) if len(word) > 3 and word not in _FUNCTION_WORDS.split()
    )
    least, share = RARE * len(sentences), PRECISION[1]
    words = triggers.union(w for w, n in counts.items() if n >= least and n >= share * (n + others[w]))
    marks = frozenset(trigger_words.get(QUESTION, ()))
    found = Questions(triggers, words, slot_name, [], marks)
    for sentence in sentences:
        if not triggers.isdisjoint(sentence) or (not triggers and found.among(sentence)):
            found.sentences.append(sentence)
    return found


def learn_trigger_words(pairs: Iterable[tuple[Turn, Sequence[str]]], checker: SlotChecker) -> TriggerWords:
    """Return the trigger words of every special value that the checker has cues for.

    Args:
        pairs: turns and their delexicalised sentences.
        checker: knows the cues.
    """
    turns: dict[tuple[str, ...], set[str]] = {}
    for turn, tokens in pairs:
        # By itself an act without slots says the same as behind others.
        alone = [f"{act.act_type}()" for act in turn.acts if not act.slots]
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
    left, words = list(rows), []
    while len(left) > (1 - COVERAGE) * len(rows):
        gains = Counter(word for row in left for word in row if word in precise)
        best = max(gains, key=lambda word: (gains[word] * precise[word], word), default=None)
        if best is None or gains[best] < max(GAIN * len(rows), 1):
            break
        words.append(best)
        left = [row for row in left if best not in row]
    return tuple(words) if len(left) <= (1 - COVERAGE) * len(rows) else ()
