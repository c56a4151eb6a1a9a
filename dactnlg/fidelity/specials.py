"""Special values and questions of an act that a sentence does not express, and what it expresses instead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from math import inf

from dactnlg.acts import Turn
from dactnlg.fidelity.facts import ACT, INDIFFERENT_KIND, UNKNOWN_KIND, Fact, facts
from dactnlg.fidelity.naming import Naming
from dactnlg.fidelity.plainly import asked
from dactnlg.fidelity.reader import Evidence, Reader
from dactnlg.fidelity.reports import Findings
from dactnlg.text.nearness import names_slot
from dactnlg.text.owners import left_open
from dactnlg.text.sentences import is_asking, split_sentences
from dactnlg.text.slots import OPPOSITES, SlotChecker
from dactnlg.text.tallies import Tally

RESCUE = 1.0
"""Logits above a special value's threshold at which the reader overrules a cue that is not found."""
WHETHER = "whether"
"""The word after which a yes or no is left open."""
OPPOSED = 3.0
"""Logits by which the opposite of a yes or no must be more probable to count as said, if it has no cues."""


class Specials:
    """Finds missing special values and questions; thread-safe.

    Args:
        checker: knows which values have cues.
        reader: the reader learned from the corpus.

    Attributes:
        naming: knows the words by which sentences name slots.
    """

    def __init__(self, checker: SlotChecker, reader: Reader) -> None:
        self.checker, self.reader, self.naming = checker, reader, Naming(reader)
        self._asked_for = {name: fact.slot for name, fact in reader.facts.items() if fact.bare}

    def faults(
        self, turn: Turn, sentence: Evidence, logits: Mapping[str, float], cues: Tally, *, sure: bool
    ) -> Findings:
        """Return the special values and questions at fault.

        Args:
            turn: the acts.
            sentence: the evidence for the reader.
            logits: the reader's logits.
            cues: the result of the data card's cues.
            sure: whether the reader, if sure, overrules a cue that is not found.
        """
        stated = facts(turn)
        choices, slots = either(turn, stated), Counter(fact.slot for fact in stated.values())
        # A question can only be missing beside others; a single one is asked, or another is asked instead.
        alone = one_question(turn) and (turn.acts[0].is_question or any(asked(sentence.words)))
        unasked = _unasked(stated, sentence, logits)
        bare = sum(fact.bare for fact in stated.values())
        likeliest, possible = self._asked_alone(sentence) if bare > 1 else ([], set[str]())
        # Keep what cues find about anything but special values, such as lexicalised values.
        missing, questions = [name for name in cues.missing if name not in stated], list[str]()
        contradicted: dict[str, str] = {}
        for name, fact in stated.items():
            if fact.kind == ACT or name in choices:
                continue
            if name not in logits or not self.reader.reads(name):
                if name in cues.missing:
                    missing.append(name)
                continue
            lost = logits[name] < self.reader.limits[name].least and (fact.special or not alone)
            plain = self._plainly(name, fact, sentence, logits) if lost or likeliest else False
            lost = lost and not plain
            if not fact.special:
                lost = lost or self.reader.instead(name, logits, stated) is not None
                lost = lost or (not alone and self._asks_for_others(fact, stated, sentence))
                lost = lost or name in unasked
                if likeliest:
                    lost = not plain and name not in (likeliest if bare <= len(likeliest) else possible)
            if name in cues.missing:
                lost = lost or not sure or not self._rescued(name, logits)
            elif lost and fact.special:
                lost = not self._unopposed(fact, sentence)
            # With `sure` unset, for generated sentences, the rule is stricter than what human sentences, with their
            # slips, would allow.
            if slots[fact.slot] == 1:
                lost = lost or self._rated_otherwise(fact, sentence)
                lost = lost or (not sure and self._told_otherwise(fact, sentence))
            if lost and fact.special:
                rival = self._rival(name, stated, logits)
                if rival:
                    contradicted[name] = rival
                else:
                    missing.append(name)
            elif lost:
                questions.append(name)
        extra = self._extra(turn, stated, sentence, logits, cues)
        return Findings(tuple(missing), extra, contradicted, questions=tuple(questions))

    def invented_questions(self, turn: Turn, text: Evidence, logits: Mapping[str, float], others: int) -> list[str]:
        """Return the questions that sentences of a text probably ask, although its turn does not.

        Args:
            turn: the acts.
            text: the evidence for the reader.
            logits: the reader's logits for the whole text.
            others: the number of acts that ask without asking for a slot: "do you prefer SLOT_A or SLOT_B?".
        """
        sentences = split_sentences(text.words)
        asking = [words for words in sentences if is_asking(words)] if self._asked_for else []
        wanted = {name for name, fact in facts(turn).items() if fact.bare}
        # A question in the place of another one is known by the one that is missing.
        if len(asking) <= len(wanted) + others:
            return []
        # "?confirm(area=north)" may be worded like a question for the area.
        confirming = any(act.is_question for act in turn)
        own = {slot.name for _, slot in turn.slots() if confirming or slot.value is None}
        found = dict[str, None]()
        for words in asking:
            heard = logits if len(sentences) == 1 else self.reader.logits(replace(text, words=words))
            probable = [name for name in self._asked_for if heard[name] > 0]
            if wanted.isdisjoint(probable):
                found |= dict.fromkeys(name for name in probable if self._asked_for[name] not in own)
        return list(found)

    def _asked_alone(self, text: Evidence) -> tuple[list[str], set[str]]:
        """Return what each question of a text with several asks for, read by itself, and what any of them may ask for.

        Both are empty if one is not understood. The reader, which learned what is asked together, takes two questions,
        how far and how long, for one.
        """
        asking = [words for words in split_sentences(text.words) if is_asking(words)]
        if len(asking) < 2 or not self._asked_for:
            return [], set()
        heard = [self.reader.logits(replace(text, words=words)) for words in asking]
        likeliest = [max(self._asked_for, key=logits.__getitem__) for logits in heard]
        known = all(logits[name] > 0 for name, logits in zip(likeliest, heard, strict=True))
        possible = {name for logits in heard for name in self._asked_for if logits[name] > 0}
        return (likeliest, possible) if known else ([], set())

    def _plainly(self, name: str, fact: Fact, sentence: Evidence, logits: Mapping[str, float]) -> bool:
        """Return whether a fact is plainly stated: its slot is named in a question, as indifferent, or with its cue."""
        slot, words = fact.slot or "", sentence.words
        if not fact.special:
            return any(any(names_slot(word, slot) for word in each) for each in asked(words))
        if fact.kind not in (INDIFFERENT_KIND, UNKNOWN_KIND):
            return False
        if fact.kind == INDIFFERENT_KIND and self.naming.does_not_matter(words, slot):
            return True
        shown = fact.kind[1:] in sentence.shown.get(slot, ())
        return shown and self._about(fact, words) and self._most_probable(name, logits)

    def _about(self, fact: Fact, words: Sequence[str]) -> bool:
        """Return whether words name the slot of a fact, or at least no other slot with facts of the same kind."""
        reader = self.reader
        others = (other.slot or "" for other in reader.facts.values() if other.kind == fact.kind)
        return reader.names(words, fact.slot or "") or not any(reader.names(words, slot) for slot in others)

    def _unopposed(self, fact: Fact, sentence: Evidence) -> bool:
        """Return whether a sentence has a cue for a yes or no and none for the opposite, which has cues too.

        The reader, which learned what usually occurs together, takes "allow dogs and do not accept cards" for "no
        dogs".
        """
        slot, value = fact.slot or "", fact.kind[1:]
        if OPPOSITES.get(value) not in self.checker.values_with_cues(slot):
            return False
        shown = {*sentence.shown.get(slot, ())}
        # "Inns with internet, if you do not care whether dogs are allowed."
        if self.naming.others_do_not_matter(sentence.words, slot):
            shown.discard(INDIFFERENT_KIND.removeprefix("="))
        return shown == {value}

    def _told_otherwise(self, fact: Fact, text: Evidence) -> bool:
        """Return whether a sentence of a text contradicts a fact, the only one about its slot, or leaves it open."""
        sentences = split_sentences(text.words)
        if self._opposed(fact, text, sentences) or self._told_anyway(fact, sentences):
            return True
        return fact.kind[1:] in OPPOSITES and WHETHER in text.words and self._left_open(fact.slot or "", sentences)

    def _rated_otherwise(self, fact: Fact, text: Evidence) -> bool:
        """Return whether a sentence has a word for another rating, and none for the fact's: "It has poor ratings."."""
        slot, own = fact.slot or "", fact.kind[1:]
        if slot not in self.checker.delexicalizer.paraphrased:
            return False
        others = self.checker.delexicalizer.lexicalized[slot] - {own}
        rated = (words for words in split_sentences(text.words) if not others.isdisjoint(words))
        return any(own not in self.checker.shown(words, {slot}).get(slot, ()) for words in rated)

    def _left_open(self, slot: str, sentences: Sequence[tuple[str, ...]]) -> bool:
        """Return whether a yes or no occurs only after "whether": "what is your wish as to whether it has beer?"."""
        showing = [words for words in sentences if self.checker.shown(words, {slot}).get(slot)]
        starts = [words.index(WHETHER) if WHETHER in words else len(words) for words in showing]
        return bool(showing) and not any(
            self.checker.shown(words[:start], {slot}).get(slot) for words, start in zip(showing, starts, strict=True)
        )

    def _opposed(self, fact: Fact, text: Evidence, sentences: Sequence[tuple[str, ...]]) -> bool:
        """Return whether a sentence far more probably states the opposite of a yes or no, if that has no cues."""
        slot, opposite = fact.slot or "", OPPOSITES.get(fact.kind[1:])
        reader, name = self.reader, f"{slot}={opposite}"
        if name not in reader.facts or opposite in self.checker.values_with_cues(slot):
            return False
        about = (replace(text, words=words) for words in sentences if reader.names(words, slot))
        heard = (reader.slot_logits(each, slot) for each in about)
        return any(each[name] > each[fact.name] + OPPOSED for each in heard)

    def _told_anyway(self, fact: Fact, sentences: Sequence[tuple[str, ...]]) -> bool:
        """Return whether a sentence says yes or no to an unknown: "no dogs. I do not know whether dogs are allowed".

        The same for what does not matter, if no words express indifference.
        """
        slot, own = fact.slot or "", fact.kind[1:]
        if fact.kind == INDIFFERENT_KIND:
            if self.naming.leaves_open(sentences):
                return False
        elif fact.kind != UNKNOWN_KIND or own not in self.checker.values_with_cues(slot):
            return False
        shown = (self.checker.shown(words, {slot}).get(slot, ()) for words in sentences)
        return any(own not in each and not OPPOSITES.keys().isdisjoint(each) for each in shown)

    def _asks_for_others(self, fact: Fact, stated: Container[str], sentence: Evidence) -> bool:
        """Return whether all questions of a text name slots not asked for by its turn, and none the fact's slot."""
        questions = list(asked(sentence.words))
        known = self.reader.facts.values()
        others = [other.slot or "" for other in known if other.kind == fact.kind and other.name not in stated]
        own = any(names_slot(word, fact.slot or "") for each in questions for word in each)
        named = (any(names_slot(word, slot) for word in each for slot in others) for each in questions)
        return bool(questions) and not own and all(named)

    def _rescued(self, name: str, logits: Mapping[str, float]) -> bool:
        """Return whether a special value is surely stated although its cue is not found."""
        surely = logits[name] >= self.reader.limits[name].least + RESCUE
        return surely and self._most_probable(name, logits)

    def _most_probable(self, name: str, logits: Mapping[str, float]) -> bool:
        """Return whether a special value is more probable than all others of its slot."""
        return logits[name] > max((logits[other] for other in self.reader.rivals(name)), default=-inf)

    def _rival(self, name: str, stated: Mapping[str, Fact], logits: Mapping[str, float]) -> str | None:
        rivals = [other for other in self.reader.rivals(name) if other not in stated]
        best = max(rivals, key=lambda other: logits[other], default=None)
        return best if best is not None and logits[best] > max(self.reader.limits[best].least, logits[name]) else None

    def _extra(
        self, turn: Turn, stated: Container[str], sentence: Evidence, logits: Mapping[str, float], cues: Tally
    ) -> tuple[str, ...]:
        """Return extra special values, which the turn lacks; `dontcare` and `none` only for slots that are named."""
        slots = {slot.name for _, slot in turn.slots()}
        # "If you do not care about the price, there are cheap pubs."
        found = dict.fromkeys((*cues.extra, *self.naming.indifferent_to(turn, sentence.words)))
        for name, logit in logits.items():
            fact = self.reader.facts[name]
            if not fact.special or logit <= self.reader.limits[name].most:
                continue
            slot, value = fact.slot or "", fact.kind[1:]
            if (slot, value) in self.checker.delexicalizer.shared:
                # "In the high price range of £20-25"
                told = name not in stated and value in sentence.shown.get(slot, ())
            else:
                vague = fact.kind in (INDIFFERENT_KIND, UNKNOWN_KIND) and not self.reader.names(sentence.words, slot)
                told = slot not in slots and not vague
            if told:
                found[name] = None
        return tuple(found)


