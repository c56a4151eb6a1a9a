"""Several acts: those that never occur together in training are said one after another.

A model that has never seen two acts together mixes them up: it offers what there is none of, or states what it should
ask, and no check can tell which act such a mixture performs. It can say each act by itself, or as many as training has
together; likewise for each of two things that one act names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property, reduce

from dactnlg.acts import DialogueAct, Turn
from dactnlg.generation.candidates import Candidate
from dactnlg.generation.unseen.parts import Parts, Text, renamed
from dactnlg.text import owners
from dactnlg.text.placeholders import Required, without_ordinal
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.requests import Request
from dactnlg.text.segments import Segments
from dactnlg.text.sentences import ENDS, Tokens, append_sentences
from dactnlg.text.surface import strip_joiner
from dactnlg.text.tallies import SlotReport, Tally
from dactnlg.text.traits import act_types

ONE = frozenset({"only", "other"})
"""Texts for the only match have one of these words: "the only pub", "no pub other than"."""


class SeveralActs:
    """Splits turns into groups of acts that occur together in training, and joins their sentences.

    Several threads may use one.

    Args:
        preprocessor: the preprocessor of a run.
    """

    def __init__(self, preprocessor: Preprocessor) -> None:
        self._preprocessor, self._segments = preprocessor, Segments(preprocessor)
        self._subject = preprocessor.templates.subject

    def requests(self, request: Request) -> list[Request]:
        """Return requests for groups of a turn's acts that occur together in training; empty if all of them do."""
        acts = request.turn.acts
        rest = acts if len(acts) > 1 else self._each_thing(acts[0])
        if rest == acts and len(acts) == 1:
            return []
        groups = list[Turn]()
        while rest:
            types, sizes = [act.act_type for act in rest], range(self._alike(rest), 0, -1)
            size = next((size for size in sizes if frozenset(types[:size]) in self._known), 1)
            groups.append(Turn(rest[:size]))
            rest = rest[size:]
        return [self._preprocessor.request(turn, request.context) for turn in groups if groups != [request.turn]]

    def one_by_one(self, request: Request) -> Parts | None:
        """Return each act of a turn as a part, whether or not training has them together; None for a single act."""
        acts = request.turn.acts

        def join(said: dict[int, Candidate]) -> list[Text]:
            texts = self._retold(request, [said[place] for place in range(len(acts))])
            return [reduce(append_sentences, texts, list[str]())]

        requests = [self._preprocessor.request(Turn((act,)), request.context) for act in acts]
        return Parts(requests, join, all_needed=True, whole=True) if len(acts) > 1 else None

    def said(self, request: Request, said: Iterable[Sequence[Candidate]]) -> list[Candidate]:
        """Join the candidates for a turn's `requests`: the best of each, then the second best, and so on.

        Args:
            request: the turn.
            said: the candidates for each of its `requests`, best first, none of them empty.
        """
        found = list[Candidate]()
        for parts in zip(*said, strict=False):
            tokens = reduce(append_sentences, self._retold(request, parts), list[str]())
            found.append(_OneAfterTheOther(self._preprocessor, request, tuple(tokens), parts))
        return found

    def _each_thing(self, act: DialogueAct) -> tuple[DialogueAct, ...]:
        """Split an act about several things into one for each, if training never names several in such an act."""
        names = [item.slot for item in self._preprocessor.delexicalizer.required(Turn((act,))) if self._is_name(item)]
        known = len(names) < 2 or self._preprocessor.templates.has_further(act.act_type, f"{self._subject}#2")
        if (
            known
            or owners.things(act)
            or act.act_type in self._about_one
            or self._preprocessor.manners.is_question(act.act_type)
        ):
            return (act,)
        rest = [slot for slot in act.slots if slot not in names]
        things = {name.folded: name for name in names}
        return tuple(DialogueAct(act.act_type, (name, *rest)) for name in things.values())

    def _is_name(self, item: Required) -> bool:
        return without_ordinal(item.placeholder) == self._subject

    @cached_property
    def _about_one(self) -> set[str]:
        """The act types that single out one thing ("the only pub"), which cannot be said about each of two."""
        one, every = Counter[str](), Counter[str]()
        for key, texts in self._preprocessor.templates.sentences.items():
            acts = act_types(key)
            every.update(dict.fromkeys(acts, len(texts)))
            one.update(dict.fromkeys(acts, sum(not ONE.isdisjoint(text) for text in texts)))
        return {act_type for act_type in every if 2 * one[act_type] > every[act_type]}

    def _alike(self, acts: tuple[DialogueAct, ...]) -> int:
        """Return how many of the first acts are about the same thing, and do not differ in a slot's special value."""
        things, special = set[frozenset[tuple[str, str]]](), set[tuple[str, str | None]]()
        for place, act in enumerate(acts):
            required = self._preprocessor.delexicalizer.required(Turn((act,)))
            names = frozenset(owners.folded_value(item.slot) for item in required if self._is_name(item))
            things |= {names} - {frozenset()}
            special |= {(slot.name, slot.special) for slot in act.slots if slot.special is not None}
            # The first act is always taken, even if it is about two things.
            if place and (len(things) > 1 or len(dict(special)) < len(special)):
                return place
        return len(acts)

    @cached_property
    def _known(self) -> set[frozenset[str]]:
        """The sets of act types that training's turns have."""
        return {frozenset(act_types(key)) for key in self._preprocessor.templates.sentences}

    def _retold(self, request: Request, parts: Sequence[Candidate]) -> list[Sequence[str]]:
        """Return the texts of the parts with the whole turn's placeholders, and "it" for a name said before."""
        required = self._preprocessor.delexicalizer.required
        places = {owners.folded_value(item.slot): item.placeholder for item in required(request.turn)}
        found, before = list[Sequence[str]](), set[str]()
        for each in parts:
            items = required(each.request.turn)
            own = {item.placeholder: places.get(owners.folded_value(item.slot), item.placeholder) for item in items}
            again = own.get(self._subject) in before
            tokens = (again and self._segments.about_it(each.tokens)) or each.tokens
            # A question that is one only by its act gets its mark in the surface form alone: add it to the tokens.
            mark = each.template.form.end or each.text[-1:]
            open_question = each is not parts[-1] and mark == "?" and strip_joiner(tokens[-1]) not in ENDS
            more = ("?",) if open_question else ()
            found.append((*(renamed(token, own) for token in tokens), *more))
            before.update(own.values())
        return found


class _OneAfterTheOther(Candidate):
    """The joined sentences for the acts of a turn; each is checked for its own act.

    So a value that two acts share may be said twice.

    Args:
        preprocessor: the preprocessor of a run.
        request: the turn.
        tokens: the joined sentences.
        said: the candidates for each act.
    """

    __slots__ = ("_said",)

    def __init__(self, preprocessor: Preprocessor, request: Request, tokens: Tokens, said: Sequence[Candidate]) -> None:
        score = sum(each.score or 0.0 for each in said)
        super().__init__(preprocessor, request, tokens, score, origin="composed")
        self._said = said

    @property
    def unasked(self) -> tuple[str, ...]:
        """Questions that the sentences seem to lack."""
        return tuple(name for each in self._said for name in each.unasked)

    @property
    def values(self) -> Tally:
        """The expected values that the sentences have, lack or repeat."""
        return self.report.values

    @property
    def report(self) -> SlotReport:
        """The combined slot checks of the sentences."""
        if self._report is None:
            self._report = SlotReport.together([each.report for each in self._said])
        return self._report
