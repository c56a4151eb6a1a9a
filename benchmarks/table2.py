"""Table 2 of Sharma et al. (2017) beside ours: embedding metrics of finished runs, with vectors and encoder named.

    python benchmarks/table2.py RUN...                       runs on restaurants and DSTC2, of any model
    python benchmarks/table2.py --vectors glove.txt RUN...   other vectors than those below
    python benchmarks/table2.py --gold restaurants           the references themselves, without a run

The vectors are those that DACTNLG_VECTORS names, else `embeddings/glove.6B.100d.subset.txt` of the data. The corpora
are looked for in DACTNLG_DATA, else in ../shared/data. The paper's first column is Skip-Thought, whose weights are no
longer published: MiniLM takes its place, and these two columns cannot be compared. The paper does not name its vectors
(nlg-eval's are GloVe 6B with 300 dimensions).
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from common import DATA

from dactnlg.data.corpus import load_corpus
from dactnlg.evaluation.evaluate import evaluate
from dactnlg.evaluation.scoring import Scores, score_segments
from dactnlg.generation.options import Constraint, GenerationOptions
from dactnlg.metrics.base import Segment
from dactnlg.metrics.presets import references_for
from dactnlg.metrics.registry import Materials
from dactnlg.runs.run import Run

VECTORS = DATA / "embeddings" / "glove.6B.100d.subset.txt"
PRESET = "sharma2017"
NAMES = ("sentence-cosine", "embedding-average", "vector-extrema", "greedy-matching")
MODELS = {"random": "Random", "lstm": "LSTM", "sclstm": "d-scLSTM", "hierarchical": "hld-scLSTM", "gold": "Gold"}
# Sharma et al. 2017, Table 2: Skip-Thought, embedding average, vector extrema, greedy matching.
PAPER = {
    ("dstc2", "gold"): (1.0, 1.0, 1.0, 1.0),
    ("dstc2", "random"): (0.906, 0.981, 0.910, 0.947),
    ("dstc2", "lstm"): (0.946, 0.985, 0.935, 0.962),
    ("dstc2", "sclstm"): (0.925, 0.984, 0.926, 0.957),
    ("dstc2", "hierarchical"): (0.932, 0.987, 0.942, 0.964),
    ("restaurants", "gold"): (1.0, 1.0, 1.0, 1.0),
    ("restaurants", "random"): (0.843, 0.957, 0.905, 0.930),
    ("restaurants", "lstm"): (0.945, 0.997, 0.986, 0.991),
    ("restaurants", "sclstm"): (0.948, 0.997, 0.986, 0.991),
    ("restaurants", "hierarchical"): (0.968, 0.997, 0.989, 0.993),
}


def score_run(folder: Path, vectors: Path) -> tuple[tuple[str, str], Scores]:
    """Generate the test split by beam search with reranking, as the paper did; return (corpus, model) and scores."""
    config = Run(folder).check()
    constraint: Constraint = "none" if config.model.name == "random" else "rerank"
    options = GenerationOptions(constraint=constraint)
    found = evaluate(folder, presets=[PRESET], data_dir=DATA, metrics=NAMES, vectors=vectors, options=options)
    return (found.corpus, config.model.name), found.results[0]


def score_gold(corpus: str, vectors: Path) -> tuple[tuple[str, str], Scores]:
    """Score the first reference of each test row; return (corpus, "gold") and scores."""
    examples = load_corpus(corpus, DATA).split("test")
    references, normalize = references_for(PRESET, examples)
    segments = [Segment(normalize(e.references[0]), refs, e.turn) for e, refs in zip(examples, references, strict=True)]
    return (corpus, "gold"), score_segments(segments, PRESET, NAMES, given=Materials(vectors))


def show(key: tuple[str, str], result: Scores, label: str, seconds: float) -> str:
    """Return one row of the table, in Markdown: for each metric the paper's number, then ours."""
    theirs = PAPER.get(key, (None,) * len(NAMES))
    cells = [key[0], MODELS.get(key[1], key[1]), label]
    for name, number in zip(NAMES, theirs, strict=True):
        value = result.scores[name].value
        cells += ["" if number is None else f"{number:.3f}", "undefined" if value is None else f"{value:.3f}"]
    return "| " + " | ".join([*cells, f"{seconds:.0f}"]) + " |"


def print_table(runs: Sequence[Path], gold: Sequence[str], vectors: Path) -> None:
    """Print a row for the references of each corpus and for each run, then the signatures of the metrics."""
    print("| corpus | model | run | " + " | ".join(f"paper | {name}" for name in NAMES) + " | seconds |")
    print("|" + "---|" * (4 + 2 * len(NAMES)), flush=True)
    result = None
    for source in [*gold, *runs]:
        started = time.perf_counter()
        key, result = score_gold(source, vectors) if isinstance(source, str) else score_run(source, vectors)
        label = "" if isinstance(source, str) else source.name
        print(show(key, result, label, time.perf_counter() - started), flush=True)
    if result is not None:
        print(f"\n{date.today()}; paper's sentence column: Skip-Thought")
        print("\n".join(f"`{result.scores[name].signature}`" for name in NAMES))


def main() -> None:
    """Read the arguments and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="*", metavar="RUN")
    parser.add_argument("--gold", nargs="*", default=[], metavar="CORPUS", help="score the references of these")
    parser.add_argument(
        "--vectors", type=Path, default=Path(os.environ.get("DACTNLG_VECTORS") or VECTORS), help="word vectors"
    )
    options = parser.parse_args()
    if not options.runs and not options.gold:
        parser.error("name run folders, or --gold CORPUS")
    print_table(options.runs, options.gold, options.vectors)


if __name__ == "__main__":
    main()
