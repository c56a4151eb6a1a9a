"""Segments: the sentences of a text, the slots that each expresses, and how one can follow others.

Training seldom has all combinations of slots, but it has words for each slot: what one text says in a separate
sentence, another text can say at its end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from functools import cached_property
from itertools import islice

from dactnlg._utils.memory import Memory
from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.text.grammar.english import ARTICLES, PREPOSITIONS
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.report_names import special_name
from dactnlg.text.sentences import OWNER, PRONOUN, Tokens, split_sentences
from dactnlg.text.surface import JOINER, strip_joiner, strip_joiners
from dactnlg.text.traits import Trait, act_types, canonical
from dactnlg.text.values.delexicalization import ParaphrasedSlot

SILENCE: Tokens = (f"{JOINER}.",)
"""A text that says nothing."""
ARTICLE = "the"
MOST_STATEMENTS = 5
"""Segments kept for a special value, the most frequent ones."""
REMEMBERED = 1_000, 1 << 20
"""Special values whose segments are cached, at most, and their bytes."""


class Segments:
    """Reads segments, and finds those of training that express a special value.

    Args:
        preprocessor: of the training pairs; with a reader it detects special values without cues.
        verbs: words that may follow the pronoun, besides those that do in training.
    """

    def __init__(self, preprocessor: Preprocessor, verbs: Collection[str] = ()) -> None:
        self.preprocessor, self._more_verbs = preprocessor, frozenset(verbs)
        self._subject = preprocessor.templates.subject
        self._statements: Memory[list[Tokens]] = Memory(*REMEMBERED)
        self._owing: Memory[tuple[bool]] = Memory(*REMEMBERED)

    @cached_property
    def _verbs(self) -> set[str]:
        """The words that follow the pronoun; without prepositions: "would you like it near the river"."""
        pairs = (pair for text in self.preprocessor.templates.texts() for pair in zip(text, text[1:], strict=False))
        return {verb for pronoun, verb in pairs if pronoun == PRONOUN} - PREPOSITIONS | self._more_verbs

    def said(self, turn: Turn, tokens: Tokens) -> frozenset[Slot] | None:
        """Return the slots of a turn that a segment of its text expresses; None if that cannot be determined."""
        held = {strip_joiner(token) for token in tokens if is_placeholder(token)}
        required = {item.placeholder: item.slot for item in self.preprocessor.delexicalizer.required(turn)}
        ordinary = [slot for placeholder, slot in required.items() if placeholder in held]
        special = [slot for _, slot in turn.slots() if slot.special is not None]
        # The values of a slot that has several are numbered: said in two segments, they could not be told apart.
        names = {slot.name for slot in ordinary}
        if len(ordinary) != len(held) or len(ordinary) != sum(slot.name in names for slot in required.values()):
            return None
        found = set(ordinary)
        for slot in special:
            # Cues of an opinion may refer to another thing: "I like shooters" is no rating.
            if isinstance(slot, ParaphrasedSlot) or not self._owed(reduced(turn, {slot}), slot):
                return None
            if not self.preprocessor.lacks(reduced(turn, {*ordinary, slot}), slot, tokens):
                found.add(slot)
        return frozenset(found)

    def continued(self, tokens: Tokens) -> Tokens | None:
        """Return a segment reworded to follow one that names its subject: "it is cheap" for "X is cheap".

        None if it does not begin with the subject, or training never has its verb after the pronoun.
        """
        start = 1 if tokens[0] == ARTICLE else 0
        rest = tokens[start + 1 :]
        if len(rest) < 2 or strip_joiner(tokens[start]) != self._subject or rest[0] not in self._verbs:
            return None
        return None if self._subject in map(strip_joiner, rest) else (PRONOUN, *rest)

    def about_it(self, tokens: Tokens) -> Tokens:
        """Return a text reworded to be about "it"; empty if it cannot be."""
        first, *more = split_sentences(tokens)
        going, rest = self.continued(first), [token for segment in more for token in segment]
        if self._subject in map(strip_joiner, rest):
            return ()
        return (*going, *rest) if going else self._within(tokens)

    def _within(self, tokens: Tokens) -> Tokens:
        """Return a text that names its subject inside a sentence with "it" instead; empty after an article, say."""
        words = strip_joiners(tokens)
        place = words.index(self._subject) if self._subject in words else 0
        behind = words[place + 1 : place + 2]
        owns = bool(behind) and behind[0].startswith("'")
        if not place or tokens[place] != words[place] or words[place - 1] in ARTICLES or owns:
            return ()
        if words[0] == "the" and words[place - 1] == "of" and not any(map(is_placeholder, words[:place])):
            # "The phone number of SLOT_NAME is ..."
            return (OWNER, *tokens[1 : place - 1], *tokens[place + 1 :])
        return (*tokens[:place], PRONOUN, *tokens[place + 1 :])

    def statements(self, act_type: str, slot: Slot) -> list[Tokens]:
        """Return segments that express a special value of an act and no other value, the most frequent first.

        If training has none for an act type that statements may follow, such as ViGGO's suggestions, those of another
        act type are returned: "Do you like shooters? It is not available on Linux."
        """
        own = self._statements_of(act_type, slot)
        if own or DialogueAct(act_type).is_question:
            return own
        others = next(filter(None, (self._statements_of(other, slot) for other in self._stating)), [])
        return others or self.preprocessor.new_values.statements(act_type, slot, self.statements)

    @cached_property
    def _stating(self) -> list[str]:
        """The act types that are not questions, those with the most texts first."""
        counts = Counter[str]()
        for key, texts in self.preprocessor.templates.sentences.items():
            acts = act_types(key)
            if len(acts) == 1 and not DialogueAct(acts[0]).is_question:
                counts[acts[0]] += len(texts)
        return [act_type for act_type, _ in counts.most_common()]

    def _statements_of(self, act_type: str, slot: Slot) -> list[Tokens]:
        key = act_type, special_name(slot)
        found = self._statements.get(key)
        if found is None:
            weights: dict[Tokens, float] = {}
            for text, weight in self._texts(act_type, slot):
                for place, segment in enumerate(split_sentences(text)):
                    tokens = segment if place else self.continued(segment)
                    if tokens and not any(map(is_placeholder, tokens)):
                        weights[tokens] = weights.get(tokens, 0.0) + weight
            turn = Turn((DialogueAct(act_type, (slot,)),))
            ranked = sorted(weights, key=lambda tokens: (-weights[tokens], tokens))
            # What a segment by itself gets wrong is no fault: all recommendations end with statements.
            saying = (t for t in ranked if not any("=" in fault for fault in faults(self.preprocessor, turn, t)))
            best = list(islice(saying, MOST_STATEMENTS))
            found = self._statements.put(key, best, 500 + 100 * sum(map(len, best)))
        return found

    def _texts(self, act_type: str, slot: Slot) -> Iterable[tuple[Tokens, float]]:
        """Yield the training texts of acts that have a special value, with their weights."""
        templates, wanted = self.preprocessor.templates, Trait.of(act_type, slot)
        for (key, text), turns in templates.specials.items():
            if any(canonical(value) == wanted for values in turns for value in values):
                yield text, templates.sentences[key][text]

    def _owed(self, turn: Turn, slot: Slot) -> bool:
        """Whether a turn's special value is reported missing from a text that says nothing."""
        found = self._owing.get(turn)
        if found is None:
            found = self._owing.put(turn, (self.preprocessor.lacks(turn, slot, SILENCE),), 500)
        return found[0]


def reduced(turn: Turn, slots: Collection[Slot]) -> Turn:
    """Return a turn with only the given slots, and only the acts that have any of these or had no slots at all."""
    acts = [DialogueAct(act.act_type, tuple(slot for slot in act.slots if slot in slots)) for act in turn.acts]
    return Turn(tuple(new for act, new in zip(turn.acts, acts, strict=True) if new.slots or not act.slots))


def faults(preprocessor: Preprocessor, turn: Turn, tokens: Tokens) -> tuple[str, ...]:
    """Return the faults of a delexicalised text for a turn: values, special values, questions and act types."""
    request = preprocessor.request(turn)
    template = preprocessor.template(request.act, tokens)
    values = template.tally or preprocessor.checker.tally(request.turn, tokens)
    return (*values.missing, *values.extra, *template.cues.missing, *template.cues.extra, *template.unsaid)
