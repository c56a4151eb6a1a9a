"""The command line: arguments in, calls to the package, messages and exit codes out.

Commands import what they need when they run: `--help`, `score` and `corpora` never wait for TensorFlow.
Exit codes: 0; 2 for what the user can mend, with one plain message; 130 after Ctrl-C; 1 for the rest.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dactnlg import __version__
from dactnlg.errors import DactnlgError, UserError
from dactnlg.quiet import quiet_tensorflow

if TYPE_CHECKING:
    from dactnlg.generation import Generation

app = typer.Typer(
    help="Dialogue acts in, checked sentences out: train, generate, evaluate, score.",
    no_args_is_help=True,
    add_completion=False,
    # Plain text: help and errors are read by people, logs and grep alike.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
corpora_app = typer.Typer(help="List, fetch and inspect the corpora.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(corpora_app, name="corpora")

Constraint = Literal["none", "rerank", "hard"]
DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", help="Look for corpus files here first, then in $DACTNLG_DATA and the user's cache."),
]
Json = Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write the scores as JSON; - is stdout.")]
Metrics = Annotated[
    list[str] | None,
    typer.Option("--metric", metavar="NAME", help="A score, a family, `embedding` or `diversity`; may be repeated."),
]
Vectors = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Word vectors: GloVe or word2vec text, or .npz. [default: $DACTNLG_VECTORS]"),
]
Report = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write a report for people: a page if FILE is .html, else Markdown."),
]
Intervals = Annotated[bool, typer.Option("--confidence", help="Add bootstrap 95% intervals to table and JSON.")]
Model = Annotated[Path, typer.Option("--model", metavar="RUN", help="The folder that `dactnlg train` wrote.")]


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False) -> None:
    if version:
        print(f"dactnlg {__version__}")
        raise typer.Exit


@app.command()
def train(
    config: Annotated[
        Path, typer.Argument(metavar="CONFIG", help="A YAML file, or the name of one that comes with dactnlg.")
    ],
    overrides: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override one key; may be repeated.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="RUN", help="The run folder to write. [default: runs/CONFIG]")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the last finished epoch of RUN.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Train a generator and write its run folder.

    \b
    dactnlg train trails-sclstm
    dactnlg train configs/restaurants-sclstm.yaml --set training.epochs=20 --output runs/mine
    """
    from dactnlg.config import load_config

    overrides = [*(overrides or ())]
    if data_dir:
        overrides.append(f"corpus.data_dir={json.dumps(str(data_dir))}")
    checked = load_config(config, overrides)

    from dactnlg.training import train as train_model

    run = train_model(checked, output or Path("runs") / config.stem, resume=resume, progress=sys.stderr.isatty())
    print(run)


