"""Checks a sentence against its act: values, special values, questions, act types, and whose values they are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from dactnlg.acts import Slot, Turn, act_types
from dactnlg.fidelity.amounts import amounts_otherwise, numbers_of, stray_numbers
from dactnlg.fidelity.facts import ACT, Fact, facts, value_fact
from dactnlg.fidelity.features import folded
from dactnlg.fidelity.inventions import Inventions
from dactnlg.fidelity.reader import INFORM, Reader
from dactnlg.fidelity.reports import FidelityReport, Findings, together
from dactnlg.fidelity.samples import evidence, other_values, unfound
from dactnlg.fidelity.specials import Specials, either, one_question, shown_by_cues
from dactnlg.fidelity.things import exchanged_specials, left_out, told_apart
from dactnlg.text.grammar.manners import Manners
from dactnlg.text.owners import exchanged
from dactnlg.text.placeholders import Required, is_placeholder, placeholder_name, slot_label, without_ordinal
from dactnlg.text.report_names import act_name, is_act_name, special_name
from dactnlg.text.sentences import is_asking, split_sentences
from dactnlg.text.slots import Shown, SlotChecker
from dactnlg.text.tallies import Tally

UNSAID = 3.0
"""Logits below its threshold at which an act of several is surely left out, in the whole text and in each sentence."""


class FidelityChecker:
    """Checks sentences against their acts; thread-safe.

    Args:
        checker: finds values, and cues of special values.
        reader: the reader learned from the corpus; None falls back on cues alone.
        manners: of the corpus's texts; they show which values a sentence denies.
    """

    def __init__(self, checker: SlotChecker, reader: Reader | None = None, manners: Manners | None = None) -> None:
        self.checker, self.reader, self._manners = checker, reader, manners
        self.delexicalizer = checker.delexicalizer
        self._specials = None if reader is None else Specials(checker, reader)
        self.trigger_words = {} if self._specials is None else self._specials.naming.trigger_words()
        self.values: Mapping[str, Sequence[str]] = {} if reader is None else reader.parts.values
        self._inventions = Inventions(self.values, None if reader is None else reader.parts.told)
        self._numbers = numbers_of(self.values)

    def check(self, turn: Turn, sentence: str) -> FidelityReport:
        """Check a lexicalised sentence against a turn.

        If the turn describes several things, with one act each, the sentences about each thing are checked separately.
        """
        turn = self.delexicalizer.prepared(turn)
        parts = told_apart(self.delexicalizer, turn, sentence)
        return together([self._check(*part) for part in parts]) if parts else self._check(turn, sentence)

    def _check(self, turn: Turn, sentence: str) -> FidelityReport:
        done = self.delexicalizer.delexicalize(turn, sentence)
        values = self.checker.tally(turn, done.tokens)
        # A value that is said twice is still true.
        said = {str(item.slot) for item in self.delexicalizer.required(turn)}
        shown = self.checker.shown(done.tokens)
        cues = self.checker.look(self.checker.expected(turn), done.tokens, shown)
        seen = evidence(turn, done.tokens, shown)
        logits = {} if self.reader is None else self.reader.logits(seen)
        missing, contradicted = list[str](), dict[str, str]()
        for item in done.missing:
            # A cue of the data card may show it.
            cued = item.slot.folded in seen.shown.get(item.slot.name, ())
            other = None if cued else self._instead(turn, item, done.tokens, logits)
            if other:
                contradicted[str(item.slot)] = other
            elif other is not None:
                missing.append(str(item.slot))
        if self._manners is not None:
            required, told = self.delexicalizer.required(turn), self.checker.special(turn)
            words = [token if is_placeholder(token) else token.lower() for token in done.tokens]
            untrue = self._manners.untrue(turn, required, words)
            if told:
                # "It is not in the south and has no toilets" denies both.
                untrue += self._manners.untrue(turn, required, self.checker.without_cues(turn, words), masked=told)
            missing += dict.fromkeys(untrue)
        special = (
            shown_by_cues(turn, cues)
            if self._specials is None
            else self._specials.faults(turn, seen, logits, cues, sure=True)
        )
        extra = [*(name for name in values.extra if name not in said), *special.extra]
        invented = map(str, self._inventions.invented(turn, sentence))
        extra += [name for name in invented if name not in contradicted.values()]
        extra += self._specials.invented_questions(turn, seen, logits, self._asking(turn)) if self._specials else ()
        undone, acts = self._acts(turn, done.tokens, logits)
        return FidelityReport(
            (*missing, *special.missing, *undone),
            (*extra, *(self._specials.naming.told(turn, seen.words, extra) if self._specials else ())),
            {**contradicted, **special.contradicted},
            self._misplaced(turn, done.tokens, seen.words, alone=False),
            special.questions,
            acts,
            (
                *(name for name in self._unread_acts(turn) if name not in undone),
                *(name for name in self.unchecked(turn) if name not in special.questions),
            ),
        )

    def _asking(self, turn: Turn) -> int:
        """Return how many acts of a turn ask, but for no slot."""
        stated = [act for act in turn if all(slot.value is not None for slot in act.slots)]
        return sum(self._manners.is_question(act.act_type) for act in stated) if self._manners is not None else 0

    def _unread_acts(self, turn: Turn) -> list[str]:
        """Return the act types of a turn that the reader cannot recognise, though it can tell others apart.

        With a single act type in training, acts cannot be confused.
        """
        if self.reader is None or not any(map(is_act_name, self.reader.facts)):
            return []
        return [act_name(act.act_type) for act in turn if not self.knows_act(act.act_type)]

    def unchecked(self, turn: Turn) -> tuple[str, ...]:
        """Return the special values and questions of a turn that neither cues nor the reader can check."""
        turn = self.delexicalizer.prepared(turn)
        stated = facts(turn)
        choices = either(turn, stated)
        names = self.checker.unchecked(turn)
        return tuple(n for n in names if n not in stated or n in choices or not self._reads(n, turn))

    def knows_act(self, act_type: str) -> bool:
        """Return whether the reader has learned to recognise sentences of an act type."""
        return self.reader is not None and act_name(act_type) in self.reader.facts

    def _reads(self, name: str, turn: Turn) -> bool:
        """Return whether the reader can detect that a special value or question is missing."""
        if self.reader is None or name not in self.reader.limits:
            return False
        special, sure = self.reader.facts[name].special, self.reader.reads(name)
        if special or (sure and not one_question(turn)):
            return sure
        return bool(self.reader.parts.margins.get(name))

    def look(self, turn: Turn, tokens: Sequence[str], cues: Tally, shown: Shown) -> Findings:
        """Return what is wrong with delexicalised tokens, apart from the ordinary values of the turn.

        Args:
            turn: the acts.
            tokens: the sentence, with placeholders.
            cues: the result of the data card's cues; what they find missing, the reader does not overrule.
            shown: the special values found by the cues.
        """
        numbers = stray_numbers(turn, tokens, self._numbers)
        if self._specials is None:
            misplaced = self._misplaced(turn, tokens, (), alone=True)
            return Findings(cues.missing, (*cues.extra, *numbers), misplaced=misplaced)
        sentence, naming = evidence(turn, tokens, shown), self._specials.naming
        logits = self._specials.reader.logits(sentence)
        found = self._specials.faults(turn, sentence, logits, cues, sure=False)
        unnamed, strange = naming.faults(turn, sentence.words)
        invented = map(str, self._inventions.invented_in(turn, tokens, self.delexicalizer.required(turn)))
        undone, acts = self._acts(turn, tokens, logits)
        unnamed += [*left_out(self.checker, turn, tokens), *undone]
        asked = self._specials.invented_questions(turn, sentence, logits, self._asking(turn))
        extra = dict.fromkeys((*found.extra, *strange, *numbers, *invented, *asked))
        return Findings(
            tuple(dict.fromkeys((*found.missing, *(name for name in unnamed if name not in found.contradicted)))),
            (*extra, *naming.told(turn, sentence.words, extra)),
            found.contradicted,
            self._misplaced(turn, tokens, sentence.words, alone=True),
            (*found.questions, *naming.unasked(turn, sentence.words)),
            acts,
        )

    def lacks(self, turn: Turn, slot: Slot, tokens: Sequence[str], cues: Tally, shown: Shown) -> bool:
        """Return whether delexicalised tokens lack a special value of a turn; a faster check than `look`.

        Args:
            turn: the acts.
            slot: the slot with the special value.
            tokens: words, with placeholders.
            cues: the result of the data card's cues.
            shown: the special values found by the cues.
        """
        name = special_name(slot)
        specials = self._specials
        if specials is None:
            return name in cues.missing
        sentence = evidence(turn, tokens, shown)
        found = specials.faults(turn, sentence, specials.reader.slot_logits(sentence, slot.name), cues, sure=False)
        if name in found.missing or name in found.contradicted:
            return True
        unnamed, _ = specials.naming.faults(turn, sentence.words)
        return name in unnamed or name in left_out(self.checker, turn, tokens)

    def read(self, turn: Turn, tokens: Sequence[str], cues: Tally, shown: Shown) -> Tally:
        """Return the findings of `look` for a template as a tally."""
        found = self.look(turn, tokens, cues, shown)
        acts, misplaced = found.acts, found.misplaced
        stated = facts(turn)
        lost = [stated[name].slot or "" for name in found.questions]
        missing = (*found.missing, *found.contradicted, *misplaced, *acts, *lost)
        extra = (*found.extra, *acts.values())
        required = sum(fact.kind != ACT for fact in stated.values())
        return Tally(max(required, cues.required), tuple(missing), tuple(extra))

    def improbable(self, turn: Turn, tokens: Sequence[str]) -> list[str]:
        """Return the act types that delexicalised tokens probably do not express, even if that is not certain.

        Not checked are `inform`, which any statement expresses, and questions, which have question marks.
        """
        acts = [act_name(act.act_type) for act in turn if not act.is_question]
        if self.reader is None or acts == [INFORM]:
            return []
        logits = self.reader.act_logits(folded(tokens))
        known = [name for name in dict.fromkeys(acts) if name in logits and name != INFORM]
        # People who recommend something often only describe it; what sounds like informing is the weaker choice.
        told = logits.get(INFORM, -math.inf) if INFORM not in acts else -math.inf
        return [name for name in known if logits[name] < max(self.reader.limits[name].least, told)]

    def _instead(self, turn: Turn, item: Required, tokens: Sequence[str], logits: Mapping[str, float]) -> str | None:
        """Return what is said instead of a value not found literally, "" for nothing; None if it is reworded."""
        slot, lost, known = item.slot, unfound(self.delexicalizer, item, tokens), self.values.get(item.slot.name, ())
        # "Hotel" need not be said if there is nothing but hotels.
        if not lost or len(known) == 1:
            return None
        if others := other_values(self.delexicalizer, slot, known, tokens) if known else []:
            return str(Slot(slot.name, others[0]))
        worded = all(self._worded(part, logits) for part in lost)
        return None if worded and not amounts_otherwise(turn, slot, tokens, self.values) else ""

    def _worded(self, slot: Slot, logits: Mapping[str, float]) -> bool:
        name = value_fact(slot).name
        return name in logits and self.reader is not None and logits[name] >= self.reader.limits[name].least

    def _misplaced(self, turn: Turn, tokens: Sequence[str], words: Sequence[str], *, alone: bool) -> dict[str, str]:
        required = self.delexicalizer.required(turn)
        things = {str(item.slot): str(thing.slot) for item, thing in exchanged(required, tokens)}
        things |= exchanged_specials(self.checker, turn, required, tokens)
        if self.reader is None:
            return things
        own = {without_ordinal(item.placeholder): item.slot.name for item in required}
        found = self.reader.misplaced(words, alone=alone).items()
        slots = [*(slot.name for _, slot in turn.slots()), *self.reader.parts.values]
        # Other slots, which samples may invent, are extra.
        return {own[name]: _slot_name(other, slots) for name, other in found if name in own} | things

    def _acts(self, turn: Turn, tokens: Sequence[str], logits: Mapping[str, float]) -> tuple[list[str], dict[str, str]]:
        """Return (act types that a text leaves out, others that it does not express, each with what it does instead).

        One sentence is enough to express an act, even if others inform: "Do you like shooters? It is available on
        Steam." A question never informs.
        """
        if not any(character.isalnum() for token in tokens for character in token):
            return [act_name(act.act_type) for act in turn], {}
        if self.reader is None:
            return [], {}
        stated = facts(turn)
        acts = [name for name, fact in stated.items() if fact.kind == ACT and name in logits]
        found = {name: self.reader.instead(name, logits, stated) for name in acts}
        told = [name for name, other in found.items() if other == INFORM]
        undone = _undone(self.reader, stated, tokens, logits)
        for sentence in split_sentences(tokens) if told else ():
            alone = self.reader.act_logits(folded(sentence))
            asks = is_asking(sentence)
            for name in told:
                done = alone[name] > self.reader.limits[name].most
                if done or (asks and self.reader.instead(name, alone, {*stated, INFORM}) is None):
                    found[name] = None
        instead = {name: other for name, other in found.items() if other is not None}
        # What is only less improbable than an act left out is not expressed instead of it.
        undone = [n for n in undone if n not in instead or logits[instead[n]] <= self.reader.limits[instead[n]].most]
        return undone, {name: other for name, other in instead.items() if name not in undone}


def _undone(
    reader: Reader, stated: Mapping[str, Fact], tokens: Sequence[str], logits: Mapping[str, float]
) -> list[str]:
    """Return the acts of several that surely nothing in a text expresses.

    `inform` and implicit confirmations are never among them: whatever says their values does what they do. "You might
    enjoy Ivy Cutting." does not ask whether there is anything else, nor does anything else instead: it is what another
    act of the turn says.
    """
    acts = [name for name, fact in stated.items() if fact.kind == ACT]
    worded = [name for name in acts if name in logits and name != INFORM and not act_types.implies(name)]
    known = worded if len(acts) > 1 else []
    least = {name: reader.limits[name].least - UNSAID for name in known}
    lost = [name for name in known if logits[name] < least[name]]
    for sentence in split_sentences(tokens) if lost else ():
        alone = reader.act_logits(folded(sentence))
        lost = [name for name in lost if alone[name] < least[name]]
    return lost


def _slot_name(placeholder: str, slots: Iterable[str]) -> str:
    """Return the first slot with a placeholder, else the placeholder's own name in lower case."""
    return next((slot for slot in slots if placeholder_name(slot) == placeholder), slot_label(placeholder))
