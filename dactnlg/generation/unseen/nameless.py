"""Acts without a name: if training mostly names what an act is about, it is said with a name, which becomes "it".

"SLOT_NAME is the only hotel nearby" becomes "it is the only hotel nearby".
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from itertools import product

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.generation.candidates import Candidate
from dactnlg.generation.unseen.parts import Parts, Text
from dactnlg.text.placeholders import placeholder_name
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.requests import Request
from dactnlg.text.segments import Segments
from dactnlg.text.sentences import OWNER, PRONOUN, Tokens, is_asking, split_sentences
from dactnlg.text.surface import strip_joiners
from dactnlg.text.traits import Trait, act_types, slots_of

_BE = ["is"], ["was"]
_REFERRING = frozenset({PRONOUN, OWNER, "other", "others", "same", "then", "case", "too", "that's", "why"})
"""Words that refer to what has been named: "do you feel the same about other hotels?"."""


class Nameless:
    """Adds a name to acts without one, and removes it from the resulting sentences.

    Args:
        preprocessor: the preprocessor of a run.
    """

    def __init__(self, preprocessor: Preprocessor) -> None:
        self._preprocessor, self._segments = preprocessor, Segments(preprocessor)

    def named(self, request: Request) -> Parts | None:
        """Return the act with a name added as the only part; None if it has one, or training mostly has none either."""
        act = request.turn.acts[0]
        naming, name = self._naming.get(act.act_type), self._name
        if len(request.turn.acts) > 1 or not act.slots or naming is None or name is None or _has(act, name):
            return None
        apart = naming != act.act_type
        acts = [DialogueAct(naming, (name,)), act] if apart else [DialogueAct(naming, (name, *act.slots))]

        def join(said: dict[int, Candidate]) -> list[Text]:
            text = self._nameless(said[0].tokens)
            return [text] if text else []

        named = self._preprocessor.request(Turn(tuple(acts)), request.context)
        return Parts([named], join, all_needed=True, whole=True)

    def _nameless(self, tokens: Tokens) -> Tokens:
        """Return a text with "it" instead of the name, if that is a subject; otherwise an empty one.

        "I think it is cheap", but not "have you been to it?"; "there is no other hotel" for "no hotel other than it".
        Of "you liked SLOT_NAME. Do you like cheap hotels?", the question alone.
        """
        words, subject = strip_joiners(tokens), self._preprocessor.templates.subject
        place = words.index(subject) if subject in words else 0
        if words[max(0, place - 2) : place] == ["other", "than"] and "no" in words[place - 4 : place - 3]:
            return (*tokens[: place - 3], "other", tokens[place - 3], *tokens[place + 1 :])
        text = self._segments.about_it(tokens)
        if text[:1] in ((PRONOUN,), (OWNER,)) or words[place + 1 : place + 2] in _BE:
            return text
        rest = [each for each in split_sentences(tokens) if subject not in strip_joiners(each)]
        alone = any(map(is_asking, rest)) and _REFERRING.isdisjoint(
            word for each in rest for word in strip_joiners(each)
        )
        return tuple(token for each in rest for token in each) if alone else ()

    @cached_property
    def _name(self) -> Slot | None:
        """A slot with some name from training of what texts are about; None if they have no names."""
        values = {} if self._preprocessor.reader is None else self._preprocessor.reader.values
        subject = self._preprocessor.templates.subject
        own = (Slot(name, known[0]) for name, known in values.items() if known and placeholder_name(name) == subject)
        return next(own, None)

    @cached_property
    def _naming(self) -> dict[str, str]:
        """For each act type, the one that names what it is about: itself, or e.g. `offer(name)` for `inform(area)`."""
        found, texts = Counter[tuple[str, str]](), Counter[str]()
        for key, sentences in self._preprocessor.templates.sentences.items():
            acts = act_types(key)
            names = [act for act in acts if self._name is not None and str(Trait(act, self._name.name)) in key]
            texts.update(dict.fromkeys(acts, len(sentences)))
            for act, naming in product(acts, names):
                if act == naming or len(slots_of(key, naming)) == 1:
                    found[act, naming] += len(sentences)
        mostly = {pair for pair, count in found.items() if 2 * count > texts[pair[0]]}
        return dict(sorted(mostly, key=lambda pair: pair[0] == pair[1]))


def _has(act: DialogueAct, name: Slot) -> bool:
    """Whether an act has a slot of the same name."""
    return any(slot.name == name.name for slot in act.slots)