@app.command()
def generate(
    model: Model,
    acts: Annotated[list[str] | None, typer.Argument(metavar="ACT", help="Acts, one an argument.")] = None,
    input_file: Annotated[
        str | None, typer.Option("--input", metavar="FILE", help="Acts, one a line; - is standard input.")
    ] = None,
    output_format: Annotated[
        Literal["text", "json"], typer.Option("--format", help="A sentence a line, or a JSON object.")
    ] = ("text"),
    n_best: Annotated[
        int, typer.Option(min=1, help="Sentences an act; as text they stand in one line, parted by tabs.")
    ] = 1,
    beam_width: Annotated[int | None, typer.Option(min=1, help="[default: the run's]")] = None,
    constraint: Annotated[Constraint | None, typer.Option(help="[default: the run's]")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the random model's choice.")] = None,
) -> None:
    """Say acts as sentences: one line an act, in order.

    Acts come from the arguments, from --input, or from a pipe. A line that is blank or not an act ends
    the output there, with exit code 2.

    \b
    dactnlg generate --model runs/trails-sclstm "inform(name='Ivy Cutting';difficulty=easy)"
    dactnlg generate --model runs/trails-sclstm --input acts.txt --format json > answers.jsonl
    """
    from dactnlg.acts import parse
    from dactnlg.lines import answer_each, open_acts, parsed_chunks

    if acts and input_file is not None:
        raise UserError("give acts as arguments or with --input, not both")
    # Acts on the command line are few: all are checked before the model is loaded.
    given = [(parse(text, where=f"act {number}"), f"act {number}") for number, text in enumerate(acts or (), 1)]
    if not given and input_file is None and sys.stdin.isatty():
        raise UserError("no acts: give them as arguments, with --input FILE, or through a pipe")

    with open_acts(input_file or "-") as source:
        from dactnlg.generation import Generator

        generator = Generator.load(model)
        answer = partial(generator.generate, constraint=constraint, beam_width=beam_width, n_best=n_best, seed=seed)
        done = 0
        for chunk in [given] if given else parsed_chunks(source, input_file or "-"):
            for generation in answer_each(answer, chunk, done):
                print(_shown(generation, output_format, n_best))
            sys.stdout.flush()
            done += len(chunk)


@app.command()
def evaluate(
    model: Model,
    corpus: Annotated[str | None, typer.Option(metavar="NAME", help="[default: the one it was trained on]")] = None,
    split: Annotated[Literal["train", "valid", "test"], typer.Option(help="Which part of the corpus.")] = "test",
    preset: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="An evaluation protocol; may be repeated.")
    ] = None,
    metric: Metrics = None,
    vectors: Vectors = None,
    json_file: Json = None,
    report: Report = None,
    confidence: Intervals = False,
    data_dir: DataDir = None,
) -> None:
    """Generate a split of a corpus and score it.

    \b
    dactnlg evaluate --model runs/trails-sclstm
    dactnlg evaluate --model runs/restaurants-sclstm --preset sharma2017 --preset rnnlg --json -
    """
    from dactnlg.evaluation import evaluate as evaluate_run
    from dactnlg.files import check_folders, written

    check_folders(json_file, report)

    result = evaluate_run(model, corpus, split, preset or [], data_dir, metrics=metric or None, vectors=vectors)
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


@app.command()
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
    from dactnlg.codec import Style
    from dactnlg.corpora import load_card
    from dactnlg.files import check_folders, written
    from dactnlg.metrics.pairs import count
    from dactnlg.metrics.registry import Materials
    from dactnlg.scoring import read_input, read_sentences, score_pairs, table

    check_folders(json_file, report)
    # `--references A B` reaches us as the option A and the argument B.
    files = [*(references or ()), *(more or ())]
    if more and not references:
        raise UserError(f"unexpected argument '{more[0]}'")
    checker = Style.from_card(load_card(corpus)).checker() if corpus else None
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


