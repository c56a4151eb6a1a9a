"""Describing compared things one by one, if a search cannot describe them together.

A search that has to say many values of several things mixes these up if training has few comparisons; but training has
many descriptions of single things.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

from dactnlg._utils.memory import Memory
from dactnlg.acts import DialogueAct, Slot
from dactnlg.generation.candidates import Candidate
from dactnlg.generation.unseen.parts import MOST, Parts, Text, part, renamed
from dactnlg.text import owners
from dactnlg.text.grammar.english import ARTICLES
from dactnlg.text.placeholders import is_placeholder, placeholder_name, without_ordinal
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.requests import Request
from dactnlg.text.sentences import ENDS, Tokens, is_asking, join_sentences
from dactnlg.text.surface import strip_joiner, strip_joiners
from dactnlg.text.traits import Trait, act_types, read_trait

REMEMBERED = 1 << 12, 1 << 20
"""Limits of the cache for each name: number of entries, and bytes."""
LONG = 500
"""About how many bytes a few phrases take."""


class Describer:
    """Splits comparisons into descriptions of each thing, and joins these again.

    Args:
        preprocessor: the preprocessor of a run.
    """

    def __init__(self, preprocessor: Preprocessor) -> None:
        self._preprocessor = preprocessor
        self._describing: Memory[str] = Memory(*REMEMBERED)
        self._joints: Memory[list[Tokens]] = Memory(*REMEMBERED)

    def things(self, request: Request) -> Parts | None:
        """Return a part for the description of each thing that a request compares; None if it compares nothing."""
        found = owners.compared(request.turn)
        act_type = self.describes(found[0].name.name) if found else None
        if act_type is None:
            return None
        return self._parts(request, act_type, [(thing.name, *thing.slots) for thing in found])

    def only_thing(self, request: Request) -> Parts | None:
        """Return a part for the description of the only thing of an act whose type always compares several.

        None for other acts. Of `?compare(price=9)` a search that has only seen comparisons makes two things.
        """
        turn = request.turn
        name = self._comparing.get(turn.acts[0].act_type) if len(turn.acts) == 1 else None
        act_type = self.describes(name) if name and not owners.compared(turn) else None
        if act_type is None or any(slot.value is None for _, slot in turn.slots()):
            return None
        return self._parts(request, act_type, [turn.acts[0].slots])

    def _parts(self, request: Request, act_type: str, things: Sequence[Sequence[Slot]]) -> Parts:
        requests = [part(self._preprocessor, request, act_type, slots) for slots in things]
        return Parts(
            requests, lambda said: self._compared(request, [said[place] for place in sorted(said)]), all_needed=True
        )

    @cached_property
    def _comparing(self) -> dict[str, str]:
        """The act types whose training texts always name several things, with the slot that names them."""
        several: dict[str, set[str]] = {}
        slot_names: dict[str, set[str]] = {}
        for key, sentences in self._preprocessor.templates.sentences.items():
            act_type = act_types(key)[0]
            slot_names.setdefault(act_type, set()).update(trait.slot for trait in map(read_trait, key) if trait.slot)
            for tokens in sentences:
                again = {without_ordinal(name) for name in map(strip_joiner, tokens) if name.endswith("#2")}
                several[act_type] = several.get(act_type, again) & again
        return {
            act_type: name
            for act_type, again in several.items()
            for name in sorted(slot_names[act_type])
            if placeholder_name(name) in again
        }

    def describes(self, name: str) -> str | None:
        """Return the act type with the most sentences that begin with the slot `name`; None if there are none."""
        found = self._describing.get(name)
        if found is None:
            weights, placeholder = Counter[str](), placeholder_name(name)
            asks = self._preprocessor.manners.is_question
            for key, sentences in self._preprocessor.templates.sentences.items():
                acts = act_types(key)
                if len(acts) == 1 and not asks(acts[0]) and str(Trait(acts[0], name)) in key:
                    weights[acts[0]] += sum(placeholder in map(strip_joiner, tokens[:2]) for tokens in sentences)
            best = max(weights, key=lambda act: (weights[act], act), default="")
            found = self._describing.put(name, best if weights[best] else "", len(name))
        return found or None

    def _compared(self, request: Request, parts: Sequence[Candidate]) -> list[Text]:
        """Return texts for a comparison, made of the descriptions of each thing."""
        required, places = self._preprocessor.delexicalizer.required, dict[tuple[str, str], list[str]]()
        for item in required(request.turn):
            places.setdefault(owners.folded_value(item.slot), []).append(item.placeholder)
        said = []
        for each in parts:
            own = [(item.placeholder, owners.folded_value(item.slot)) for item in required(each.request.turn)]
            # The parts must not say anything that the comparison does not.
            if not all(places.get(value) for _, value in own):
                return []
            names = {placeholder: places[value].pop(0) for placeholder, value in own}
            said.append([renamed(token, names) for token in each.tokens])
        return list(self._texts(request.turn.acts[0], said))

    def _texts(self, act: DialogueAct, said: Sequence[Text]) -> Iterator[Text]:
        """Yield the descriptions as one text, with a question after them or a conjunction before the last."""
        first: list[str] = []
        for more in said[:-1]:
            first = join_sentences(first, more)
        text, last = join_sentences(first, said[-1]), said[-1]
        asks = self._preprocessor.manners.is_question(act.act_type)
        asking = self._preprocessor.templates.endings(Trait(act.act_type)) if asks else []
        asked = [join_sentences(text, each) for each in asking if is_asking(each)]
        yield from asked or [text]
        # Conjunctions need a following subject: the name, with its article.
        subject = next((token for token in last if token not in ARTICLES), "")
        if first and not asked and is_placeholder(subject):
            end = len(first) - (strip_joiner(first[-1]) in ENDS)
            yield from ([*first[:end], *joint, *last] for joint in self._between(act))

    def _between(self, act: DialogueAct) -> list[Tokens]:
        """Return what training puts between the two things that an act compares: ", while", ";"."""
        second = placeholder_name(owners.things(act)[0].name.name, 2)
        found = self._joints.get((act.act_type, second))
        if found is None:
            joints = Counter[Tokens]()
            for key, sentences in self._preprocessor.templates.sentences.items():
                for tokens in sentences if act.act_type in act_types(key) else ():
                    joints.update(_joint(tokens, second))
            found = [joint for joint, _ in joints.most_common(MOST)]
            self._joints.put((act.act_type, second), found, LONG)
        return found


def _joint(tokens: Sequence[str], second: str) -> list[Tokens]:
    """Return the comma and word, or the semicolon, before the second thing in a sentence; empty if there is neither."""
    words = strip_joiners(tokens)
    place = words.index(second) if second in words else 0
    place -= place > 0 and words[place - 1] in ARTICLES
    before, mark = words[max(0, place - 2) : place], words[place - 1 : place]
    if mark == [";"]:
        return [tuple(tokens[place - 1 : place])]
    return [tuple(tokens[place - 2 : place])] if before[:1] == [","] and before[1:2] != [","] else []
