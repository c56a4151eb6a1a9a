"""Saying back: implicit confirmations, `impl-conf(food=thai)`, if training only has them inside other acts.

Explicit ones, "you are looking for a Thai restaurant, right?", say the same and ask whether it is right; without that
question they are implicit.
"""

from __future__ import annotations

from functools import cached_property

from dactnlg.acts.act_types import asking_instead
from dactnlg.generation.candidates import Candidate
from dactnlg.generation.unseen.parts import Parts, Text, part
from dactnlg.text.corrections.phrasing import end_of
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.requests import Request
from dactnlg.text.sentences import ENDS, Tokens, is_asking, split_sentences
from dactnlg.text.surface import strip_joiners
from dactnlg.text.traits import act_types

_WISHES = frozenset({"are", "want", "need"})
"""Words after "you" in statements of what a user wants: "did you say you are looking for a pub?"."""


class SayingBack:
    """Says implicit confirmations by way of explicit ones.

    Args:
        preprocessor: the preprocessor of a run.
    """

    def __init__(self, preprocessor: Preprocessor) -> None:
        self._preprocessor = preprocessor

    def explicit(self, request: Request) -> Parts | None:
        """Return the explicit confirmation as the only part; None for other acts, and for those that training has."""
        act, *more = request.turn.acts
        other = asking_instead(act.act_type)
        known = other != act.act_type and other in self._alone and act.act_type not in self._alone
        if more or not known or not act.slots or any(slot.value is None for slot in act.slots):
            return None

        def join(said: dict[int, Candidate]) -> list[Text]:
            told = [_told(sentence) for sentence in split_sentences(said[0].tokens)]
            return [[token for sentence in told for token in sentence]] if all(told) else []

        return Parts([part(self._preprocessor, request, other, act.slots)], join, all_needed=True, whole=True)

    @cached_property
    def _alone(self) -> frozenset[str]:
        """The act types that are a turn of their own in some training text."""
        kinds = map(act_types, self._preprocessor.templates.sentences)
        return frozenset(acts[0] for acts in kinds if len(acts) == 1)


def _told(sentence: Tokens) -> Tokens:
    """Return the statement in a question, "you want beer" in "did you say you want beer?"; empty if there is none."""
    words = strip_joiners(sentence)
    pairs = enumerate(zip(words, words[1:], strict=False))
    start = next((at for at, (word, verb) in pairs if word == "you" and verb in _WISHES), len(words))
    mark = (sentence[-1].replace("?", "."),) if words[-1] in ENDS else ()
    told = sentence[start : end_of(words)]
    return () if not told or is_asking((*told, *mark)) else (*told, *mark)
