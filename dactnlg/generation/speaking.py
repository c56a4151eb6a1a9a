"""Acts in, lines of output out: how `generate` says them, in this process or in several."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from dactnlg import __version__
from dactnlg.generation.bulk import model_hash
from dactnlg.generation.generator import Generation, Generator, chosen_backend
from dactnlg.generation.lines import PlacedTurn, answer_each
from dactnlg.generation.options import GenerationOptions
from dactnlg.runs.run import Run


@dataclass(frozen=True)
class Speaker:
    """Says acts as lines. It can be sent to another process, which then loads the run itself.

    Attributes:
        run: the run folder.
        backend: what searches, as `Generator.load` takes it.
        output_format: `text`, a sentence a line, or `json`.
        ways: passed to `Generator.generate`; `n_best` sentences stand in one line of text, parted by tabs.
    """

    run: Path
    backend: str
    output_format: str
    ways: Mapping[str, Any]

    def __reduce__(self) -> tuple[Any, ...]:
        # To another process the recipe goes, not what was loaded here.
        return Speaker, (self.run, self.backend, self.output_format, self.ways)

    def load(self) -> None:
        """Load the run now: what is wrong with it comes out before anything is written.

        Raises:
            RunError: it cannot be used.
        """
        _ = self.generator

    @cached_property
    def generator(self) -> Generator:
        """The generator, loaded when it is first asked for."""
        return Generator.load(self.run, self.backend)

    def say(self, chunk: list[PlacedTurn], first: int) -> Iterator[str]:
        """Yield a line for each act, without its end.

        Args:
            chunk: acts.
            first: the place of the first in the whole input.

        Raises:
            UserError: an act that the model cannot say; those before it have been said.
        """
        answer = partial(self.generator.generate, options=GenerationOptions(**self.ways))
        return (self._shown(generation) for generation in answer_each(answer, chunk, first))

    def forget(self) -> None:
        """Forget the acts said so far: what comes is said as if it came first."""
        if self.generator.decoder:
            self.generator.decoder.forget()

    def settings(self) -> dict[str, Any]:
        """Return what the lines depend on beside the acts, under the names that a user knows them by.

        The same words may come out differently in another version, or where something else searches.
        """
        backend = chosen_backend(Run(self.run).check(), self.backend)
        told = {"backend": backend, "version of dactnlg": __version__, "model": model_hash(self.run)}
        return {**self.ways, **told, "format": self.output_format}

    def _shown(self, generation: Generation) -> str:
        if self.output_format == "json":
            return json.dumps(generation.to_json(), ensure_ascii=False)
        texts = [best.text for best in generation.n_best] or [generation.text]
        # A value may hold a line break or a tab; the output is one line an act all the same.
        return "\t".join(" ".join(text.split()) for text in texts)
