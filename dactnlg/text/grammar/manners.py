"""Manners: texts that deny or ask although their act does neither, or the other way round.

"There are no such hotels" for an act that denies nothing, "i looked for hotels" for one that does; "you like shooters"
for a recommendation, if people always ask "have you played it?".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from functools import cached_property
from itertools import chain

from dactnlg._utils.memory import Memory
from dactnlg.acts import DialogueAct, Turn
from dactnlg.text.grammar.denials import Denials, denies, denies_again, has_none, told_behind
from dactnlg.text.grammar.english import QUESTION_WORDS
from dactnlg.text.grammar.identities import Identities
from dactnlg.text.grammar.marks import NEGATIVE, Marks, excepts
from dactnlg.text.grammar.shares import NOTHING, Shares, asks, learned_shares, worded_as_question
from dactnlg.text.grammar.strays import Strays
from dactnlg.text.placeholders import Required, is_placeholder, without_ordinal
from dactnlg.text.report_names import special_name
from dactnlg.text.sentences import Tokens, asking, is_asking, split_sentences
from dactnlg.text.surface import strip_joiner
from dactnlg.text.templates import Templates
from dactnlg.text.traits import Key, act_types, kind

LEAST_SHARE = 0.1
"""The least share of an act type's texts that deny (without negative values), or ask, from which it may do so."""
LEAST_DENIED = 0.015
"""The least share of an act type's texts that deny a value from which it may do so."""
MOST_SHARE, LEAST_TEXTS = 0.9, 10
"""The same share from which an act type must do so, and how many texts have to show it."""
FEW_TEXTS = 5
"""How many texts of an act type, all beginning with a question, show that it asks if its name does not."""
ALL_DENY = 3
"""How many texts, all denying, show that an act type denies that never occurs alone."""
LEAST_BEHIND = 0.05
"""The least share of an act type's texts with a statement after a question from which it may have one."""
MOSTLY = 0.5
"""The least share of an act type's texts that ask, or deny, from which it mostly does so."""
PERSONAL = 0.8
"""The least share of an act type's questions that address the user from which others are strange."""
REMEMBERED = 1_000, 1 << 20
"""Act types whose manners are cached, at most, and their bytes: clients may send any."""
_USER = frozenset({"you", "your", "yours", "i", "we", "us", "me", "please"})
_ASKING = QUESTION_WORDS | {"do", "does", "would", "can", "are", "is"}
"""Words that begin questions."""


