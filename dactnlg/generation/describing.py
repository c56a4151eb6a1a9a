"""Describing one by one what a search cannot say together: the things that an act compares, special values left out.

A search that has to say many values of several things mixes these up where training has few comparisons, and leaves
special values out where training never has so many of them; of each by itself training says a lot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.generation.candidates import Candidate
from dactnlg.generation.options import ResolvedOptions
from dactnlg.text import owners
from dactnlg.text.placeholders import is_placeholder, placeholder_name
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.questions import is_question
from dactnlg.text.requests import Request
from dactnlg.text.segments import Segments
from dactnlg.text.surface import detokenize, strip_joiner
from dactnlg.text.templates import ENDS, Tokens, join_sentences
from dactnlg.text.trigger_words import is_question_act

if TYPE_CHECKING:
    from dactnlg.generation.decoder import Decoder


MOST = 4
"""Texts that are looked at, and joints that are tried."""
ARTICLES = frozenset({"the", "a", "an"})


class Describer:
    """Takes acts apart, and puts what is said of their parts together.

    Args:
        preprocessor: the preprocessor of a run.
    """

    def __init__(self, preprocessor: Preprocessor) -> None:
        self._preprocessor, self._segments = preprocessor, Segments(preprocessor)
        self._describing: dict[str, str | None] = {}
        self._joints: dict[str, list[Tokens]] = {}

    def things(self, request: Request) -> list[Request]:
        """Return for each thing that a request compares a request that describes it; nothing where it compares none."""
        found = owners.compared(request.turn)
        act_type = self._describes(found[0].name.name) if found else None
        if act_type is None:
            return []
        turns = [Turn((DialogueAct(act_type, (thing.name, *thing.slots)),)) for thing in found]
        return [self._preprocessor.request(turn, request.context) for turn in turns]

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

    def left(self, best: Candidate) -> list[Request]:
        """Return a request for each special value that a sentence lacks, to be said by itself; for all that is unknown.

        Questions, and what is unknown, can be said one by one, and so can what is said of a thing that has a name; what
        people look for cannot.
        """
        request, act = best.request, best.request.turn.acts[0]
        unknown = not is_question_act(act) and all(slot.special == "none" or slot.value is None for slot in act.slots)
        named = next((slot.name for slot in act.slots if placeholder_name(slot.name) == self._segments.subject), None)
        alone = unknown or is_question_act(act)
        act_type = act.act_type if alone else self._describes(named) if named else None
        # Where a sentence does not say that something is unknown, it may say what it is.
        lacked = [slot for slot in act.slots if _lacked(best)(slot) and (unknown or slot.special != "none")]
        if len(request.turn.acts) > 1 or len(act.slots) < 2 or act_type is None or not lacked:
            return []
        slots = act.slots if unknown else lacked
        turns = [Turn((DialogueAct(act_type, (slot,)),)) for slot in slots]
        return [self._preprocessor.request(turn, request.context) for turn in turns]

    def longer(
        self, decoder: Decoder, best: Candidate, more: Sequence[Candidate], options: ResolvedOptions
    ) -> list[Candidate]:
        """Return a sentence with further ones behind it, which say what it lacks, and these alone where they say all.

        Args:
            decoder: the model.
            best: the sentence.
            more: a sentence for each request of `left`, as far as there is one.
            options: how sentences are chosen.
        """
        lacked = [each.tokens for each in more if _lacked(best)(each.request.turn.acts[0].slots[0])]
        texts = [reduce(join_sentences, lacked, list(best.tokens))]
        if len(more) == len(best.request.turn.acts[0].slots):
            texts.append(reduce(join_sentences, (each.tokens for each in more), list[str]()))
        return self._scored(decoder, best.request, texts, options)

    def compared(
        self, decoder: Decoder, request: Request, parts: Sequence[Candidate], options: ResolvedOptions
    ) -> list[Candidate]:
        """Return what is said of each thing as candidates for a comparison, the model's favourites first.

        Args:
            decoder: the model.
            request: the comparison.
            parts: a sentence for each request of `things`.
            options: how sentences are chosen.
        """
        required, places = self._preprocessor.delexicalizer.required, dict[tuple[str, str], list[str]]()
        for item in required(request.turn):
            places.setdefault(_value(item.slot), []).append(item.placeholder)
        said = []
        for part in parts:
            names = {item.placeholder: places[_value(item.slot)].pop(0) for item in required(part.request.turn)}
            said.append([_renamed(token, names) for token in part.tokens])
        found = self._scored(decoder, request, list(self._texts(request.turn.acts[0], said)), options)
        return sorted(found, key=lambda each: -(each.score or 0.0))[:MOST]

    def _scored(
        self, decoder: Decoder, request: Request, texts: Sequence[Sequence[str]], options: ResolvedOptions
    ) -> list[Candidate]:
        encoded = [self._preprocessor.vocabulary.encode(text) for text in texts]
        scores = decoder.sentence_scores(request.turn, encoded, request.context)
        power, ask = options.length_normalization, options.append_questions
        normalized = [float(score) / (len(text) + 1) ** power for score, text in zip(scores, texts, strict=True)]
        return [
            Candidate(self._preprocessor, request, tuple(text), score, origin="composed", ask=ask)
            for text, score in zip(texts, normalized, strict=True)
        ]

    def _texts(self, act: DialogueAct, said: Sequence[Sequence[str]]) -> Iterator[list[str]]:
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


def _lacked(best: Candidate) -> Callable[[Slot], bool]:
    """Return what tells whether a sentence lacks a special value, or a slot without one."""
    names = {*best.report.cues.missing, *best.report.unsaid}
    return lambda slot: (slot.name if slot.value is None else f"{slot.name}={slot.special}") in names


def _value(slot: Slot) -> tuple[str, str]:
    return slot.name, (slot.value or "").casefold()


def _renamed(token: str, names: dict[str, str]) -> str:
    name = strip_joiner(token)
    return token.replace(name, names[name]) if name in names else token
