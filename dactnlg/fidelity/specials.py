"""Special values and questions of an act that a sentence does not say, and what it says in their place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from math import inf

from dactnlg.acts import Turn
from dactnlg.fidelity.facts import ACT, INDIFFERENT, UNKNOWN, Fact, facts
from dactnlg.fidelity.naming import Naming
from dactnlg.fidelity.plainly import asked
from dactnlg.fidelity.reader import NEVER, Evidence, Reader
from dactnlg.fidelity.reports import Findings
from dactnlg.text.owners import left_open
from dactnlg.text.sentences import split_sentences
from dactnlg.text.slots import OPPOSITES, SlotChecker
from dactnlg.text.tallies import Tally
from dactnlg.text.values.nearness import names_slot

RESCUE = 1.0
"""Above the threshold of a special value, the reader overrules a cue that does not show."""
WHETHER = "whether"
"""The word behind which a yes or no is left open."""
OPPOSED = 3.0
"""By how much more the reader has to hear the opposite of a yes or no, which cues do not tell, until that is said."""


class Specials:
    """Finds lost special values and questions. Several threads may use one.

    Args:
        checker: knows which values have cues.
        reader: learned from the corpus; None leaves all to the cues.
        naming: knows by which words sentences name slots; None as well.
    """

    def __init__(self, checker: SlotChecker, reader: Reader | None, naming: Naming | None) -> None:
        self.checker, self.reader, self._naming = checker, reader, naming

    def faults(
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
        choices, slots = either(turn, stated), Counter(fact.slot for fact in stated.values())
        # A question can only be lost beside others; one by itself is asked, or another one is.
        alone = one_question(turn) and (turn.acts[0].is_question or any(asked(sentence.words)))
        unasked = _unasked(stated, sentence, logits)
        # What cues say of other things than special values, such as values said in words, stays.
        missing, questions = [name for name in cues.missing if name not in stated], list[str]()
        contradicted: dict[str, str] = {}
        for name, fact in stated.items():
            if fact.kind == ACT or name in choices:
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
                lost = not self._unopposed(fact, sentence)
            # People's slips, which training has, are theirs: what is generated has to say what its act says.
            if slots[fact.slot] == 1:
                lost = lost or self._rated_otherwise(fact, sentence)
                lost = lost or (not sure and self._told_otherwise(fact, sentence))
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
        return shown and self._about(fact, words) and self._most_probable(name, logits)

    def _about(self, fact: Fact, words: Sequence[str]) -> bool:
        """Whether words name the slot of a fact, or at least none of which the same could be said in its place."""
        reader = self.reader
        if reader is None:
            return False
        others = (other.slot or "" for other in reader.facts.values() if other.kind == fact.kind)
        return reader.names(words, fact.slot or "") or not any(reader.names(words, slot) for slot in others)

    def _unopposed(self, fact: Fact, sentence: Evidence) -> bool:
        """Whether a sentence shows a yes or a no by its cue, and not the opposite, which has a cue as well.

        The reader, which learned what mostly stands together, takes "allow dogs and do not accept cards" for "no dogs".
        """
        slot, value = fact.slot or "", fact.kind[1:]
        if OPPOSITES.get(value) not in self.checker.values_with_cues(slot):
            return False
        shown = {*sentence.shown.get(slot, ())}
        # "Inns with internet, if you do not care whether dogs are allowed."
        if self._naming is not None and self._naming.others_do_not_matter(sentence.words, slot):
            shown.discard(INDIFFERENT.removeprefix("="))
        return shown == {value}

    def _told_otherwise(self, fact: Fact, text: Evidence) -> bool:
        """Whether a sentence of a text tells something else of a slot of which its act says one thing alone."""
        sentences = split_sentences(text.words)
        if self._opposed(fact, text, sentences) or self._told_anyway(fact, sentences):
            return True
        return fact.kind[1:] in OPPOSITES and WHETHER in text.words and self._left_open(fact.slot or "", sentences)

    def _rated_otherwise(self, fact: Fact, text: Evidence) -> bool:
        """Whether a sentence has the word for another opinion, and none for that of the act: "It has poor ratings."."""
        slot, own = fact.slot or "", fact.kind[1:]
        if slot not in self.checker.delexicalizer.paraphrased:
            return False
        others = self.checker.delexicalizer.lexicalized[slot] - {own}
        rated = (words for words in split_sentences(text.words) if not others.isdisjoint(words))
        return any(own not in self.checker.shown(words, {slot}).get(slot, ()) for words in rated)

    def _left_open(self, slot: str, sentences: Sequence[tuple[str, ...]]) -> bool:
        """Whether sentences show a yes or no behind "whether" alone: "what is your wish as to whether it has beer?"."""
        showing = [words for words in sentences if self.checker.shown(words, {slot}).get(slot)]
        starts = [words.index(WHETHER) if WHETHER in words else len(words) for words in showing]
        return bool(showing) and not any(
            self.checker.shown(words[:start], {slot}).get(slot) for words, start in zip(showing, starts, strict=True)
        )

    def _opposed(self, fact: Fact, text: Evidence, sentences: Sequence[tuple[str, ...]]) -> bool:
        """Whether a sentence far more probably says the opposite of a yes or no, of which no cues tell."""
        slot, opposite = fact.slot or "", OPPOSITES.get(fact.kind[1:])
        reader, name = self.reader, f"{slot}={opposite}"
        if reader is None or name not in reader.facts or opposite in self.checker.values_with_cues(slot):
            return False
        about = (replace(text, words=words) for words in sentences if reader.names(words, slot))
        heard = (reader.slot_logits(each, slot) for each in about)
        return any(each[name] > each[fact.name] + OPPOSED for each in heard)

    def _told_anyway(self, fact: Fact, sentences: Sequence[tuple[str, ...]]) -> bool:
        """Whether a sentence says a yes or no of what is unknown: "no dogs. I do not know whether dogs are allowed".

        Or of what does not matter, where no words tell that anything does not.
        """
        slot, own = fact.slot or "", fact.kind[1:]
        if fact.kind == INDIFFERENT:
            if self._naming is None or self._naming.leaves_open(sentences):
                return False
        elif fact.kind != UNKNOWN or own not in self.checker.values_with_cues(slot):
            return False
        shown = (self.checker.shown(words, {slot}).get(slot, ()) for words in sentences)
        return any(own not in each and not OPPOSITES.keys().isdisjoint(each) for each in shown)

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
        if self.reader is None or self._naming is None:
            return cues.extra
        slots = {slot.name for _, slot in turn.slots()}
        # "If you do not care about the price, there are cheap pubs."
        found = dict.fromkeys((*cues.extra, *self._naming.indifferent_to(turn, sentence.words)))
        for name, logit in logits.items():
            fact = self.reader.facts[name]
            if fact.kind[:1] != "=" or fact.slot in slots or logit <= self.reader.limits[name].most:
                continue
            if fact.kind not in (INDIFFERENT, UNKNOWN) or self.reader.names(sentence.words, fact.slot or ""):
                found[name] = None
        return tuple(found)


def either(turn: Turn, stated: Mapping[str, Fact]) -> set[str]:
    """Return the special values of slots that have several: a choice between them may be worded as one."""
    slots, opened = Counter(fact.slot for fact in stated.values()), left_open(turn)
    return {n for n, fact in stated.items() if fact.kind[:1] == "=" and slots[fact.slot] > 1 and fact.slot in opened}


def _unasked(stated: Mapping[str, Fact], sentence: Evidence, logits: Mapping[str, float]) -> list[str]:
    """Return the least probable questions that are too many for a text: each sentence asks for one, nearly always."""
    asking = [name for name, fact in stated.items() if fact.kind[:1] != "=" and fact.kind != ACT and name in logits]
    many = len(asking) - len(split_sentences(sentence.words))
    return [name for name in sorted(asking, key=lambda name: logits[name])[: max(many, 0)] if logits[name] < 0]


def one_question(turn: Turn) -> bool:
    """Whether a turn does nothing but ask for one slot."""
    return len(turn.acts) == 1 and [slot.value for slot in turn.acts[0].slots] == [None]
