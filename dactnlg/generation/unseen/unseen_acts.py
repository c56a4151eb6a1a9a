"""Acts whose combination of slots training never had: of all candidates those that read like training.

A search says such acts with words that training has, in orders that it never had. Texts composed of training's own
stand beside its sentences; the fewest doubts decide, then the model.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby, islice, takewhile
from typing import TYPE_CHECKING, NamedTuple

from dactnlg._utils.memory import Memory
from dactnlg._utils.ranking import Cost, ascending
from dactnlg.acts import DialogueAct, Turn
from dactnlg.fidelity.plainly import careless
from dactnlg.generation.candidates import Candidate, cheapest
from dactnlg.generation.options import ResolvedOptions
from dactnlg.generation.unseen.composition import Composer
from dactnlg.text.grammar.fluency import Fluency
from dactnlg.text.grammar.indifference import INDIFFERENT
from dactnlg.text.grammar.manners import denies
from dactnlg.text.grammar.mending import the_only
from dactnlg.text.placeholders import is_placeholder, placeholder_name
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.requests import Request
from dactnlg.text.sentences import PRONOUN, Tokens, split_sentences
from dactnlg.text.slots import OPPOSITES
from dactnlg.text.surface import strip_joiner
from dactnlg.text.templates import Key, canonical_values, combination, kind
from dactnlg.text.values.nearness import names_slot

if TYPE_CHECKING:
    from dactnlg.generation.decoders.decoder import Decoder

DOUBTFUL = 3
"""Doubts about the best sentence for an act that training had, from which on others are looked for."""
FEW = 2
"""Wordings that training has of such an act, at most, where a single doubt about a new one is enough."""
DENIED = 8
"""Doubts about a text that denies something where its act does not."""
PLAIN = 2
"""Doubts about a text that may name slots plainly: "the view is alpine meadows"."""
GOING_ON = 4
"""Words with which a sentence begins to go on about "it": "you will find it in the south"."""
ALARMING = 2
"""Doubts from which on composed texts are looked for: below it the model's own sentences are as good."""
STRANGE = 4
"""Doubts about the best sentence for an unseen act, from which on it is tried to say its slots by themselves."""
MANY = 20_000
"""Texts of a training corpus."""
NONE = 1_000
"""Stands for the doubts where there is no candidate."""
REMEMBERED = 20_000, 8 << 20
"""Texts whose doubts, and acts of which that is remembered, at most, and their bytes."""
Doubted = tuple[int, Candidate]


class Pool(NamedTuple):
    """What there is to choose from for a request.

    Attributes:
        request: the act.
        candidates: what the search has found, and the composed texts that have the fewest doubts.
        found: those without fault with their doubts, the fewest first; None where doubts do not matter.
        wider: whether a wider search should be asked.
    """

    request: Request
    candidates: Sequence[Candidate]
    found: list[Doubted] | None
    wider: bool = False

    def best(self, count: int) -> list[Candidate]:
        """Return the candidates that have the fewest doubts, and the next ones until there are so many."""
        if not self.found:
            return list(self.candidates)
        fewest = sum(doubts == self.found[0][0] for doubts, _ in self.found)
        best = self.found[: max(fewest, count)]
        for doubts, candidate in best:
            candidate.doubts = doubts
        return [candidate for _, candidate in best]


