"""Scores: `evaluate` a run, `score` files, `compare` two systems."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dactnlg.cli import options
from dactnlg.cli.options import Split
from dactnlg.errors import UserError

if TYPE_CHECKING:
    from dactnlg.text.slots import SlotChecker


@click.command()
@options.model
@click.option("--corpus", metavar="NAME", help="[default: the one it was trained on]")
@click.option("--split", type=options.SPLIT, default="test", help="Which part of the corpus.")
@click.option("--preset", multiple=True, metavar="NAME", help="An evaluation protocol; may be repeated.")
@options.metrics
@options.vectors
@options.json
@options.report
@options.intervals
@options.sample
@options.temperature
@options.top_k
@options.top_p
@options.seed
@options.data_dir
def evaluate(
    model: Path,
    corpus: str | None,
    split: Split,
    preset: tuple[str, ...],
    metric: tuple[str, ...],
    vectors: Path | None,
    json_file: str | None,
    report: Path | None,
    confidence: bool,
    sample: bool | None,
    temperature: float | None,
    top_k: int | None,
    top_p: float | None,
    seed: int | None,
    data_dir: Path | None,
) -> None:
    """Generate a split of a corpus and score it.

    Beside the metrics of `score` there is `perplexity`, which the model itself gives to the references. What sets of
    sentences are compared by (`set-BLEU`, `set-perplexity`, `self-BLEU`) wants samples: --sample.

    \b
    dactnlg evaluate --model runs/trails-sclstm
    dactnlg evaluate --model runs/trails-sclstm --sample --temperature 0.9 --metric set-BLEU --metric perplexity
    dactnlg evaluate --model runs/restaurants-sclstm --preset sharma2017 --preset rnnlg --json -
    """
    from dactnlg._utils.files import check_folders, written
    from dactnlg.evaluation.evaluate import evaluate as evaluate_run
    from dactnlg.generation.options import GenerationOptions

    check_folders(json_file, report)

    result = evaluate_run(
        model,
        corpus=corpus,
        split=split,
        presets=preset,
        metrics=metric or None,
        data_dir=data_dir,
        vectors=vectors,
        options=GenerationOptions(seed=seed, sample=sample, temperature=temperature, top_k=top_k, top_p=top_p),
    )
    if confidence or report:
        for scores in result.results:
            scores.add_confidence()
    if report:
        result.write_report(report)
    if json_file is not None:
        with written(json_file) as target:
            json.dump(result.to_dict(), target, ensure_ascii=False, indent=1)
            target.write("\n")
    if json_file != "-":
        print(result.table())
    if not result.recorded:
        print(f"dactnlg: the scores could not be added to {model / 'manifest.json'}", file=sys.stderr)


@click.command()
@click.option("--input", "input_file", metavar="PAIRS.jsonl", help='Lines {"hypothesis", "references": [...], "act"?}.')
@click.option("--hypotheses", metavar="FILE", help="Plain text, one segment a line.")
@click.option("--references", multiple=True, metavar="FILE...", help="One or more, line by line.")
@click.argument("more", nargs=-1, metavar="[FILE]...")
@options.metrics
@click.option("--preset", metavar="NAME", help="The evaluation protocol.")
@click.option("--corpus", metavar="NAME", help="How this corpus words its slots, for SER.")
@options.vectors
@click.option("--train", metavar="FILE", help="Training sentences, one a line, for novelty.")
@options.json
@options.report
@options.intervals
def score(
    input_file: str | None,
    hypotheses: str | None,
    references: tuple[str, ...],
    more: tuple[str, ...],
    metric: tuple[str, ...],
    preset: str | None,
    corpus: str | None,
    vectors: Path | None,
    train: str | None,
    json_file: str | None,
    report: Path | None,
    confidence: bool,
) -> None:
    """Score sentences against references, without any model.

    \b
    dactnlg score --input pairs.jsonl --preset single
    dactnlg score --hypotheses out.txt --references ref0.txt ref1.txt --metric BLEU-4 --json -
    """
    from dactnlg._utils.files import check_folders, written
    from dactnlg.evaluation.pairs import count
    from dactnlg.evaluation.scoring import read_input, read_sentences, score_pairs, table
    from dactnlg.metrics.registry import Materials

    check_folders(json_file, report)
    # `--references A B` reaches us as the option A and the argument B.
    files = [*references, *more]
    if more and not references:
        raise UserError(f"unexpected argument '{more[0]}'")
    checker = None if corpus is None else _checker(corpus)
    sentences = None if train is None else read_sentences(train)
    given = Materials(vectors, train=sentences, checker=checker, checker_name=corpus or "")
    pairs = read_input(input_file, hypotheses, files)
    total = count(input_file or hypotheses) if sys.stderr.isatty() else None
    keep = bool(json_file or report)
    result = score_pairs(pairs, metric or None, preset, given, keep=keep, progress=sys.stderr.isatty(), total=total)
    if confidence or report:
        result.add_confidence()
    if report:
        from dactnlg.evaluation.report import gather, write_report

        write_report(report, gather(Path(input_file or hypotheses or "").name, [result], checker))
    if json_file is not None:
        with written(json_file) as target:
            result.write_json(target)
    if json_file != "-":
        print(table([result]))


def _checker(corpus: str) -> SlotChecker:
    # Late: data cards bring pydantic, which takes as long as all the rest of a small file.
    from dactnlg.data.card import load_card

    return load_card(corpus).style().checker()


@click.command()
@click.argument("first", metavar="A", help="Scores as JSON, or a run folder.")
@click.argument("second", metavar="B", help="The same of the other system.")
@click.option("--metric", metavar="NAME", help="The score that acts and segments go by.")
@click.option("--top", type=click.IntRange(min=0), default=5, help="Segments to show of each kind.")
@click.option(
    "--resamples", type=click.IntRange(min=1), default=1000, help="Of the bootstrap; swapping takes ten times as many."
)
@click.option("--seed", type=click.IntRange(min=0), default=12345, help="Seed of the resamples.")
@options.json
@click.option("--corpus", metavar="NAME", help="For run folders, as `evaluate`.")
@click.option("--split", type=options.SPLIT, default="test", help="For run folders, as `evaluate`.")
@click.option("--preset", multiple=True, metavar="NAME", help="For run folders, as `evaluate`.")
@options.data_dir
def compare(
    first: str,
    second: str,
    metric: str | None,
    top: int,
    resamples: int,
    seed: int,
    json_file: str | None,
    corpus: str | None,
    split: Split,
    preset: tuple[str, ...],
    data_dir: Path | None,
) -> None:
    """Compare two systems: is B better than A, how sure is that, and where.

    A and B are files that `score --json` or `evaluate --json` wrote, or run folders. Scores whose hashes differ
    (another variant, other references) are not ranked, and the message says what differs.

    \b
    dactnlg compare old.json new.json
    dactnlg compare runs/trails-lstm runs/trails-sclstm --metric BLEU-4 --json -
    """
    from dactnlg._utils.files import check_folders, written
    from dactnlg.evaluation import comparison
    from dactnlg.evaluation.report import compared

    check_folders(json_file)
    systems = [
        comparison.load_system(source, corpus=corpus, split=split, presets=preset, data_dir=data_dir)
        for source in (first, second)
    ]
    found = comparison.compare(systems[0], systems[1], (first, second), metric, resamples, 10 * resamples, seed)
    if json_file is not None:
        with written(json_file) as target:
            json.dump(found.to_json(), target, ensure_ascii=False, indent=1)
            target.write("\n")
    if json_file != "-":
        print(compared.text(found, top))
