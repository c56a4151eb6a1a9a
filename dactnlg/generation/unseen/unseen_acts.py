"""Unseen combinations of slots: choosing candidates that read like training texts.

For such acts, a search uses words from training in unseen orders. Texts composed of training texts compete with its
sentences; the number of doubts decides, then the model's score.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby, islice, takewhile
from typing import NamedTuple

from dactnlg._utils.memory import Memory
from dactnlg._utils.ranking import Cost, ascending
from dactnlg.acts import DialogueAct, Turn
from dactnlg.generation.candidates import Candidate, cheapest_faithful, scored
from dactnlg.generation.decoders.decoder import Decoder
from dactnlg.generation.options import ResolvedOptions
from dactnlg.generation.unseen.combinations import Combinations
from dactnlg.generation.unseen.composition import Composer
from dactnlg.generation.unseen.doubts import ALARMING, Doubts, plainly
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.requests import Request
from dactnlg.text.sentences import PRONOUN, Tokens

STRANGE = 4
"""Number of doubts about the best sentence for an act from which its parts are searched for separately."""
MANY = 20_000
"""With more training texts than this, a model's sentences for seen acts are trusted."""
GARBLED = 5
"""Number of doubts about a seen act's best sentence from which a wider search is made."""
NONE = 1_000
"""Number of doubts if there is no candidate."""
REMEMBERED = 20_000, 8 << 20
"""Limits of the cache of whether acts are unseen: number of acts, and bytes."""
Doubted = tuple[int, Candidate]


class Pool(NamedTuple):
    """The candidates for a request.

    Attributes:
        request: the act.
        candidates: what the search has found, and the composed texts with the fewest doubts.
        found: the right ones with their doubts, fewest first; None if doubts do not matter.
        wider: whether a wider search should be made.
    """

    request: Request
    candidates: Sequence[Candidate]
    found: list[Doubted] | None
    wider: bool = False

    def best(self, count: int) -> list[Candidate]:
        """Return all candidates with the fewest doubts, filled up to `count` with the next best ones."""
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
        preprocessor: the preprocessor of a run.
    """

    def __init__(self, preprocessor: Preprocessor) -> None:
        self._preprocessor, self._composer = preprocessor, Composer(preprocessor)
        self._combinations = Combinations(preprocessor)
        self._new: Memory[bool] = Memory(*REMEMBERED)
        self.doubts = Doubts(preprocessor, self._composer, self._combinations)

    def forget(self) -> None:
        """Clear the caches of texts and acts; what was learned from training is kept."""
        self._new.clear()
        self.doubts.forget()
        self._composer.forget()

    def prepare(self) -> None:
        """Compute now what unseen acts need from the training texts; takes seconds for tens of thousands of texts."""
        for act_type in self._preprocessor.encoder.act_types:
            self.doubts.of(Turn((DialogueAct(act_type),)), (PRONOUN,))
            self._composer.prepare(act_type, self.doubts.fluency)

    @cached_property
    def _many(self) -> bool:
        """Whether training has so many texts that a model says seen acts well enough."""
        return sum(map(len, self._preprocessor.templates.sentences.values())) > MANY

    def pool(
        self, decoder: Decoder, request: Request, candidates: Sequence[Candidate], options: ResolvedOptions
    ) -> Pool:
        """Count the doubts about a request's candidates, and add composed texts if there are too many.

        Args:
            decoder: the model, which scores composed texts.
            request: an act.
            candidates: what the search has found for it.
            options: how sentences are chosen.
        """
        unseen = self.is_unseen(request)
        if not unseen and (self._many or self._all_usual(request, candidates, options)):
            return Pool(request, candidates, None)
        found = list(islice(self._right(candidates), _enough(options)))
        composed: list[tuple[Tokens, int]] = []
        if _least(found) >= (ALARMING if unseen else 1):
            for alone, pieces in self._composer.questions(request.turn, self.doubts.fluency):
                pieces.rate(decoder.sentence_scores(alone, self._encoded(piece.tokens for piece in pieces)))
            composed = self._composer.composed(request.turn, self.doubts.fluency)
        # If no composed text is right, the least doubtful ones are still candidates.
        usual: list[Candidate] = []
        for doubts, group in groupby(composed, lambda each: each[1]):
            if doubts >= _least(found):
                break
            texts = [tokens for tokens, _ in group]
            scores = decoder.sentence_scores(request.turn, self._encoded(texts), request.context)
            made = scored(self._preprocessor, request, zip(texts, scores, strict=True), options)
            made.sort(key=_score, reverse=True)
            # The composer has counted doubts about joints, but not whether a text performs its act.
            rated = ((doubts + self.doubts.unlike(request.turn, each.tokens), each) for each in made if each.right)
            found = sorted([*_first(rated, doubts, _enough(options)), *found], key=lambda each: each[0])
            usual = usual or made
        return Pool(request, [*candidates, *usual], found, wider=_least(found) >= (ALARMING if unseen else GARBLED))

    def is_unseen(self, request: Request) -> bool:
        """Whether a request's combination is unseen; see `Combinations`. Cached."""
        found = self._new.get(request.act)
        return self._new.put(request.act, self._combinations.is_unseen(request.turn), 200) if found is None else found

    def _all_usual(self, request: Request, candidates: Sequence[Candidate], options: ResolvedOptions) -> bool:
        best = cheapest_faithful(candidates, options)
        return best is not None and self.doubts.usual(request, best.tokens)

    def widen(self, pool: Pool, candidates: Iterable[Candidate], options: ResolvedOptions) -> Pool:
        """Return a pool with the less doubtful candidates from a wider search added."""
        found = pool.found or []
        better = islice(self._right(candidates, _least(found)), _enough(options))
        return pool._replace(found=[*better, *found], wider=False)

    def _right(self, candidates: Iterable[Candidate], limit: int = sys.maxsize) -> Iterator[Doubted]:
        """Yield the right candidates with fewer doubts than `limit`, fewest first; among equals, by their scores."""

        def cost(each: Candidate) -> Cost:
            return self.doubts.of_candidate(each), -_score(each)

        bounded = (((self.doubts.strange(each.tokens) + plainly(each), -_score(each)), each) for each in candidates)
        # Most that a wider search finds are neither right nor less doubtful: only the latter is known without a check.
        hopeful = takewhile(lambda each: each[0][0] < limit, ascending(bounded, cost))
        return ((doubts, each) for (doubts, _), each in hopeful if each.right)

    def _encoded(self, texts: Iterable[Tokens]) -> list[list[int]]:
        return [self._preprocessor.vocabulary.encode(text) for text in texts]


def _least(found: Sequence[Doubted]) -> int:
    return found[0][0] if found else NONE


def _enough(options: ResolvedOptions) -> int:
    """Return how many equally doubtful texts are considered, best scores first; all of them for minimum Bayes risk."""
    return sys.maxsize if options.mbr else options.n_best


def _score(candidate: Candidate) -> float:
    return (candidate.score or 0.0) - candidate.misfit


def _first(rated: Iterable[Doubted], least: int, count: int) -> list[Doubted]:
    """Return texts until `count` of them have `least` doubts, the minimum; none of the rest can be better."""
    found: list[Doubted] = []
    for each in rated:
        found.append(each)
        count -= each[0] == least
        if not count:
            break
    return found
