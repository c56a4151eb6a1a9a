"""The result of an evaluation: sentences and scores, as a table, a dictionary, a DataFrame or a report."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dactnlg._utils.tables import Format, with_notes
from dactnlg.data.corpus import Corpus
from dactnlg.evaluation.checks import Checks
from dactnlg.evaluation.report import Content, gather, write_report
from dactnlg.evaluation.report.markdown import markdown
from dactnlg.evaluation.scores import Scores, by_preset, score_frame, table
from dactnlg.generation.generation import Generation

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, repr=False)
class Evaluation:
    """What a run generated for a split, and its scores under each requested preset; printed as a table.

    Attributes:
        corpus: the corpus's name.
        split: the split's name.
        generations: one per row of the split, in order.
        results: the scores, one entry per preset.
        checks: faults of the sentences, what could not be checked, and what is not in the training data.
        source: the corpus itself, ignored by ==; reports read its references and training data.
        recorded: whether the scores were added to the run's manifest.
    """

    corpus: str
    split: str
    generations: list[Generation]
    results: list[Scores]
    checks: Checks
    source: Corpus | None = field(default=None, compare=False)
    recorded: bool = False

    def __repr__(self) -> str:
        head = f"corpus={self.corpus!r}, split={self.split!r}, generations={len(self.generations)}"
        return f"Evaluation({head}, results={self.results})"

    def __str__(self) -> str:
        return self.table()

    def _repr_markdown_(self) -> str:
        return self.table("markdown")

    def table(self, output_format: Format = "text", width: int | None = None) -> str:
        """Return the scores and the results of the checks.

        Args:
            output_format: `text`, `markdown`, `csv` (the scores alone) or `latex`.
            width: the width at which text is wrapped; None does not wrap it.
        """
        title = f"{self.corpus}, {self.split}: {len(self.generations)} acts"
        if output_format == "text":
            return "\n".join([title, "", table(self.results, width=width), "", *self.checks.lines()])
        return with_notes(table(self.results, output_format), [title, *self.checks.lines()], output_format)

    def to_dict(self) -> dict[str, Any]:
        """Return the first preset's scores as `Scores.to_dict` does, all presets by name, checks and generations."""
        scores = by_preset(self.results)
        presets = scores.pop("presets")
        return {
            **scores,
            "corpus": self.corpus,
            "split": self.split,
            "presets": presets,
            "checks": self.checks.to_json(),
            "generations": [generation.to_json() for generation in self.generations],
        }

    def to_frame(self) -> pd.DataFrame:
        """Return the corpus scores of all presets as a pandas DataFrame, columns as `Scores.to_frame`.

        Raises:
            MetricError: pandas is not installed.
        """
        return score_frame(self.results)

    def report(self) -> str:
        """Return a Markdown report."""
        return markdown(self.content())

    def write_report(self, path: str | Path) -> None:
        """Write a report: an HTML page if the name ends in `.html` or `.htm`, Markdown otherwise."""
        write_report(path, self.content())

    def content(self) -> Content:
        """Return the content of a report; it has confidence intervals, whether the scores have them or not."""
        # Copies, since a report must not change what `table` and `to_dict` show afterwards.
        results = [replace(result) for result in self.results]
        for result in results:
            if result.confidence is None:
                result.add_confidence()
        checker = gold = train = None
        if self.source is not None:
            checker = self.source.style().checker()
            gold = [example.references for example in self.source.split(self.split)]
            if self.split != "train" and "train" in self.source.splits:
                train = ((str(e.turn), e.references) for e in self.source.split("train"))
        title = f"{self.corpus}, {self.split}"
        return gather(title, results, checker, gold, train, self.checks.lines())
