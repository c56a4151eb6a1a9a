"""The piece finder: splits a run's training texts into pieces, and determines what each says."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import pairwise

from dactnlg._utils.memory import Memory
from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.generation.unseen.pieces import Alternatives, Piece, Pieces, Said, Text, bare
from dactnlg.text.grammar.english import PREPOSITIONS, VERBS
from dactnlg.text.grammar.fluency import Fluency
from dactnlg.text.grammar.indifference import OR_DO_YOU_NOT, Indifference, is_indifferent
from dactnlg.text.grammar.learned_indifference import added, by_condition, by_name, clauses, question
from dactnlg.text.placeholders import is_placeholder, placeholder_name
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.report_names import special_name
from dactnlg.text.segments import ARTICLE, Segments
from dactnlg.text.sentences import PRONOUN, Tokens, asking, is_asking, split_question, split_sentences, without_apology
from dactnlg.text.surface import strip_joiner, strip_joiners
from dactnlg.text.traits import Key, act_types, canonical, read_trait
from dactnlg.text.trigger_words import trigger

MOST_ALIKE = 30
"""Maximum number of texts kept that say the same, the most frequent ones."""
SPREAD = 0.05
"""Share of an act type's texts with values spread over several sentences from which other texts may do so, too."""
RARE = 0.1
"""Weight of a derived sentence, which training does not have, relative to one that it has."""
REMEMBERED = 50_000, 16 << 20
"""Limits of the cache of whether words say a special value: number of entries, and bytes."""
_DETERMINERS = frozenset({ARTICLE, "its"})
_OF = frozenset({"of", "for", "at", "to"})
Group = dict[Said, dict[Tokens, float]]


