"""Mending sentences: those composed for unseen acts have faults that can be recognised by their words alone.

Those for any act may fail to perform it, by not asking a question for example, as people's sometimes do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise

from dactnlg.acts import Turn
from dactnlg.acts.act_types import excepts, suggests
from dactnlg.generation.candidates import Candidate
from dactnlg.generation.unseen.unseen_acts import UnseenActs
from dactnlg.text.corrections.afterthoughts import asked_in_one
from dactnlg.text.corrections.mending import mended
from dactnlg.text.corrections.only_one import excepted, the_only
from dactnlg.text.corrections.phrasing import corrected
from dactnlg.text.corrections.recommending import praised, suggested
from dactnlg.text.grammar.english import AUXILIARIES, COORDINATING, INDEFINITE, PREPOSITIONS, RELATIVES
from dactnlg.text.grammar.lexicon import PLURAL, Lexicon
from dactnlg.text.grammar.plurals import MANY, ONE, pluralized
from dactnlg.text.nearness import names_slot
from dactnlg.text.placeholders import is_placeholder, placeholder_name, without_ordinal
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.questions import is_question, is_request
from dactnlg.text.sentences import ENDS, PRONOUN, Tokens, append_sentences, is_asking, split_sentences
from dactnlg.text.surface import JOINER, detokenize, strip_joiner, strip_joiners
from dactnlg.text.traits import read_trait
from dactnlg.text.values.numerals import SINGLE

PLURALS = frozenset({f"{JOINER}s", PLURAL})
"""Tokens that turn the preceding value into a plural."""

MODERATE = "moderate"
"""The price that other things than prices may be as well: "a moderate walk"."""
_NO_NOUN = PREPOSITIONS | RELATIVES | COORDINATING | AUXILIARIES | {"if", "range", "cost"}


class Mender:
    """Mends candidates. Several threads may use one.

    Args:
        preprocessor: the preprocessor of a run.
        unseen: recognises unseen acts, and counts doubts.
    """

    def __init__(self, preprocessor: Preprocessor, unseen: UnseenActs) -> None:
        self._preprocessor, self._unseen = preprocessor, unseen

    def mended(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """Return the candidates for an act in better English if this says the same, more so for an unseen act.

        Those for a seen act are changed only to correct phrases, to spell plurals, and to perform the act.
        """
        found: list[Candidate] = []
        for candidate in candidates:
            other = self._better(candidate)
            # A mended sentence may equal another candidate.
            again = other is not candidate and any(each.tokens == other.tokens for each in found)
            found.append(candidate if again else other)
        return found

    def _better(self, candidate: Candidate) -> Candidate:
        if not candidate.tokens:
            return candidate
        turn, new = candidate.request.turn, self._unseen.is_unseen(candidate.request)
        tokens = self._mended(candidate) if new else self._corrected(candidate.tokens)
        better = self._with_exceptions(_as_good(candidate, self._done(turn, self._spelt(turn, tokens))))
        return self._shorter(better) if new else better

    def _shorter(self, candidate: Candidate) -> Candidate:
        """Return a candidate without redundant sentences: "it is a game. It is on Steam."."""
        sentences, turn = split_sentences(candidate.tokens), candidate.request.turn
        subject = self._lexicon.subject
        named = {word for word in map(strip_joiner, candidate.tokens) if subject and without_ordinal(word) == subject}
        # With several named things, a sentence about one is not redundant because of one about another.
        for place, own in enumerate(sentences if len(named) < 2 else ()):
            rest = [*sentences[:place], *sentences[place + 1 :]]
            if rest and self._is_needless(turn, own, rest):
                shorter = _as_good(candidate, tuple(token for other in rest for token in other))
                doubts, before = (self._unseen.doubts.of(turn, each.tokens) for each in (shorter, candidate))
                # A second question is redundant even if it raises no doubts.
                fewer = shorter is not candidate and doubts < before + is_asking(own)
                if fewer and shorter.right >= candidate.right:
                    shorter.doubts = min(candidate.doubts, doubts)
                    return self._shorter(shorter)
        return candidate

    def _is_needless(self, turn: Turn, sentence: Tokens, rest: Sequence[Tokens]) -> bool:
        """Whether a sentence says nothing that the others do not, or no more than what kind of thing "it" is."""
        slots, words = [s for _, s in turn.slots()], [word for word in strip_joiners(sentence) if word not in ENDS]
        if len(turn.acts) > 1 or any(map(is_placeholder, words)):
            return False
        if is_asking(sentence):
            questions = [other for other in rest if not any(map(is_placeholder, other)) and is_asking(other)]
            if any(strip_joiners(other)[: len(words)] == words for other in questions):
                # "Do you play games? Do you play games on Steam?"
                return True
            return all(slot.special is None and slot.value is not None for slot in slots) and any(questions)
        checker = self._preprocessor.checker
        shown, others = checker.shown(sentence), [(checker.shown(other), strip_joiners(other)) for other in rest]
        # Words like "do not care" and "no information" do not show which slot they refer to.
        again = [
            any(
                {*values} <= {*other.get(name, ())} and any(names_slot(word, name) for word in own)
                for other, own in others
            )
            for name, values in shown.items()
        ]
        bare = words[:2] == [PRONOUN, "is"] and not INDEFINITE.isdisjoint(words[2:3]) and words[3:] == [words[-1]]
        return all(again) if again else bare and words[-1] in self._lexicon.things

    @cached_property
    def _lexicon(self) -> Lexicon:
        lexicon, proper = self._unseen.doubts.fluency.lexicon, self._preprocessor.style.proper
        return lexicon._replace(bare=lexicon.bare & frozenset(map(placeholder_name, proper)))

    def _corrected(self, tokens: Tokens) -> Tokens:
        if not self._preprocessor.style.english:
            return tokens
        return tuple(token for sentence in split_sentences(tokens) for token in corrected(sentence))

    def _mended(self, candidate: Candidate) -> Tokens:
        turn, manners = candidate.request.turn, self._preprocessor.manners
        asks = all(manners.is_question(act.act_type) for act in turn)
        tokens = mended(candidate.tokens, self._lexicon_of(turn), asks=asks, counted=self._counted(turn))
        if manners.ends_asking(turn):
            tokens = asked_in_one(tokens, self._lexicon)
        return self._priced(turn, tokens)

    def _priced(self, turn: Turn, tokens: Tokens) -> Tokens:
        """Say of what a value before a noun is moderate: "a moderate pub" becomes "a moderately priced pub"."""
        style, required = self._preprocessor.style, self._preprocessor.delexicalizer.required(turn)
        prices = {
            item.placeholder
            for item in required
            if "price" in item.slot.name.casefold() and item.slot.folded == MODERATE
        }
        priced = ("-ly", "priced") if style.spaced else (f"{JOINER}ly", "priced")
        found = list[str]()
        for token, behind in zip(tokens, (*strip_joiners(tokens)[1:], ""), strict=True):
            noun = is_placeholder(behind) or (behind.isalpha() and behind not in _NO_NOUN and "pric" not in behind)
            found += [token, *priced] if style.english and token in prices and noun else [token]
        return tuple(found)

    def _lexicon_of(self, turn: Turn) -> Lexicon:
        """Return the lexicon adapted to the values of a turn: "it has a matt black bezel with a stand", "it is black".

        Also "it has a color of black", or "of a matt black bezel, silver stand".
        """
        held, nouns = set(self._lexicon.held), dict[str, str]()
        for item in self._preprocessor.delexicalizer.required(turn):
            name, value = without_ordinal(item.placeholder), item.slot.value or ""
            if " " not in value:
                held.discard(name)
            if name in self._lexicon.value_nouns and (" " not in value or "," in value):
                nouns[item.placeholder] = self._lexicon.value_nouns[name]
        return self._lexicon._replace(held=frozenset(held), value_nouns=nouns)

    def _spelt(self, turn: Turn, tokens: Tokens) -> Tokens:
        """Replace a plural "s" by a noun if the value before it would change its spelling: "strategy games"."""
        places = [at for at, word in enumerate(tokens[1:], 1) if word in PLURALS and is_placeholder(tokens[at - 1])]
        if not places:
            return tokens
        required = self._preprocessor.delexicalizer.required(turn)
        last = {item.placeholder: (item.slot.value or "").rpartition(" ")[2] for item in required}
        words = list(tokens)
        for at in places:
            name = strip_joiner(tokens[at - 1])
            noun, value = self._nouns.get(without_ordinal(name)), last.get(name, "")
            if noun and (value.endswith("ing") or not pluralized(value).startswith(value)):
                words[at] = noun
        return tuple(words)

    @cached_property
    def _nouns(self) -> dict[str, str]:
        """The plural noun that most often follows each placeholder: "SLOT_GENRES games"."""
        things = set(map(pluralized, self._lexicon.things))
        found: dict[str, Counter[str]] = {}
        for text in self._preprocessor.templates.texts():
            for name, word in pairwise(text):
                if word in things and is_placeholder(name):
                    found.setdefault(without_ordinal(strip_joiner(name)), Counter())[word] += 1
        return {name: words.most_common(1)[0][0] for name, words in found.items()}

    def _done(self, turn: Turn, tokens: Tokens) -> Tokens:
        """Return a text that does what people may omit: it asks, recommends, or says that a match is the only one."""
        manners = self._preprocessor.manners
        if manners.marks.not_only(turn, tokens):
            tokens = the_only(tokens, self._lexicon)
        if praise := manners.marks.praise(turn, tokens):
            tokens = praised(tokens, self._lexicon, praise)
        if len(turn.acts) == 1 and suggests(turn.acts[0].act_type) and self._preprocessor.style.english:
            tokens = suggested(tokens)
        return self._asking(turn, tokens) if all(manners.is_question(act.act_type) for act in turn) else tokens

    def _with_exceptions(self, candidate: Candidate) -> Candidate:
        """Name what a turn excepts from nothing else that it says: `canthelp.exception(name=x)` alone.

        Training leaves the name out beside `canthelp(food=y)`, where it is known from before.
        """
        turn = candidate.request.turn
        types = [act.act_type for act in turn]
        names = [
            item.placeholder
            for item in self._preprocessor.delexicalizer.silenced(turn)
            if excepts(item.act_type) and not any(item.act_type.startswith(f"{other}.") for other in types)
        ]
        tokens = excepted(candidate.tokens, names) if names and candidate.right else candidate.tokens
        # With a name, it does the same as before.
        return candidate if tokens == candidate.tokens else candidate.reworded(tokens, does=True)

    def _counted(self, turn: Turn) -> int:
        """Return `ONE` or `MANY` if an act counts things, as its type does in training ("there are pubs"), else 0."""
        counts = [slot.value for _, slot in turn.slots() if placeholder_name(slot.name) in self._lexicon.counts]
        if any(value is not None and value.casefold() in SINGLE for value in counts):
            return ONE
        return MANY if all(act.act_type in self._counting for act in turn) else 0

    @cached_property
    def _counting(self) -> frozenset[str]:
        """The act types that count things in most of their kinds of turns in training."""
        kinds, counted = Counter[str](), Counter[str]()
        for key in self._preprocessor.templates.sentences:
            traits = [*map(read_trait, key)]
            kinds.update({trait.act_type for trait in traits})
            counted.update({each.act_type for each in traits if placeholder_name(each.slot) in self._lexicon.counts})
        return frozenset(act for act, number in counted.items() if 2 * number > kinds[act])

    def _asking(self, turn: Turn, tokens: Tokens) -> Tokens:
        """Append the usual question of its act to a text that asks nothing: "X is cheap. Which do you prefer?"."""
        act, stated = turn.acts[0], [detokenize(sentence) for sentence in split_sentences(tokens)]
        # Not for slots without a value, which have questions of their own.
        chosen = act.is_question and all(slot.value is not None for slot in act.slots)
        if len(turn.acts) > 1 or not chosen or any(is_question(each) or is_request(each) for each in stated):
            return tokens
        question = self._preprocessor.manners.usual_question(act.act_type)
        return tuple(append_sentences(tokens, question)) if question else tokens


def _as_good(candidate: Candidate, tokens: Tokens) -> Candidate:
    """Return a candidate with other tokens, or the candidate itself if these have more errors or fail its check."""
    if tokens == candidate.tokens:
        return candidate
    other = candidate.reworded(tokens)
    return other if other.errors <= candidate.errors and other.report.ok >= candidate.report.ok else candidate
