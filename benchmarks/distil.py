"""Distilling: which of 2,000 paraphrases, a fifth of them corrupted, are rejected.

    python benchmarks/distil.py [--corpus NAME]... [--pairs N] [--show N]

The paraphrases are human sentences of the corpus. A corrupted one drops a slot (the act has one more), swaps a value
(the sentence has another one, or the act the opposite of a special value) or invents one (the act has one less). They
are checked with the corpus (`--check-with NAME`), whose checker has learned from the intact sentences or, for those of
the test split, from others; and with the pairs alone, as `dactnlg distil` does by default.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from fidelity import Material, another_value, other_polarity, other_special
from tabulate import tabulate

from dactnlg.acts import Slot, Turn
from dactnlg.data.corpus import load_corpus
from dactnlg.experiments.self_teaching import self_taught
from dactnlg.experiments.sifting import Inventory, judge
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.training.readers import corpus_checker

SEED = 17
Row = tuple[Turn, str, str]


def corrupted(material: Material, turn: Turn, text: str, kind: str) -> tuple[Turn, str] | None:
    """Return a pair with a fault of a kind, `dropped`, `swapped` or `invented`; None if it can have none."""
    if kind == "swapped":
        done = material.checker.delexicalizer.delexicalize(turn, text)
        makers = [another_value, other_polarity, other_special]
        material.random.shuffle(makers)
        return next((found for make in makers if (found := make(material, turn, done))), None)
    place = material.random.randrange(len(turn.acts))
    act, held = turn.acts[place], {slot.name for _, slot in turn.slots()}
    if kind == "invented":
        # A slot with only one value ("restaurant") tells nothing.
        able = [s for s in act.slots if s.value and (s.special or len(material.values.get(s.name, ())) > 1)]
        able = [s for s in able if sum(other.name == s.name for _, other in turn.slots()) == 1]
        if not able or (len(act.slots) == 1 and len(turn.acts) == 1):
            return None
        gone = material.random.choice(able)
        changed = replace(act, slots=tuple(slot for slot in act.slots if slot is not gone))
    else:
        names = sorted(set(material.values) - held)
        more = [Slot(n, v) for n in names if len(material.values[n]) > 1 for v in material.values[n]]
        more += [Slot(n, special) for special, found in material.special.items() for n in sorted(found - held)]
        more = [slot for slot in more if (slot.value or "").casefold() not in text.casefold()]
        asks = any(slot.value is None for slot in act.slots) or not act.slots
        if not more or asks:
            return None
        changed = replace(act, slots=(*act.slots, material.random.choice(more)))
    return Turn((*turn.acts[:place], changed, *turn.acts[place + 1 :])), text


def paraphrases(name: str, count: int, splits: Sequence[str] = ("train", "valid")) -> tuple[list[Row], list[str]]:
    """Return rows of (turn, sentence, origin), and the kind of fault of each, "" for none."""
    corpus, chance = load_corpus(name), random.Random(SEED)
    pairs = list(dict.fromkeys(pair for split in splits for pair in corpus.pairs(split)))
    material = Material(FidelityChecker(corpus.style().checker()), pairs)
    material.random = random.Random(SEED)
    chance.shuffle(pairs)
    rows, kinds = [], []
    wanted = Counter({"dropped": count // 15, "swapped": count // 15, "invented": count // 5 - 2 * (count // 15)})
    for turn, text in pairs:
        kind = next((kind for kind, left in wanted.items() if left), "")
        broken = corrupted(material, turn, text, kind) if kind else (turn, text)
        if broken is None or (kind and broken in pairs):
            continue
        if kind:
            wanted[kind] -= 1
        rows.append((*broken, f"row {len(rows) + 1}"))
        kinds.append(kind)
        if len(rows) == count:
            break
    order = chance.sample(range(len(rows)), len(rows))
    return [rows[n] for n in order], [kinds[n] for n in order]


def measure(name: str, count: int, show: int) -> list[list[object]]:
    """Return the rows of a corpus in the table, and print `show` wrong verdicts."""
    found = []
    learned, new = ("train", "valid"), ("test",)
    for how, splits in (("corpus", learned), ("corpus, new sentences", new), ("pairs", learned)):
        pairs = sum(len(set(load_corpus(name).pairs(split))) for split in splits)
        rows, kinds = paraphrases(name, min(count, pairs), splits)
        if how != "pairs":
            checker = corpus_checker(load_corpus(name))
            judged = judge(rows, checker, Inventory([(t, s) for t, s, _ in rows], checker))
        else:
            judged = self_taught(rows)[0]
        totals, rejected = Counter(kinds), Counter(k for k, j in zip(kinds, judged, strict=True) if j.reasons)
        for kind, each in list(zip(kinds, judged, strict=True)):
            if bool(each.reasons) != bool(kind) and show:
                show -= 1
                print(f"[{how}] {kind or 'good'}: {each.text}\n    {each.turn}\n    {', '.join(each.reasons)}")
        bad = sum(n for k, n in rejected.items() if k)
        all_bad = sum(n for k, n in totals.items() if k)
        shares = [f"{rejected[k]}/{totals[k]}" for k in ("dropped", "swapped", "invented")]
        found.append(
            [name, how, len(rows), *shares, f"{bad / max(all_bad, 1):.2%}", f"{rejected[''] / totals['']:.2%}"]
        )
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", action="append", help="may be repeated [default: restaurants and trails]")
    parser.add_argument("--pairs", type=int, default=2_000, help="paraphrases, fewer if the corpus has fewer")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N wrong verdicts of each corpus")
    options = parser.parse_args()
    table = [
        row
        for name in options.corpus or ["restaurants", "trails"]
        for row in measure(name, options.pairs, options.show)
    ]
    heads = ["corpus", "checked by", "pairs", "dropped", "swapped", "invented", "corrupted rejected", "good rejected"]
    print(tabulate(table, heads, tablefmt="github"))


if __name__ == "__main__":
    main()
