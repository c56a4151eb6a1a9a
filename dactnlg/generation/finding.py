"""Finding candidates: a turn is asked for as training could have had it.

Acts that training never had together are found one by one, values that it lacks as those that it has, and what a search
cannot say as one in parts. What a search, or draws, find for all these is put together for the turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dactnlg.generation.candidates import Candidate, cheapest, most_agreed
from dactnlg.generation.options import ResolvedOptions
from dactnlg.generation.parting import WAYS, Parting
from dactnlg.generation.reranking import CandidateSearch, Rows
from dactnlg.generation.several_acts import SeveralActs
from dactnlg.generation.stand_ins import StandIns
from dactnlg.text.requests import Request

if TYPE_CHECKING:
    from dactnlg.generation.decoder import Decoder

Asked = list[tuple[Request, int]]
"""Requests, each with the place of its turn in the sequence."""
Say = Callable[[Asked, ResolvedOptions], Rows]
"""Finds candidates for requests that training could have had."""


class Finder:
    """Finds candidates for turns. Several threads may use one.

    Args:
        search: finds them for what training could have had.
    """

    def __init__(self, search: CandidateSearch) -> None:
        self._search, self._parting = search, Parting(search)
        self._several, self._stand_ins = SeveralActs(search.preprocessor), StandIns(search.preprocessor)

    def searched(self, decoder: Decoder, requests: Sequence[Request], options: ResolvedOptions) -> Rows:
        """Return each request's candidates from beam searches."""
        asked = [(request, 0) for request in requests]
        return self._act_by_act(asked, options, lambda asked, options: self._in_parts(decoder, asked, options))

    def sampled(
        self, decoder: Decoder, requests: Sequence[Request], options: ResolvedOptions, *, count: int, first: int
    ) -> Rows:
        """Return `count` draws for each request, in the order drawn; see `CandidateSearch.sampled`.

        Args:
            decoder: the model.
            requests: the acts.
            options: what tokens are drawn from, the seed and the constraint.
            count: how many.
            first: the place of the first request in its sequence.
        """

        def say(asked: Asked, options: ResolvedOptions) -> Rows:
            places = [place for _, place in asked]
            return self._search.sampled(decoder, [request for request, _ in asked], places, options, count)

        return self._act_by_act([(each, place) for place, each in enumerate(requests, start=first)], options, say)

    def best(
        self, request: Request, candidates: Iterable[Candidate], options: ResolvedOptions, *, reranked: bool
    ) -> list[Candidate]:
        """Return as many candidates as are asked for, the best first; there is at least one."""
        found, count = [candidate for candidate in candidates if candidate.tokens], options.n_best
        if options.mbr and len(found) > 1:
            found = most_agreed(found, count, faithful_values=options.hard)
        elif reranked:
            found = cheapest(found, count, options.slot_error_weight, faithful_values=options.hard)
        return found[:count] or [self._search.completer.covering(request)]

    def _act_by_act(self, asked: Asked, options: ResolvedOptions, say: Say) -> Rows:
        """Return candidates for requests, for acts that training never had in one turn one after the other."""
        apart = [self._several.requests(request) if options.hard else [] for request, _ in asked]
        every = [(each, place) for row, (_, place) in zip(apart, asked, strict=True) for each in row]
        said = iter(self._as_known(every, options, say) if every else [])
        found: Rows = []
        for row, (request, _) in zip(apart, asked, strict=True):
            # A draw stays in its place.
            parts = [self.best(each, next(said), options, reranked=options.sampling is None) for each in row]
            found.append(self._several.said(request, parts))
        return _filled(found, asked, lambda others: self._as_known(others, options, say))

    def _as_known(self, asked: Asked, options: ResolvedOptions, say: Say) -> Rows:
        """Return candidates for requests, for values that training never had as for those that it had."""
        standing = [self._stand_ins.of(request) if options.hard else [] for request, _ in asked]
        found: Rows = [[] for _ in asked]
        # The best that is said for a stand-in is not always in words that the act can be said in.
        for wider in (options, replace(options, n_best=max(options.n_best, options.beam_width))):
            left = [place for place, row in enumerate(standing) if row and not found[place]]
            every = [(each.request, asked[place][1]) for place in left for each in standing[place]]
            said = iter(say(every, wider) if every else [])
            for place in left:
                request, ask = asked[place][0], options.append_questions
                tried = [self._stand_ins.said(request, each, next(said), ask=ask) for each in standing[place]]
                found[place] = next(filter(None, tried), [])
        return _filled(found, asked, lambda others: say(others, options))

    def _in_parts(self, decoder: Decoder, asked: Asked, options: ResolvedOptions) -> Rows:
        """Return candidates for requests from searches for the whole and for parts of it."""
        requests = [request for request, _ in asked]
        found = self._search.searched(decoder, requests, options)
        for way in range(WAYS) if options.hard else ():
            parts = [self._parting.parts(*each, options, way=way) for each in zip(requests, found, strict=True)]
            every = [request for each in parts if each is not None for request in each.requests]
            apart = self._search.searched(decoder, every, options) if every else []
            self._parting.add(decoder, requests, parts, apart, found, options)
        return found


def _filled(found: Rows, asked: Asked, say: Callable[[Asked], Rows]) -> Rows:
    """Return what has been found, and for the requests of which nothing has what is said of them as they are."""
    others = [each for each, row in zip(asked, found, strict=True) if not row]
    more = iter(say(others) if others else [])
    return [row or next(more) for row in found]