def shown_by_cues(turn: Turn, cues: Tally) -> Findings:
    """Return the special values at fault by cues alone, for a corpus without a reader."""
    stated = facts(turn)
    choices = either(turn, stated)
    missing = (name for name in cues.missing if name not in choices)
    return Findings(
        tuple(sorted(missing, key=lambda name: list(stated).index(name) if name in stated else -1)), cues.extra
    )


def either(turn: Turn, stated: Mapping[str, Fact]) -> set[str]:
    """Return the special values of slots that leave a choice of several open, which may be worded as one."""
    slots, opened = Counter(fact.slot for fact in stated.values()), left_open(turn)
    return {n for n, fact in stated.items() if fact.special and slots[fact.slot] > 1 and fact.slot in opened}


def _unasked(stated: Mapping[str, Fact], sentence: Evidence, logits: Mapping[str, float]) -> list[str]:
    """Return the least probable questions of a turn with more questions than its text has sentences.

    A sentence nearly always asks for one slot only.
    """
    asking = [name for name, fact in stated.items() if not fact.special and fact.kind != ACT and name in logits]
    many = len(asking) - len(split_sentences(sentence.words))
    return [name for name in sorted(asking, key=lambda name: logits[name])[: max(many, 0)] if logits[name] < 0]


def one_question(turn: Turn) -> bool:
    """Return whether a turn consists of a single question for one slot."""
    return len(turn.acts) == 1 and [slot.value for slot in turn.acts[0].slots] == [None]
