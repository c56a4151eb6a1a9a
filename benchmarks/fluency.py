"""How often do people's own sentences seem to have faults? Those of training, by the rules of English.

    python benchmarks/fluency.py CORPUS...               of each: sentences, those with faults of clauses, strange runs
    python benchmarks/fluency.py CORPUS --show 20        and some of those with faults

What seems faulty in training's sentences is avoided in those for unseen acts, so a false alarm costs a good sentence.
Not all are false: people make slips, and these are meant to be found. The corpora are looked for in DACTNLG_DATA, else
in ../shared/data.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator

from common import DATA

from dactnlg.data.corpus import load_corpus
from dactnlg.data.pairs import build_preprocessor
from dactnlg.text.grammar.fluency import Fluency
from dactnlg.text.sentences import Tokens, split_sentences


def measured(name: str) -> Iterator[tuple[Tokens, int, int]]:
    """Yield each sentence of a corpus's training split with its strange runs, and with its other doubts."""
    preprocessor = build_preprocessor(load_corpus(name, DATA))[0]
    texts = list(preprocessor.templates.texts())
    fluency = Fluency(texts, english=True)
    for sentence in (sentence for text in texts for sentence in split_sentences(text)):
        strange = fluency.strange_runs(sentence)
        yield sentence, strange, fluency.doubts(sentence) - strange


def main() -> None:
    """Print a row a corpus."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="+", metavar="CORPUS")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="sentences with faults to print, drawn")
    options = parser.parse_args()
    print("| corpus | sentences | with faults | with strange runs |\n|---|---|---|---|")
    for name in options.corpora:
        rows = list(measured(name))
        faulty = [(" ".join(sentence), faults) for sentence, _, faults in rows if faults]
        strange = sum(runs > 0 for _, runs, _ in rows)
        shares = f"{len(faulty) / len(rows):.1%} | {strange / len(rows):.1%}"
        print(f"| {name} | {len(rows)} | {shares} |", flush=True)
        for sentence, faults in random.Random(1).sample(faulty, min(options.show, len(faulty))):
            print(f"{faults} {sentence}")


if __name__ == "__main__":
    main()
