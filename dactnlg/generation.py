"""Generation: acts in, checked sentences out.

`Generator.generate` -> `Decoder.search` -> `ragged_search` (or the compiled one) -> `model.step`.
"""

from __future__ import annotations

import os
import random
from bisect import insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dactnlg.acts import Turn, parse
from dactnlg.anchors import anchored
from dactnlg.codec import Codec
from dactnlg.config import BACKENDS, CONSTRAINTS, DecodingConfig
from dactnlg.errors import UnknownNameError, UserError
from dactnlg.run import Run
from dactnlg.slots import SlotReport
from dactnlg.templates import join_sentences, split_question

if TYPE_CHECKING:
    from dactnlg.decoding import BaseDecoder

Act = str | Turn
STRAIN = 12.0
"""What saying a special value may cost in log probability; dearer sentences no longer read well."""


@dataclass(frozen=True, slots=True)
class Generation:
    """A sentence for an act, with the proof of what it says.

    Attributes:
        act: the act in canonical notation.
        text: the sentence as a user reads it.
        raw: the sentence in the corpus's own manner; metrics are defined on it.
        delexicalized: the tokens with placeholders, joined by spaces.
        score: log probability under the model; None where no model chose the sentence.
        slots_ok: nothing missing, nothing extra.
        missing: slots that should have been said and were not.
        extra: slots said too often or never asked for.
        origin: `model`, `inserted` (a placeholder was put where the model likes it best), `composed` (a lost question
            was put behind) or `template`.
        n_best: the best sentences, this one first; empty unless asked for.
    """

    act: str
    text: str
    raw: str
    delexicalized: str
    score: float | None
    slots_ok: bool
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    origin: str = "model"
    n_best: tuple[Generation, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the fields of the command line's JSON output."""
        data = {name: getattr(self, name) for name in ("act", "text", "delexicalized", "score", "slots_ok")}
        data |= {"missing": list(self.missing), "extra": list(self.extra), "origin": self.origin, "raw": self.raw}
        data["n_best"] = [
            {key: value for key, value in other.to_json().items() if key != "n_best"} for other in self.n_best
        ]
        return data


class _Candidate:
    """A sentence that may be said; it is checked when somebody asks.

    Attributes:
        tokens: with placeholders.
        score: log probability; None where no model chose the sentence.
        origin: see `Generation`.
        unasked: questions of the turn that it seems to have lost.
    """

    def __init__(
        self,
        tokens: tuple[str, ...],
        score: float | None,
        check: Callable[[], SlotReport],
        origin: str,
        unasked: tuple[str, ...] = (),
    ) -> None:
        self.tokens, self.score, self._check, self.origin, self.unasked = tokens, score, check, origin, unasked

    @cached_property
    def report(self) -> SlotReport:
        """What the sentence says of what it should."""
        return self._check()


class Generator:
    """Says dialogue acts as sentences.

    Args:
        codec: the codec of a run.
        decoder: searches with a trained model; None for the random baseline.
        options: the run's decoding options.
        seed: of the random baseline's choice.
    """

    def __init__(self, codec: Codec, decoder: BaseDecoder | None, options: DecodingConfig, seed: int = 1) -> None:
        self.codec, self.decoder, self.options, self.seed = codec, decoder, options, seed

    @classmethod
    def load(cls, path: str | Path, backend: str = "auto") -> Generator:
        """Read a run folder.

        Args:
            path: the run folder.
            backend: what searches: `numpy`, which starts at once and is the fastest on CPUs, or `keras`, with the
                backend that Keras is set to; `auto` is `keras` where KERAS_BACKEND is set, else what the run's
                configuration says, else `numpy`.

        Raises:
            RunError: the folder is not a run, or its training has not kept any weights yet.
            UnknownNameError: there is no such backend.
        """
        if backend not in BACKENDS:
            raise UnknownNameError("backend", backend, BACKENDS)
        run = Run(path)
        config = run.check()
        codec = Codec.load(run.codec_path)
        if config.model.name == "random":
            return cls(codec, None, config.decoding, config.training.seed)
        if backend == "auto":
            backend = "keras" if os.environ.get("KERAS_BACKEND") else config.decoding.backend
        decoder = _decoder(run, codec, config.decoding.max_length, backend)
        return cls(codec, decoder, config.decoding, config.training.seed)

    def generate(
        self,
        acts: Sequence[Act],
        *,
        constraint: str | None = None,
        beam_width: int | None = None,
        n_best: int = 1,
        seed: int | None = None,
        first: int = 0,
        strict: bool = True,
    ) -> list[Generation]:
        """Return a sentence for each act, in order.

        Args:
            acts: act strings or turns.
            constraint: `none`, `rerank` (Wen et al. 2015b, section 3.4) or `hard`; the run's own by default.
            beam_width: the run's own by default.
            n_best: how many sentences each result holds in `n_best`; more than one widens the beam if it must.
            seed: of the random baseline's choice; without it the run's seed.
            first: the place of the first act in a longer sequence that is given in parts; the baseline's choice
                depends on the seed and the place.
            strict: refuse act types and slots that training never had, as typing errors; False says them as well as
                can be.

        Raises:
            ActError: an act that cannot be read.
            UnknownNameError: an act type or slot that the model does not know (only if `strict`), or a constraint.
        """
        constraint = constraint or self.options.constraint
        if constraint not in CONSTRAINTS:
            raise UnknownNameError("constraint", constraint, CONSTRAINTS)
        width = max(beam_width or self.options.beam_width, n_best)
        if width < 1 or n_best < 1:
            raise UserError(f"beam_width and n_best must be at least 1, not {beam_width} and {n_best}")
        turns = [act if isinstance(act, Turn) else parse(act) for act in acts]
        if strict:
            for turn in turns:
                self.check_names(turn)
        if not turns:
            return []
        names = [str(turn) for turn in turns]
        turns = [self.codec.delexicalizer.split(turn) for turn in turns]
        if self.decoder is None:
            # Each act its own draw, so that an act's sentence does not depend on how many came before it.
            base = self.seed if seed is None else seed
            found = [
                self._draw(turn, random.Random(f"{base}/{i}"), constraint) for i, turn in enumerate(turns, start=first)
            ]
        else:
            found = self._search(self.decoder, turns, width, constraint, n_best)
        return [
            self._result(name, turn, rows, n_best, constraint)
            for name, turn, rows in zip(names, turns, found, strict=True)
        ]

    def check_names(self, turn: Turn) -> None:
        """Refuse act types and slots that the model does not know.

        Raises:
            UnknownNameError: names the nearest ones that it knows.
        """
        encoder = self.codec.encoder
        for act in turn:
            if act.act_type not in encoder.act_types:
                raise UnknownNameError("act type", act.act_type, encoder.act_types)
            for slot in act.slots:
                if slot.name not in encoder.slot_names:
                    raise UnknownNameError("slot", slot.name, encoder.slot_names)

    def _search(
        self, decoder: BaseDecoder, turns: Sequence[Turn], width: int, constraint: str, n_best: int
    ) -> list[list[_Candidate]]:
        # Without reranking only the best hypotheses are looked at.
        keep = n_best if constraint == "none" else width
        rows = self._hypotheses(decoder, turns, width, constraint == "hard", keep)
        if constraint == "hard":
            self._owe(decoder, turns, rows, width)
            self._ask(decoder, turns, rows)
        return rows

    def _hypotheses(
        self, decoder: BaseDecoder, turns: Sequence[Turn], width: int, hard: bool, keep: int, owed: Sequence[Any] = ()
    ) -> list[list[_Candidate]]:
        power = self.options.length_normalization
        rows = []
        for turn, found in zip(turns, decoder.search(turns, width, hard, keep, owed), strict=True):
            candidates = []
            for hypothesis in found:
                if hypothesis.finished or not hard:
                    tokens = tuple(self.codec.vocabulary.decode(hypothesis.tokens))
                    score = hypothesis.score / (len(tokens) + 1) ** power
                    unasked = self.codec.unasked(turn, tokens) if hard else ()
                    candidates.append(_Candidate(tokens, score, self._check(turn, tokens), "model", unasked))
            rows.append(candidates)
        if hard:
            self._mend(decoder, turns, rows)
        return rows

    def _owe(self, decoder: BaseDecoder, turns: Sequence[Turn], rows: list[list[_Candidate]], width: int) -> None:
        """Search once more where no sentence shows a special value, for sentences with words that can show it."""
        owing: dict[int, list[str]] = {}
        least: dict[int, float] = {}
        for place, candidates in enumerate(rows):
            for best in self._cheapest(candidates, 1, hard=True):
                names = [name for name in best.report.cues.missing if anchored(name) in self.codec.anchors]
                if names:
                    owing[place], least[place] = names, (best.score or 0.0) - STRAIN * len(names)
        if owing:
            again = self._hypotheses(
                decoder, [turns[place] for place in owing], width, True, width, owed=list(owing.values())
            )
            for place, candidates in zip(owing, again, strict=True):
                known = {candidate.tokens for candidate in rows[place]}
                rows[place] += [c for c in candidates if c.tokens not in known and (c.score or 0.0) >= least[place]]

    def _ask(self, decoder: BaseDecoder, turns: Sequence[Turn], rows: list[list[_Candidate]]) -> None:
        """Where every sentence has lost its turn's question, put it behind the best of them, as training asked it."""
        vocabulary = self.codec.vocabulary
        for turn, candidates in zip(turns, rows, strict=True):
            for best in self._cheapest(candidates, 1, hard=True):
                tokens, score = best.tokens, best.score
                for name in best.unasked:
                    # What the sentence asks instead is not what it should; with several to ask, it may be one of them.
                    kept = split_question(tokens)[0] if len(self.codec.asked(turn)) == 1 else tokens
                    whole = [tuple(join_sentences(kept, wording)) for wording in self.codec.questions(name)]
                    scores = decoder.sentence_scores(turn, [vocabulary.encode(sentence) for sentence in whole])
                    tokens, score = whole[int(scores.argmax())], float(scores.max())
                if best.unasked:
                    check, unasked = self._check(turn, tokens), self.codec.unasked(turn, tokens)
                    candidates.append(_Candidate(tokens, score, check, "composed", unasked))

    def _mend(self, decoder: BaseDecoder, turns: Sequence[Turn], rows: list[list[_Candidate]]) -> None:
        """Give placeholders that the vocabulary lacks a place in the sentences found without them."""
        from dactnlg.insertion import insert_missing

        for turn, candidates in zip(turns, rows, strict=True):
            unknown = [r for r in self.codec.delexicalizer.required(turn) if not self.codec.knows(r.placeholder)]
            if unknown and candidates:
                candidates[:] = [
                    _Candidate(tokens, score, self._check(turn, tokens), "inserted", candidates[0].unasked)
                    for tokens, score in insert_missing(decoder, turn, candidates[0].tokens, unknown)
                ]

    def _draw(self, turn: Turn, chance: random.Random, constraint: str) -> list[_Candidate]:
        # A weighted shuffle: the first is drawn by weight, the second by weight among the rest, and so on.
        keyed = [(chance.random() ** (1.0 / weight), t) for t, weight in self.codec.templates.same(turn).items()]
        templates = [template for _, template in sorted(keyed, reverse=True)]
        return [_Candidate(tokens, None, self._check(turn, tokens), "template") for tokens in templates]

    def _check(self, turn: Turn, tokens: Sequence[str]) -> Callable[[], SlotReport]:
        checker = self.codec.checker
        return lambda: SlotReport(checker.tally(turn, tokens), checker.check_cues(turn, self.codec.raw(turn, tokens)))

    def _result(self, name: str, turn: Turn, candidates: list[_Candidate], n_best: int, constraint: str) -> Generation:
        candidates = [candidate for candidate in candidates if candidate.tokens]
        if constraint != "none":
            candidates = self._cheapest(candidates, n_best, constraint == "hard")
        if not candidates:
            tokens = tuple(self.codec.templates.cover(turn, self.codec.delexicalizer.required(turn)))
            candidates = [_Candidate(tokens, None, self._check(turn, tokens), "template")]
        shown = [self._generation(name, turn, candidate) for candidate in candidates[:n_best]]
        return replace(shown[0], n_best=tuple(shown)) if n_best > 1 else shown[0]

    def _cheapest(self, candidates: list[_Candidate], count: int, hard: bool) -> list[_Candidate]:
        """Return the candidates of lowest cost, the lowest first; under `hard` those without faults in values alone."""
        found: list[tuple[float, int, _Candidate]] = []
        # Errors only add to the cost, so those that come after the limit by score alone need not be checked.
        for place, candidate in sorted(enumerate(candidates), key=lambda item: -(item[1].score or 0.0)):
            if len(found) >= count and -(candidate.score or 0.0) >= found[count - 1][0]:
                break
            if not (hard and candidate.report.values.errors):
                insort(found, (self._cost(candidate), place, candidate))
        return [candidate for _, _, candidate in found[:count]]

    def _cost(self, candidate: _Candidate) -> float:
        """Negative log probability and the slot error penalty (Wen et al. 2015b, equation 16)."""
        errors = candidate.report.values.errors + candidate.report.cues.errors + len(candidate.unasked)
        return self.options.slot_error_weight * errors - (candidate.score or 0.0)

    def _generation(self, name: str, turn: Turn, candidate: _Candidate) -> Generation:
        report = candidate.report
        return Generation(
            act=name,
            text=self.codec.text(turn, candidate.tokens),
            raw=self.codec.raw(turn, candidate.tokens),
            delexicalized=" ".join(candidate.tokens),
            score=candidate.score,
            slots_ok=report.ok,
            missing=report.missing,
            extra=report.extra,
            origin=candidate.origin,
        )


def _decoder(run: Run, codec: Codec, max_length: int, backend: str) -> BaseDecoder:
    # Keras takes seconds to start: only who asks for it waits for it.
    if backend == "keras":
        from dactnlg.compiled import CompiledDecoder
        from dactnlg.models import load_model

        return CompiledDecoder(load_model(run.model_path), codec, max_length)
    from dactnlg.decoding import Decoder
    from dactnlg.models.arrays import ArrayModel

    return Decoder(ArrayModel.load(run.model_path), codec, max_length)
