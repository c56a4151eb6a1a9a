"""Acts whose combination of slots training never had: of all candidates those that read like training.

A search says such acts with words that training has, in orders that it never had. Texts composed of training's own
stand beside its sentences; the fewest doubts decide, then the model.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby, islice, takewhile
from typing import TYPE_CHECKING, NamedTuple

from dactnlg._utils.memory import Memory
from dactnlg._utils.ranking import Cost, ascending
from dactnlg.acts import DialogueAct, Turn
from dactnlg.generation.candidates import Candidate, cheapest
from dactnlg.generation.options import ResolvedOptions
from dactnlg.generation.unseen.combinations import Combinations
from dactnlg.generation.unseen.composition import Composer
from dactnlg.generation.unseen.doubts import ALARMING, Doubts, plainly
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.requests import Request
from dactnlg.text.sentences import PRONOUN, Tokens

if TYPE_CHECKING:
    from dactnlg.generation.decoders.decoder import Decoder

STRANGE = 4
"""Doubts about the best sentence for an unseen act, from which on it is tried to say its slots by themselves."""
MANY = 20_000
"""Texts of a training corpus."""
GARBLED = 5
"""Doubts from which on what a model says of an act that it has seen is looked for in a wider search, too."""
NONE = 1_000
"""Stands for the doubts where there is no candidate."""
REMEMBERED = 20_000, 8 << 20
"""Acts of which it is remembered whether they are new, at most, and their bytes."""
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
        self._combinations = Combinations(preprocessor)
        self._new: Memory[bool] = Memory(*REMEMBERED)
        self.doubts = Doubts(preprocessor, self._composer, self._combinations)

    def forget(self) -> None:
        """Drop what is remembered of texts and acts; what was read of training stays."""
        self._new.clear()
        self.doubts.forget()
        self._composer.forget()

    def prepare(self) -> None:
        """Count, and take apart, what any unseen act needs of the training texts; seconds for tens of thousands."""
        for act_type in self._preprocessor.encoder.act_types:
            self.doubts.of(Turn((DialogueAct(act_type),)), (PRONOUN,))
            self._composer.prepare(act_type, self.doubts.fluency)

    @cached_property
    def _many(self) -> bool:
        """Whether training has so many texts that a model says what it has seen well enough."""
        return sum(map(len, self._preprocessor.templates.sentences.values())) > MANY

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
            for alone, pieces in self._composer.questions(request.turn, self.doubts.fluency):
                pieces.rate(decoder.sentence_scores(alone, self._encoded(piece.tokens for piece in pieces)))
            composed = self._composer.composed(request.turn, self.doubts.fluency)
        # Where none is without fault, these are the best there is.
        usual: list[Candidate] = []
        for doubts, group in groupby(composed, lambda each: each[1]):
            if doubts >= _least(found):
                break
            texts = [tokens for tokens, _ in group]
            scores = decoder.sentence_scores(request.turn, self._encoded(texts), request.context)
            made = sorted(self._made(request, texts, scores, options), key=_score, reverse=True)
            # The composer has its own doubts about joints; what a text says of its act it does not know.
            rated = ((doubts + self.doubts.unlike(request.turn, each.tokens), each) for each in made if each.right)
            found = sorted([*_first(rated, doubts, _enough(options)), *found], key=lambda each: each[0])
            usual = usual or made
        return Pool(request, [*candidates, *usual], found, wider=_least(found) >= (ALARMING if unseen else GARBLED))

    def is_new(self, request: Request) -> bool:
        """Whether training never had a request's combination, see `Combinations`; remembered."""
        found = self._new.get(request.act)
        return self._new.put(request.act, self._combinations.lack(request.turn), 200) if found is None else found

    def _all_usual(self, request: Request, candidates: Sequence[Candidate], options: ResolvedOptions) -> bool:
        best = cheapest(candidates, 1, options.slot_error_weight, faithful_values=True)
        return all(self.doubts.usual(request, candidate.tokens) for candidate in best)

    def widen(self, pool: Pool, candidates: Iterable[Candidate], options: ResolvedOptions) -> Pool:
        """Return a pool with what a wider search has found for its request, as far as that is less doubtful."""
        found = pool.found or []
        better = takewhile(lambda each: each[0] < _least(found), self._right(pool.request, candidates))
        return pool._replace(found=[*islice(better, _enough(options)), *found], wider=False)

    def _right(self, request: Request, candidates: Iterable[Candidate]) -> Iterator[Doubted]:
        """Yield the candidates without fault, those with the fewest doubts first, of equals the model's favourites."""

        def cost(each: Candidate) -> Cost:
            return self.doubts.of_candidate(each), -_score(each)

        bounded = (((self.doubts.strange(each.tokens) + plainly(each), -_score(each)), each) for each in candidates)
        return ((doubts, each) for (doubts, _), each in ascending(bounded, cost) if each.right)

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


def _least(found: Sequence[Doubted]) -> int:
    return found[0][0] if found else NONE


def _enough(options: ResolvedOptions) -> int:
    """Return how many of equally doubtful texts are looked at, the model's favourites first; all are for their risk."""
    return sys.maxsize if options.mbr else options.n_best


def _score(candidate: Candidate) -> float:
    return (candidate.score or 0.0) - candidate.misfit


def _first(rated: Iterable[Doubted], least: int, count: int) -> list[Doubted]:
    """Return texts until so many of them have no more than the least doubts; none that come then can be better."""
    found: list[Doubted] = []
    for each in rated:
        found.append(each)
        count -= each[0] == least
        if not count:
            break
    return found
