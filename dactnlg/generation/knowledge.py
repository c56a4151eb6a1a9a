"""What is known about acts independently of any sentence: what cannot be checked, and whether training had them."""

from __future__ import annotations

from typing import NamedTuple

from dactnlg._utils.memory import Memory
from dactnlg.acts import Turn
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.report_names import act_name, question_name
from dactnlg.text.requests import DelexicalizedAct
from dactnlg.text.traits import kind

REMEMBERED = 10_000, 4 << 20
"""Limits of the cache: number of delexicalised acts, and bytes."""


class ActKnowledge(NamedTuple):
    """What is known about an act.

    Attributes:
        unchecked: what a sentence may lack unnoticed: special values and questions that cannot be recognised, unseen
            act types, and, in unseen combinations, act types too rare in training to be recognised.
        seen: whether the training data contains the combination of act types and slots, and each special value of its
            slot; None if not known.
    """

    unchecked: tuple[str, ...]
    seen: bool | None


class KnownActs:
    """Looks up what is known about delexicalised acts. Several threads may use one.

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
            found = self._known.put(act, self._look(act.turn), 200 + 60 * len(act.turn.acts))
        return found

    def _look(self, turn: Turn) -> ActKnowledge:
        preprocessor = self._preprocessor
        names = (preprocessor.reader or preprocessor.checker).unchecked(turn)
        # Questions next to other questions or after other acts are recognised by their wordings in training, if there
        # are any; for the rest there is only the slot's name, and for a part that is said by itself not even that.
        questions, manners = preprocessor.questions, preprocessor.manners
        # A slot without a value in an act that is not a question, `inform(food)`, is not asked for.
        named = {
            question_name(act.act_type, slot.name)
            for act, slot in turn.slots()
            if not manners.is_question(act.act_type)
        }
        asked = [name for name in questions.of(turn) if questions.wordings(name) and name not in named] if names else []
        combinations, act_types = preprocessor.templates.sentences, preprocessor.encoder.act_types
        seen = kind(turn) in combinations and not preprocessor.new_values.of(turn) if combinations else None
        new = [act.act_type for act in turn if act.act_type not in act_types]
        # Seen combinations are said in training's words; with a single act type, acts cannot be confused.
        if preprocessor.reader is not None and seen is False and len(act_types) > 1:
            told = [act.act_type for act in turn if not act.is_question]
            new += [act_type for act_type in told if not preprocessor.reader.knows_act(act_type)]
        unchecked = (*(act_name(act_type) for act_type in new), *(name for name in names if name not in asked))
        return ActKnowledge(tuple(dict.fromkeys(unchecked)), seen)
