"""Turns of several acts: values that a text attributes to the thing of another act.

"There are no trails near SLOT_NEAR. Instead, you could try SLOT_NAME, a SLOT_DIFFICULTY walk.", where SLOT_NAME is near
SLOT_NEAR, and SLOT_DIFFICULTY is that of the trails that do not exist.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from functools import cached_property, reduce
from itertools import combinations

from dactnlg.acts import Turn
from dactnlg.text.placeholders import Required, placeholder_name
from dactnlg.text.sentences import Tokens, split_sentences
from dactnlg.text.surface import strip_joiners
from dactnlg.text.templates import Templates
from dactnlg.text.traits import Key, act_types, slots_of

LEAST_TEXTS = 10
"""The fewest texts for two act types that keep their values apart."""
MOST_OTHERS = 0.02
"""The largest share of their texts that do not."""


class Strays:
    """Knows which act types follow each other in training, the later one about a thing that it names.

    Args:
        templates: the training texts.
    """

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    @cached_property
    def _named(self) -> dict[str, str]:
        """The slot that an act type always has, if there is exactly one."""
        slots: dict[str, list[set[str]]] = {}
        for key in self._templates.sentences:
            for act_type in act_types(key):
                slots.setdefault(act_type, []).append(slots_of(key, act_type))
        always = {act_type: reduce(set.intersection, each) for act_type, each in slots.items()}
        return {act_type: each.pop() for act_type, each in always.items() if len(each) == 1}

    @cached_property
    def _apart(self) -> set[Key]:
        """The pairs of act types whose values training keeps apart."""
        counts: dict[Key, list[bool]] = {}
        for key, texts in self._templates.sentences.items():
            acts = act_types(key)
            for first, second in (acts, acts[::-1]) if len(acts) == 2 else ():
                early, late, name = slots_of(key, first), slots_of(key, second), self._named.get(second, "")
                if name and name not in early and early - late:
                    own, its = (set(map(placeholder_name, each)) for each in (early - late, late - early))
                    found = (not any(_strays(text, placeholder_name(name), own, its)) for text in texts)
                    counts.setdefault((first, second), []).extend(found)
        return {
            pair
            for pair, fine in counts.items()
            if sum(fine) >= LEAST_TEXTS and fine.count(False) <= MOST_OTHERS * len(fine)
        }

    @cached_property
    def _alone(self) -> dict[str, set[Tokens]]:
        """For each act type that precedes another, the sentences of the training texts that have it alone."""
        found: dict[str, set[Tokens]] = {first: set() for first, _ in self._apart}
        for key, texts in self._templates.sentences.items():
            acts = act_types(key)
            if len(acts) == 1 and acts[0] in found:
                found[acts[0]].update(sentence for text in texts for sentence in split_sentences(text))
        return found

    def of(self, turn: Turn, required: Sequence[Required], tokens: Sequence[str]) -> set[str]:
        """Return the placeholders of values that a text attributes to another act's thing.

        Args:
            turn: the acts.
            required: the slots that a text for them must express.
            tokens: the text, delexicalised.
        """
        found = set[str]()
        for pair in combinations([act.act_type for act in turn.acts], 2) if len(turn.acts) > 1 else ():
            if pair in self._apart:
                early, late = ({item.placeholder for item in required if item.act_type == each} for each in pair)
                names = (
                    i.placeholder for i in required if (i.act_type, i.slot.name) == (pair[1], self._named[pair[1]])
                )
                found.update(_strays(tokens, next(names, ""), early, late, self._alone.get(pair[0], ())))
        return found


def _strays(
    tokens: Sequence[str], name: str, early: Container[str], late: Container[str], own: Container[Tokens] = ()
) -> Iterator[str]:
    """Yield the early values that follow a name, and the late ones in sentences before it.

    Args:
        tokens: the text.
        name: the placeholder that names the later act's thing.
        early: the placeholders of the earlier act's values.
        late: the placeholders of the later act's values.
        own: training sentences for the earlier act alone, which are about its thing wherever they occur.
    """
    sentences = split_sentences(tokens)
    plain = [strip_joiners(sentence) for sentence in sentences]
    start = next((at for at, words in enumerate(plain) if name in words), len(plain))
    if start < len(plain):
        yield from (word for words in plain[:start] for word in words if word in late)
        yield from (word for word in plain[start][plain[start].index(name) :] if word in early)
        rest = zip(sentences[start + 1 :], plain[start + 1 :], strict=True)
        yield from (word for sentence, words in rest if sentence not in own for word in words if word in early)
