"""What the cues that `init` proposes for yes and no from few pairs read in the test split, beside a person's cues.

    python benchmarks/cues.py [--corpus viggo]

A sentence whose act says yes (or no) is read right if the cues find that value alone, and wrong if they find the
opposite; otherwise they find nothing. The person's cues are those of the shipped data card.
"""

from __future__ import annotations

import argparse
import csv
import random
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from dactnlg.data.card import load_card
from dactnlg.data.corpus import Corpus, load_corpus
from dactnlg.data.proposal_files import initialize
from dactnlg.text.slots import OPPOSITES, SlotChecker
from dactnlg.text.values.delexicalization import Delexicalizer

ROWS = {"e2e": (400, 2000), "viggo": (800, 3000), "tv": (1500,), "laptop": (1500,), "hotel": (960,)}
"""Numbers of training pairs, drawn with seed 4, of which `init` sees 80%."""
Cues = Mapping[str, Mapping[str, Sequence[str]]]


def proposed(corpus: Corpus, rows: int) -> Cues:
    """Return the cues that `init` proposes for a newcomer's table of training pairs."""
    pairs = random.Random(4).sample(list(corpus.pairs("train")), rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "own.csv")
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("act", "text"), *((str(turn), text) for turn, text in pairs)])
        card = load_card(initialize(path).card)
    return {name: slot.cues for name, slot in card.slots.items()}


def read(corpus: Corpus, cues: Cues) -> Counter[tuple[str, str, str]]:
    """Return how many test sentences cues read: (slot, value, "all", "right" or "wrong") -> number."""
    checker, found = SlotChecker(Delexicalizer(), cues), Counter[tuple[str, str, str]]()
    for turn, sentence in corpus.pairs("test"):
        values: dict[str, set[str | None]] = {}
        for _, slot in turn.slots():
            values.setdefault(slot.name, set()).add(slot.special)
        stated = {name: value for name, (value, *more) in values.items() if value in OPPOSITES and not more}
        shown = checker.shown(checker.delexicalizer.delexicalize(turn, sentence).tokens, stated) if stated else {}
        for name, value in stated.items():
            both = {*shown.get(name, ())} & OPPOSITES.keys()
            found[name, value, "all"] += 1
            found[name, value, "right"] += both == {value}
            found[name, value, "wrong"] += OPPOSITES[value] in both
    return found


def main() -> None:
    """Print a row for each slot, number of pairs and value."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", choices=list(ROWS), action="append", help="may be repeated [default: all]")
    print("| corpus | pairs | slot | value | sentences | right | wrong | right, person's | wrong, person's |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in parser.parse_args().corpus or ROWS:
        corpus = load_corpus(name)
        best = read(corpus, {slot: card.cues for slot, card in corpus.card.slots.items()})
        for rows in ROWS[name]:
            own = read(corpus, proposed(corpus, rows))
            for slot, value in sorted((slot, value) for slot, value, kind in best if kind == "all"):
                count = best[slot, value, "all"]
                shares = [each[slot, value, kind] / count for each in (own, best) for kind in ("right", "wrong")]
                print(f"| {name} | {rows} | {slot} | {value} | {count} | {' | '.join(f'{x:.1%}' for x in shares)} |")


if __name__ == "__main__":
    main()
