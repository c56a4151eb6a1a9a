"""What is known of acts apart from any sentence: what cannot be checked, and whether training had them."""

from __future__ import annotations

from typing import NamedTuple

from dactnlg._utils.memory import Memory
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.requests import DelexicalizedAct
from dactnlg.text.templates import kind

REMEMBERED = 10_000, 4 << 20
"""Delexicalised acts of which this is remembered, at most, and their bytes."""


class ActKnowledge(NamedTuple):
    """What is known about an act.

    Attributes:
        unchecked: its special values and questions that nothing can show, act types that training never had, and
            those that it has too seldom for sentences to be told by, where the combination is new: a sentence may lack
            them unnoticed.
        seen: whether training had its combination of act types and slots, and each special value of its slot; None
            where that is not known.
    """

    unchecked: tuple[str, ...]
    seen: bool | None


class KnownActs:
    """Tells of delexicalised acts what is known about them. Several threads may use one.

    Args:
        preprocessor: the preprocessor of a run.
    """

    def __init__(self, preprocessor: Preprocessor) -> None:
        self._preprocessor = preprocessor
        self._known: Memory[ActKnowledge] = Memory(*REMEMBERED)

    def of(self, act: DelexicalizedAct) -> ActKnowledge:
        """Return what is known about an act."""
        found = self._known.get(act)
        if found is None:
            found = self._known.put(act, self._look(act), 200 + 60 * len(act.turn.acts))
        return found

    def _look(self, act: DelexicalizedAct) -> ActKnowledge:
        preprocessor, turn = self._preprocessor, act.turn
        names = (preprocessor.reader or preprocessor.checker).unchecked(turn)
        # Questions beside others, or behind other acts, are looked for by the words that training asks them with, if it
        # has any; for the others there is the slot's name alone, and for a part that is said by itself not even that.
        questions, manners = preprocessor.questions, preprocessor.manners
        # What is named without a value in other acts, `inform(food)`, nobody asks for.
        named = {f"{act.act_type}({slot.name})" for act, slot in turn.slots() if not manners.is_question(act.act_type)}
        asked = [name for name in questions.of(turn) if questions.wordings(name) and name not in named] if names else []
        combinations, act_types = preprocessor.templates.sentences, preprocessor.encoder.act_types
        seen = kind(turn) in combinations and not preprocessor.new_values.of(turn) if combinations else None
        new = [act.act_type for act in turn if act.act_type not in act_types]
        # What training has is said in its words; where all acts are of one type none is taken for another.
        if preprocessor.reader is not None and seen is False and len(act_types) > 1:
            told = [act.act_type for act in turn if not act.is_question]
            new += [act_type for act_type in told if not preprocessor.reader.knows_act(act_type)]
        unchecked = (*(f"{act_type}()" for act_type in new), *(name for name in names if name not in asked))
        return ActKnowledge(tuple(dict.fromkeys(unchecked)), seen)