class UnseenActs:
    """Finds better candidates for unseen acts. Several threads may use one.

    Args:
        preprocessor: of a run.
    """

    def __init__(self, preprocessor: Preprocessor) -> None:
        self._preprocessor, self._composer = preprocessor, Composer(preprocessor)
        self._known: Memory[int] = Memory(*REMEMBERED)
        self._fine: Memory[bool] = Memory(*REMEMBERED)

    def forget(self) -> None:
        """Drop what is remembered of texts and acts; what was read of training stays."""
        self._known.clear()
        self._fine.clear()
        self._composer.forget()

    def prepare(self) -> None:
        """Count what the doubts about any text need of the training texts; seconds for tens of thousands of these."""
        for act_type in self._preprocessor.encoder.act_types:
            self.doubts(Turn((DialogueAct(act_type),)), (PRONOUN,))

    @cached_property
    def fluency(self) -> Fluency:
        """Of the training texts."""
        return Fluency(self._preprocessor.templates.texts(), english=self._english)

    @property
    def _english(self) -> bool:
        return self._preprocessor.style.language == "en"

    @cached_property
    def _seen(self) -> set[tuple[Key, Key, Key]]:
        """What training had: kinds of turns, their special values, and what they name several times."""
        specials = self._preprocessor.templates.specials
        rows = {(key, values, self._again(text)) for (key, text), found in specials.items() for values in found}
        return {(key, canonical_values(values), again) for key, values, again in rows}

    @cached_property
    def _slot_names(self) -> frozenset[str]:
        traits = (trait for key in self._preprocessor.templates.sentences for trait in key)
        return frozenset(trait.partition("|")[2].lower() for trait in traits) - {""}

    def _again(self, names: Iterable[str]) -> Key:
        """Return those of placeholders that stand for further values of a slot; lists have as many as they like."""
        names = {strip_joiner(name) for name in names if "#" in name and is_placeholder(name)}
        return tuple(sorted(name for name in names if name.partition("#")[0] not in self._lists))

    @cached_property
    def _lists(self) -> set[str]:
        return {placeholder_name(slot) for slot in self._preprocessor.delexicalizer.apart}

    @cached_property
    def _many(self) -> bool:
        """Whether training has so many texts that a model says what it has seen well enough."""
        return sum(map(len, self._preprocessor.templates.sentences.values())) > MANY

    def is_unseen(self, turn: Turn) -> bool:
        """Whether training never had a turn's combination of acts, slots, special and further values."""
        if not self._seen:
            return False
        again = self._again(item.placeholder for item in self._preprocessor.delexicalizer.required(turn))
        return (*combination(turn), again) not in self._seen

    def pool(
        self, decoder: Decoder, request: Request, candidates: Sequence[Candidate], options: ResolvedOptions
    ) -> Pool:
        """Return what is known of a request: its candidates, or those without fault that have the fewest doubts.

        Args:
            decoder: the model, which scores composed texts.
            request: an act.
            candidates: what the search has found for it.
            options: how sentences are chosen.
        """
        unseen = self.is_new(request)
        if not unseen and (self._many or self._all_usual(request, candidates, options)):
            return Pool(request, candidates, None)
        found = list(islice(self._right(request, candidates), _enough(options)))
        composed: list[tuple[Tokens, int]] = []
        if _least(found) >= (ALARMING if unseen else 1):
            for alone, pieces in self._composer.questions(request.turn, self.fluency):
                pieces.rate(decoder.sentence_scores(alone, self._encoded(piece.tokens for piece in pieces)))
            composed = self._composer.composed(request.turn, self.fluency)
        # Where none is without fault, these are the best there is.
        usual: list[Candidate] = []
        for doubts, group in groupby(composed, lambda each: each[1]):
            if doubts >= _least(found):
                break
            texts = [tokens for tokens, _ in group]
            scores = decoder.sentence_scores(request.turn, self._encoded(texts), request.context)
            made = sorted(self._made(request, texts, scores, options), key=_score, reverse=True)
            # The composer has its own doubts about joints; what a text says of its act it does not know.
            rated = ((doubts + self._unlike(request.turn, each.tokens), each) for each in made if each.right)
            found = sorted([*_first(rated, doubts, _enough(options)), *found], key=lambda each: each[0])
            usual = usual or made
        return Pool(request, [*candidates, *usual], found, wider=unseen and _least(found) >= ALARMING)

    def is_new(self, request: Request) -> bool:
        """Whether training never had a request's combination, see `is_unseen`; remembered."""
        found = self._fine.get(request.act)
        return self._fine.put(request.act, self.is_unseen(request.turn), 200) if found is None else found

    def _all_usual(self, request: Request, candidates: Sequence[Candidate], options: ResolvedOptions) -> bool:
        best = cheapest(candidates, 1, options.slot_error_weight, faithful_values=True)
        return all(self._usual(request, candidate) for candidate in best)

    def _usual(self, request: Request, candidate: Candidate) -> bool:
        """Whether a sentence for a seen act is as training's are."""
        key = request.act, candidate.tokens
        found = self._fine.get(key)
        if found is None:
            # What training itself says of an act is the manner of the corpus, whatever it is like.
            own = self._preprocessor.templates.sentences.get(kind(request.turn), {})
            doubts = self.fluency.doubts(candidate.tokens, strict=False) + _mixed(request.turn, candidate.tokens, own)
            usual = candidate.tokens in own or doubts < (DOUBTFUL if len(own) > FEW else 1)
            # People leave it out at times, but the only match is to be told of as that.
            usual = usual and not self._as_any(request.turn, candidate.tokens)
            found = self._fine.put(key, usual, 500 + 60 * len(candidate.tokens))
        return found

    def widen(self, pool: Pool, candidates: Iterable[Candidate], options: ResolvedOptions) -> Pool:
        """Return a pool with what a wider search has found for its request, as far as that is less doubtful."""
        found = pool.found or []
        better = takewhile(lambda each: each[0] < _least(found), self._right(pool.request, candidates))
        return pool._replace(found=[*islice(better, _enough(options)), *found], wider=False)

    def _right(self, request: Request, candidates: Iterable[Candidate]) -> Iterator[Doubted]:
        """Yield the candidates without fault, those with the fewest doubts first, of equals the model's favourites."""

        def cost(each: Candidate) -> Cost:
            return self.doubts_about(each), -_score(each)

        bounded = (((self._strange(each.tokens) + _plainly(each), -_score(each)), each) for each in candidates)
        return ((doubts, each) for (doubts, _), each in ascending(bounded, cost) if each.right)

    def doubts_about(self, candidate: Candidate) -> int:
        """Return the doubts about a candidate's text, and about naming slots plainly."""
        return self.doubts(candidate.request.turn, candidate.tokens) + _plainly(candidate)

    def doubts(self, turn: Turn, tokens: Sequence[str]) -> int:
        """Return the doubts about a text, and those about going on where training says all in one sentence."""
        text = tuple(tokens)
        more = _continued(text)
        joint = self._composer.joint(turn, self.fluency) if more else 0
        asked = [slot for _, slot in turn.slots() if slot.value is None]
        # A question asks for one thing; one that asks for two is a mixture where training never had it.
        denied = self._preprocessor.manners.doubtful(turn, text)
        mixed = max(0, len(asked) - len(split_sentences(text))) if asked and self.is_unseen(turn) else 0
        mixed += _mixed(turn, text, self._preprocessor.templates.sentences.get(kind(turn), {})) > 0
        said = ALARMING * (mixed + self._said_again(turn, text)) + self._unlike(turn, text)
        return self._strange(text) + joint * more + said + DENIED * denied

    def _strange(self, text: Tokens) -> int:
        """Return the doubts about a text's words, whatever its act."""
        found = self._known.get(text)
        if found is None:
            found = self._known.put(text, self.fluency.doubts(text), 500 + 60 * len(text))
        return found

    def _unlike(self, turn: Turn, tokens: Tokens) -> int:
        """Return how many acts of a turn its text hardly does, and how many of its words name slots that it lacks.

        "It is in the south" for what is the only match, "it is a pub in the area" without any area.
        """
        own = [slot.name for _, slot in turn.slots()]
        named = self._slot_names.intersection(map(strip_joiner, tokens))
        strangers = sum(not any(names_slot(word, name) for name in own) for word in named)
        manners = self._preprocessor.manners
        only = manners.marks.not_only(turn, tokens)
        alarms = manners.stated_behind(turn, tokens, self._composer.subject)
        alarms += self._as_any(turn, tokens) if only else manners.marks.lacking(turn, tokens)
        alarms += manners.told_of_none(turn, tokens) + manners.impersonal(turn, tokens)
        free = any(slot.special == INDIFFERENT for _, slot in turn.slots())
        alarms += free and self._english and not careless(map(strip_joiner, tokens))
        return strangers + ALARMING * alarms + self._undone(turn, tokens)

    def _as_any(self, turn: Turn, tokens: Tokens) -> bool:
        """Whether a text tells of the only match as of any other, and has no place for the word: see `Mender`."""
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

    def _said_again(self, turn: Turn, tokens: Tokens) -> int:
        """Return how often a text says a yes or a no once more: "it has no garden. It is small. It has no garden."."""
        sentences, values = split_sentences(tokens), [slot for _, slot in turn.slots() if slot.special in OPPOSITES]
        if len(sentences) < 2 or not values:
            return 0
        checker, names = self._preprocessor.checker, {slot.name for slot in values}
        shown = [checker.shown(sentence, names) for sentence in sentences]
        times = (sum(slot.special in each.get(slot.name, ()) for each in shown) for slot in values)
        return sum(max(0, each - 1) for each in times)

    def _encoded(self, texts: Iterable[Tokens]) -> list[list[int]]:
        return [self._preprocessor.vocabulary.encode(text) for text in texts]

    def _made(
        self, request: Request, texts: Sequence[Tokens], scores: Iterable[float], options: ResolvedOptions
    ) -> list[Candidate]:
        ask = options.append_questions
        return [
            Candidate(self._preprocessor, request, text, options.normalized(score, text), origin="composed", ask=ask)
            for text, score in zip(texts, scores, strict=True)
        ]


