"""`dactnlg score`: score sentences against references, without a model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dactnlg.cli import options, streams
from dactnlg.cli.output import width
from dactnlg.errors import UserError

if TYPE_CHECKING:
    from dactnlg._utils.tables import Format
    from dactnlg.data.corpus import Corpus


@click.command()
@click.option(
    "--input",
    "input_file",
    type=options.FILE,
    metavar="PAIRS.jsonl",
    help='Read lines {"hypothesis", "references": [...], "act"?}; - is standard input.',
)
@click.option(
    "--hypotheses",
    type=options.FILE,
    metavar="FILE",
    help="Read hypotheses: plain text with one segment per line, a table, JSON Lines or GEM's JSON.",
)
@click.option(
    "--references",
    type=options.FILE,
    multiple=True,
    metavar="FILE...",
    help="Read references from one or more such files.",
)
@click.argument("files", nargs=-1, type=options.FILE, metavar="[HYPOTHESES REFERENCES...]")
@click.option(
    "--task",
    metavar="NAME",
    help="Score this task of a GEM submission that has several; with --gem, also the name of the task written.",
)
@options.metrics
@click.option(
    "--preset",
    multiple=True,
    metavar="NAME",
    help="Score under this evaluation protocol; may be repeated. [default: nlg-eval]",
)
@click.option("--corpus", type=options.FILE, metavar="NAME", help="For SER, find slots as this corpus words them.")
@options.vectors
@click.option(
    "--train", type=options.FILE, metavar="FILE", help="For novelty, read training sentences from FILE, one per line."
)
@click.option("--gem", type=options.FILE, metavar="FILE", help="Write the hypotheses as a GEM submission.")
@options.json
@options.report
@options.intervals
@options.table_format
def score(
    *,
    input_file: str | None,
    hypotheses: str | None,
    references: tuple[str, ...],
    files: tuple[str, ...],
    task: str | None,
    metric: tuple[str, ...],
    preset: tuple[str, ...],
    corpus: str | None,
    vectors: Path | None,
    train: str | None,
    gem: str | None,
    json_file: str | None,
    report: Path | None,
    confidence: bool,
    output_format: Format,
) -> None:
    """Score sentences against references, without any model.

    Files may be plain text (one segment per line, or references in groups separated by blank lines), TSV or CSV with a
    header line (act, hypothesis, reference), GEM's JSON, or JSON Lines with hypothesis and references. JSON Lines
    without references, as `generate --format json` writes, need files of references as plain text does.

    \b
    dactnlg score out.txt ref0.txt ref1.txt --preset e2e
    dactnlg score --input pairs.jsonl --preset single --preset nlg-eval --format markdown
    dactnlg score --hypotheses out.txt --references ref0.txt ref1.txt --metric BLEU-4 --json -
    """
    from dactnlg._utils.files import check_folders, written
    from dactnlg.evaluation.files import check_task
    from dactnlg.evaluation.gem import write_submission
    from dactnlg.evaluation.pairs import count
    from dactnlg.evaluation.protocols import score_presets
    from dactnlg.evaluation.scores import notes, write_scores
    from dactnlg.evaluation.scoring import read_input, read_sentences, table
    from dactnlg.metrics.registry import Materials
    from dactnlg.text.slots import ValueChecker

    check_folders(json_file, report, gem)
    given, checker = Materials(vectors, train=None if train is None else read_sentences(train)), None
    if corpus is not None:
        own = _corpus(corpus)
        checker = own.style().checker()
        given = given._replace(checker=ValueChecker(checker), checker_name=own.checker_name())
    read = [file for file in (input_file, hypotheses, *references, *files) if file is not None]
    if [*read, train].count("-") > 1:
        raise UserError("standard input (-) can be only one of the files")
    if task is not None and gem is None:
        # With --gem it may be the name that the submission gets.
        check_task(task, read)
    # `--references A B` arrives as the option A and the argument B.
    pairs = read_input(input_file, hypotheses, references, files, task)
    source = input_file or hypotheses or next(iter(files), None)
    total = count(source) if sys.stderr.isatty() else None
    keep = bool(json_file or report or gem)
    results = score_presets(pairs, metric or None, preset, given, keep=keep, progress=sys.stderr.isatty(), total=total)
    if confidence or report:
        for result in results:
            result.add_confidence()
    if report:
        from dactnlg.evaluation.report import gather, write_report

        write_report(report, gather(Path(source or "").name, results, checker))
    if gem is not None:
        with written(gem) as target:
            name = Path(source or "").stem
            write_submission(target, name, task or name, (record["hypothesis"] for record in results[0].records))
    if json_file is not None:
        with written(json_file) as target:
            write_scores(target, results)
    if "-" not in (json_file, gem, str(report)):
        print(table(results, output_format, width()))
    if output_format == "csv":
        for line in notes(results):
            streams.tell(line)


def _corpus(corpus: str) -> Corpus:
    """Return a corpus; its data card says how values are found in sentences."""
    # Imported late: data cards import pydantic, which takes as long as scoring a small file.
    from dactnlg.data.corpus import load_corpus

    return load_corpus(corpus)
