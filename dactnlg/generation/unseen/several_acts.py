"""Several acts: those that training never had in one turn are said one after the other.

A model that has never seen two acts together mixes them: it offers what there is none of, or states what it should ask,
and of a mixture no check can tell which act it does. Each by itself, or as many as training has together, it can say;
so it can of each of two things that one act names.
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
from dactnlg.text.templates import act_types

ONE = frozenset({"only", "other"})
"""Words of which texts for the only match have one: "the only pub", "no pub other than"."""


class SeveralActs:
    """Takes turns apart into the acts that training had together, and puts what is said of these together.

    Several threads may use one.

    Args:
        preprocessor: of a run.
    """

    def __init__(self, preprocessor: Preprocessor) -> None:
        self._preprocessor, self._segments = preprocessor, Segments(preprocessor)

    def requests(self, request: Request) -> list[Request]:
        """Return requests for the acts of a turn, as many in one as training had together; none if it had all."""
        acts = request.turn.acts
        rest = acts if len(acts) > 1 else self._each_thing(acts[0])
        if rest == acts and len(acts) == 1:
            return []
        groups = list[Turn]()
        while rest:
            sizes = range(self._alike(rest), 0, -1)
            size = next((size for size in sizes if self._together(rest[:size])), 1)
            groups.append(Turn(rest[:size]))
            rest = rest[size:]
        return [self._preprocessor.request(turn, request.context) for turn in groups if groups != [request.turn]]

    def one_by_one(self, request: Request) -> Parts | None:
        """Return the acts of a turn by themselves, whether or not training had them together; None of a single one."""
        acts = request.turn.acts

        def join(said: dict[int, Candidate]) -> list[Text]:
            texts = self._retold(request, [said[place] for place in range(len(acts))])
            return [reduce(append_sentences, texts, list[str]())]

        requests = [self._preprocessor.request(Turn((act,)), request.context) for act in acts]
        return Parts(requests, join, all_needed=True, whole=True) if len(acts) > 1 else None

    def said(self, request: Request, said: Iterable[Sequence[Candidate]]) -> list[Candidate]:
        """Return what is said for its requests as texts for a turn: the best of each, then the next ones.

        Args:
            request: the turn.
            said: the candidates for each of its `requests`, the best first, none of them without tokens.
        """
        found = list[Candidate]()
        for parts in zip(*said, strict=False):
            tokens = reduce(append_sentences, self._retold(request, parts), list[str]())
            found.append(_OneAfterTheOther(self._preprocessor, request, tuple(tokens), parts))
        return found

    @property
    def _subject(self) -> str:
        return self._segments.subject

    def _together(self, acts: tuple[DialogueAct, ...]) -> bool:
        """Whether training had the types of some acts in one turn."""
        return frozenset(act.act_type for act in acts) in self._known

    def _each_thing(self, act: DialogueAct) -> tuple[DialogueAct, ...]:
        """Return an act for each thing that one is about, where training never names several in one act."""
        names = [item.slot for item in self._preprocessor.delexicalizer.required(Turn((act,))) if self._is_name(item)]
        known = len(names) < 2 or self._preprocessor.templates.has_further(act.act_type, f"{self._subject}#2")
        if (
            known
            or owners.things(act.slots)
            or act.act_type in self._about_one
            or self._preprocessor.manners.is_question(act.act_type)
        ):
            return (act,)
        rest = [slot for slot in act.slots if slot not in names]
        things = {(name.value or "").casefold(): name for name in names}
        return tuple(DialogueAct(act.act_type, (name, *rest)) for name in things.values())

    def _is_name(self, item: Required) -> bool:
        return without_ordinal(item.placeholder) == self._subject

    @cached_property
    def _about_one(self) -> set[str]:
        """The act types that speak of one thing and no other, as cannot be said of each of two."""
        one, every = Counter[str](), Counter[str]()
        for key, texts in self._preprocessor.templates.sentences.items():
            acts = act_types(key)
            every.update(dict.fromkeys(acts, len(texts)))
            one.update(dict.fromkeys(acts, sum(not ONE.isdisjoint(text) for text in texts)))
        return {act_type for act_type in every if 2 * one[act_type] > every[act_type]}

    def _alike(self, acts: tuple[DialogueAct, ...]) -> int:
        """Return how many of the first acts are about one thing, and have one special value of each slot."""
        things, special = set[frozenset[tuple[str, str]]](), set[tuple[str, str | None]]()
        for place, act in enumerate(acts):
            required = self._preprocessor.delexicalizer.required(Turn((act,)))
            things |= {frozenset(_value(item) for item in required if self._is_name(item))} - {frozenset()}
            special |= {(slot.name, slot.special) for slot in act.slots if slot.special is not None}
            # An act by itself may be about two.
            if place and (len(things) > 1 or len(dict(special)) < len(special)):
                return place
        return len(acts)

    @cached_property
    def _known(self) -> set[frozenset[str]]:
        """The act types of each of training's turns."""
        return {frozenset(act_types(key)) for key in self._preprocessor.templates.sentences}

    def _retold(self, request: Request, parts: Sequence[Candidate]) -> list[Sequence[str]]:
        """Return the texts of a turn's parts with its placeholders; what has been named is "it" where it can be."""
        required = self._preprocessor.delexicalizer.required
        places = {_value(item): item.placeholder for item in required(request.turn)}
        found, before = list[Sequence[str]](), set[str]()
        for each in parts:
            own = {item.placeholder: places.get(_value(item), item.placeholder) for item in required(each.request.turn)}
            again = own.get(self._subject) in before
            tokens = (again and self._segments.about_it(each.tokens)) or each.tokens
            # What asks by its act alone has a question's mark for readers only.
            mark = each.template.form.end or each.text[-1:]
            open_question = each is not parts[-1] and mark == "?" and strip_joiner(tokens[-1]) not in ENDS
            more = ("?",) if open_question else ()
            found.append((*(renamed(token, own) for token in tokens), *more))
            before.update(own.values())
        return found


class _OneAfterTheOther(Candidate):
    """Sentences for the acts of a turn, as a sentence for it: it says what these say, each of its own act.

    A value that two acts share may be said twice.

    Args:
        preprocessor: of a run.
        request: the turn.
        tokens: the sentences put together.
        said: the sentences.
    """

    __slots__ = ("_said",)

    def __init__(self, preprocessor: Preprocessor, request: Request, tokens: Tokens, said: Sequence[Candidate]) -> None:
        score = sum(each.score or 0.0 for each in said)
        super().__init__(preprocessor, request, tokens, score, origin="composed")
        self._said = said

    @property
    def unasked(self) -> tuple[str, ...]:
        """Questions of the turn that its sentence seems to have lost."""
        return tuple(name for each in self._said for name in each.unasked)

    @property
    def values(self) -> Tally:
        """Which values the sentences hold, of those that they should."""
        return self.report.values

    @property
    def report(self) -> SlotReport:
        """What the sentences say of what they should."""
        if self._report is None:
            self._report = SlotReport.together([each.report for each in self._said])
        return self._report


def _value(item: Required) -> tuple[str, str]:
    return item.slot.name, (item.slot.value or "").casefold()
