"""Candidates for requests, from search, sampling or training sentences, and their reranking by slot errors."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dactnlg._utils.memory import Memory
from dactnlg.acts import Turn
from dactnlg.generation.candidates import Candidate, Rows, cheapest_faithful, scored
from dactnlg.generation.completion import Completer
from dactnlg.generation.decoders.decoder import Decoder, Plan
from dactnlg.generation.insertion import insert_missing
from dactnlg.generation.options import ResolvedOptions
from dactnlg.generation.unseen.unseen_acts import UnseenActs
from dactnlg.search.hypotheses import Hypothesis
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.requests import DelexicalizedAct, Request
from dactnlg.text.trigger_words import trigger

SPARE = 7
"""How many further sentences are drawn for an act to replace those that the hard constraint rejects."""
REMEMBERED = 10_000, 8 << 20
"""Limits of the cache of delexicalised acts whose best hypotheses have errors: number of acts, and bytes."""
WIDER, WIDE = 4, 40
"""If all candidates are doubtful, the search is repeated: how many times wider its beam is, and its minimum width."""


class Sentence(NamedTuple):
    """A hypothesis as tokens.

    Attributes:
        tokens: with placeholders.
        score: its log probability, normalised by its length.
        finished: whether it is complete.
    """

    tokens: tuple[str, ...]
    score: float
    finished: bool


class CandidateSearch:
    """Finds candidates: by search, by sampling, or among training sentences. Several threads may use one.

    Args:
        preprocessor: the preprocessor of a run.
    """

    def __init__(self, preprocessor: Preprocessor) -> None:
        self.preprocessor, self.completer = preprocessor, Completer(preprocessor)
        self._faulty: Memory[str] = Memory(*REMEMBERED)
        self.unseen = UnseenActs(preprocessor)

    def forget(self) -> None:
        """Clear what is cached about acts and sentences."""
        self._faulty.clear()
        self.unseen.forget()

    def searched(self, decoder: Decoder, requests: Sequence[Request], options: ResolvedOptions) -> Rows:
        """Return each request's candidates from a beam search, among them the `n_best` cheapest that it can find."""
        width, constraint, hard = options.beam_width, options.constraint, options.hard
        # Errors only add to a candidate's cost: if the best by score have none, no others need to be searched for.
        keep = width if options.mbr else options.n_best
        first = [r for r in requests if constraint == "none" or self._may_be_simple(r, options)]
        turns, contexts, places = _distinct(decoder, first)
        found = decoder.search(turns, Plan(width, hard, keep), contexts=contexts)
        rows = dict(zip(map(id, first), self._rows(first, found, places, options, keep), strict=True))
        for request in first if constraint != "none" else ():
            row = rows[id(request)]
            if len(row) < options.n_best or not all(each.final for each in row):
                key = _faulty_key(request, options)
                self._faulty.put(key, constraint, 1000 * (2 + len(request.act.required)) + 2 * len(request.context))
                del rows[id(request)]
            elif hard and any(each.misfit for each in row):
                # Other values of the same act may fit, so the act is not marked as faulty.
                del rows[id(request)]
        if others := [request for request in requests if id(request) not in rows]:
            turns, contexts, places = _distinct(decoder, others)
            found = decoder.search(turns, Plan(width, hard, width), contexts=contexts)
            more = self._rows(others, found, places, options, width)
            if hard:
                self._insert(decoder, others, more, options)
                # If no sentence expresses a special value, search again for sentences with its trigger words.
                if owing := self._owing(more, options):
                    some, names = [others[place] for place in owing], list(owing.values())
                    turns, contexts, places = _each(some)
                    found = decoder.search(turns, Plan(width, hard, width), names, contexts)
                    again = self._rows(some, found, places, options, width)
                    self._insert(decoder, some, again, options)
                    _add(more, owing, again)
                for request, candidates in zip(others, more, strict=True):
                    self._complete(decoder, request, candidates, options)
            rows |= zip(map(id, others), more, strict=True)
        pools = [self.unseen.pool(decoder, r, rows[id(r)], options) for r in requests if hard]
        if doubtful := [place for place, pool in enumerate(pools) if pool.wider]:
            wide = max(WIDER * width, WIDE)
            turns, contexts, _ = _each([pools[place].request for place in doubtful])
            found = decoder.search(turns, Plan(wide, hard, wide), contexts=contexts)
            for place, hypotheses in zip(doubtful, found, strict=True):
                wider = self._read(pools[place].request, hypotheses, options)
                pools[place] = self.unseen.widen(pools[place], wider, options)
        rows |= {id(pool.request): pool.best(keep) for pool in pools}
        return [rows[id(request)] for request in requests]

    def sampled(
        self, decoder: Decoder, requests: Sequence[Request], places: Sequence[int], options: ResolvedOptions, count: int
    ) -> Rows:
        """Return `count` samples for each request, in the order drawn; under `hard`, only those that satisfy it.

        Special values and questions cannot be enforced token by token: under `hard`, samples that express all of them
        come first.

        Args:
            decoder: the model.
            requests: the acts.
            places: the position of each in its sequence.
            options: the sampling parameters, the seed and the constraint.
            count: number of samples; fewer are returned if `SPARE` further draws do not suffice.
        """
        turns, contexts, _ = _each(requests)
        sampling, hard, seed = options.sampling, options.hard, options.seed
        if sampling is None:
            return [[] for _ in requests]
        found = decoder.sample(turns, places, sampling, draws=range(count), hard=hard, seed=seed, contexts=contexts)
        if not hard:
            return [self._read(request, row, options) for request, row in zip(requests, found, strict=True)]
        rows = []
        for request, drawn in zip(requests, found, strict=True):
            rows.append(self._kept(decoder, request, drawn, options))
        short = [row for row, kept in enumerate(rows) if sum(candidate.faithful for candidate in kept) < count]
        spare = range(count, count + SPARE)
        again, at = [turns[row] for row in short], [places[row] for row in short]
        said = [contexts[row] for row in short]
        more = decoder.sample(again, at, sampling, draws=spare, hard=True, seed=seed, contexts=said)
        for row, drawn in zip(short, more, strict=True):
            both = [*rows[row], *self._kept(decoder, requests[row], drawn, options)]
            best = sorted(both, key=lambda candidate: not candidate.faithful)[:count]
            rows[row] = [self.completer.with_questions(decoder, candidate, options) for candidate in best]
        return rows

    def templates(self, requests: Sequence[Request], seed: int, first: int) -> Rows:
        """Return each request's training sentences of the same kind, in random order weighted by frequency."""
        # One random generator per act, so that its sentence does not depend on how many acts precede it in this call.
        return [
            self._shuffled(request, random.Random(f"{seed}/{i}")) for i, request in enumerate(requests, start=first)
        ]

    def _may_be_simple(self, request: Request, options: ResolvedOptions) -> bool:
        """Whether the best hypotheses may be free of errors, as far as is known."""
        known = options.length_normalization or options.mbr or request.act.unknown
        return not known and self._faulty.get(_faulty_key(request, options)) is None

    def _rows(
        self,
        requests: Sequence[Request],
        found: Sequence[list[Hypothesis]],
        places: Sequence[int],
        options: ResolvedOptions,
        keep: int,
    ) -> Rows:
        """Return each request's `keep` best candidates; `places` tells which row of hypotheses belongs to each."""
        # Hypotheses shared by several requests are decoded once.
        sentences = {id(row): self._sentences(row[:keep], options) for row in found}
        pairs = zip(requests, places, strict=True)
        return [self._candidates(request, sentences[id(found[place])], options) for request, place in pairs]

    def _sentences(self, hypotheses: Sequence[Hypothesis], options: ResolvedOptions) -> list[Sentence]:
        """Return hypotheses as tokens; under `hard`, only finished ones."""
        decode = self.preprocessor.vocabulary.decode
        found = [(tuple(decode(h.tokens)), h) for h in hypotheses if h.finished or not options.hard]
        return [Sentence(tokens, options.normalized(h.score, tokens), h.finished) for tokens, h in found]

    def _candidates(self, request: Request, sentences: Sequence[Sentence], options: ResolvedOptions) -> list[Candidate]:
        ask, own = options.hard and options.append_questions, self.preprocessor
        return [Candidate(own, request, s.tokens, s.score, ask=ask, finished=s.finished) for s in sentences]

    def _read(self, request: Request, hypotheses: Sequence[Hypothesis], options: ResolvedOptions) -> list[Candidate]:
        return self._candidates(request, self._sentences(hypotheses, options), options)

    def _insert(self, decoder: Decoder, requests: Sequence[Request], rows: Rows, options: ResolvedOptions) -> None:
        """Insert the placeholders that the vocabulary lacks into the best candidate of each request."""
        for place, request in enumerate(requests):
            if request.act.unknown and rows[place]:
                found = insert_missing(
                    decoder, request.turn, rows[place][0].tokens, request.act.unknown, request.context
                )
                rows[place] = scored(self.preprocessor, request, found, options, origin="inserted")

    def _complete(
        self, decoder: Decoder, request: Request, candidates: list[Candidate], options: ResolvedOptions
    ) -> None:
        """Append candidates completed with what the best one lacks; if none is faithful, one of training sentences."""
        if best := cheapest_faithful(candidates, options):
            more = self.completer.with_statements(decoder, best, options)
            candidates += [more] if more is not best else []
        if (best := cheapest_faithful(candidates, options)) and best.unasked:
            candidates.append(self.completer.with_questions(decoder, best, options))
        if candidates and not any(candidate.faithful for candidate in candidates):
            cover = self.completer.covering(request)
            candidates += [cover] if cover.faithful and cover.report.ok else []

    def _owing(self, rows: Rows, options: ResolvedOptions) -> dict[int, list[str]]:
        """Return the indices of rows whose best sentence lacks special values, and which ones (`toilets=no`)."""
        owing = {}
        for place, candidates in enumerate(rows):
            best = cheapest_faithful(candidates, options)
            missing = best.report.cues.missing if best else ()
            if names := [name for name in missing if trigger(name) in self.preprocessor.trigger_words]:
                owing[place] = names
        return owing

    def _kept(
        self, decoder: Decoder, request: Request, drawn: Sequence[Hypothesis], options: ResolvedOptions
    ) -> list[Candidate]:
        """Insert placeholders that the vocabulary lacks, and return the samples that satisfy the hard constraint."""
        found = [candidate for candidate in self._read(request, drawn, options) if candidate.tokens]
        for place, candidate in enumerate(found) if request.act.unknown else ():
            best = insert_missing(decoder, request.turn, candidate.tokens, request.act.unknown, request.context)[:1]
            found[place] = scored(self.preprocessor, request, best, options, origin="inserted")[0]
        return [candidate for candidate in found if candidate.faithful_values]

    def _shuffled(self, request: Request, chance: random.Random) -> list[Candidate]:
        # A weighted shuffle: the first is drawn by weight, the second by weight among the rest, and so on.
        same = self.preprocessor.templates.same(request.turn)
        keyed = [(chance.random() ** (1.0 / weight), template) for template, weight in same.items()]
        drawn = [tokens for _, tokens in sorted(keyed, reverse=True)]
        return [Candidate(self.preprocessor, request, tokens, None, origin="template") for tokens in drawn]


