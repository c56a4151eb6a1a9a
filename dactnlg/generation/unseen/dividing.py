"""Dividing an act that a search cannot say as a whole: omitted values, slots that do not matter, too many slots.

If slots never occur together in training, a search omits special values, garbles that something does not matter, or
finds no sentence at all; but training has many sentences for fewer slots, or single ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property, reduce
from itertools import chain

from dactnlg._utils.memory import Memory
from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.generation.candidates import Candidate
from dactnlg.generation.unseen.describing import LONG, REMEMBERED, Describer
from dactnlg.generation.unseen.parts import MOST, Parts, Text, part, shown
from dactnlg.text.corrections.phrasing import end_of
from dactnlg.text.grammar.english import QUESTION_WORDS
from dactnlg.text.grammar.indifference import IF_YOU_DO_NOT_CARE, INDIFFERENT, OR_DO_YOU_NOT, Indifference, parted
from dactnlg.text.grammar.learned_indifference import added, by_condition, by_name, clauses
from dactnlg.text.placeholders import is_placeholder, placeholder_name
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.requests import Request
from dactnlg.text.segments import Segments, reduced
from dactnlg.text.sentences import ENDS, Tokens, is_asking, join_sentences, split_sentences, without_apology
from dactnlg.text.surface import strip_joiner, strip_joiners
from dactnlg.text.traits import Key, Trait, act_types, canonical_values, combination, slots_of


class Divider:
    """Divides acts by their slots, and joins the sentences for the parts.

    Args:
        preprocessor: the preprocessor of a run.
        describer: provides the act type that describes a thing.
    """

    def __init__(self, preprocessor: Preprocessor, describer: Describer) -> None:
        self._preprocessor, self._describer = preprocessor, describer
        self._segments = Segments(preprocessor)
        self._clauses: Memory[dict[str, Indifference]] = Memory(*REMEMBERED)
        self._ends: Memory[tuple[Indifference | None]] = Memory(*REMEMBERED)

    def indifferent(self, request: Request) -> Parts | None:
        """Return the slots that matter as one part, to which a clause that the others do not matter is appended."""
        turn = request.turn
        free = [(act.act_type, slot) for act, slot in turn.slots() if slot.special == INDIFFERENT]
        slots = [slot for _, slot in turn.slots() if slot.special != INDIFFERENT]
        ends = [end for act_type, slot in free if (end := self._free(act_type, slot.name))] if slots else []
        if not ends or len(ends) < len(free):
            return None
        rest = reduced(turn, slots)
        end, asked = Indifference.together(ends), all(self._asks(act_type) for act_type, _ in free)
        apart = {slot.name for _, slot in free}.isdisjoint(slot.name for slot in slots)

        def join(said: dict[int, Candidate]) -> list[Text]:
            first, *more = split_sentences(said[0].tokens)
            asks = is_asking(first) and not asked
            # With several acts, a statement that follows may be another act's, to which the clause does not belong.
            stated = len(turn.acts) > 1 and not all(map(is_asking, more))
            if asks or stated or parted(first)[1] is not None:
                return []
            return [[*_ended(first, end, apart=apart), *chain.from_iterable(more)]]

        return Parts([self._preprocessor.request(rest, request.context)], join, all_needed=True, whole=True)

    def unknown(self, request: Request) -> Parts | None:
        """Return a part for each slot of an act that says that they are unknown; a search may invent values."""
        act = request.turn.acts[0]
        subject = self._subject(act)
        slots = [slot for slot in act.slots if slot is not subject]
        all_unknown = all(slot.special == "none" or slot.value is None for slot in slots)
        if len(request.turn.acts) > 1 or len(slots) < 2 or self._asks(act.act_type) or not all_unknown:
            return None
        own = (subject,) if subject else ()

        def join(said: dict[int, Candidate]) -> list[Text]:
            more = [said[place].tokens for place in range(1, len(slots))]
            more = [self._segments.about_it(tokens) for tokens in more] if subject else more
            return [reduce(join_sentences, more, list(said[0].tokens))] if all(more) else []

        requests = [self._part(request, act.act_type, (*own, slot)) for slot in slots]
        return Parts(requests, join, all_needed=True, whole=True)

    def left(self, best: Candidate) -> Parts | None:
        """Return a part for each special value that a sentence lacks.

        Questions can be asked one by one, and a named thing can be described in several sentences; what a user looks
        for cannot.
        """
        request, act = best.request, best.request.turn.acts[0]
        asks = self._asks(act.act_type)
        subject = None if asks else self._subject(act)
        names = {*best.report.cues.missing, *best.report.unsaid}
        # A sentence that does not say that something is unknown may have invented a value: adding to it does not help.
        lacked = [slot for slot in act.slots if shown(slot) in names and slot.special != "none"]
        act_type = act.act_type if asks else self._describer.describes(subject.name) if subject else None
        if len(request.turn.acts) > 1 or len(act.slots) < 2 or act_type is None or not lacked:
            return None
        own = (subject,) if subject else ()
        requests = [self._part(request, act_type, (*own, slot)) for slot in lacked]

        def join(said: dict[int, Candidate]) -> list[Text]:
            more = [said[place].tokens for place in sorted(said)]
            more = [self._segments.about_it(tokens) if own else without_apology(tokens) for tokens in more]
            whole = reduce(join_sentences, more, list(best.tokens))
            # With more questions than slots, the sentence's own question has asked for none of them.
            idle = asks and len(split_sentences(whole)) > len(act.slots)
            return [whole] if all(more) and not idle else []

        return Parts(requests, join, all_needed=False)

    def divided(self, request: Request) -> Parts | None:
        """Return the most slots that training has together as one part, and the rest as further sentences.

        These are questions, or statements if there is a named thing to go on about.
        """
        act, subject = request.turn.acts[0], self._subject(request.turn.acts[0])
        asking = self._asks(act.act_type)
        if asking and subject and not self._always(act.act_type, subject.name):
            subject = None
        asks = asking and subject is None
        act_type = act.act_type if asks else self._describer.describes(subject.name) if subject else None
        if act_type is None or len(request.turn.acts) > 1 or (asking and not asks):
            return None
        ends = self._unasked(act) if asks else {}
        act = DialogueAct(act.act_type, tuple(slot for slot in act.slots if slot not in ends))
        apart = {slot.name for slot in ends}.isdisjoint(slot.name for slot in act.slots)
        first = self._most_of(act, subject)
        rest = [slot for slot in act.slots if slot.name not in first]
        if not rest or not first:
            return None
        own = (subject,) if subject else ()
        groups = self._questions(act, rest) if asks else _groups(rest)
        requests = [self._part(request, act.act_type, [slot for slot in act.slots if slot.name in first])]
        requests += [
            self._part(request, act_type, (*own, *(slot for slot in rest if slot.name in group))) for group in groups
        ]

        def join(said: dict[int, Candidate]) -> list[Text]:
            texts = [said[place].tokens for place in range(len(requests))]
            texts[1:] = [without_apology(each) if asks else self._segments.about_it(each) for each in texts[1:]]
            if not all(texts):
                return []
            if ends:
                # After "would you like ...", rather than after "what would you like?".
                open_ended = [place for place, text in enumerate(texts) if text[0] not in QUESTION_WORDS]
                last = max(open_ended, default=len(texts) - 1)
                texts[last] = _ended(texts[last], Indifference.together([*ends.values()]), apart=apart)
            return [reduce(join_sentences, texts[1:], list(texts[0]))]

        return Parts(requests, join, all_needed=True, whole=True)

    def _unasked(self, act: DialogueAct) -> dict[Slot, Indifference]:
        """Return the slots of a question that do not matter and that training never asks alone, with their clauses."""
        free = [slot for slot in act.slots if slot.special == INDIFFERENT]
        alone = {slot: combination(Turn((DialogueAct(act.act_type, (slot,)),))) for slot in free}
        ends = {slot: self._free(act.act_type, slot.name) for slot in free if alone[slot] not in self._bare}
        return {slot: end for slot, end in ends.items() if end is not None}

    def _asks(self, act_type: str) -> bool:
        return self._preprocessor.manners.is_question(act_type)

    def _part(self, whole: Request, act_type: str, slots: Sequence[Slot]) -> Request:
        return part(self._preprocessor, whole, act_type, slots)

    def _free(self, act_type: str, slot_name: str) -> Indifference | None:
        """Return how an act type says that a slot does not matter: in training's words, else by the slot's name."""
        key = act_type, slot_name
        found = self._ends.get(key)
        if found is None:
            known, templates = self._indifference(act_type), self._preprocessor.templates
            start = next((each.start for each in known.values()), ())
            if not start and self._asks(act_type):
                start = added(templates, act_type)
            elif not start and self._preprocessor.style.english:
                # Training may have a statement for it: "you can go at any time".
                said = self._segments.statements(act_type, Slot(slot_name, INDIFFERENT))
                start = () if said else IF_YOU_DO_NOT_CARE
            named = known.get(slot_name) or by_name(start, slot_name, templates)
            end = named or by_condition(start, slot_name, templates)
            found = self._ends.put(key, (end,), LONG)
        return found[0]

    def _indifference(self, act_type: str) -> dict[str, Indifference]:
        """Return how an act type says of each slot that it does not matter; if it never does, as other statements do.

        Questions use no condition: "let me confirm, you want a cheap pub and you do not care about the area".
        """
        found = self._clauses.get(act_type)
        if found is None:
            templates = self._preprocessor.templates
            others = {each for key in templates.sentences for each in act_types(key) if not self._asks(each)}
            found = clauses(templates, others) | clauses(templates, {act_type})
            if self._asks(act_type):
                start = added(templates, act_type)
                found = {slot: each._replace(start=start) for slot, each in found.items() if start}
            self._clauses.put(act_type, found, LONG * (1 + len(found)))
        return found

    def _subject(self, act: DialogueAct) -> Slot | None:
        """Return the slot that names what an act is about; None if there is none."""
        named = (slot for slot in act.slots if placeholder_name(slot.name) == self._preprocessor.templates.subject)
        return next((slot for slot in named if slot.delexicalizable), None)

    def _always(self, act_type: str, slot_name: str) -> bool:
        """Whether an act type always has a slot in training."""
        keys = (key for key in self._preprocessor.templates.sentences if act_type in act_types(key))
        return all(str(Trait(act_type, slot_name)) in key for key in keys)

    @cached_property
    def _combinations(self) -> Counter[tuple[Key, Key]]:
        """The number of training sentences for each kind of turn with its special values."""
        specials = self._preprocessor.templates.specials
        return Counter((key, canonical_values(values)) for (key, _), found in specials.items() for values in found)

    @cached_property
    def _bare(self) -> set[tuple[Key, Key]]:
        """The kinds of turns, with their special values, for which training has sentences without placeholders."""
        specials = self._preprocessor.templates.specials.items()
        bare = [(key, found) for (key, text), found in specials if not any(map(is_placeholder, text))]
        return {(key, canonical_values(values)) for key, found in bare for values in found}

    def _most_of(self, act: DialogueAct, subject: Slot | None) -> set[str]:
        """Return the largest proper subset of an act's slot names that training has together, including the subject."""
        own, best = {slot.name for slot in act.slots}, (0, 0, list[str]())
        for kind in {kind for kind, _ in self._combinations}:
            names = sorted(slots_of(kind, act.act_type))
            same = act_types(kind) == (act.act_type,)
            if same and own > set(names) and (subject is None or (subject.name in names and len(names) > 1)):
                slots = tuple(slot for slot in act.slots if slot.name in names)
                count = self._combinations[combination(Turn((DialogueAct(act.act_type, slots),)))]
                best = max(best, (len(names), count, names)) if count else best
        return set(best[2])

    def _questions(self, act: DialogueAct, slots: Sequence[Slot]) -> list[set[str]]:
        """Group the names of slots as training asks for them together; a single slot may be a group of its own."""
        groups: list[set[str]] = []
        while slots:
            one = Turn((DialogueAct(act.act_type, tuple(slots)),))
            names = {slot.name for slot in slots}
            known = names if self._combinations[combination(one)] else self._most_of(one.acts[0], None)
            groups.append(known or {slots[0].name})
            slots = [slot for slot in slots if slot.name not in groups[-1]]
        return groups


def _ended(sentence: Tokens, end: Indifference, *, apart: bool) -> Tokens:
    """Return a sentence with a clause added before its final punctuation, or as a question of its own.

    "Do you want a cheap pub, or do you not care about the area?" asks the user to choose between what goes together.

    Args:
        sentence: delexicalised.
        end: the clause.
        apart: whether it is about other slots than the act's other values.
    """
    if apart and end.start[:-1] == OR_DO_YOU_NOT and is_asking(sentence):
        return (*sentence, *(() if strip_joiner(sentence[-1]) in ENDS else ("?",)), *end.tokens[1:], "?")
    place = end_of(strip_joiners(sentence))
    return (*sentence[:place], *end.tokens, *sentence[place:])


def _groups(slots: Sequence[Slot]) -> list[set[str]]:
    names = [*dict.fromkeys(slot.name for slot in slots)]
    return [set(names[n : n + MOST]) for n in range(0, len(names), MOST)]
