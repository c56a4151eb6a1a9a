"""The generation worker: acts in, lines of output out; `dactnlg generate` runs one, or one in each process."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

from dactnlg import __version__
from dactnlg._utils.hashing import digest, file_digest
from dactnlg.errors import UserError
from dactnlg.generation.decoders.loading import checked_runs, chosen_backend, listed
from dactnlg.generation.files.lines import ActRow, BadAct
from dactnlg.generation.generation import Generation
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.runs.run import Run

ERROR = "# error: "
"""What a line of text begins with that stands in the place of a sentence; no sentence begins so."""
_BREAKS = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")


@dataclass(frozen=True)
class GenerationWorker:
    """Generates a line of output for each act. Pickled for another process, it loads the run itself there.

    Attributes:
        run: the run folder, or several whose models search together.
        backend: as `Generator.load` takes it.
        output_format: `text`, a sentence a line, or `json`, an object a line.
        options: how sentences are generated; as text, `n_best` sentences stand in one line, separated by tabs.
        skip_bad: write the error of a bad act in the place of its sentence, and go on.
        context: what the user has said before the acts that come without it.
        counts: `skipped` is the number of acts that had an error in this process.
    """

    run: Path | tuple[Path, ...]
    backend: str
    output_format: str
    options: GenerationOptions
    skip_bad: bool = False
    context: str = ""
    counts: Counter[str] = field(default_factory=Counter, init=False, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        # The run is loaded again in the other process, rather than pickled with its model.
        parts = (self.run, self.backend, self.output_format, self.options, self.skip_bad, self.context)
        return GenerationWorker, parts

    def load(self) -> None:
        """Load the run now, so that what is wrong with it or with the options comes out before anything is written.

        Raises:
            RunError: the run cannot be used.
            UserError: an option outside its bounds.
        """
        self.options.resolve(self.generator.defaults, self.generator.seed)

    @cached_property
    def generator(self) -> Generator:
        """The run's generator, loaded at its first use."""
        return Generator.load(self.run, self.backend)

    def generate(self, acts: Sequence[ActRow], first: int) -> Iterator[str]:
        """Yield a line for each act, in order, without its end of line.

        Args:
            acts: the acts.
            first: the place of the first one in the whole input, from 0.

        Raises:
            UserError: an act that cannot be read, or that the model cannot generate, unless these are skipped; the
                message names its place. The lines of the acts before it have been yielded.
        """
        # Between bad acts, all at once; their places stay, for what is left to chance depends on them.
        for bad, group in groupby(acts, key=lambda act: isinstance(act, BadAct)):
            rows = list(group)
            yield from map(self._refuse, rows) if bad else self._generate(rows, first)
            first += len(rows)

    def _generate(self, acts: Sequence[ActRow], first: int) -> Iterator[str]:
        turns = [act.turn for act in acts if not isinstance(act, BadAct)]
        contexts = [act.context or self.context for act in acts if not isinstance(act, BadAct)]
        try:
            generations = self.generator.generate(turns, self.options, first=first, context=contexts)
        except UserError:
            checked = [self._checked(act) for act in acts]
            if not any(isinstance(act, BadAct) for act in checked):
                raise
            yield from self.generate(checked, first)
            return
        yield from map(self._line, generations)

    def _checked(self, act: ActRow) -> ActRow:
        """Return an act, or what is wrong with it if the model does not know its names."""
        if isinstance(act, BadAct):
            return act
        try:
            self.generator.check_names(act.turn)
        except UserError as error:
            return BadAct(str(act.turn), act.where, UserError(f"{act.where}: {error}"))
        return act

    def _refuse(self, act: ActRow) -> str:
        """Return the line of a bad act, or raise its error."""
        if not isinstance(act, BadAct):
            raise TypeError(act)
        if not self.skip_bad:
            raise act.error
        self.counts["skipped"] += 1
        if self.output_format == "json":
            return json.dumps({"act": act.text, "error": act.message}, ensure_ascii=False)
        return ERROR + _BREAKS.sub(" ", act.message)

    def forget(self) -> None:
        """Drop the searches kept so far, so that the next acts are generated as if they were the first."""
        self.generator.forget()

    def settings(self) -> dict[str, Any]:
        """Return what the lines depend on beside the acts, under the names that users know.

        They include the version and the backend that searches: the last digits of a score may depend on either. Whether
        bad acts are skipped is not among them: a file that ended at one can be continued past it.

        Raises:
            RunError: the run cannot be used.
            UserError: an option outside its bounds.
        """
        runs = checked_runs(self.run)
        self.options.resolve(runs[0].config.decoding, runs[0].config.training.seed)
        backend = chosen_backend(runs, self.backend)
        loaded = {"backend": backend, "version of dactnlg": __version__, "model": self._model_hash()}
        context = {"context": self.context} if self.context else {}
        return {**asdict(self.options), **loaded, "format": self.output_format, **context}

    def _model_hash(self) -> str:
        """Return the SHA-256 of what the sentences come from: configuration and model files of the runs."""
        files = [file for run in map(Run, listed(self.run)) for file in (run.config_path, *run.model_files())]
        return digest([file_digest(file) for file in files if file.exists()])

    def _line(self, generation: Generation) -> str:
        if self.output_format == "json":
            return json.dumps(generation.to_json(), ensure_ascii=False)
        texts = [best.text for best in generation.n_best] or [generation.text]
        # A value may hold a line break or a tab; the output is one line an act all the same. Other spaces stay.
        line = "\t".join(_BREAKS.sub(" ", text) for text in texts)
        return f" {line}" if self.skip_bad and line.startswith(ERROR) else line
