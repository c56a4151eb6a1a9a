"""Does it help to see the user's previous turn? DSTC2 with it, without it, and with another one in its place.

    python benchmarks/context.py                       sc-LSTM and seq2seq, three seeds: about two hours on one core
    python benchmarks/context.py --model sclstm        one model
    python benchmarks/context.py --seeds 1             one seed
    python benchmarks/context.py --set training.epochs=3    overrides, as `dactnlg train` takes them

After Dušek and Jurčíček (2016), A Context-aware Natural Language Generator for Dialogue Systems. A model that sees the
user's turn takes more steps per epoch, since pairs that differ only in that turn are no longer merged. The control is
therefore a third kind: the same model on a copy of the corpus whose user turns are shuffled within each split, and so
tell it nothing.

The corpora are looked for in DACTNLG_DATA, else in ../shared/data. Decoding is `rerank`. `own` scores against the
sentence that the system said in that very turn (preset `single`), and `same` is the share of turns in which exactly
this sentence is generated: a preset that takes all sentences of an act as references cannot tell which of them suits
the user's turn.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from pathlib import Path

from common import DATA
from table1 import heading, median, trained

from dactnlg import models
from dactnlg.data.corpus import Corpus, load_corpus
from dactnlg.data.pairs import sentences
from dactnlg.evaluation.evaluate import evaluate
from dactnlg.generation.options import GenerationOptions
from dactnlg.runs.config import load_config
from dactnlg.text.encoding import features
from dactnlg.text.surface import tokenize

CONFIGURATIONS = {"sclstm": "dstc2-context-sclstm", "seq2seq": "dstc2-context-seq2seq"}
KINDS = ("without", "shuffled", "with")
COLUMNS = ("BLEU-4", "SER", "own BLEU-4", "same")


def shuffled(corpus: Corpus, folder: Path) -> Path:
    """Write a copy of the joined files in which the user turns of each split are shuffled, and return its folder."""
    for split in corpus.splits:
        rows = [json.loads(line) for line in corpus.path(split).read_text(encoding="utf-8").splitlines()]
        said = [row["user_before"] for row in rows]
        random.Random(0).shuffle(said)
        path = folder / corpus.card.files[split].path  # type: ignore[index]
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps({**row, "user_before": one}) for row, one in zip(rows, said, strict=True)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def ceiling(corpus: Corpus) -> str:
    """Return how many acts have several wordings, as a sentence: context can only help with these."""
    style = corpus.style()
    wordings: dict[frozenset[str], Counter[tuple[str, ...]]] = {}
    for row in sentences(corpus, "train", "human", style):
        wordings.setdefault(frozenset(features(row.turn)), Counter())[row.tokens] += 1
    test = sentences(corpus, "test", "human", style)
    known = [wordings.get(frozenset(features(row.turn)), Counter()) for row in test]
    several = sum(len(found) > 1 for found in known)
    usual = sum(
        bool(found) and found.most_common(1)[0][0] == row.tokens for found, row in zip(known, test, strict=True)
    )
    any_of_them = sum(row.tokens in found for found, row in zip(known, test, strict=True))
    open_kinds = sum(len(found) > 1 for found in wordings.values())
    return (
        f"{len(wordings)} kinds of act in training, {open_kinds} of them with more than one wording; these are "
        f"{several / len(test):.1%} of the {len(test):,} test turns. The turn's own sentence is the most frequent "
        f"wording of its kind in {usual / len(test):.1%}, and one of its wordings in {any_of_them / len(test):.1%}."
    )


def measure(model: str, kind: str, seed: int, runs: Path, overrides: list[str]) -> dict[str, float]:
    """Train and score one run."""
    data = runs / "shuffled" if kind == "shuffled" else DATA
    settings = [f"training.seed={seed}", f"corpus.data_dir={data}", f"model.context={str(kind != 'without').lower()}"]
    name = CONFIGURATIONS[model]
    config = load_config(name, [*settings, *overrides], models)
    folder = runs / f"{model}-{kind}-{seed}"
    seconds = trained(config, folder)
    options = GenerationOptions(constraint="rerank")
    found = evaluate(folder, presets=["sharma2017", "single"], metrics=["BLEU-4", "SER"], options=options)
    pooled, own = (result.scores for result in found.results)
    examples = load_corpus("dstc2", data).split("test")
    same = sum(
        tokenize(said.raw.casefold()) == tokenize(example.references[0].casefold())
        for said, example in zip(found.generations, examples, strict=True)
    )
    values = (pooled["BLEU-4"].value, pooled["SER"].value, own["BLEU-4"].value, same / len(examples))
    return {"seconds": seconds, **{name: value or 0.0 for name, value in zip(COLUMNS, values, strict=True)}}


def main() -> None:
    """Print the table row by row, as the figures become known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", nargs="+", choices=CONFIGURATIONS, default=list(CONFIGURATIONS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--runs", type=Path, default=Path("runs/context"), help="finished runs are not trained again")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override one key")
    options = parser.parse_args()
    print(heading(options.seeds))
    corpus = load_corpus("dstc2", DATA)
    print(f"{ceiling(corpus)}\n")
    shuffled(corpus, options.runs / "shuffled")
    print(f"| model | user's turn | {' | '.join(COLUMNS)} | seconds |")
    print("|---" * (len(COLUMNS) + 3) + "|", flush=True)
    for model in options.model:
        for kind in KINDS:
            found = [measure(model, kind, seed, options.runs, options.set) for seed in options.seeds]
            cells = [median([one[name] for one in found]) for name in COLUMNS]
            cells.append(f"{median([one['seconds'] for one in found]).split('.')[0]}")
            print(f"| {model} | {kind} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
