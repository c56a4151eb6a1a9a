"""Finding candidates for turns, by searching for requests that resemble the training data.

Acts that never occur together in training are requested one by one, and unseen values by way of seen ones; the results
are then combined for the turn. `Generator.generate` runs the searches that this requires:

    while finding.asked:
        finding.answer(search(finding.asked))
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from dactnlg.generation.candidates import Candidate, Rows, cheapest, cheapest_faithful, most_agreed
from dactnlg.generation.completion import Completer
from dactnlg.generation.options import ResolvedOptions
from dactnlg.generation.unseen.several_acts import SeveralActs
from dactnlg.generation.unseen.stand_ins import StandIn, StandIns
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.requests import Request


class Asked(NamedTuple):
    """A search to be run.

    Attributes:
        requests: the acts to search for.
        places: for each request, the position of its turn in the sequence.
        options: how sentences are chosen.
    """

    requests: list[Request]
    places: list[int]
    options: ResolvedOptions


Placed = list[tuple[Request, int]]
"""Requests, each with the position of its turn in the sequence."""
Steps = Generator[Asked, Rows, Rows]
"""A coroutine that yields searches, is sent their results, and finally returns the candidates of all requests."""


class Finding:
    """The state of looking for candidates, advanced with `answer`.

    Attributes:
        asked: the search to run next; None once everything has been found.
        found: then, the candidates of each request.
    """

    def __init__(self, steps: Steps) -> None:
        self._steps, self.found = steps, Rows()
        # Without requests, nothing is asked and nothing is found.
        self.asked = next(steps, None)

    def answer(self, rows: Rows) -> None:
        """Pass on the candidates of each request in `asked`, and advance to the next search."""
        try:
            self.asked = self._steps.send(rows)
        except StopIteration as end:
            self.asked, self.found = None, end.value


class Finder:
    """Finds candidates for turns. Several threads may use one.

    Args:
        preprocessor: the preprocessor of a run.
        completer: provides a sentence if nothing else has been found.
    """

    def __init__(self, preprocessor: Preprocessor, completer: Completer) -> None:
        self._several, self._stand_ins = SeveralActs(preprocessor), StandIns(preprocessor)
        self._completer = completer

    def find(self, requests: Sequence[Request], first: int, options: ResolvedOptions) -> Finding:
        """Start looking for candidates.

        Args:
            requests: the turns.
            first: the position of the first request in its sequence.
            options: how sentences are chosen.
        """
        placed = [(request, place) for place, request in enumerate(requests, start=first)]
        return Finding(self._act_by_act(placed, options))

    def best(
        self, request: Request, candidates: Iterable[Candidate], options: ResolvedOptions, *, reranked: bool
    ) -> list[Candidate]:
        """Return up to `n_best` candidates, best first; at least one."""
        found, count = [candidate for candidate in candidates if candidate.tokens], options.n_best
        if options.mbr and len(found) > 1:
            found = most_agreed(found, count, faithful_values=options.hard)
        elif reranked:
            found = cheapest(found, count, options.slot_error_weight, faithful_values=options.hard)
        return found[:count] or [self._completer.covering(request)]

    def _act_by_act(self, placed: Placed, options: ResolvedOptions) -> Steps:
        """Find candidates; if acts never occur together in training, search for them one by one."""
        apart = [self._several.requests(request) if options.hard else [] for request, _ in placed]
        every: Placed = []
        for row, (request, place) in zip(apart, placed, strict=True):
            every += [(each, place) for each in row or [request]]
        said = iter((yield from self._as_known(every, options)))
        found: Rows = []
        for row, (request, _) in zip(apart, placed, strict=True):
            # Samples keep the order in which they were drawn.
            parts = [self.best(each, next(said), options, reranked=options.sampling is None) for each in row]
            found.append(self._several.said(request, parts) if row else next(said))
        return found

    def _as_known(self, placed: Placed, options: ResolvedOptions) -> Steps:
        """Find candidates; for unseen values, search with seen values as stand-ins."""
        standing = [self._stand_ins.of(request) if options.hard else [] for request, _ in placed]
        wide = replace(options, n_best=max(options.n_best, options.beam_width))
        found: Rows = [[] for _ in placed]
        # The best sentence for a stand-in does not always suit the act itself, so try again with more candidates.
        for chosen in (options, wide):
            left = [place for place, row in enumerate(standing) if row and not found[place]]
            every = [(each.request, placed[place][1]) for place in left for each in standing[place]]
            said = iter((yield Asked(*_parted(every), chosen)) if every else [])
            for place in left:
                request, ask = placed[place][0], options.append_questions
                tried = [self._stand_ins.said(request, each, next(said), ask=ask) for each in standing[place]]
                found[place] = next(filter(None, tried), [])
        others = [each for each, row in zip(placed, found, strict=True) if not row]
        more = iter((yield Asked(*_parted(others), options)) if others else [])
        found = [row or next(more) for row in found]
        yield from self._exchanged(placed, found, wide)
        return found

    def _exchanged(self, placed: Placed, found: Rows, options: ResolvedOptions) -> Generator[Asked, Rows, None]:
        """Find candidates for acts of which no sentence is right, with other values for those that it lacks."""
        standing: dict[int, list[StandIn]] = {}
        for place, row in enumerate(found) if options.hard and options.sampling is None else ():
            best = cheapest_faithful(row, options)
            if best is not None and not best.right:
                standing[place] = self._stand_ins.of(placed[place][0], self._stand_ins.lost(best))
        every = [(each.request, placed[place][1]) for place, row in standing.items() for each in row]
        said = iter((yield Asked(*_parted(every), options)) if every else [])
        for place, stand_ins in standing.items():
            request, ask = placed[place][0], options.append_questions
            tried = [self._stand_ins.said(request, each, next(said), ask=ask) for each in stand_ins]
            found[place] = next(filter(None, tried), found[place])


def _parted(placed: Placed) -> tuple[list[Request], list[int]]:
    return [request for request, _ in placed], [place for _, place in placed]