def _mixed(turn: Turn, tokens: Tokens, own: Collection[Tokens]) -> int:
    """Return the doubts about a new text for an act without values, all whose wordings training has.

    "What rating do you do not care about?" mixes two questions; a question for the same slot adds nothing to them.
    """
    return DOUBTFUL * (bool(own) and tokens not in own and all(slot.value is None for _, slot in turn.slots()))


def _continued(tokens: Sequence[str]) -> int:
    """Return how many sentences go on about "it", or deny once more: "no pub is near. No pub is cheap."."""
    sentences = split_sentences(tokens)
    return sum(PRONOUN in each[:GOING_ON] or (denies(sentences[0]) and denies(each)) for each in sentences[1:])


def _least(found: Sequence[Doubted]) -> int:
    return found[0][0] if found else NONE


def _enough(options: ResolvedOptions) -> int:
    """Return how many of equally doubtful texts are looked at, the model's favourites first; all are for their risk."""
    return sys.maxsize if options.mbr else options.n_best


def _score(candidate: Candidate) -> float:
    return candidate.score or 0.0


def _plainly(candidate: Candidate) -> int:
    """Return the doubts about naming slots plainly, as texts that are put together may."""
    return PLAIN * (candidate.origin == "template")


def _first(rated: Iterable[Doubted], least: int, count: int) -> list[Doubted]:
    """Return texts until so many of them have no more than the least doubts; none that come then can be better."""
    found: list[Doubted] = []
    for each in rated:
        found.append(each)
        count -= each[0] == least
        if not count:
            break
    return found
