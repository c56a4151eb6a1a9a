"""The generation worker: acts in, lines of output out; `dactnlg generate` runs one, or one in each process."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from dactnlg import __version__
from dactnlg._utils.hashing import digest
from dactnlg._utils.reading import regular_file
from dactnlg.acts import Turn
from dactnlg.errors import UserError
from dactnlg.generation.generator import Generation, Generator, chosen_backend
from dactnlg.generation.lines import PlacedTurn
from dactnlg.generation.options import GenerationOptions
from dactnlg.runs.run import Run

_BREAKS = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")


@dataclass(frozen=True)
class GenerationWorker:
    """Generates a line of output for each act. Pickled for another process, it loads the run itself there.

    Attributes:
        run: the run folder.
        backend: as `Generator.load` takes it.
        output_format: `text`, a sentence a line, or `json`, an object a line.
        options: how sentences are generated; as text, `n_best` sentences stand in one line, separated by tabs.
    """

    run: Path
    backend: str
    output_format: str
    options: GenerationOptions

    def __reduce__(self) -> tuple[Any, ...]:
        # The run is loaded again in the other process, rather than pickled with its model.
        return GenerationWorker, (self.run, self.backend, self.output_format, self.options)

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

    def generate(self, acts: Sequence[PlacedTurn], first: int) -> Iterator[str]:
        """Yield a line for each act, in order, without its end of line.

        Args:
            acts: the acts.
            first: the place of the first one in the whole input, from 0.

        Raises:
            UserError: an act that the model cannot generate; the message names its place. The lines of the acts before
                it have been yielded.
        """
        try:
            generations = self._generate([act.turn for act in acts], first)
        except UserError:
            # One act after the other, to find the one that is refused.
            for place, act in enumerate(acts, start=first):
                try:
                    (generation,) = self._generate([act.turn], place)
                except UserError as error:
                    raise UserError(f"{act.where}: {error}") from None
                yield self._line(generation)
            return
        yield from map(self._line, generations)

    def _generate(self, turns: list[Turn], first: int) -> list[Generation]:
        return self.generator.generate(turns, self.options, first=first)

    def forget(self) -> None:
        """Drop the searches kept so far, so that the next acts are generated as if they were the first."""
        self.generator.forget()

    def settings(self) -> dict[str, Any]:
        """Return what the lines depend on beside the acts, under the names that users know.

        They include the version and the backend that searches: the last digits of a score may depend on either.
        """
        backend = chosen_backend(Run(self.run).check(), self.backend)
        loaded = {"backend": backend, "version of dactnlg": __version__, "model": _model_hash(self.run)}
        return {**asdict(self.options), **loaded, "format": self.output_format}

    def _line(self, generation: Generation) -> str:
        if self.output_format == "json":
            return json.dumps(generation.to_json(), ensure_ascii=False)
        texts = [best.text for best in generation.n_best] or [generation.text]
        # A value may hold a line break or a tab; the output is one line an act all the same. Other spaces stay.
        return "\t".join(_BREAKS.sub(" ", text) for text in texts)


def _model_hash(path: Path) -> str:
    """Return the SHA-256 of the files that a run generates with: configuration, preprocessor, reader and weights."""
    run = Run(path)
    files = [file for file in (run.config_path, *run.model_files()) if file.exists()]
    return digest([hashlib.sha256(regular_file(file).read_bytes()).hexdigest() for file in files])
