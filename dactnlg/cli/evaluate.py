"""`dactnlg evaluate`: generate a split of a corpus with a run, and score it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dactnlg.cli import options, streams
from dactnlg.cli.options import Split
from dactnlg.cli.output import show, width, write_json

if TYPE_CHECKING:
    from dactnlg._utils.tables import Format
    from dactnlg.generation.options import GenerationOptions


@click.command()
@options.runs
@click.option(
    "--corpus",
    type=options.FILE,
    metavar="NAME",
    help="The corpus to generate. [default: the one that RUN was trained on]",
)
@click.option("--split", type=options.SPLIT, default="test", help="The split to generate.")
@click.option(
    "--preset",
    multiple=True,
    metavar="NAME",
    help="Score under this evaluation protocol; may be repeated. [default: those that fit the corpus]",
)
@options.metrics
@options.vectors
@click.option(
    "--gem",
    type=options.FILE,
    metavar="FILE",
    help="Write the sentences as a GEM submission with the task CORPUS_SPLIT.",
)
@options.json
@options.report
@options.intervals
@options.table_format
@options.generation
@options.backend
@options.data_dir
def evaluate(
    *,
    models: tuple[Path, ...],
    corpus: str | None,
    split: Split,
    preset: tuple[str, ...],
    metric: tuple[str, ...],
    vectors: Path | None,
    gem: str | None,
    json_file: str | None,
    report: Path | None,
    confidence: bool,
    output_format: Format,
    generation: GenerationOptions,
    backend: str,
    data_dir: Path | None,
) -> None:
    """Generate a split of a corpus and score it.

    In addition to the metrics of `score` there is `perplexity`: that of the references, under the model. Metrics that
    compare sets of sentences (`set-BLEU`, `set-perplexity`, `self-BLEU`) need samples: --sample. A run of a dialogue
    model is scored with perplexity, KL, BLEU, forward and backward BLEU, and distinct n-grams.

    \b
    dactnlg evaluate runs/trails-sclstm
    dactnlg evaluate runs/trails-sclstm --format latex
    dactnlg evaluate --model runs/trails-sclstm --constraint rerank --beam-width 20 --preset single
    dactnlg evaluate --model runs/trails-sclstm --sample --temperature 0.9 --metric set-BLEU --metric perplexity
    dactnlg evaluate --model runs/restaurants-sclstm --preset sharma2017 --preset rnnlg --json -
    dactnlg evaluate --model runs/seed-1 --model runs/seed-2 --model runs/seed-3
    """
    from dactnlg._utils.files import check_folders, written
    from dactnlg.dialogue.evaluation import evaluate_dialogues, scores_table
    from dactnlg.dialogue.responder import answers_contexts
    from dactnlg.evaluation.evaluate import evaluate as evaluate_run
    from dactnlg.evaluation.gem import write_submission
    from dactnlg.evaluation.scores import notes

    check_folders(json_file, report, gem)
    if any(map(answers_contexts, models)):
        refused = {
            "--preset": preset,
            "--metric": metric,
            "--vectors": vectors,
            "--gem": gem,
            "--report": report,
            "--confidence": confidence,
            "--backend numpy": backend == "numpy",
            "options of generation": generation != type(generation)(),
        }
        scored = evaluate_dialogues(models, refused, corpus=corpus, split=split, data_dir=data_dir)
        show(scores_table(scored, output_format, width()), scored, json_file)
        return
    result = evaluate_run(
        models,
        corpus=corpus,
        split=split,
        presets=preset,
        metrics=metric or None,
        vectors=vectors,
        options=generation,
        backend=backend,
        data_dir=data_dir,
    )
    if confidence or report:
        for scores in result.results:
            scores.add_confidence()
    if report:
        result.write_report(report)
    if gem is not None:
        with written(gem) as target:
            sentences = [generation.text for generation in result.generations]
            write_submission(target, models[0].name, f"{result.corpus}_{result.split}", sentences)
    if json_file is not None:
        write_json(json_file, result.to_dict())
    if "-" not in (json_file, gem, str(report)):
        print(result.table(output_format, width()))
    if output_format == "csv":
        # Programs read the table from standard output: notes for people go elsewhere.
        for line in (*notes(result.results), *result.checks.lines()):
            streams.tell(line)
    if len(models) > 1:
        streams.tell("the scores are recorded nowhere: several runs have no manifest in common")
    elif not result.recorded:
        streams.tell(
            f"the scores were not added to {models[0] / 'manifest.json'}: it cannot be written, or is not of the run "
            "that was scored: its training has not ended, or it was changed meanwhile"
        )