@app.command()
def compare(
    first: Annotated[str, typer.Argument(metavar="A", help="Scores as JSON, or a run folder.")],
    second: Annotated[str, typer.Argument(metavar="B", help="The same of the other system.")],
    metric: Annotated[str | None, typer.Option(metavar="NAME", help="The score that acts and segments go by.")] = None,
    top: Annotated[int, typer.Option(min=0, help="Segments to show of each kind.")] = 5,
    resamples: Annotated[int, typer.Option(min=1, help="Of the bootstrap; swapping takes ten times as many.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the resamples.")] = 12345,
    json_file: Json = None,
    corpus: Annotated[str | None, typer.Option(metavar="NAME", help="For run folders, as `evaluate`.")] = None,
    split: Annotated[Literal["train", "valid", "test"], typer.Option(help="For run folders, as `evaluate`.")] = "test",
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


@app.command()
def reproduce(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder with scores in its manifest.")],
    output: Annotated[Path | None, typer.Option(metavar="RUN", help="Keep the new run here.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Train and evaluate a run again from its own commit, and compare the scores.

    \b
    dactnlg reproduce runs/trails-sclstm
    """
    from dactnlg.reproduction import reproduce as reproduce_run

    result = reproduce_run(run, output, data_dir)
    print(result.table())
    if not result.succeeded:
        raise typer.Exit(1)


@app.command()
def leaderboard(
    runs: Annotated[
        list[Path] | None, typer.Argument(metavar="[RUN]...", help="Run folders. [default: those in runs/]")
    ] = None,
    output_format: Annotated[Literal["text", "markdown", "html"], typer.Option("--format")] = "text",
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="[default: standard output]")] = None,
) -> None:
    """Show the scores of runs side by side, ranked only where their hashes agree.

    \b
    dactnlg leaderboard
    dactnlg leaderboard runs/* --format html --output leaderboard.html
    """
    from dactnlg.files import check_folders
    from dactnlg.leaderboard import collect, render

    check_folders(output)
    text = render(collect(runs or None), output_format)
    if output:
        output.write_text(text + "\n", encoding="utf-8")
    else:
        print(text)


@corpora_app.command("list")
def corpora_list(data_dir: DataDir = None) -> None:
    """List the corpora, and whether their files are here."""
    from dactnlg import corpora

    print(corpora.overview(data_dir))


@corpora_app.command("fetch")
def corpora_fetch(name: Annotated[str, typer.Argument(metavar="NAME")], data_dir: DataDir = None) -> None:
    """Download a corpus from its publisher and check it.

    \b
    dactnlg corpora fetch restaurants
    """
    from dactnlg import corpora

    for path in corpora.fetch(name, data_dir):
        print(path)


@corpora_app.command("inspect")
def corpora_inspect(name: Annotated[str, typer.Argument(metavar="NAME")], data_dir: DataDir = None) -> None:
    """Audit a corpus: counts, acts, values not found, overlap between its splits.

    \b
    dactnlg corpora inspect trails
    """
    from dactnlg import corpora

    print(corpora.audit(corpora.load_corpus(name, data_dir)))


@corpora_app.command("hash")
def corpora_hash(
    name: Annotated[str, typer.Argument(metavar="NAME")],
    tokenizer: Annotated[str, typer.Option(metavar="NAME", help="How sentences become tokens.")] = "treebank",
    min_count: Annotated[int, typer.Option(min=1, help="Rarer training tokens are no part of F.")] = 1,
    preset: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Hash these protocols' scores. [default: all that fit]")
    ] = None,
    split: Annotated[Literal["train", "valid", "test"], typer.Option(help="The split that is scored.")] = "test",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with hashes in full.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Print the hash codes of a corpus, and of each score on it: equal codes, comparable scores.

    \b
    dactnlg corpora hash trails
    dactnlg corpora hash trails --min-count 4 --json
    """
    from dactnlg.corpora import load_corpus
    from dactnlg.fairness.codes import corpus_codes

    codes = corpus_codes(load_corpus(name, data_dir), tokenizer, min_count, preset or None, split)
    print(json.dumps(codes.to_json(), indent=1) if as_json else codes.table())


def _shown(generation: Generation, output_format: str, n_best: int) -> str:
    if output_format == "json":
        return json.dumps(generation.to_json(), ensure_ascii=False)
    texts = [generation.text] if n_best == 1 else [best.text for best in generation.n_best]
    # A value may hold a line break or a tab; the output is one line an act all the same.
    return "\t".join(" ".join(text.split()) for text in texts)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; `arguments` are those of the process by default."""
    quiet_tensorflow()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Sentences are UTF-8 wherever we run; a lone surrogate from JSON must not stop the line after it.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        app(args=list(sys.argv[1:] if arguments is None else arguments), prog_name="dactnlg")
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 1
    except KeyboardInterrupt:
        return 130
    except UserError as error:
        print(f"dactnlg: {error}", file=sys.stderr)
        return 2
    except DactnlgError as error:
        print(f"dactnlg: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        if error.filename is None:
            raise
        print(f"dactnlg: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
