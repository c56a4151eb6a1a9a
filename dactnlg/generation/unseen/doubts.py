"""What speaks against a text for an act: unseen word sequences, signs of another act, additional sentences."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property

from dactnlg._utils.memory import Memory
from dactnlg.acts import Turn
from dactnlg.fidelity.plainly import careless
from dactnlg.generation.candidates import Candidate
from dactnlg.generation.unseen.combinations import Combinations
from dactnlg.generation.unseen.composition import Composer
from dactnlg.generation.unseen.repetition import said_again
from dactnlg.text.corrections.only_one import the_only
from dactnlg.text.grammar.denials import denies
from dactnlg.text.grammar.fluency import Fluency
from dactnlg.text.grammar.indifference import INDIFFERENT
from dactnlg.text.nearness import names_slot
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.requests import Request
from dactnlg.text.sentences import PRONOUN, Tokens, split_sentences
from dactnlg.text.surface import strip_joiner
from dactnlg.text.traits import kind, read_trait

ALARMING = 2
"""Number of doubts from which composed texts are looked for; below it, the model's own sentences are as good."""
DOUBTFUL = 3
"""Number of doubts about the best sentence for a seen act from which others are looked for."""
FEW = 2
"""If training has no more wordings than this for a seen act, a single doubt about another wording is enough."""
DENIED = 8
"""Doubts about a text that denies something although its act does not."""
PLAIN = 2
"""Doubts about a text that may name slots plainly: "the view is alpine meadows"."""
GOING_ON = 4
"""A sentence continues about "it" if this is among its first words: "you will find it in the south"."""
REMEMBERED = 20_000, 8 << 20
"""Limits of the caches of doubts: number of texts, and bytes."""