class _Wanted(NamedTuple):
    """The turns to search for, the context of each, and for each request the index of its turn."""

    turns: list[Turn]
    contexts: list[str]
    places: list[int]


def _distinct(decoder: Decoder, requests: Sequence[Request]) -> _Wanted:
    """Return the distinct searches: a model that sees no values cannot tell turns of one delexicalised act apart."""
    if decoder.lexicalized or decoder.sees_context or not decoder.reuse:
        return _each(requests)
    places: dict[DelexicalizedAct, int] = {}
    for request in requests:
        places.setdefault(request.act, len(places))
    return _Wanted([act.turn for act in places], [], [places[request.act] for request in requests])


def _each(requests: Sequence[Request]) -> _Wanted:
    """Return a search for each request."""
    turns, contexts = [request.turn for request in requests], [request.context for request in requests]
    return _Wanted(turns, contexts, list(range(len(requests))))


def _faulty_key(request: Request, options: ResolvedOptions) -> tuple[DelexicalizedAct, str, str]:
    return request.act, request.context, options.constraint


def _add(rows: Rows, places: Iterable[int], again: Rows) -> None:
    """Add new candidates from a further search to the rows at `places`."""
    for place, candidates in zip(places, again, strict=True):
        known = {candidate.tokens for candidate in rows[place]}
        rows[place] += [candidate for candidate in candidates if candidate.tokens not in known]
