"""What the cues that `init` proposes for yes and no from few pairs read in the test split, beside a person's cues.

    python benchmarks/cues.py [--corpus viggo]

A sentence whose act says yes (or no) is read right if the cues find that value alone, and wrong if they find the
opposite; otherwise they find nothing. The person's cues are those of the shipped data card.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from few_pairs import PAIRS, table

from dactnlg.data.card import load_card
from dactnlg.data.corpus import Corpus, load_corpus
from dactnlg.data.proposal_files import initialize
from dactnlg.text.slots import OPPOSITES, SlotChecker
from dactnlg.text.values.delexicalization import Delexicalizer

Cues = Mapping[str, Mapping[str, Sequence[str]]]


def proposed(corpus: Corpus, pairs: int) -> Cues:
    """Return the cues that `init` proposes for a newcomer's table of training pairs."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "own.csv")
        table(corpus, pairs, path)
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
    parser.add_argument("--corpus", choices=list(PAIRS), action="append", help="may be repeated [default: all]")
    print("| corpus | pairs | slot | value | sentences | right | wrong | right, person's | wrong, person's |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in parser.parse_args().corpus or PAIRS:
        corpus = load_corpus(name)
        best = read(corpus, {slot: card.cues for slot, card in corpus.card.slots.items()})
        for pairs in PAIRS[name]:
            own = read(corpus, proposed(corpus, pairs))
            for slot, value in sorted((slot, value) for slot, value, kind in best if kind == "all"):
                count = best[slot, value, "all"]
                shares = [each[slot, value, kind] / count for each in (own, best) for kind in ("right", "wrong")]
                print(f"| {name} | {pairs} | {slot} | {value} | {count} | {' | '.join(f'{x:.1%}' for x in shares)} |")


if __name__ == "__main__":
    main()
