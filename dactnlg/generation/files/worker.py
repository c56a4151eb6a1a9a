"""The generation worker: acts in, output lines out; `dactnlg generate` runs one, or one in each process."""

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
"""Prefix of text lines that report an error instead of a sentence; sentences never begin with it."""
_BREAKS = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")


@dataclass(frozen=True)
class GenerationWorker:
    """Generates one output line per act. Pickled for another process, it loads the run again there.

    Attributes:
        run: the run folder, or several that form an ensemble.
        backend: as for `Generator.load`.
        output_format: `text`, one sentence per line, or `json`, one object per line.
        options: how sentences are generated; in text, `n_best` sentences are on one line, separated by tabs.
        skip_bad: write the error of a bad act instead of its sentence, and continue.
        context: what the user has said before, for acts that do not include it.
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
        # Pickle without the generator: the other process loads the run again.
        parts = (self.run, self.backend, self.output_format, self.options, self.skip_bad, self.context)
        return GenerationWorker, parts

    def load(self) -> None:
        """Load the run now, so that errors in it or in the options are raised before anything is written.

        Raises:
            RunError: the run cannot be used.
            UserError: an option is out of bounds.
        """
        self.options.resolve(self.generator.defaults, self.generator.seed)

    @cached_property
    def generator(self) -> Generator:
        """The run's generator, loaded on first use."""
        return Generator.load(self.run, self.backend)

    def generate(self, acts: Sequence[ActRow], first: int) -> Iterator[str]:
        """Yield a line for each act, in order, without line end.

        Args:
            acts: the acts.
            first: the position of the first one in the whole input, from 0.

        Raises:
            UserError: an act cannot be read, or the model cannot generate it, unless these are skipped; the message
                gives its location. The lines of the acts before it have been yielded.
        """
        # Acts between bad ones are generated together; bad acts count in positions, on which random choices depend.
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
        """Return the act, or a `BadAct` if the model does not know its names."""
        if isinstance(act, BadAct):
            return act
        try:
            self.generator.check_names(act.turn)
        except UserError as error:
            return BadAct(str(act.turn), act.where, UserError(f"{act.where}: {error}"))
        return act

    def _refuse(self, act: ActRow) -> str:
        """Return the error line of a bad act, or raise its error unless bad acts are skipped."""
        if not isinstance(act, BadAct):
            raise TypeError(act)
        if not self.skip_bad:
            raise act.error
        self.counts["skipped"] += 1
        if self.output_format == "json":
            return json.dumps({"act": act.text, "error": act.message}, ensure_ascii=False)
        return ERROR + _BREAKS.sub(" ", act.message)

    def forget(self) -> None:
        """Clear the generator's caches, so that previous acts do not influence the following ones."""
        self.generator.forget()

    def settings(self) -> dict[str, Any]:
        """Return what the lines depend on besides the acts, under the names that users know.

        This includes the version and the backend, because the last digits of a score may depend on either. It excludes
        `skip_bad`, so that a file that ended at a bad act can be continued past it.

        Raises:
            RunError: the run cannot be used.
            UserError: an option is out of bounds.
        """
        runs = checked_runs(self.run)
        self.options.resolve(runs[0].config.decoding, runs[0].config.training.seed)
        backend = chosen_backend(runs, self.backend)
        loaded = {"backend": backend, "version of dactnlg": __version__, "model": self._model_hash}
        context = {"context": self.context} if self.context else {}
        return {**asdict(self.options), **loaded, "format": self.output_format, **context}

    @cached_property
    def _model_hash(self) -> str:
        """A SHA-256 over the configuration and model files of the runs."""
        files = [file for run in map(Run, listed(self.run)) for file in (run.config_path, *run.model_files())]
        return digest([file_digest(file) for file in files if file.exists()])

    def _line(self, generation: Generation) -> str:
        if self.output_format == "json":
            return json.dumps(generation.to_json(), ensure_ascii=False)
        texts = [best.text for best in generation.n_best] or [generation.text]
        # Values may contain line breaks or tabs, but the output is one line per act. Other spaces are kept.
        line = "\t".join(_BREAKS.sub(" ", text) for text in texts)
        return f" {line}" if self.skip_bad and line.startswith(ERROR) else line