class Doubts:
    """Counts what speaks against texts. Several threads may use one.

    Args:
        preprocessor: the preprocessor of a run.
        composer: of texts for unseen acts.
        combinations: the seen combinations.
    """

    def __init__(self, preprocessor: Preprocessor, composer: Composer, combinations: Combinations) -> None:
        self._preprocessor, self._composer, self._combinations = preprocessor, composer, combinations
        self._known: Memory[int] = Memory(*REMEMBERED)
        self._fine: Memory[bool] = Memory(*REMEMBERED)

    def forget(self) -> None:
        """Clear the caches of doubts; what was learned from training is kept."""
        self._known.clear()
        self._fine.clear()

    @cached_property
    def fluency(self) -> Fluency:
        """The fluency model of the training texts."""
        return Fluency(self._preprocessor.templates.texts(), english=self._preprocessor.style.english)

    @cached_property
    def _slot_names(self) -> frozenset[str]:
        traits = (read_trait(printed) for key in self._preprocessor.templates.sentences for printed in key)
        return frozenset(trait.slot.lower() for trait in traits if trait.slot)

    def of_candidate(self, candidate: Candidate) -> int:
        """Return the doubts about a candidate's text, and about naming slots plainly."""
        return self.of(candidate.request.turn, candidate.tokens) + plainly(candidate)

    def of(self, turn: Turn, tokens: Sequence[str]) -> int:
        """Return the doubts about a text for a turn, including those for further sentences if training uses one."""
        text = tuple(tokens)
        more = _continued(text)
        joint = self._composer.joint(turn, self.fluency) if more else 0
        asked = [slot for _, slot in turn.slots() if slot.value is None]
        # A question asks for one slot; one that asks for two is a mixture, unless the combination is seen.
        denied = self._preprocessor.manners.doubtful(turn, text)
        mixed = max(0, len(asked) - len(split_sentences(text))) if asked and self._combinations.is_unseen(turn) else 0
        mixed += _mixed(turn, text, self._own(turn)) > 0
        said = ALARMING * (mixed + said_again(self._preprocessor.checker, turn, text)) + self.unlike(turn, text)
        return self.strange(text) + joint * more + said + DENIED * denied

    def usual(self, request: Request, tokens: Tokens) -> bool:
        """Whether a text for a seen act reads like training texts."""
        turn, key = request.turn, (request.act, tokens)
        found = self._fine.get(key)
        if found is None:
            # Training's own texts for an act are accepted, whatever they are like.
            own = self._own(turn)
            doubts = self.fluency.doubts(tokens, strict=False) + _mixed(turn, tokens, own)
            usual = tokens in own or doubts < (DOUBTFUL if len(own) > FEW else 1)
            # People sometimes omit it, but a text must say that the only match is the only one.
            found = self._fine.put(key, usual and not self._as_any(turn, tokens), 500 + 60 * len(tokens))
        return found

    def strange(self, text: Tokens) -> int:
        """Return the doubts about a text's words, regardless of its act."""
        found = self._known.get(text)
        if found is None:
            found = self.fluency.doubts(text)
            found -= self._composer.seams(text, self.fluency) if found >= ALARMING else 0
            self._known.put(text, found, 500 + 60 * len(text))
        return found

    def unlike(self, turn: Turn, tokens: Tokens) -> int:
        """Return the doubts whether a text performs the acts of its turn, and for words that name slots the turn lacks.

        "It is in the south" for the only match; "it is a pub in the area" for a turn without area.
        """
        own = [slot.name for _, slot in turn.slots()]
        named = self._slot_names.intersection(map(strip_joiner, tokens))
        strangers = sum(not any(names_slot(word, name) for name in own) for word in named)
        manners = self._preprocessor.manners
        only = manners.marks.not_only(turn, tokens)
        alarms = manners.stated_behind(turn, tokens, self._preprocessor.templates.subject)
        alarms += self._as_any(turn, tokens) if only else manners.marks.lacking(turn, tokens)
        alarms += manners.impersonal(turn, tokens) + manners.marks.excepts_unusually(turn, tokens)
        free = self._preprocessor.style.english and any(slot.special == INDIFFERENT for _, slot in turn.slots())
        alarms += free and not careless(map(strip_joiner, tokens))
        return strangers + ALARMING * alarms + self._undone(turn, tokens)

    def _own(self, turn: Turn) -> Collection[Tokens]:
        """Return the training texts of a turn's kind."""
        return self._preprocessor.templates.sentences.get(kind(turn), {})

    def _as_any(self, turn: Turn, tokens: Tokens) -> bool:
        """Whether a text does not say that its match is the only one, nor could `Mender` insert the word."""
        only = self._preprocessor.manners.marks.not_only(turn, tokens)
        return only and the_only(tokens, self.fluency.lexicon) == tokens

    def _undone(self, turn: Turn, tokens: Tokens) -> int:
        if self._preprocessor.reader is None:
            return 0
        key = " ".join(sorted({act.act_type for act in turn})), tokens
        found = self._known.get(key)
        if found is None:
            found = len(self._preprocessor.reader.improbable(turn, tokens))
            self._known.put(key, found, 500 + 60 * len(tokens))
        return found


def plainly(candidate: Candidate) -> int:
    """Return the doubts about a candidate that may name slots plainly, as template texts may."""
    return PLAIN * (candidate.origin == "template")


def _mixed(turn: Turn, tokens: Tokens, own: Collection[Tokens]) -> int:
    """Return the doubts about a text for a seen act without values that is not among its training texts.

    "What rating do you do not care about?" mixes two questions; another wording of a question adds nothing to them.
    """
    return DOUBTFUL * (bool(own) and tokens not in own and all(slot.value is None for _, slot in turn.slots()))


def _continued(tokens: Sequence[str]) -> int:
    """Return how many further sentences are about "it", or repeat a denial: "no pub is near. No pub is cheap."."""
    sentences = split_sentences(tokens)
    return sum(PRONOUN in each[:GOING_ON] or (denies(sentences[0]) and denies(each)) for each in sentences[1:])
