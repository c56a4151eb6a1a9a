"""Learned questions: how training asks for slots, which of a turn's questions a sentence lacks, and how to ask them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple

from dactnlg._utils.memory import Memory
from dactnlg.acts import Turn
from dactnlg.text.grammar.english import FUNCTION_WORDS, listed
from dactnlg.text.nearness import names_slot
from dactnlg.text.report_names import question_name
from dactnlg.text.sentences import Tokens
from dactnlg.text.templates import Templates
from dactnlg.text.traits import Trait, read_trait
from dactnlg.text.trigger_words import PRECISION, QUESTION, TriggerWords, bare_slots

RARE = 0.05
"""A word in a smaller share of a slot's questions does not show that they ask for it."""
_ASK_FOR_NOTHING = FUNCTION_WORDS | listed("""
    been before could did does even get got here let like looking may not one say something very want yet
""")
"""Words of questions that do not show what is asked for."""
REMEMBERED = 1 << 20, 1 << 20
"""Slots whose questions are cached, at most, and their bytes."""


class SlotQuestions(NamedTuple):
    """How training asks for a slot.

    Attributes:
        triggers: its trigger words; among other acts, a sentence without any of them does not ask for it.
        words: words that show, among other questions of its act, that it is asked for.
        slot_name: its name, whose words show that, too.
        sentences: whole sentences that ask for it, without placeholders.
        marks: what all questions have in common, the question mark; empty if there is no such mark.
        others: the other slots that its act asks for.
    """

    triggers: frozenset[str]
    words: frozenset[str]
    slot_name: str
    sentences: list[Tokens]
    marks: frozenset[str]
    others: tuple[str, ...]

    def asks_otherwise(self, words: Collection[str]) -> bool:
        """Whether a question of its act names another slot, and this one in no way that training has."""
        named = any(names_slot(word, other) for other in self.others for word in words)
        return named and bool(self.words) and not self.asked(words, among=True)

    def among(self, tokens: Iterable[str]) -> bool:
        """Whether tokens known to be questions of its act ask for it."""
        return any(token in self.words or names_slot(token.casefold(), self.slot_name) for token in tokens)

    def can_tell(self, *, among: bool) -> bool:
        """Whether one can detect that a sentence does not ask for it; `among`: words of questions alone may show it."""
        return bool(self.triggers or (among and self.marks and self.words))

    def asked(self, words: Collection[str], *, among: bool) -> bool:
        """Whether a sentence of these words asks for it.

        Args:
            words: its tokens.
            among: whether they are known to be questions of its act.
        """
        if not self.triggers.isdisjoint(words):
            return True
        if among or not self.triggers:
            return self.among(words) and (among or not self.marks.isdisjoint(words))
        return False


class LearnedQuestions:
    """The questions of a corpus, each identified by act type and slot (`request(food)`). Thread-safe.

    Args:
        templates: the training sentences.
        trigger_words: the words that express questions.
    """

    def __init__(self, templates: Templates, trigger_words: TriggerWords) -> None:
        self._templates, self._trigger_words = templates, trigger_words
        self._known: Memory[SlotQuestions] = Memory(*REMEMBERED)

    def of(self, turn: Turn) -> tuple[str, ...]:
        """Return the questions of a turn that could be lost detectably."""
        # A turn with one question is about that; a question can only be lost among other questions or other acts.
        alone = bare_slots(turn) if len(turn.acts) > 1 else ()
        single = sum(act.is_question for act in turn.acts) == 1
        seen = [name for name in alone if self._for(name).can_tell(among=single) and self.wordings(name)]
        return tuple(dict.fromkeys((*_asked_together(turn), *seen)))

    def wordings(self, name: str) -> list[Tokens]:
        """Return how training asks, as whole sentences; empty if unknown."""
        return self._for(name).sentences

    def lost(self, turn: Turn, tokens: Tokens) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the questions that tokens lack and that can be appended, and the slots of all that they lack."""
        words, asked, together = set(tokens), self.of(turn), _asked_together(turn)
        unasked = [name for name in asked if not self._for(name).asked(words, among=name in together)]
        if not asked and len(names := bare_slots(turn)) == 1 and self._for(names[0]).asks_otherwise(words):
            unasked = list(names)
        slots = [name.partition("(")[2].removesuffix(")") or name for name in unasked]
        return tuple(name for name in unasked if self.wordings(name)), tuple(slots)

    def _for(self, name: str) -> SlotQuestions:
        found = self._known.get(name)
        if found is None:
            found = _read(name, self._templates, self._trigger_words)
            self._known.put(name, found, 500 + sum(100 + 10 * len(sentence) for sentence in found.sentences))
        return found


def _asked_together(turn: Turn) -> tuple[str, ...]:
    """Return the slots without a value that share their act with another such slot: `request(food;area)`.

    Training seldom has two in one act, and a model then asks only for the one that it knows better.
    """
    found: dict[str, None] = {}
    for act in turn.acts:
        names = [question_name(act.act_type, slot.name) for slot in act.slots if slot.value is None]
        if len(set(names)) > 1:
            found |= dict.fromkeys(names)
    return tuple(found)


def _read(name: str, templates: Templates, trigger_words: TriggerWords) -> SlotQuestions:
    """Return how training asks for a slot (`request(food)`), or says an act without one (`?reqmore()`).

    If it has no trigger words, because statements use the same words, there are still words that distinguish its
    questions from those of the same act for other slots.
    """
    act_type, _, slot_name = name.removesuffix(")").partition("(")
    own = Trait(act_type, slot_name)
    triggers = frozenset(trigger_words.get(name, ()))
    sentences = templates.endings(own)
    known = {read_trait(printed) for key in templates.sentences for printed in key}
    siblings = sorted(trait for trait in known - {own} if trait.slot and trait.act_type == act_type)
    others = Counter(word for trait in siblings for ending in templates.endings(trait) for word in set(ending))
    counts = Counter(
        word for ending in sentences for word in set(ending) if len(word) > 2 and word not in _ASK_FOR_NOTHING
    )
    least, share = RARE * len(sentences), PRECISION[1]
    words = triggers.union(w for w, n in counts.items() if n >= least and n >= share * (n + others[w]))
    marks = frozenset(trigger_words.get(QUESTION, ()))
    found = SlotQuestions(triggers, words, slot_name, [], marks, tuple(trait.slot for trait in siblings))
    for sentence in sentences:
        if not triggers.isdisjoint(sentence) or (not triggers and found.among(sentence)):
            found.sentences.append(sentence)
    return found
