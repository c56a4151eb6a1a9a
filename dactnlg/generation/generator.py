"""Generation: acts in, checked sentences out.

`Generator.generate` -> `Decoder.search` -> `ragged_search` (or the compiled one) -> `model.step`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dactnlg.acts import Turn, parse
from dactnlg.errors import UnknownNameError, UserError
from dactnlg.generation.candidates import Candidate, cheapest
from dactnlg.generation.maker import Maker
from dactnlg.runs.config import BACKENDS, CONSTRAINTS, Config, DecodingConfig
from dactnlg.runs.run import Run
from dactnlg.search.sampling import Sampling
from dactnlg.text.frames import Brief
from dactnlg.text.preprocessor import Preprocessor

if TYPE_CHECKING:
    from dactnlg.generation.decoder import BaseDecoder

Act = str | Turn


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


class Generator:
    """Says dialogue acts as sentences.

    Args:
        preprocessor: the preprocessor of a run.
        decoder: searches with a trained model; None for the random baseline.
        options: the run's decoding options.
        seed: of what is left to chance: sampling, and the random baseline's choice.
    """

    def __init__(
        self, preprocessor: Preprocessor, decoder: BaseDecoder | None, options: DecodingConfig, seed: int = 1
    ) -> None:
        self.preprocessor, self.decoder, self.options, self.seed = preprocessor, decoder, options, seed
        self._maker = Maker(preprocessor, options)

    @classmethod
    def load(cls, path: str | os.PathLike[str], backend: str = "auto") -> Generator:
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
        run = Run(path)
        config = run.check()
        backend = chosen_backend(config, backend)
        preprocessor = Preprocessor.load(run.preprocessor_path)
        if backend == "none":
            return cls(preprocessor, None, config.decoding, config.training.seed)
        decoder = _decoder(run, preprocessor, config.decoding.max_length, backend)
        return cls(preprocessor, decoder, config.decoding, config.training.seed)

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
        sample: bool | None = None,
        temperature: float | None = None,
        top_k: int | None = None,
        top_p: float | None = None,
        append_questions: bool | None = None,
    ) -> list[Generation]:
        """Return a sentence for each act, in order.

        Args:
            acts: act strings or turns.
            constraint: `none`, `rerank` (Wen et al. 2015b, section 3.4) or `hard`; the run's own by default.
            beam_width: the run's own by default.
            n_best: how many sentences each result holds in `n_best`; more than one widens the beam if it must.
            seed: of sampling and of the random baseline's choice; without it the run's seed.
            first: the place of the first act in a longer sequence that is given in parts; what is left to chance
                depends on the seed and the place alone.
            strict: refuse act types and slots that training never had, as typing errors; False says them as well as
                can be.
            sample: draw sentences in place of the beam search; as the run's configuration has it by default. Those in
                `n_best` may be alike. They stand in the order drawn, but under `rerank`, which draws as many as the
                beam is wide, by their cost.
            temperature: with `top_k` and `top_p`, see `search.sampling.Sampling`; any of them asks for sampling too.
            top_k: 0 for all words.
            top_p: 1 for all words.
            append_questions: see `DecodingConfig`; the run's own by default.

        Raises:
            ActError: an act that cannot be read.
            UnknownNameError: an act type or slot that the model does not know (only if `strict`), or a constraint.
            UserError: a number outside its bounds, or a way of sampling where sampling is turned off.
        """
        constraint = constraint or self.options.constraint
        if constraint not in CONSTRAINTS:
            raise UnknownNameError("constraint", constraint, CONSTRAINTS)
        width = max(beam_width or self.options.beam_width, n_best)
        if width < 1 or n_best < 1:
            raise UserError(f"beam_width and n_best must be at least 1, not {beam_width} and {n_best}")
        sampling = self._sampling(sample, temperature, top_k, top_p)
        turns = [act if isinstance(act, Turn) else parse(act) for act in acts]
        names = [str(turn) for turn in turns]
        # Dialogues say the same acts again and again: what is not left to chance is found once for equal ones.
        once = self.decoder is not None and self.decoder.reuse and sampling is None
        said = list(dict(zip(names, turns, strict=True)).items()) if once else list(zip(names, turns, strict=True))
        briefs = [self.preprocessor.brief(turn) for _, turn in said]
        if strict:
            for frame in dict.fromkeys(brief.frame for brief in briefs):
                self.check_names(frame.turn)
        base = self.seed if seed is None else seed
        maker = self._maker
        if append_questions is not None:
            maker = Maker(self.preprocessor, self.options.model_copy(update={"append_questions": append_questions}))
        ordered = constraint != "none"
        if not briefs:
            found = []
        elif self.decoder is None:
            found = maker.templates(briefs, base, first)
        elif sampling is not None:
            # The best of many draws is no draw: only reranking is asked to choose (Wen et al. 2015b, section 3.4).
            ordered = constraint == "rerank"
            count = width if ordered else n_best
            found = maker.sampled(self.decoder, briefs, sampling, count, constraint == "hard", base, first)
        else:
            found = maker.searched(self.decoder, briefs, width, constraint, n_best)
        results = [
            self._result(name, brief, rows, n_best, constraint, ordered)
            for (name, _), brief, rows in zip(said, briefs, found, strict=True)
        ]
        if not once:
            return results
        by_name = {result.act: result for result in results}
        return [by_name[name] for name in names]

    def _sampling(
        self, sample: bool | None, temperature: float | None, top_k: int | None, top_p: float | None
    ) -> Sampling | None:
        """Return what words are drawn from; None where sentences are searched for."""
        usual = Sampling(self.options.temperature, self.options.top_k, self.options.top_p)
        sampling = usual.changed(temperature, top_k, top_p)
        if sample is False and sampling != usual:
            raise UserError("a way of sampling is given, and sampling turned off: leave out either")
        if sample is None:
            sample = self.options.sample or any(value is not None for value in (temperature, top_k, top_p))
        return sampling if sample else None

    def check_names(self, turn: Turn) -> None:
        """Refuse act types and slots that the model does not know.

        Raises:
            UnknownNameError: names the nearest ones that it knows.
        """
        encoder = self.preprocessor.encoder
        for act in turn:
            if act.act_type not in encoder.act_types:
                raise UnknownNameError("act type", act.act_type, encoder.act_types)
            for slot in act.slots:
                if slot.name not in encoder.slot_names:
                    raise UnknownNameError("slot", slot.name, encoder.slot_names)

    def _result(
        self, name: str, brief: Brief, candidates: list[Candidate], n_best: int, constraint: str, ordered: bool
    ) -> Generation:
        candidates = [candidate for candidate in candidates if candidate.tokens]
        if ordered:
            candidates = cheapest(candidates, n_best, self.options.slot_error_weight, constraint == "hard")
        shown = [_generation(name, each) for each in candidates[:n_best] or [self._maker.covering(brief)]]
        return replace(shown[0], n_best=tuple(shown)) if n_best > 1 else shown[0]


def _generation(name: str, candidate: Candidate) -> Generation:
    report = candidate.report
    return Generation(
        act=name,
        text=candidate.text,
        raw=candidate.raw,
        delexicalized=candidate.phrase.delexicalized,
        score=candidate.score,
        slots_ok=report.ok,
        missing=report.missing,
        extra=report.extra,
        origin=candidate.origin,
    )


def chosen_backend(config: Config, backend: str) -> str:
    """Return what searches, `numpy` or `keras`, or `none` for the random baseline, which needs no search.

    Args:
        config: the run's configuration.
        backend: as `Generator.load` takes it.

    Raises:
        UnknownNameError: there is no such backend.
    """
    if backend not in BACKENDS:
        raise UnknownNameError("backend", backend, BACKENDS)
    if config.model.name == "random":
        return "none"
    if backend == "auto":
        return "keras" if os.environ.get("KERAS_BACKEND") else config.decoding.backend
    return backend


def _decoder(run: Run, preprocessor: Preprocessor, max_length: int, backend: str) -> BaseDecoder:
    # Keras takes seconds to start: only who asks for it waits for it.
    if backend == "keras":
        from dactnlg.generation.keras_decoder import CompiledDecoder
        from dactnlg.models import load_model

        return CompiledDecoder(load_model(run.model_path), preprocessor, max_length)
    from dactnlg.generation.decoder import Decoder
    from dactnlg.models.numpy.arrays import ArrayModel

    return Decoder(ArrayModel.load(run.model_path), preprocessor, max_length)
