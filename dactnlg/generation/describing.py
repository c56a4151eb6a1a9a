"""Describing one by one what a search cannot say together: compared things, special values left out, too many slots.

A search that has to say many values of several things mixes these up where training has few comparisons, and it leaves
out special values, or finds no sentence at all, where training never has so many slots; of each by itself training says
a lot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.generation.candidates import Candidate
from dactnlg.generation.options import ResolvedOptions
from dactnlg.text import owners
from dactnlg.text.placeholders import is_placeholder, placeholder_name
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.questions import is_question
from dactnlg.text.requests import Request
from dactnlg.text.segments import Segments
from dactnlg.text.sentences import ENDS, Tokens, join_sentences, split_sentences
from dactnlg.text.surface import detokenize, strip_joiner
from dactnlg.text.trigger_words import is_question_act

if TYPE_CHECKING:
    from dactnlg.generation.decoder import Decoder


MOST = 4
"""Texts that are looked at, joints that are tried, and slots of a sentence that goes on about something."""
ARTICLES = frozenset({"the", "a", "an"})
Text = Sequence[str]


class Parts(NamedTuple):
    """What is to be said by itself.

    Attributes:
        requests: for each part.
        join: makes texts for the whole of the sentences for some parts, each with its place.
        all_needed: whether there are no texts without all of them.
        does: whether one of the parts does the act.
    """

    requests: list[Request]
    join: Callable[[dict[int, Candidate]], list[Text]]
    all_needed: bool
    does: bool = False


class Describer:
    """Takes acts apart, and puts what is said of their parts together.

    Args:
        preprocessor: the preprocessor of a run.
    """

    def __init__(self, preprocessor: Preprocessor) -> None:
        self._preprocessor, self._segments = preprocessor, Segments(preprocessor)
        self._describing: dict[str, str | None] = {}
        self._joints: dict[str, list[Tokens]] = {}

    def things(self, request: Request) -> Parts | None:
        """Return a description of each thing that a request compares; None where it compares none."""
        found = owners.compared(request.turn)
        act_type = self._describes(found[0].name.name) if found else None
        if act_type is None:
            return None
        requests = [self._request(request, act_type, (thing.name, *thing.slots)) for thing in found]
        return Parts(
            requests, lambda said: self._compared(request, [said[place] for place in sorted(said)]), all_needed=True
        )

    def left(self, best: Candidate) -> Parts | None:
        """Return the special values that a sentence lacks, each by itself, or all that is unknown.

        Questions, and what is unknown, can be said one by one, and so can what is said of a thing that has a name; what
        people look for cannot.
        """
        request, act = best.request, best.request.turn.acts[0]
        names = {*best.report.cues.missing, *best.report.unsaid}
        unknown = not is_question_act(act) and all(slot.special == "none" or slot.value is None for slot in act.slots)
        # Where a sentence does not say that something is unknown, it may say what it is.
        lacked = [slot for slot in act.slots if _shown(slot) in names and (unknown or slot.special != "none")]
        subject = self._subject(act)
        alone = unknown or is_question_act(act)
        act_type = act.act_type if alone else self._describes(subject.name) if subject else None
        if len(request.turn.acts) > 1 or len(act.slots) < 2 or act_type is None or not (lacked or unknown):
            return None
        own = (subject,) if subject and not alone else ()
        slots = act.slots if unknown else lacked
        requests = [self._request(request, act_type, (*own, slot)) for slot in slots]

        def join(said: dict[int, Candidate]) -> list[Text]:
            more = {place: self._continued(each.tokens) if own else each.tokens for place, each in said.items()}
            texts = [reduce(join_sentences, (more[p] for p in more if slots[p] in lacked), list(best.tokens))]
            if unknown and len(more) == len(slots):
                texts.append(reduce(join_sentences, more.values(), list[str]()))
            return [text for text in texts if all(more.values())]

        return Parts(requests, join, all_needed=False)

    def divided(self, request: Request) -> Parts | None:
        """Return what training says together, and what else is asked, or is said of a thing that has a name."""
        act, subject = request.turn.acts[0], self._subject(request.turn.acts[0])
        if is_question_act(act) and subject and not self._always(act.act_type, subject.name):
            subject = None
        asks = is_question_act(act) and subject is None
        act_type = act.act_type if asks else self._describes(subject.name) if subject else None
        if act_type is None or len(request.turn.acts) > 1 or (is_question_act(act) and not asks):
            return None
        first = self._most_of(act, subject)
        names = [name for name in dict.fromkeys(slot.name for slot in act.slots) if name not in first]
        if not names or not first:
            return None
        # A question is about one slot.
        groups = [{name} for name in names] if asks else [{*names[n : n + MOST]} for n in range(0, len(names), MOST)]
        own = (subject,) if subject else ()
        slots = [(*own, *(slot for slot in act.slots if slot.name in group)) for group in groups]
        requests = [self._request(request, act.act_type, [slot for slot in act.slots if slot.name in first])]
        requests += [self._request(request, act_type, each) for each in slots]

        def join(said: dict[int, Candidate]) -> list[Text]:
            more = [said[place].tokens for place in range(1, len(requests))]
            more = more if asks else [self._continued(tokens) for tokens in more]
            return [reduce(join_sentences, more, list(said[0].tokens))] if all(more) else []

        return Parts(requests, join, all_needed=True, does=True)

    def _request(self, whole: Request, act_type: str, slots: Sequence[Slot]) -> Request:
        return self._preprocessor.request(Turn((DialogueAct(act_type, tuple(slots)),)), whole.context)

    def _subject(self, act: DialogueAct) -> Slot | None:
        """Return the slot that names what an act is about."""
        named = (slot for slot in act.slots if placeholder_name(slot.name) == self._segments.subject)
        return next((slot for slot in named if slot.delexicalizable), None)

    def _always(self, act_type: str, slot_name: str) -> bool:
        """Whether training never has an act type without a slot."""
        keys = (key for key in self._preprocessor.templates.sentences if act_type in key)
        return all(f"{act_type}|{slot_name}" in key for key in keys)

    def _most_of(self, act: DialogueAct, subject: Slot | None) -> set[str]:
        """Return the names of most of an act's slots, not all, that training has together, its subject among them."""
        own, best = {slot.name for slot in act.slots}, (0, 0, list[str]())
        for key, sentences in self._preprocessor.templates.sentences.items():
            traits = [trait.partition("|") for trait in key]
            names = sorted(name for _, _, name in traits if name)
            same = {act_type for act_type, _, _ in traits} == {act.act_type}
            if same and own > set(names) and (subject is None or (subject.name in names and len(names) > 1)):
                best = max(best, (len(names), len(sentences), names))
        return set(best[2])

    def _describes(self, name: str) -> str | None:
        """Return the act type with most of the sentences that begin with one thing's name; None where there is none."""
        if name not in self._describing:
            weights, placeholder = Counter[str](), placeholder_name(name)
            for key, sentences in self._preprocessor.templates.sentences.items():
                acts = [trait for trait in key if "|" not in trait]
                if len(acts) == 1 and not is_question_act(DialogueAct(acts[0])) and f"{acts[0]}|{name}" in key:
                    weights[acts[0]] += sum(placeholder in map(strip_joiner, tokens[:2]) for tokens in sentences)
            best = max(weights, key=lambda act: (weights[act], act), default="")
            self._describing[name] = best if weights[best] else None
        return self._describing[name]

    def _continued(self, tokens: Tokens) -> Tokens:
        """Return a text that goes on about "it"; nothing where it names its subject elsewhere than at its beginning."""
        first, *more = split_sentences(tokens)
        going, rest = self._segments.continued(first), [token for segment in more for token in segment]
        again = self._segments.subject in map(strip_joiner, rest)
        return () if going is None or again else (*going, *rest)

    def candidates(
        self, decoder: Decoder, request: Request, texts: Sequence[Text], options: ResolvedOptions, *, does: bool
    ) -> list[Candidate]:
        """Return texts for a request as candidates, the model's favourites first and no more than `MOST`."""
        encoded = [self._preprocessor.vocabulary.encode(text) for text in texts]
        scores = decoder.sentence_scores(request.turn, encoded, request.context)
        power, ask = options.length_normalization, options.append_questions
        found = [
            Candidate(
                self._preprocessor,
                request,
                tuple(text),
                float(score) / (len(text) + 1) ** power,
                origin="composed",
                ask=ask,
                does=does,
            )
            for score, text in zip(scores, texts, strict=True)
        ]
        return sorted(found, key=lambda each: -(each.score or 0.0))[:MOST]

    def _compared(self, request: Request, parts: Sequence[Candidate]) -> list[Text]:
        """Return what is said of each thing as texts for a comparison."""
        required, places = self._preprocessor.delexicalizer.required, dict[tuple[str, str], list[str]]()
        for item in required(request.turn):
            places.setdefault(owners.folded_value(item.slot), []).append(item.placeholder)
        said = []
        for part in parts:
            own = [(item.placeholder, owners.folded_value(item.slot)) for item in required(part.request.turn)]
            # Of what the comparison leaves unsaid its parts do not speak either.
            if not all(places.get(value) for _, value in own):
                return []
            names = {placeholder: places[value].pop(0) for placeholder, value in own}
            said.append([_renamed(token, names) for token in part.tokens])
        return list(self._texts(request.turn.acts[0], said))

    def _texts(self, act: DialogueAct, said: Sequence[Text]) -> Iterator[Text]:
        """Yield what is said of each thing as one text, with what training asks behind it or says before the last."""
        first: list[str] = []
        for more in said[:-1]:
            first = join_sentences(first, more)
        text, last = join_sentences(first, said[-1]), said[-1]
        asking = self._preprocessor.templates.endings(act.act_type) if is_question_act(act) else []
        asked = [join_sentences(text, each) for each in asking if is_question(detokenize(list(each)))]
        yield from asked or [text]
        # Words that join clauses stand before a subject: the name, with its article.
        subject = next((token for token in last if token not in ARTICLES), "")
        joints = self._between(act) if not asked and is_placeholder(subject) else []
        end = len(first) - (strip_joiner(first[-1]) in ENDS)
        yield from ([*first[:end], *joint, *last] for joint in joints)

    def _between(self, act: DialogueAct) -> list[Tokens]:
        """Return what training has between two things that an act compares: ", while", ";"."""
        if act.act_type not in self._joints:
            found = Counter[Tokens]()
            for key, sentences in self._preprocessor.templates.sentences.items():
                for tokens in sentences if act.act_type in key else ():
                    found.update(_joint(tokens, placeholder_name(owners.things(act.slots)[0].name.name, 2)))
            self._joints[act.act_type] = [joint for joint, _ in found.most_common(MOST)]
        return self._joints[act.act_type]


def _joint(tokens: Sequence[str], second: str) -> list[Tokens]:
    """Return the comma and the word, or the semicolon, before the second thing of a sentence."""
    words = [strip_joiner(token) for token in tokens]
    place = words.index(second) if second in words else 0
    place -= place > 0 and words[place - 1] in ARTICLES
    before, mark = words[max(0, place - 2) : place], words[place - 1 : place]
    if mark == [";"]:
        return [tuple(tokens[place - 1 : place])]
    return [tuple(tokens[place - 2 : place])] if before[:1] == [","] and before[1:2] != [","] else []


def _shown(slot: Slot) -> str:
    """Return a special value, or a slot without one, as reports name it."""
    return slot.name if slot.value is None else f"{slot.name}={slot.special}"


def _renamed(token: str, names: dict[str, str]) -> str:
    name = strip_joiner(token)
    return token.replace(name, names[name]) if name in names else token