class PieceFinder:
    """Finds pieces in a run's training texts.

    Args:
        preprocessor: the preprocessor of the run.
    """

    def __init__(self, preprocessor: Preprocessor) -> None:
        self._preprocessor, self._segments = preprocessor, Segments(preprocessor, VERBS)
        self._subject = preprocessor.templates.subject
        # Cached, because composed texts share their phrases.
        self._shown: Memory[tuple[bool | None]] = Memory(*REMEMBERED)

    def collect(self, act_types: frozenset[str], fluency: Fluency) -> Pieces:
        """Return the whole texts for exactly these act types, and single sentences for any subset of them."""
        whole: Group = {}
        single: Group = {}
        stated: Group = {}
        several = spread = total = asked = 0
        for acts, said, text, weight in (each for each in self.texts if each.acts <= act_types):
            free = frozenset(filter(is_indifferent, said)) if acts == act_types else frozenset()
            if free and not is_asking(text):
                # People often omit that something does not matter.
                shown = self.said_here(said, text)
                said -= free - (said if shown is None else shown)
            segments = split_sentences(text)
            if acts == act_types:
                self._add_whole(whole, said, text, segments, weight)
                self._part_at_question(said, text, weight, stated, single)
                several += len(said) > 1
                total += 1
                asked += is_asking(segments[-1])
                spread += sum(any(map(is_placeholder, segment)) for segment in segments) > 1
            if len(segments) == 1 or all(map(bare, said)):
                _add(single, said, without_apology(text), weight)
            if about := self._about_it(said, text):
                for group in (whole, single) if acts == act_types else (single,):
                    _add(group, said - {self._subject}, about, RARE * weight)
            for segment in segments:
                here = said if len(segments) == 1 else self.said_here(said, segment)
                tokens = self._continued(segment) if here and self._subject in here else segment
                if here and tokens and (len(segments) > 1 or tokens != text):
                    _add(single, (here & said) - {self._subject}, without_apology(tokens), weight)
        much = spread >= SPREAD * max(1, several)
        most_ask = 2 * asked > total
        every, apart = (_frequent(group, fluency, asking=most_ask) for group in (whole, single))
        before = _frequent(stated, fluency, asking=False)
        return Pieces(every, apart, before, spread=much, asking=most_ask)

    @cached_property
    def texts(self) -> list[Text]:
        """The training texts for which it is known what they say."""
        found, templates = [], self._preprocessor.templates
        for key, texts in templates.sentences.items():
            for text, weight in texts.items():
                said = _said(key, text, templates.specials.get((key, text), [()]))
                if said is not None:
                    found.append(Text(frozenset(act_types(key)), said, text, weight))
        return found

    def _add_whole(self, whole: Group, said: Said, text: Tokens, segments: list[Tokens], weight: float) -> None:
        _add(whole, said, text, weight)
        if self._subject in said and (continued := self._continued(segments[0])):
            rest = text[len(segments[0]) :]
            if not any(strip_joiner(token) == self._subject for token in rest):
                _add(whole, said - {self._subject}, (*continued, *rest), RARE * weight)

    def _part_at_question(self, said: Said, text: Tokens, weight: float, stated: Group, single: Group) -> None:
        """Add the statement before a text's question for slots, "there are 3 pubs in the north", and the question."""
        asked = self.asked(said)
        before, question = split_question(text) if asked and asked != said else ([], [])
        if before and question and not any(asking(before)):
            _add(stated, said - asked, tuple(before), weight)
            _add(single, asked, tuple(question), weight)

    def asked(self, said: Said) -> Said:
        """Return the slots without a value that belong to questions; those of other acts are unknown values."""
        return frozenset(item for item in said if bare(item) and read_trait(item).act_type in self._asking)

    @cached_property
    def _asking(self) -> frozenset[str]:
        """The act types whose texts all begin with a question when they are the only act."""
        found: dict[str, bool] = {}
        for key, texts in self._preprocessor.templates.sentences.items():
            for act_type in act_types(key) if len(act_types(key)) == 1 else ():
                found[act_type] = found.get(act_type, True) and all(asking(text)[0] for text in texts)
        return frozenset(act_type for act_type, asks in found.items() if asks)

    def by_name(self, pieces: Pieces, said: Said, fluency: Fluency) -> Pieces:
        """Return the pieces, with additional ones for slots without a value for which training has none in these acts.

        These are another slot's with the name replaced, "which height do you mean" from "which region", else a plain
        question. Questions whether a slot does not matter are added as well.
        """
        unvalued = frozenset(filter(bare, said))
        found: Group = {}
        free = frozenset(item for item in said if is_indifferent(item) and frozenset({item}) not in pieces.single)
        for item in free if pieces.asking else ():
            if tokens := self._indifferent_question(item):
                _add(found, frozenset({item}), tokens, RARE)
        for item in unvalued.difference(*pieces.single) if unvalued else ():
            act_type, name, _ = read_trait(item)
            for base, group in pieces.single.items() if name in self._named else ():
                others = sorted(base - {self._subject})
                if len(others) != 1 or not bare(others[0]) or read_trait(others[0]).act_type != act_type:
                    continue
                own = read_trait(others[0]).slot
                # Number must agree: "are toilets important?" cannot ask for a singular.
                alike = own.endswith("s") == name.endswith("s")
                piece = next((each for each in group.ranked if alike and each.tokens.count(own) == 1), None)
                if piece:
                    tokens = tuple(name if token == own else token for token in piece.tokens)
                    _add(found, base - {others[0]} | {item}, tokens, piece.weight)
            question = () if any(item in base for base in found) else self._plain_question(act_type, name, fluency)
            if question:
                _add(found, frozenset({item}), question, RARE)
        more = _frequent(found, fluency, asking=pieces.asking)
        return pieces._replace(whole={**pieces.whole, **more}, single={**pieces.single, **more}) if more else pieces

    def _indifferent_question(self, item: str) -> Tokens:
        """Return a question whether a slot does not matter, from such questions for other slots and from statements.

        "Can i confirm that you do not care about the internet", from "... about the area" and "there are hotels if you
        do not care about the internet".
        """
        act_type, slot_name, _ = read_trait(item)
        templates = self._preprocessor.templates
        before, behind = question(templates, act_type)
        if not before and (start := added(templates, act_type))[:-1] == OR_DO_YOU_NOT:
            # "Would you like a cheap pub, or do you not care?"
            before, behind = start[1:], ("?",)
        named = self._indifference.get(slot_name) or by_name(before, slot_name, templates)
        end = named or by_condition(before, slot_name, templates)
        return (*before, *end.things[0], *behind) if before and end else ()

    @cached_property
    def _indifference(self) -> dict[str, Indifference]:
        """How training's statements say of each slot that it does not matter."""
        templates = self._preprocessor.templates
        acts = {act_type for key in templates.sentences for act_type in act_types(key)}
        return clauses(templates, {each for each in acts if not self._preprocessor.manners.is_question(each)})

    def _plain_question(self, act_type: str, slot_name: str, fluency: Fluency) -> Tokens:
        """Return an English question for a slot by its name; empty unless the act type asks and it names a thing."""
        templates = self._preprocessor.templates
        words = tuple(templates.spelt_out(slot_name.lower()).split())
        asks = self._preprocessor.style.english and act_type in self._asking
        # "What price": a slot of ordinary values is a noun, unless it is "near" or "departs".
        valued = placeholder_name(slot_name) in self._valued and not (PREPOSITIONS | fluency.lexicon.verbs) & {*words}
        named = asks and (valued or templates.names_thing(words, slot_name))
        return ("what", *words, "would", "you", "like", "?") if named else ()

    @cached_property
    def _valued(self) -> frozenset[str]:
        """The placeholders of training: those of slots that have ordinary values."""
        texts = self._preprocessor.templates.texts()
        return frozenset(strip_joiner(token) for text in texts for token in text if is_placeholder(token))

    @cached_property
    def _named(self) -> frozenset[str]:
        """The words that follow "the" or "its" in training: names of things, unlike "near" or "with"."""
        texts = self._preprocessor.templates.texts()
        return frozenset(word for text in texts for before, word in pairwise(text) if before in _DETERMINERS)

    def _about_it(self, said: Said, text: Tokens) -> Tokens | None:
        """Return a text with "it" for its subject's name, if it otherwise says only slots without values; else None.

        "I don't know how long it is": what is unknown, or asked for, about a thing named before.
        """
        named = [place for place, token in enumerate(text) if strip_joiner(token) == self._subject]
        if len(named) != 1 or not all(map(bare, said - {self._subject})):
            return None
        before, after = text[: named[0]], text[named[0] + 1 :]
        # Not in "the Path 44", "Path 44's length", "(Path 44)".
        owner = any(strip_joiner(token).startswith("'") for token in after[:1])
        apart = text[named[0]] == self._subject and before[-1:] != (ARTICLE,) and not owner
        return (*before, PRONOUN, *after) if apart else None

    def _continued(self, segment: Tokens) -> Tokens | None:
        """Return a sentence without its subject's name ("it is cheap", "the phone number is SLOT_PHONE"), or None."""
        words = strip_joiners(segment)
        at = words.index(self._subject) if words.count(self._subject) == 1 else 0
        start = at - 1 if words[at - 1] == ARTICLE else at
        if (
            start > 2
            and words[0] == ARTICLE
            and words[start - 1] in _OF
            and words[at + 1 : at + 2] in (["is"], ["are"])
        ):
            return (*segment[: start - 1], *segment[at + 1 :])
        return self._segments.continued(segment)

    def said_here(self, said: Said, segment: Tokens) -> Said | None:
        """Return which of the items that a text says a part of it says; None if this cannot be determined."""
        found = {strip_joiner(token) for token in segment if is_placeholder(token)}
        words = tuple(token for token in segment if not is_placeholder(token))
        for each in said:
            act_type, slot_name, value = read_trait(each)
            if bare(each):
                return None
            if value is not None:
                shown = self._shows(act_type, Slot(slot_name, value), words)
                if shown is None:
                    return None
                found |= {each} if shown else set()
        return frozenset(found)

    def _shows(self, act_type: str, slot: Slot, words: Tokens) -> bool | None:
        """Return whether words say a special value; None if this cannot be determined."""
        key = act_type, slot, words
        found = self._shown.get(key)
        if found is None:
            # Hardly any sentence says it without a trigger word.
            triggers = self._preprocessor.trigger_words.get(trigger(special_name(slot)), ())
            if triggers and not any(word in words for word in triggers):
                return False
            shown = self._segments.said(Turn((DialogueAct(act_type, (slot,)),)), words)
            found = self._shown.put(key, (None if shown is None else bool(shown),), 200 + 10 * len(words))
        return found[0]


def _said(key: Key, text: Tokens, specials: Iterable[Key]) -> Said | None:
    """Return what a text says; None if it occurs with different special values, or repeats a placeholder."""
    held = [strip_joiner(token) for token in text if is_placeholder(token)]
    values = list(specials)
    if len(set(held)) < len(held) or len(values) != 1:
        return None
    special = [*map(canonical, values[0])]
    named = {trait._replace(value=None) for trait in special}
    slots = [trait for trait in map(read_trait, key) if trait.slot and trait not in named]
    unvalued = [trait for trait in slots if placeholder_name(trait.slot) not in held]
    return frozenset({*held, *map(str, special), *map(str, unvalued)})


def _add(group: Group, said: Said, tokens: Tokens, weight: float) -> None:
    texts = group.setdefault(said, {})
    texts[tokens] = texts.get(tokens, 0.0) + weight


def _frequent(group: Group, fluency: Fluency, *, asking: bool) -> dict[Said, Alternatives]:
    found = {}
    for said, texts in group.items():
        frequent = sorted(texts.items(), key=lambda each: (-each[1], each[0]))[:MOST_ALIKE]
        found[said] = Alternatives([Piece(*each) for each in frequent], fluency, asking=asking)
    return found
