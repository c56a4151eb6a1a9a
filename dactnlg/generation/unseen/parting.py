"""Parting: what a search cannot say as one is said in parts, by further searches, and put together.

Each way to part an act is tried where the ones before have not helped: things that it compares one by one; what does
not matter at the end; what is unknown, or was left out, by itself; as many slots together as training has, or all with
a name.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

from dactnlg.generation.candidates import Candidate, Rows, cheapest
from dactnlg.generation.options import ResolvedOptions
from dactnlg.generation.unseen.describing import Describer
from dactnlg.generation.unseen.dividing import Divider
from dactnlg.generation.unseen.doubts import ALARMING
from dactnlg.generation.unseen.nameless import Nameless
from dactnlg.generation.unseen.parts import Parts, favourites, stated
from dactnlg.generation.unseen.several_acts import SeveralActs
from dactnlg.generation.unseen.unseen_acts import STRANGE, UnseenActs
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.requests import Request

if TYPE_CHECKING:
    from dactnlg.generation.decoders.decoder import Decoder

WAYS = 3
"""Ways to part an act, beside that of comparisons, which comes first as well."""


class Parting:
    """Parts acts, and adds texts that are made of their parts to what a search has found. Several threads may use one.

    Args:
        preprocessor: of a run.
        unseen: knows which acts training never had.
    """

    def __init__(self, preprocessor: Preprocessor, unseen: UnseenActs) -> None:
        self._preprocessor, self._unseen = preprocessor, unseen
        self._describer = Describer(self._preprocessor)
        self._divider = Divider(self._preprocessor, self._describer)
        self._nameless, self._several = Nameless(self._preprocessor), SeveralActs(self._preprocessor)

    def add(
        self,
        decoder: Decoder,
        requests: Sequence[Request],
        parts: Sequence[Parts | None],
        said: Rows,
        found: Rows,
        options: ResolvedOptions,
    ) -> None:
        """Add texts made of parts to what a search has found, in place.

        Args:
            decoder: the model.
            requests: the acts.
            parts: of each, if any.
            said: what a search has found for the requests of all parts, in order.
            found: what it has found for the acts.
            options: how sentences are chosen.
        """
        rows = iter(said)
        for place, each in enumerate(parts):
            if each is not None:
                row = [*islice(rows, len(each.requests))]
                found[place] = self._joined(decoder, requests[place], found[place], each, row, options)

    def parts(
        self, request: Request, candidates: Sequence[Candidate], options: ResolvedOptions, *, way: int
    ) -> Parts | None:
        """Return what is to be said by itself, as no candidate says all like training, or such a comparison is new.

        Args:
            request: an act.
            candidates: what has been found for it.
            options: how sentences are chosen.
            way: which of `WAYS`; a later one where the earlier ones have not helped.
        """
        found, unseen = _best(candidates, options), self._unseen.is_new(request)
        best = found if found is not None and not (unseen and found.origin == "template") else None
        right = best is not None and best.right
        strange = right and best is not None and (unseen or not self._unseen.doubts.usual(request, best.tokens))
        doubts = self._unseen.doubts.of(request.turn, best.tokens) if strange and best is not None else 0
        things = self._describer.things(request) if unseen or not right else None
        if things is not None:
            # Things told of one by one are compared, where nothing else is right.
            told = not right and not self._preprocessor.manners.is_question(request.turn.acts[0].act_type)
            return things._replace(whole=told) if way == 0 else None
        if way == 0:
            few = best is not None and doubts < (1 if best.origin == "composed" else ALARMING)
            return None if right and few else self._divider.indifferent(request)
        # Of several acts each by itself is the surest to say what is its own.
        if right and doubts < (ALARMING if len(request.turn.acts) > 1 else STRANGE):
            return self._nameless.named(request) if way > 1 and doubts >= ALARMING else None
        if way == 1:
            # Act types that training has together it does not have with all slots.
            several = self._several.one_by_one(request)
            return several or self._divider.unknown(request) or (self._divider.left(best) if best is not None else None)
        return self._divider.divided(request) or self._nameless.named(request)

    def _joined(
        self,
        decoder: Decoder,
        request: Request,
        candidates: Sequence[Candidate],
        parts: Parts,
        said: Rows,
        options: ResolvedOptions,
    ) -> list[Candidate]:
        """Return a request's candidates with texts made of the candidates for its parts."""
        best = (_best(row, options) for row in said)
        found = {place: each for place, each in enumerate(best) if each is not None and each.right}
        if not found or (parts.all_needed and len(found) < len(said)):
            return list(candidates)
        texts = parts.join(found)
        heard = {name for each in found.values() for name in stated(each.request.turn)} if parts.whole else None
        more = favourites(self._preprocessor, decoder, request, texts, options, heard=heard)
        better = any(each.right for each in more)
        kept = [each for each in candidates if not better or each.origin != "template"]
        return self._unseen.pool(decoder, request, [*kept, *more], options).best(options.n_best)


def _best(candidates: Sequence[Candidate], options: ResolvedOptions) -> Candidate | None:
    """Return the cheapest candidate without faults in values, if there is one."""
    return next(iter(cheapest(candidates, 1, options.slot_error_weight, faithful_values=True)), None)
