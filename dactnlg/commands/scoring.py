"""Scores: `evaluate` a run, `score` files, `compare` two systems."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dactnlg.commands.options import (
    DataDir,
    Intervals,
    Json,
    Metrics,
    Model,
    Report,
    Sample,
    Seed,
    Split,
    Temperature,
    TopK,
    TopP,
    Vectors,
)
from dactnlg.errors import UserError

if TYPE_CHECKING:
    from dactnlg.slots import SlotChecker


def evaluate(
    model: Model,
    corpus: Annotated[str | None, typer.Option(metavar="NAME", help="[default: the one it was trained on]")] = None,
    split: Annotated[Split, typer.Option(help="Which part of the corpus.")] = "test",
    preset: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="An evaluation protocol; may be repeated.")
    ] = None,
    metric: Metrics = None,
    vectors: Vectors = None,
    json_file: Json = None,
    report: Report = None,
    confidence: Intervals = False,
    sample: Sample = None,
    temperature: Temperature = None,
    top_k: TopK = None,
    top_p: TopP = None,
    seed: Seed = None,
    data_dir: DataDir = None,
) -> None:
    """Generate a split of a corpus and score it.

    Beside the metrics of `score` there is `perplexity`, which the model itself gives to the references. What sets of
    sentences are compared by (`set-BLEU`, `set-perplexity`, `self-BLEU`) wants samples: --sample.

    \b
    dactnlg evaluate --model runs/trails-sclstm
    dactnlg evaluate --model runs/trails-sclstm --sample --temperature 0.9 --metric set-BLEU --metric perplexity
    dactnlg evaluate --model runs/restaurants-sclstm --preset sharma2017 --preset rnnlg --json -
    """
    from dactnlg.evaluation import evaluate as evaluate_run
    from dactnlg.files import check_folders, written

    check_folders(json_file, report)

    ways = {"sample": sample, "temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
    result = evaluate_run(model, corpus, split, preset or [], data_dir, metrics=metric or None, vectors=vectors, **ways)
    if confidence or report:
        for scores in result.results:
            scores.add_confidence()
    if report:
        result.write_report(report)
    if json_file is not None:
        with written(json_file) as target:
            json.dump(result.to_json(), target, ensure_ascii=False, indent=1)
            target.write("\n")
    if json_file != "-":
        print(result.table())
    if not result.recorded:
        print(f"dactnlg: the scores could not be added to {model / 'manifest.json'}", file=sys.stderr)


def score(
    input_file: Annotated[
        str | None,
        typer.Option("--input", metavar="PAIRS.jsonl", help='Lines {"hypothesis", "references": [...], "act"?}.'),
    ] = None,
    hypotheses: Annotated[str | None, typer.Option(metavar="FILE", help="Plain text, one segment a line.")] = None,
    references: Annotated[list[str] | None, typer.Option(metavar="FILE...", help="One or more, line by line.")] = None,
    more: Annotated[list[str] | None, typer.Argument(metavar="[FILE]...", hidden=True)] = None,
    metric: Metrics = None,
    preset: Annotated[str | None, typer.Option(metavar="NAME", help="The evaluation protocol.")] = None,
    corpus: Annotated[
        str | None, typer.Option(metavar="NAME", help="How this corpus words its slots, for SER.")
    ] = None,
    vectors: Vectors = None,
    train: Annotated[
        str | None, typer.Option(metavar="FILE", help="Training sentences, one a line, for novelty.")
    ] = None,
    json_file: Json = None,
    report: Report = None,
    confidence: Intervals = False,
) -> None:
    """Score sentences against references, without any model.

    \b
    dactnlg score --input pairs.jsonl --preset single
    dactnlg score --hypotheses out.txt --references ref0.txt ref1.txt --metric BLEU-4 --json -
    """
    from dactnlg.files import check_folders, written
    from dactnlg.metrics.pairs import count
    from dactnlg.metrics.registry import Materials
    from dactnlg.scoring import read_input, read_sentences, score_pairs, table

    check_folders(json_file, report)
    # `--references A B` reaches us as the option A and the argument B.
    files = [*(references or ()), *(more or ())]
    if more and not references:
        raise UserError(f"unexpected argument '{more[0]}'")
    checker = None if corpus is None else _checker(corpus)
    given = Materials(vectors, train=None if train is None else read_sentences(train))
    pairs = read_input(input_file, hypotheses, files)
    total = count(input_file or hypotheses) if sys.stderr.isatty() else None
    keep = bool(json_file or report)
    result = score_pairs(pairs, metric or None, preset, checker, corpus or "", given, keep, sys.stderr.isatty(), total)
    if confidence or report:
        result.add_confidence()
    if report:
        from dactnlg.report import gather, write_report

        write_report(report, gather(Path(input_file or hypotheses or "").name, [result], checker))
    if json_file is not None:
        with written(json_file) as target:
            result.write_json(target)
    if json_file != "-":
        print(table([result]))


def _checker(corpus: str) -> SlotChecker:
    # Late: data cards bring pydantic, which takes as long as all the rest of a small file.
    from dactnlg.codec import Style
    from dactnlg.corpora import load_card

    return Style.from_card(load_card(corpus)).checker()


def compare(
    first: Annotated[str, typer.Argument(metavar="A", help="Scores as JSON, or a run folder.")],
    second: Annotated[str, typer.Argument(metavar="B", help="The same of the other system.")],
    metric: Annotated[str | None, typer.Option(metavar="NAME", help="The score that acts and segments go by.")] = None,
    top: Annotated[int, typer.Option(min=0, help="Segments to show of each kind.")] = 5,
    resamples: Annotated[int, typer.Option(min=1, help="Of the bootstrap; swapping takes ten times as many.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the resamples.")] = 12345,
    json_file: Json = None,
    corpus: Annotated[str | None, typer.Option(metavar="NAME", help="For run folders, as `evaluate`.")] = None,
    split: Annotated[Split, typer.Option(help="For run folders, as `evaluate`.")] = "test",
    preset: Annotated[list[str] | None, typer.Option(metavar="NAME", help="For run folders, as `evaluate`.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Compare two systems: is B better than A, how sure is that, and where.

    A and B are files that `score --json` or `evaluate --json` wrote, or run folders. Scores whose hashes differ
    (another variant, other references) are not ranked, and the message says what differs.

    \b
    dactnlg compare old.json new.json
    dactnlg compare runs/trails-lstm runs/trails-sclstm --metric BLEU-4 --json -
    """
    from dactnlg import comparison
    from dactnlg.files import check_folders, written
    from dactnlg.report import compared

    check_folders(json_file)
    options = {"corpus": corpus, "split": split, "presets": preset or [], "data_dir": data_dir}
    systems = [comparison.load_system(source, **options) for source in (first, second)]
    found = comparison.compare(systems[0], systems[1], (first, second), metric, resamples, 10 * resamples, seed)
    if json_file is not None:
        with written(json_file) as target:
            json.dump(found.to_json(), target, ensure_ascii=False, indent=1)
            target.write("\n")
    if json_file != "-":
        print(compared.text(found, top))
