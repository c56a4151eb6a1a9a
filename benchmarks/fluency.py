"""How many human sentences of training seem faulty by the rules of English?

    python benchmarks/fluency.py CORPUS...               of each: its sentences, shares with faults and strange runs
    python benchmarks/fluency.py CORPUS --show 20        and some sentences with faults

What seems faulty here is avoided in sentences for unseen acts, so that each false alarm costs a good sentence. Not all
alarms are false: people make slips, and these should be found. The corpora are looked for in DACTNLG_DATA, else in
../shared/data.
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
    """Yield each training sentence of a corpus with the numbers of its strange runs and of its other doubts."""
    preprocessor = build_preprocessor(load_corpus(name, DATA))[0]
    texts = list(preprocessor.templates.texts())
    fluency = Fluency(texts, english=True)
    for sentence in (sentence for text in texts for sentence in split_sentences(text)):
        strange = fluency.strange_runs(sentence)
        yield sentence, strange, fluency.doubts(sentence) - strange


def main() -> None:
    """Print a row for each corpus."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="+", metavar="CORPUS")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N sentences with faults, at random")
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