class Manners:
    """Finds texts that deny or ask though their act does not, or the other way round.

    Args:
        templates: the training texts.

    Attributes:
        marks: the words that mark what act types do.
    """

    def __init__(self, templates: Templates) -> None:
        self._templates, self._denials, self.marks = templates, Denials(templates), Marks(templates)
        self._identities, self._strays = Identities(templates), Strays(templates)
        self._open: Memory[bool] = Memory(*REMEMBERED)
        self._questions: Memory[bool] = Memory(*REMEMBERED)
        self._personal: Memory[bool] = Memory(*REMEMBERED)
        self._usual_questions: Memory[Tokens] = Memory(*REMEMBERED)

    @cached_property
    def _shares(self) -> dict[Key, Shares]:
        return learned_shares(self._templates, with_marks=self._with_marks)

    def _of(self, turn: Turn) -> Shares:
        return self._shares.get(act_types(kind(turn)), NOTHING)

    def wrong(self, turn: Turn, tokens: Sequence[str]) -> bool:
        """Whether a text performs another act: it denies or asks where its act never does, or the other way round.

        Or it denies two kinds instead of one: "there is no pub nearby. There is no cheap pub."
        """
        usual = self._of(turn)
        if usual.texts < LEAST_TEXTS:
            if usual is NOTHING and self._denies_beside(turn) and not denies(tokens) and not _negative(turn):
                # "There is a great one" instead of saying that there is no other.
                return True
            stating = all(act.act_type in self._stating for act in turn)
            return stating and (asks(tokens) or worded_as_question(tokens))
        if has_none(tokens) and max(usual.deny, usual.none) < LEAST_SHARE:
            return True
        if usual.deny >= MOSTLY and usual.told < LEAST_SHARE and told_behind(tokens):
            # "There are no cheap pubs. It is in the south."
            return True
        if "only" in self.marks.of(turn) and denies(tokens) and not _negative(turn) and not excepts(tokens):
            # "There is no pub in the south" instead of naming the only one.
            return True
        if usual.deny >= MOST_SHARE and usual.own >= LEAST_TEXTS:
            if not denies(tokens) and not _negative(turn):
                return True
            if usual.again < LEAST_SHARE and denies_again(tokens):
                return True
        unasked = usual.ask < LEAST_SHARE and not any(act.is_question for act in turn)
        # What is worded as a question gets a question mark when realised.
        if asks(tokens) or (not self._with_marks and worded_as_question(tokens)):
            return unasked
        return usual.ask >= MOST_SHARE and not worded_as_question(tokens)

    def _most_denying(self, turn: Turn) -> float:
        """Return the share of texts that deny values for a turn's act types; if unseen together, the most of any."""
        acts = act_types(kind(turn))
        own = self._shares.get(acts)
        alike = [own] if own else [shares for others, shares in self._shares.items() if not {*acts}.isdisjoint(others)]
        return max((shares.values for shares in alike), default=0.0)

    def _denies_beside(self, turn: Turn) -> bool:
        """Whether a turn's act types occur only among others in training, and all those texts deny."""
        acts = set(act_types(kind(turn)))
        alike = [shares for others, shares in self._shares.items() if acts < set(others)]
        return sum(shares.own for shares in alike) >= ALL_DENY and all(shares.deny == 1.0 for shares in alike)

    def untrue(
        self, turn: Turn, required: Sequence[Required], tokens: Sequence[str], *, masked: Container[str] = ()
    ) -> list[str]:
        """Return the values about which a text says something untrue.

        It denies them though its act denies nothing, "it is not in the north", mistakes them for another kind of thing,
        "SLOT_DEVELOPER is a good game", or attributes them to another act's thing.

        Args:
            turn: the acts.
            required: the slots that a text for them must express.
            tokens: the text, delexicalised, in lower case.
            masked: the special values, as named in reports, whose words are not in the text any more.
        """
        found = self._identities.mistaken(tokens)
        if self._most_denying(turn) < LEAST_DENIED:
            # The negative value may be what is denied: "no dogs".
            found += self._denials.denied(act_types(kind(turn)), tokens, plainly=_negative(turn, masked))
        strays = self._strays.of(turn, required, tokens)
        return [str(i.slot) for i in required if without_ordinal(i.placeholder) in found or i.placeholder in strays]

    def is_question(self, act_type: str) -> bool:
        """Whether an act type asks, by its name or because all of its training texts begin with a question."""
        found = self._questions.get(act_type)
        if found is None:
            texts = self._texts((act_type,))
            asked = len(texts) >= FEW_TEXTS and all(asking(text)[0] for text in texts)
            found = self._questions.put(act_type, asked or DialogueAct(act_type).is_question, len(act_type))
        return found

    def usual_question(self, act_type: str) -> Tokens:
        """Return the most frequent final question, without values, of training's texts for an act type.

        "Which do you like?"; empty if few of the texts ask.
        """
        found = self._usual_questions.get(act_type)
        if found is None:
            rows = self._templates.specials.items()
            # Questions about special values do not suit other values.
            own = [text for (key, text), values in rows if act_types(key) == (act_type,) and () in values]
            ends = Counter(split_sentences(text)[-1] for text in own if worded_as_question(text))
            bare = {end: n for end, n in ends.items() if end[0] in QUESTION_WORDS and not any(map(is_placeholder, end))}
            usual = max(bare, key=lambda end: (bare[end], end), default=())
            usual = usual if 2 * ends.total() >= len(own) else ()
            found = self._usual_questions.put(act_type, usual, len(act_type) + 100 * len(usual))
        return found

    @cached_property
    def _with_marks(self) -> bool:
        """Whether most of training's questions have question marks; in some corpora hardly any do."""
        marked = [asks(text) for text in self._templates.texts() if text[0] in _ASKING]
        return 2 * sum(marked) >= len(marked)

    @cached_property
    def _stating(self) -> frozenset[str]:
        """The act types that occur in training texts that do not ask, alone or with others."""
        found = (acts for acts, each in self._shares.items() if each.texts >= LEAST_TEXTS and each.ask < LEAST_SHARE)
        return frozenset(chain.from_iterable(found))

    def stated_behind(self, turn: Turn, tokens: Sequence[str], subject: str) -> int:
        """Return how many statements follow a question, if texts for a turn's act types end with their questions.

        "Do you know any games for the PC? It is available on Steam." Statements about what the question names are fine.
        """
        found = _stated_behind(tokens, subject)
        return 0 if not found or self._goes_on(act_types(kind(turn))) else found

    def ends_asking(self, turn: Turn) -> bool:
        """Whether texts for a turn's act types mostly ask, and hardly ever state anything after that."""
        acts = act_types(kind(turn))
        return self._shares.get(acts, NOTHING).ask >= MOSTLY and not self._goes_on(acts)

    def _goes_on(self, acts: Key) -> bool:
        """Whether texts for act types state something after a question, or are too few to tell."""
        found = self._open.get(acts)
        if found is None:
            texts = self._texts(acts)
            behind = sum(map(bool, map(_stated_behind, texts)))
            few = len(texts) < LEAST_TEXTS
            found = self._open.put(acts, few or behind >= LEAST_BEHIND * len(texts), sum(map(len, acts)))
        return found

    def impersonal(self, turn: Turn, tokens: Sequence[str]) -> int:
        """Return how many questions do not address the user, if nearly all of training's do: "where is it near?"."""
        acts = act_types(kind(turn))
        personal = self._personal.get(acts)
        if personal is None:
            asked = [each for text in self._texts(acts) for each in _questions(text)]
            to_user = sum(map(_to_user, asked))
            personal = len(asked) >= LEAST_TEXTS and to_user >= PERSONAL * len(asked)
            self._personal.put(acts, personal, sum(map(len, acts)))
        return sum(not _to_user(each) for each in _questions(tokens)) if personal else 0

    def _texts(self, acts: Key) -> list[Tokens]:
        """Return the training texts for just these act types."""
        return [text for key, own in self._templates.sentences.items() if act_types(key) == acts for text in own]

    def doubtful(self, turn: Turn, tokens: Sequence[str]) -> bool:
        """Whether a text denies something, but neither the turn's values nor its act types do, even among others.

        Or it asks, which the act types never do among others: "sorry, there is no other pub?".
        """
        denied, asked = denies(tokens) and not _negative(turn), asks(tokens)
        if not denied and not asked:
            return False
        acts = set(act_types(kind(turn)))
        own = self._shares.get(tuple(sorted(acts)))
        alike = [own] if own else [shares for others, shares in self._shares.items() if acts.issubset(others)]
        never = bool(alike) and own is None and not any(shares.ask for shares in alike)
        return (asked and never) or (denied and max((shares.deny for shares in alike), default=0.0) < LEAST_SHARE)


def _questions(tokens: Sequence[str]) -> list[Tokens]:
    """Return the sentences of a text that ask."""
    return list(filter(is_asking, split_sentences(tokens)))


def _to_user(sentence: Tokens) -> bool:
    """Whether a sentence addresses the user, or mentions the speaker."""
    return any(word.partition("'")[0] in _USER for word in map(strip_joiner, sentence))


def _negative(turn: Turn, besides: Container[str] = ()) -> bool:
    """Whether a turn has a special value that is expressed by a denial, besides those named."""
    negative = (slot for _, slot in turn.slots() if slot.special in NEGATIVE)
    return any(special_name(slot) not in besides for slot in negative)


def _stated_behind(tokens: Sequence[str], subject: str = "") -> int:
    """Return how many sentences after the first one that asks do not ask; 0 if that one names the subject."""
    asked = asking(tokens)
    if True not in asked[:-1]:
        return 0
    first = asked.index(True)
    named = subject in map(strip_joiner, split_sentences(tokens)[first])
    return 0 if named else asked[first:].count(False)
