"""Checking any sentence against its act: values, special values, questions, act types, and whose values they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from math import inf

from dactnlg.acts import Slot, Turn
from dactnlg.fidelity.facts import ACT, INDIFFERENT, UNKNOWN, Fact, act_name, facts, special_name, value_fact
from dactnlg.fidelity.features import folded
from dactnlg.fidelity.inventions import Inventions
from dactnlg.fidelity.naming import Naming
from dactnlg.fidelity.plainly import asked
from dactnlg.fidelity.reader import INFORM, NEVER, Evidence, Reader
from dactnlg.fidelity.reports import FidelityReport, Findings
from dactnlg.fidelity.samples import evidence, other_values, unfound
from dactnlg.fidelity.things import exchanged_specials, left_out
from dactnlg.text.grammar.manners import Manners
from dactnlg.text.owners import exchanged, left_open
from dactnlg.text.placeholders import Required, is_placeholder
from dactnlg.text.questions import is_question
from dactnlg.text.sentences import split_sentences
from dactnlg.text.slots import OPPOSITES, Shown, SlotChecker, Tally
from dactnlg.text.surface import detokenize
from dactnlg.text.values.nearness import names_slot

RESCUE = 1.0
"""Above the threshold of a special value, the reader overrules a cue that does not show."""


class FidelityChecker:
    """Checks sentences against their acts. Several threads may use one.

    Args:
        checker: finds values, and cues of special values.
        reader: learned from the corpus; None falls back on cues alone.
        manners: of the corpus's texts; they show which values a sentence denies.
    """

    def __init__(self, checker: SlotChecker, reader: Reader | None = None, manners: Manners | None = None) -> None:
        self.checker, self.reader, self._manners = checker, reader, manners
        self.delexicalizer = checker.delexicalizer
        self._naming = None if reader is None else Naming(reader)
        self.trigger_words = {} if self._naming is None else self._naming.trigger_words()
        self.values: Mapping[str, Sequence[str]] = {} if reader is None else reader.parts.values
        self._inventions = Inventions(self.values)

    def check(self, turn: Turn, sentence: str) -> FidelityReport:
        """Return what a lexicalised sentence says of what a turn says."""
        turn = self.delexicalizer.prepared(turn)
        done = self.delexicalizer.delexicalize(turn, sentence)
        values = self.checker.tally(turn, done.tokens)
        # What is said twice is still true.
        said = {str(item.slot) for item in self.delexicalizer.required(turn)}
        shown = self.checker.shown(done.tokens)
        cues = self.checker.look(self.checker.expected(turn), done.tokens, shown)
        seen = evidence(turn, done.tokens, shown)
        logits = {} if self.reader is None else self.reader.logits(seen)
        missing, contradicted = list[str](), dict[str, str]()
        for item in done.missing:
            if (item.slot.value or "").casefold() in seen.shown.get(item.slot.name, ()):
                # The data card has words for it.
                continue
            self._value(item, done.tokens, logits, missing, contradicted)
        if self._manners is not None:
            words = [token if is_placeholder(token) else token.lower() for token in done.tokens]
            missing += self._manners.denied(turn, self.delexicalizer.required(turn), words)
        special = self._special(turn, seen, logits, cues, sure=True)
        extra = [*(name for name in values.extra if name not in said), *special.extra]
        invented = map(str, self._inventions.invented(turn, sentence))
        extra += [name for name in invented if name not in contradicted.values()]
        return FidelityReport(
            (*missing, *special.missing),
            (*extra, *(self._naming.told(turn, seen.words, extra) if self._naming else ())),
            {**contradicted, **special.contradicted},
            self._misplaced(turn, done.tokens, seen.words, alone=False),
            special.questions,
            self._acts(turn, done.tokens, logits),
            tuple(name for name in self.unchecked(turn) if name not in special.questions),
        )

    def unchecked(self, turn: Turn) -> tuple[str, ...]:
        """Return the special values and questions of a turn that neither cues nor the reader can show."""
        turn = self.delexicalizer.prepared(turn)
        stated = facts(turn)
        either = _either(turn, stated)
        names = self.checker.unchecked(turn)
        return tuple(n for n in names if n not in stated or n in either or not self._reads(n, turn))

    def knows_act(self, act_type: str) -> bool:
        """Whether the reader has learned to tell sentences that do an act of some type."""
        return self.reader is not None and act_name(act_type) in self.reader.facts

    def _reads(self, name: str, turn: Turn) -> bool:
        """Whether the reader can tell that a special value or a question is not said."""
        if self.reader is None or name not in self.reader.limits:
            return False
        special, sure = self.reader.facts[name].kind[:1] == "=", self.reader.limits[name].least > NEVER
        if special or (sure and not _one_question(turn)):
            return sure
        return bool(self.reader.parts.margins.get(name))

    def look(self, turn: Turn, tokens: Sequence[str], cues: Tally, shown: Shown) -> Findings:
        """Return what is wrong with delexicalised tokens, their values aside.

        Args:
            turn: the acts.
            tokens: the sentence, with placeholders.
            cues: what the cues of the data card say of it; what they find missing stays so.
            shown: the special values that they find.
        """
        if self.reader is None or self._naming is None:
            return Findings(cues.missing, cues.extra, misplaced=self._misplaced(turn, tokens, (), alone=True))
        sentence = evidence(turn, tokens, shown)
        logits = self.reader.logits(sentence)
        found = self._special(turn, sentence, logits, cues, sure=False)
        unnamed, strange = self._naming.faults(turn, sentence.words)
        unnamed += left_out(self.checker, turn, tokens)
        extra = dict.fromkeys((*found.extra, *strange))
        return Findings(
            tuple(dict.fromkeys((*found.missing, *(name for name in unnamed if name not in found.contradicted)))),
            (*extra, *self._naming.told(turn, sentence.words, extra)),
            found.contradicted,
            self._misplaced(turn, tokens, sentence.words, alone=True),
            (*found.questions, *self._naming.unasked(turn, sentence.words)),
            self._acts(turn, tokens, logits),
        )

    def lacks(self, turn: Turn, slot: Slot, tokens: Sequence[str], cues: Tally, shown: Shown) -> bool:
        """Whether delexicalised tokens do not say a special value of a turn; `look` finds all that is wrong with them.

        Args:
            turn: the acts.
            slot: the value.
            tokens: words, with placeholders.
            cues: what the cues of the data card say of them.
            shown: the special values that they find.
        """
        name = special_name(slot)
        if self.reader is None or self._naming is None:
            return name in cues.missing
        sentence = evidence(turn, tokens, shown)
        found = self._special(turn, sentence, self.reader.slot_logits(sentence, slot.name), cues, sure=False)
        if name in found.missing or name in found.contradicted:
            return True
        return name in self._naming.faults(turn, sentence.words)[0] or name in left_out(self.checker, turn, tokens)

    def read(self, turn: Turn, tokens: Sequence[str], cues: Tally, shown: Shown) -> Tally:
        """Return what is wrong with a template's special values, questions and act types; see `look`."""
        found = self.look(turn, tokens, cues, shown)
        acts, misplaced = found.acts, found.misplaced
        stated = facts(turn)
        lost = [stated[name].slot or "" for name in found.questions]
        missing = (*found.missing, *found.contradicted, *misplaced, *acts, *lost)
        extra = (*found.extra, *acts.values())
        required = sum(fact.kind != ACT for fact in stated.values())
        return Tally(max(required, cues.required), tuple(missing), tuple(extra))

    def improbable(self, turn: Turn, tokens: Sequence[str]) -> list[str]:
        """Return the act types that delexicalised tokens more probably do not do, though it may not be sure.

        Any statement informs, and questions have their marks.
        """
        acts = [act_name(act.act_type) for act in turn if not act.is_question]
        if self.reader is None or acts == [INFORM]:
            return []
        logits = self.reader.act_logits(folded(tokens))
        known = (name for name in dict.fromkeys(acts) if name in logits and name != INFORM)
        return [name for name in known if logits[name] < self.reader.limits[name].least]

    def _value(
        self,
        item: Required,
        tokens: Sequence[str],
        logits: Mapping[str, float],
        missing: list[str],
        contradicted: dict[str, str],
    ) -> None:
        """Note an ordinary value that is not there as it is, unless it is said in words that the reader knows."""
        lost = unfound(self.delexicalizer, item, tokens)
        if not lost:
            return
        slot, known = item.slot, () if self.reader is None else self.reader.parts.values.get(item.slot.name, ())
        if len(known) == 1:
            # "Hotel", where there is nothing but hotels.
            return
        others = other_values(self.delexicalizer, slot, known, tokens) if known else []
        if not others and all(self._worded(part, logits) for part in lost):
            return
        if others:
            contradicted[str(slot)] = str(Slot(slot.name, others[0]))
        else:
            missing.append(str(slot))

    def _worded(self, slot: Slot, logits: Mapping[str, float]) -> bool:
        name = value_fact(slot).name
        return name in logits and self.reader is not None and logits[name] >= self.reader.limits[name].least

    def _special(
        self, turn: Turn, sentence: Evidence, logits: Mapping[str, float], cues: Tally, *, sure: bool
    ) -> Findings:
        """Return the special values and questions at fault.

        Args:
            turn: the acts.
            sentence: as the reader takes it.
            logits: of the reader.
            cues: what the data card's cues find.
            sure: whether a reader that is sure overrules a cue that is not found.
        """
        stated = facts(turn)
        either = _either(turn, stated)
        # A question can only be lost beside others; one by itself is asked, or another one is.
        alone = _one_question(turn) and (turn.acts[0].is_question or any(asked(sentence.words)))
        unasked = _unasked(stated, sentence, logits)
        # What cues say of other things than special values, such as values said in words, stays.
        missing, questions = [name for name in cues.missing if name not in stated], list[str]()
        contradicted: dict[str, str] = {}
        for name, fact in stated.items():
            if fact.kind == ACT or name in either:
                continue
            logit, limits = logits.get(name), self.reader.limits[name] if self.reader and name in logits else None
            special = fact.kind[:1] == "="
            if limits is None or logit is None or limits.least <= NEVER:
                if name in cues.missing:
                    missing.append(name)
                continue
            lost = logit < limits.least and (special or not alone) and not self._plainly(name, fact, sentence, logits)
            if not special and self.reader is not None:
                lost = lost or self.reader.instead(name, logits, stated) is not None
                lost = lost or (not alone and self._asks_for_others(fact, stated, sentence))
                lost = lost or name in unasked
            if name in cues.missing:
                lost = lost or not sure or not self._rescued(name, logits)
            elif lost and special:
                lost = not self._unopposed(fact, sentence.shown)
            if lost and special:
                rival = self._rival(name, stated, logits)
                if rival:
                    contradicted[name] = rival
                else:
                    missing.append(name)
            elif lost:
                questions.append(name)
        extra = self._extra(turn, sentence, logits, cues)
        return Findings(tuple(missing), extra, contradicted, questions=tuple(questions))

    def _plainly(self, name: str, fact: Fact, sentence: Evidence, logits: Mapping[str, float]) -> bool:
        """Whether a sentence names a slot in a question, where something does not matter, or beside the fact's cue."""
        slot, words = fact.slot or "", sentence.words
        if self.reader is None or self._naming is None:
            return False
        if fact.kind[:1] != "=":
            return any(any(names_slot(word, slot) for word in each) for each in asked(words))
        if fact.kind not in (INDIFFERENT, UNKNOWN):
            return False
        if fact.kind == INDIFFERENT and self._naming.does_not_matter(words, slot):
            return True
        shown = fact.kind[1:] in sentence.shown.get(slot, ())
        return shown and self.reader.names(words, slot) and self._most_probable(name, logits)

    def _unopposed(self, fact: Fact, shown: Mapping[str, Sequence[str]]) -> bool:
        """Whether a sentence shows a yes or a no by its cue, and not the opposite, which has a cue as well.

        The reader, which learned what mostly stands together, takes "allow dogs and do not accept cards" for "no dogs".
        """
        slot, value = fact.slot or "", fact.kind[1:]
        opposite = OPPOSITES.get(value)
        return opposite in self.checker.values_with_cues(slot) and tuple(shown.get(slot, ())) == (value,)

    def _asks_for_others(self, fact: Fact, stated: Container[str], sentence: Evidence) -> bool:
        """Whether all questions of a sentence name slots that its turn does not ask for, and none the slot of one."""
        questions = list(asked(sentence.words))
        known = self.reader.facts.values() if self.reader is not None else ()
        others = [other.slot or "" for other in known if other.kind == fact.kind and other.name not in stated]
        own = any(names_slot(word, fact.slot or "") for each in questions for word in each)
        named = (any(names_slot(word, slot) for word in each for slot in others) for each in questions)
        return bool(questions) and not own and all(named)

    def _rescued(self, name: str, logits: Mapping[str, float]) -> bool:
        """Whether a special value is surely said although its cue is not found."""
        reader = self.reader
        surely = reader is not None and logits[name] >= reader.limits[name].least + RESCUE
        return surely and self._most_probable(name, logits)

    def _most_probable(self, name: str, logits: Mapping[str, float]) -> bool:
        """Whether no other special value of its slot is as probable as one."""
        rivals = () if self.reader is None else self.reader.rivals(name)
        return logits[name] > max((logits[other] for other in rivals), default=-inf)

    def _rival(self, name: str, stated: Mapping[str, Fact], logits: Mapping[str, float]) -> str | None:
        if self.reader is None:
            return None
        rivals = [other for other in self.reader.rivals(name) if other not in stated]
        best = max(rivals, key=lambda other: logits[other], default=None)
        return best if best is not None and logits[best] > max(self.reader.limits[best].least, logits[name]) else None

    def _extra(self, turn: Turn, sentence: Evidence, logits: Mapping[str, float], cues: Tally) -> tuple[str, ...]:
        """Return the special values that a turn does not have; nothing is indifferent or unknown that is not named."""
        if self.reader is None:
            return cues.extra
        slots = {slot.name for _, slot in turn.slots()}
        found = dict.fromkeys(cues.extra)
        for name, logit in logits.items():
            fact = self.reader.facts[name]
            if fact.kind[:1] != "=" or fact.slot in slots or logit <= self.reader.limits[name].most:
                continue
            if fact.kind not in (INDIFFERENT, UNKNOWN) or self.reader.names(sentence.words, fact.slot or ""):
                found[name] = None
        return tuple(found)

    def _misplaced(self, turn: Turn, tokens: Sequence[str], words: Sequence[str], *, alone: bool) -> dict[str, str]:
        required = self.delexicalizer.required(turn)
        things = {str(item.slot): str(thing.slot) for item, thing in exchanged(required, tokens)}
        things |= exchanged_specials(self.checker, turn, required, tokens)
        if self.reader is None:
            return things
        found = self.reader.misplaced(words, alone=alone).items()
        return {_slot_name(placeholder): _slot_name(other) for placeholder, other in found} | things

    def _acts(self, turn: Turn, tokens: Sequence[str], logits: Mapping[str, float]) -> dict[str, str]:
        """Return the act types that a text does not do, each with the one that it does instead.

        What one of its sentences does is done, though others inform: "Do you like shooters? It is available on Steam."
        No question informs.
        """
        if self.reader is None:
            return {}
        stated = facts(turn)
        acts = [name for name, fact in stated.items() if fact.kind == ACT and name in logits]
        found = {name: self.reader.instead(name, logits, stated) for name in acts}
        told = [name for name, other in found.items() if other == INFORM]
        for sentence in split_sentences(tokens) if told else ():
            alone = self.reader.act_logits(folded(sentence))
            asks = is_question(detokenize(list(sentence)))
            for name in told:
                done = alone[name] > self.reader.limits[name].most
                if done or (asks and self.reader.instead(name, alone, {*stated, INFORM}) is None):
                    found[name] = None
        return {name: other for name, other in found.items() if other is not None}


def _either(turn: Turn, stated: Mapping[str, Fact]) -> set[str]:
    """Return the special values of slots that have several: a choice between them may be worded as one."""
    slots, opened = Counter(fact.slot for fact in stated.values()), left_open(turn)
    return {n for n, fact in stated.items() if fact.kind[:1] == "=" and slots[fact.slot] > 1 and fact.slot in opened}


def _unasked(stated: Mapping[str, Fact], sentence: Evidence, logits: Mapping[str, float]) -> list[str]:
    """Return the least probable questions that are too many for a text: each sentence asks for one, nearly always."""
    asking = [name for name, fact in stated.items() if fact.kind[:1] != "=" and fact.kind != ACT and name in logits]
    many = len(asking) - len(split_sentences(sentence.words))
    return [name for name in sorted(asking, key=lambda name: logits[name])[: max(many, 0)] if logits[name] < 0]


def _one_question(turn: Turn) -> bool:
    """Whether a turn does nothing but ask for one slot."""
    return len(turn.acts) == 1 and [slot.value for slot in turn.acts[0].slots] == [None]


def _slot_name(placeholder: str) -> str:
    return placeholder.removeprefix("SLOT_").lower()
