"""Generation: acts in, checked sentences out.

`Generator.generate` -> `CandidateSearch.searched` -> `Decoder.search` -> a beam search -> the model's `step`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from dactnlg.acts import DialogueAct, Turn, parse
from dactnlg.errors import ActError, RunError, UnknownNameError, UserError
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.fidelity.reader_file import load_reader
from dactnlg.generation.candidate_search import CandidateSearch
from dactnlg.generation.candidates import Candidate
from dactnlg.generation.decoders.decoder import Decoder
from dactnlg.generation.decoders.loading import Folder, checked_runs, chosen_backend, load_decoder
from dactnlg.generation.finding import Finder
from dactnlg.generation.generation import Generation, distinct
from dactnlg.generation.implied import ImpliedSlots
from dactnlg.generation.knowledge import KnownActs
from dactnlg.generation.options import GenerationOptions, ResolvedOptions
from dactnlg.generation.unseen.mender import Mender
from dactnlg.generation.unseen.parting import WAYS, Parting
from dactnlg.runs.config import DecodingConfig
from dactnlg.text.context import CHARACTERS
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.requests import DelexicalizedAct, Request

Act = str | Turn | DialogueAct


class Generator:
    """Generates sentences for dialogue acts. Several threads may use one at once.

    >>> run = dactnlg.train({"corpus": {"name": "trails"}, "model": {"name": "random"}}, "runs/generator")
    >>> generator = dactnlg.Generator.load(run)
    >>> (said,) = generator.generate("inform(name='Ivy Cutting';length='7 km')")
    >>> "Ivy Cutting" in said.text, said.slots_ok, said.missing, said.unchecked, said.seen
    (True, True, (), (), True)

    It is pickled as the paths of the folders it was loaded from, which are read again when it is unpickled.

    Args:
        preprocessor: the preprocessor of a run.
        decoder: searches with a trained model; None for the random baseline.
        defaults: the run's decoding section, which fills in what `GenerationOptions` leave open.
        seed: for sampling and the random baseline, if the options give none.
    """

    def __init__(
        self, preprocessor: Preprocessor, decoder: Decoder | None, defaults: DecodingConfig, seed: int = 1
    ) -> None:
        self.preprocessor, self.decoder, self.defaults, self.seed = preprocessor, decoder, defaults, seed
        self._source: tuple[list[str], str] | None = None
        self._candidates, self._known = CandidateSearch(preprocessor), KnownActs(preprocessor)
        self._parting, self._implied = Parting(preprocessor, self._candidates.unseen), ImpliedSlots(preprocessor)
        self._finder = Finder(preprocessor, self._candidates.completer)
        self._mender = Mender(preprocessor, self._candidates.unseen)

    def __repr__(self) -> str:
        if self._source is None:
            return super().__repr__()
        folders, backend = self._source
        return f"Generator.load({(folders[0] if len(folders) == 1 else folders)!r}, backend={backend!r})"

    @classmethod
    def load(cls, path: Folder | Sequence[Folder], backend: str = "auto") -> Generator:
        """Load a run folder, or several as an ensemble, whose log probabilities are averaged.

        Args:
            path: the run folder, or a list of them. The runs of an ensemble share one corpus section and may differ in
                seeds, models and sizes; the decoding section of the first one applies.
            backend: what searches: `numpy`, which starts at once and is the fastest on CPUs, for the models that it
                supports, or `keras`, with the backend that Keras is set to; `auto` is `keras` if KERAS_BACKEND is set,
                else what the run's configuration says.

        Raises:
            RunError: the folder is not a run, its training has not saved any weights yet, or the runs are incompatible.
            UnknownNameError: there is no such backend.
            UserError: `numpy` is requested and does not support the model.
        """
        runs = checked_runs(path)
        run, config = runs[0]
        backend = chosen_backend(runs, backend)
        preprocessor = Preprocessor.load(run.preprocessor_path)
        if backend == "none" and run.weights_path.exists():
            raise RunError(
                f"{run.weights_path} belongs to another run than {run.config_path}: a baseline has no weights"
            )
        if run.reader_path.exists():
            preprocessor.attach(
                FidelityChecker(preprocessor.checker, load_reader(run.reader_path), preprocessor.manners)
            )
        decoder = None if backend == "none" else load_decoder(runs, preprocessor, backend)
        for each in runs:
            each.run.check_files()
        made = cls(preprocessor, decoder, config.decoding, config.training.seed)
        # Absolute, because another process may run in another folder.
        made._source = [str(each.run.path.absolute()) for each in runs], "auto" if backend == "none" else backend
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the paths of the run folders, which are read again: models are not sent between processes.

        Raises:
            RunError: it was not loaded from a folder.
        """
        if self._source is None:
            raise RunError("only a generator that Generator.load has read from a run folder can be pickled")
        return type(self).load, self._source, {"defaults": self.defaults, "seed": self.seed}

    def generate(
        self,
        acts: Act | Sequence[Act],
        options: GenerationOptions = GenerationOptions(),  # noqa: B008  (it is frozen)
        *,
        first: int = 0,
        strict: bool = True,
        context: str | Sequence[str] = (),
    ) -> list[Generation]:
        """Return a sentence for each act, in order.

        Args:
            acts: a list of act strings in any notation, `Turn`s or `DialogueAct`s, or a single one.
            options: how sentences are generated; by default as in the run's configuration.
            first: the position of the first act in a longer sequence that is passed in parts; random choices depend
                only on the seed and this position.
            strict: reject act types and slots that are not in the training data, as probable typing errors; if False,
                they are generated as well as possible.
            context: what the user has said before, as text, for models that use it (`model.context`); other models
                ignore it. A single text applies to all acts, a list has one for each act.

        Returns:
            A `Generation` for each act: `text`, and what is known about it: `slots_ok`, `missing`, `extra`,
            `unchecked`, `seen`, `score` (a natural logarithm), `n_best`; `to_json()` returns all of it.

        Raises:
            ActError: an act cannot be read; if there are several, the message gives its index (`acts[2]`).
            UnknownNameError: the model does not know an act type or slot (only if `strict`; the message gives the index
                here, too), or there is no such constraint.
            UserError: a number is out of bounds, sampling options are given while sampling is turned off, or the number
                of contexts is not that of acts.
        """
        chosen = options.resolve(self.defaults, self.seed)
        turns = _turns(acts)
        said = self._contexts(context, len(turns))
        names = [(str(turn), before) for turn, before in zip(turns, said, strict=True)]
        # Dialogues repeat acts: unless sampled, equal acts are generated once.
        once = self.decoder is not None and self.decoder.reuse and chosen.sampling is None
        wanted = list(dict(zip(names, turns, strict=True)).items()) if once else list(zip(names, turns, strict=True))
        completed = [self._implied.completed(turn) for _, turn in wanted]
        requests = [
            self.preprocessor.request(turn, before) for turn, ((_, before), _) in zip(completed, wanted, strict=True)
        ]
        if strict:
            self._check_all(dict.fromkeys(request.act for request in requests), turns)
        count, reranked, decoder = chosen.n_best, chosen.constraint != "none", self.decoder
        if decoder is None:
            found = self._candidates.templates(requests, chosen.seed, first)
        else:
            if chosen.sampling is not None:
                # The best of many samples is not a sample: only reranking may choose (Wen et al. 2015b, section 3.4).
                reranked = chosen.constraint == "rerank"
                count = chosen.beam_width if reranked else count
            finding = self._finder.find(requests, first, chosen)
            # The searches are run here, not in the finder, so that there are few frames between here and the model's
            # step in a debugger or a profile (tests/generation/test_road.py counts them).
            while (asked := finding.asked) is not None:
                if chosen.sampling is not None:
                    finding.answer(self._candidates.sampled(decoder, *asked, count))
                    continue
                rows = self._candidates.searched(decoder, asked.requests, asked.options)
                for way in range(WAYS) if chosen.hard else ():
                    each = zip(asked.requests, rows, strict=True)
                    parts = [self._parting.parts(request, row, asked.options, way=way) for request, row in each]
                    every = [request for part in parts if part is not None for request in part.requests]
                    apart = self._candidates.searched(decoder, every, asked.options) if every else []
                    self._parting.add(decoder, asked.requests, parts, apart, rows, asked.options)
                finding.answer(rows)
            found = finding.found
        results = [
            self._result(name, request, rows, chosen, reranked=reranked)
            for ((name, _), _), request, rows in zip(wanted, requests, found, strict=True)
        ]
        for place, (turn, (_, given)) in enumerate(zip(completed, wanted, strict=True)):
            if turn is not given:
                results[place] = self._implied.removed(results[place], given)
        if not once:
            return results
        by_name = {key: result for (key, _), result in zip(wanted, results, strict=True)}
        return [by_name[key] for key in names]

    def _contexts(self, given: str | Sequence[str], count: int) -> list[str]:
        """Return the context of each of `count` acts; empty strings if the model does not use it.

        Raises:
            UserError: there are more or fewer of them, or one is not a string.
        """
        said = [given] * count if isinstance(given, str) else list(given)
        if said and len(said) != count:
            raise UserError(f"context: {len(said)} for {count} acts; give one for each, or none")
        for place, text in enumerate(said):
            if not isinstance(text, str):
                raise UserError(f"context[{place}] is a text, not {type(text).__name__}")
        if not self.sees_context or not said:
            return [""] * count
        return [text[-CHARACTERS:] for text in said]

    @property
    def sees_context(self) -> bool:
        """Whether the model uses what the user has said before."""
        return self.decoder is not None and self.decoder.sees_context

    def prepare(self) -> None:
        """Collect the corpus statistics for unseen acts now; otherwise the first unseen act has to wait for them."""
        if self.decoder is not None:
            self._candidates.unseen.prepare()

    def forget(self) -> None:
        """Clear everything cached for previous acts, so that they do not influence the following ones.

        The last digits of an act's score depend on whether few hypotheses suffice for it at first, and on the acts it
        is batched with. Both depend on what is cached; after this call, only on the acts to come.
        """
        self._candidates.forget()
        if self.decoder is not None:
            self.decoder.forget()

    def _check_all(self, acts: Iterable[DelexicalizedAct], turns: Sequence[Turn]) -> None:
        """Reject names that the model does not know, giving the index of the first turn that has one."""
        try:
            for act in acts:
                self.check_names(act.turn)
        except UnknownNameError:
            for number, turn in enumerate(turns if len(turns) > 1 else ()):
                self.check_names(turn, f"acts[{number}]")
            raise

    def check_names(self, turn: Turn, where: str = "") -> None:
        """Reject act types and slots that the model does not know.

        Args:
            turn: the acts.
            where: the location to give in error messages.

        Raises:
            UnknownNameError: a name is unknown; the message suggests the closest known ones.
        """
        encoder = self.preprocessor.encoder
        for act in turn:
            if act.act_type not in encoder.act_types:
                raise UnknownNameError("act type", act.act_type, encoder.act_types, where)
            for slot in act.slots:
                if slot.name not in encoder.slot_names:
                    raise UnknownNameError("slot", slot.name, encoder.slot_names, where)

    def _result(
        self, name: str, request: Request, candidates: Iterable[Candidate], options: ResolvedOptions, *, reranked: bool
    ) -> Generation:
        chosen, known = self._finder.best(request, candidates, options, reranked=reranked), self._known.of(request.act)
        unseen = self._candidates.unseen
        # Samples are not altered.
        best = options.hard and options.sampling is None
        mended = self._mender.mended(chosen) if best else chosen
        doubted = best and self.decoder is not None and unseen.is_unseen(request)
        # Mending corrects what training need not have.
        pairs = map(set, zip(chosen, mended, strict=True))
        doubts = [min(map(unseen.doubts.of_candidate, pair)) if doubted else None for pair in pairs]
        shown = [Generation.of(name, each, known, found) for each, found in zip(mended, doubts, strict=True)]
        if options.n_best > 1:
            return replace(shown[0], n_best=tuple(distinct(shown) if options.sampling is None else shown))
        return shown[0]


def _turns(acts: Act | Sequence[Act]) -> list[Turn]:
    """Convert acts to turns.

    Raises:
        ActError: one of them is not an act; if there are several, the message gives its index.
    """
    if isinstance(acts, str | Turn | DialogueAct):
        return [_turn(acts, "")]
    try:
        listed = list(acts)
    except TypeError:
        raise ActError(f"no acts: give a list of them, not {type(acts).__name__}") from None
    return [_turn(act, f"acts[{number}]" if len(listed) > 1 else "") for number, act in enumerate(listed)]


def _turn(act: Act, where: str) -> Turn:
    if isinstance(act, str):
        return parse(act, where)
    if isinstance(act, Turn | DialogueAct):
        return act if isinstance(act, Turn) else Turn((act,))
    kind = type(act).__name__
    raise ActError(f"{where or 'this'} is no act: give a string, a Turn or a DialogueAct, not {kind}")
