"""Finding candidates for turns, which are asked for as training could have had them.

Acts that training never had in one turn are asked for one by one, values that it lacks as those that it has; what is
found for all these is put together for the turn. `Generator.generate` searches for what is asked:

    while finding.asked:
        finding.answer(search(finding.asked))
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from dactnlg.generation.candidates import Candidate, Rows, cheapest, most_agreed
from dactnlg.generation.completion import Completer
from dactnlg.generation.options import ResolvedOptions
from dactnlg.generation.unseen.several_acts import SeveralActs
from dactnlg.generation.unseen.stand_ins import StandIns
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.requests import Request


class Asked(NamedTuple):
    """What is to be searched for.

    Attributes:
        requests: acts that training could have had.
        places: of each one's turn in the sequence.
        options: how sentences are chosen.
    """

    requests: list[Request]
    places: list[int]
    options: ResolvedOptions


Placed = list[tuple[Request, int]]
"""Requests, each with the place of its turn in the sequence."""
Steps = Generator[Asked, Rows, Rows]
"""Asks, gets what was found, and in the end returns candidates for all."""


class Finding:
    """Candidates that are being found.

    Attributes:
        asked: what is to be searched for next; None where all has been found.
        found: the candidates of each request, then.
    """

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self.asked: Asked | None = None
        self.found: Rows = []
        self._go(None)

    def answer(self, rows: Rows) -> None:
        """Take the candidates of each request that was asked for."""
        self._go(rows)

    def _go(self, rows: Rows | None) -> None:
        try:
            self.asked = next(self._steps) if rows is None else self._steps.send(rows)
        except StopIteration as end:
            self.asked, self.found = None, end.value


class Finder:
    """Finds candidates for turns. Several threads may use one.

    Args:
        preprocessor: of a run.
        completer: says what nothing else has been found for.
    """

    def __init__(self, preprocessor: Preprocessor, completer: Completer) -> None:
        self._several, self._stand_ins = SeveralActs(preprocessor), StandIns(preprocessor)
        self._completer = completer

    def find(self, requests: Sequence[Request], first: int, options: ResolvedOptions) -> Finding:
        """Begin to find candidates.

        Args:
            requests: the turns.
            first: the place of the first of them in its sequence.
            options: how sentences are chosen.
        """
        placed = [(request, place) for place, request in enumerate(requests, start=first)]
        return Finding(self._act_by_act(placed, options))

    def best(
        self, request: Request, candidates: Iterable[Candidate], options: ResolvedOptions, *, reranked: bool
    ) -> list[Candidate]:
        """Return as many candidates as are asked for, the best first; there is at least one."""
        found, count = [candidate for candidate in candidates if candidate.tokens], options.n_best
        if options.mbr and len(found) > 1:
            found = most_agreed(found, count, faithful_values=options.hard)
        elif reranked:
            found = cheapest(found, count, options.slot_error_weight, faithful_values=options.hard)
        return found[:count] or [self._completer.covering(request)]

    def _act_by_act(self, placed: Placed, options: ResolvedOptions) -> Steps:
        """Find candidates, for acts that training never had in one turn one after the other."""
        apart = [self._several.requests(request) if options.hard else [] for request, _ in placed]
        every: Placed = []
        for row, (request, place) in zip(apart, placed, strict=True):
            every += [(each, place) for each in row or [request]]
        said = iter((yield from self._as_known(every, options)))
        found: Rows = []
        for row, (request, _) in zip(apart, placed, strict=True):
            # A draw stays in its place.
            parts = [self.best(each, next(said), options, reranked=options.sampling is None) for each in row]
            found.append(self._several.said(request, parts) if row else next(said))
        return found

    def _as_known(self, placed: Placed, options: ResolvedOptions) -> Steps:
        """Find candidates, for values that training never had as for those that it had."""
        standing = [self._stand_ins.of(request) if options.hard else [] for request, _ in placed]
        wide = replace(options, n_best=max(options.n_best, options.beam_width))
        found: Rows = [[] for _ in placed]
        # The best that is said for a stand-in is not always in words that the act can be said in.
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
        return [row or next(more) for row in found]


def _parted(placed: Placed) -> tuple[list[Request], list[int]]:
    return [request for request, _ in placed], [place for _, place in placed]
