"""Parting: an act that a search cannot say as a whole is said in parts, by further searches, which are then joined.

Ways to part an act are tried one after another, until one has helped: an implicit confirmation as an explicit one;
compared things one by one; what does not matter at the end; unknown or omitted values separately; all slots with a
name added, or as many together as training has.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from dactnlg.generation.candidates import Candidate, Rows, cheapest_faithful, scored
from dactnlg.generation.decoders.decoder import Decoder
from dactnlg.generation.options import ResolvedOptions
from dactnlg.generation.unseen.describing import Describer
from dactnlg.generation.unseen.dividing import Divider
from dactnlg.generation.unseen.doubts import ALARMING
from dactnlg.generation.unseen.nameless import Nameless
from dactnlg.generation.unseen.parts import MOST, Parts, stated
from dactnlg.generation.unseen.saying_back import SayingBack
from dactnlg.generation.unseen.several_acts import SeveralActs
from dactnlg.generation.unseen.unseen_acts import STRANGE, UnseenActs
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.requests import Request

WAYS = 3
"""Number of rounds of parting; comparisons are parted in the first."""


class Parting:
    """Parts acts, and adds texts made of their parts to the candidates. Several threads may use one.

    Args:
        preprocessor: the preprocessor of a run.
        unseen: recognises unseen acts, and counts doubts.
    """

    def __init__(self, preprocessor: Preprocessor, unseen: UnseenActs) -> None:
        self._preprocessor, self._unseen = preprocessor, unseen
        self._describer = Describer(self._preprocessor)
        self._divider = Divider(self._preprocessor, self._describer)
        self._nameless, self._several = Nameless(self._preprocessor), SeveralActs(self._preprocessor)
        self._saying_back = SayingBack(self._preprocessor)

    def add(
        self,
        decoder: Decoder,
        requests: Sequence[Request],
        parts: Sequence[Parts | None],
        said: Rows,
        found: Rows,
        options: ResolvedOptions,
    ) -> None:
        """Add texts made of parts to the candidates in `found`, in place.

        Args:
            decoder: the model.
            requests: the acts.
            parts: the parts of each act; None for acts that are not parted.
            said: the candidates for the requests of all parts, in order.
            found: the candidates for the acts.
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
        """Return the parts to search for, if no candidate is both right and free of doubts, or a comparison is unseen.

        Args:
            request: an act.
            candidates: its candidates so far.
            options: how sentences are chosen.
            way: the round, from 0 to `WAYS` - 1.
        """
        found, unseen = cheapest_faithful(candidates, options), self._unseen.is_unseen(request)
        best = found if found is not None and not (unseen and found.origin == "template") else None
        right = best is not None and best.right
        strange = right and best is not None and (unseen or not self._unseen.doubts.usual(request, best.tokens))
        doubts = self._unseen.doubts.of(request.turn, best.tokens) if strange and best is not None else 0
        if way == 0 and (not right or doubts >= STRANGE):
            explicit = self._saying_back.explicit(request)
            if explicit is not None:
                return explicit
        things = self._describer.things(request) if unseen or not right else None
        only = self._describer.only_thing(request) if things is None and (not right or doubts >= ALARMING) else None
        described = things or only
        if described is not None:
            # If nothing else is right, descriptions one by one count as a comparison; that of an only thing always.
            asks = self._preprocessor.manners.is_question(request.turn.acts[0].act_type)
            told = not asks and not (right and things)
            return described._replace(whole=told) if way == 0 else None
        if way == 0:
            few = best is not None and doubts < (1 if best.origin == "composed" else ALARMING)
            return None if right and few else self._divider.indifferent(request)
        # Several acts are parted at fewer doubts: saying each by itself is the most reliable.
        if right and doubts < (ALARMING if len(request.turn.acts) > 1 else STRANGE):
            return self._nameless.named(request) if way > 1 and doubts >= ALARMING else None
        if way == 1:
            # Act types may occur together in training, but not with all these slots.
            several = self._several.one_by_one(request)
            return several or self._divider.unknown(request) or (self._divider.left(best) if best is not None else None)
        return self._nameless.named(request) or self._divider.divided(request)

    def _joined(
        self,
        decoder: Decoder,
        request: Request,
        candidates: Sequence[Candidate],
        parts: Parts,
        said: Rows,
        options: ResolvedOptions,
    ) -> list[Candidate]:
        """Return a request's candidates together with texts made of the candidates for its parts."""
        best = (cheapest_faithful(row, options) for row in said)
        found = {place: each for place, each in enumerate(best) if each is not None and each.right}
        if not found or (parts.all_needed and len(found) < len(said)):
            return list(candidates)
        heard = {name for each in found.values() for name in stated(each.request.turn)} if parts.whole else None
        texts = parts.join(found)
        encoded = [self._preprocessor.vocabulary.encode(text) for text in texts]
        scores = decoder.sentence_scores(request.turn, encoded, request.context) if texts else ()
        made = scored(self._preprocessor, request, zip(texts, scores, strict=True), options, heard=heard)
        more = sorted(made, key=lambda each: -(each.score or 0.0))[:MOST]
        better = any(each.right for each in more)
        kept = [each for each in candidates if not better or each.origin != "template"]
        return self._unseen.pool(decoder, request, [*kept, *more], options).best(options.n_best)
