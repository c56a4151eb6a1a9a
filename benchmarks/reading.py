"""Sentences for acts that training lacks, listed for a person to read and to give each a verdict.

    python benchmarks/reading.py RUN... > sentences.md           25 acts of each run, one slot away from a seen one
    python benchmarks/reading.py RUN... --subsets 13             and 13 random subsets of the slots of an act type
    python benchmarks/reading.py RUN... --verdicts benchmarks/reading.md    write there; earlier verdicts are kept
    python benchmarks/reading.py RUN... --subsets 60 --seed 67 --verdicts benchmarks/reading_seed67.md  another draw
    python benchmarks/reading.py RUN... --away 0 --new 25 --more 15 --several 15 --verdicts benchmarks/reading_new.md
                                 other values, one more value of a slot, acts never seen in one turn
    python benchmarks/reading.py RUN... --away 0 --test 25 --verdicts benchmarks/reading_test.md
                                 acts of the test split whose combination training never had
    python benchmarks/reading.py RUN... --away 0 --people 25     people's sentences and the run's for the same acts
    python benchmarks/reading.py --count benchmarks/reading.md   the shares
    python benchmarks/reading.py --compare OLD NEW               the verdicts of two files, or folders of reading*.md,
                                 for equal sentences and for those that differ

Acts are drawn with a seed, from the training split of the corpus that a run was trained on or, with `--test`, from its
test split; the sentences are decoded with the run's own options, under the hard constraint. The verdict `ok` means that
the sentence says all of the act and nothing else, does what the act does, and is grammatical; `fragment` the same,
except that it is, or begins with, a phrase without a verb; other verdicts name what is wrong (`grammar`, `missing`,
`wrong`, `extra`, `act`), with a short explanation. A verdict is kept as long as act and sentence stay the same; `?`
marks sentences that nobody has read yet. Doubts are `Generation.doubts`; a second table shows what they are worth.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from common import DATA
from unseen import new_values, of_test_split, one_away, one_more_value, several_acts, subsets

from dactnlg.acts import Turn
from dactnlg.data.corpus import Corpus, load_corpus
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.fidelity.reader_file import load_reader
from dactnlg.generation.candidates import Candidate
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.runs.run import Run

HARD = GenerationOptions(constraint="hard")
HEADER = "| acts | act | sentence | slots_ok | doubts | verdict |\n|---|---|---|---|---|---|"
OK, FRAGMENT, UNREAD = "ok", "fragment", "?"
MANY = 3
"""So many doubts or more are counted as one group."""
KINDS = {
    "away": ("one slot away", one_away, "acts one slot away from a seen one"),
    "subsets": ("subset", subsets, "random subsets of the slots of an act type"),
    "test": ("of the test split", of_test_split, "acts of the test split whose combination of slots training lacks"),
    "new": ("new value", new_values, "acts with a value that the corpus lacks, if it has slots for the listed ones"),
    "more": ("one more value", one_more_value, "acts with one more value of a slot"),
    "several": ("several acts", several_acts, "pairs of acts that training never has in one turn"),
}
"""Options of the command: for each the name of the acts in the table, the function that draws them, and its help."""


def sentences(folder: Path, numbers: Mapping[str, int], seed: int) -> Iterator[list[str]]:
    """Yield the rows of a run without verdicts."""
    corpus, generator = load_corpus(Run(folder).check().corpus.name, DATA), Generator.load(folder)
    for option, number in numbers.items():
        kind, draw, _ = KINDS[option]
        if number:
            yield from said(corpus, generator, kind, draw(corpus, number, seed))


def said(corpus: Corpus, generator: Generator, kind: str, turns: Sequence[Turn]) -> Iterator[list[str]]:
    """Yield a row with the run's sentence for each act."""
    for turn, found in zip(turns, generator.generate(turns, HARD, strict=False) if turns else [], strict=True):
        faults = ", ".join([*(f"no {name}" for name in found.missing), *(f"too much {name}" for name in found.extra)])
        checked, doubts = "yes" if found.slots_ok else f"no: {faults}", "" if found.doubts is None else found.doubts
        yield [f"{corpus.card.name}, {kind}", f"`{turn}`", found.text, checked, str(doubts)]


def beside_people(folder: Path, number: int, seed: int) -> Iterator[list[str]]:
    """Yield rows with a person's sentence for acts of the test split, spelt as the run prints its own, and with these.

    For people's sentences `slots_ok` is what `dactnlg check` finds.
    """
    corpus, generator = load_corpus(Run(folder).check().corpus.name, DATA), Generator.load(folder)
    preprocessor, chance, references = generator.preprocessor, random.Random(seed), dict[Turn, list[str]]()
    checker = FidelityChecker(preprocessor.checker, load_reader(Run(folder).reader_path), preprocessor.manners)
    for turn, sentence in corpus.pairs("test"):
        references.setdefault(turn, []).append(sentence)
    turns = chance.sample(list(references), min(number, len(references)))
    for turn in turns:
        sentence, request = chance.choice(references[turn]), preprocessor.request(turn)
        tokens = preprocessor.delexicalizer.delexicalize(request.turn, sentence).tokens
        text = Candidate(preprocessor, request, tokens, None).text
        checked = "yes" if checker.check(turn, sentence).ok else "no"
        yield [f"{corpus.card.name}, by people", f"`{turn}`", text, checked, ""]
    yield from said(corpus, generator, "same acts by the run", turns)


def cells(line: str) -> list[str]:
    """Return the cells of a row."""
    return [cell.strip().replace("\\|", "|") for cell in line.strip().strip("|").replace("\\|", "\0").split("|")]


def read(path: Path, header: str = HEADER) -> list[list[str]]:
    """Return the rows of a file that have as many cells as the header; the last cell is the verdict."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    rows = [[cell.replace("\0", "|") for cell in cells(line)] for line in lines if line.startswith("| ")]
    width = len(cells(header.partition("\n")[0]))
    return [row for row in rows if len(row) == width and row[1].startswith("`")]


def table(header: str, rows: list[list[str]]) -> str:
    """Return rows as a table that `read` can read."""
    return "\n".join([header, *("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)])


def count(rows: list[list[str]]) -> str:
    """Return the table of shares, by corpus and kind of acts: sentences that read right, and flagged ones."""
    lines = [
        "| acts | sentences | ok | fragments | wrong | unread | slots_ok false | wrong with slots_ok |",
        "|---|---|---|---|---|---|---|---|",
    ]
    kinds = list(dict.fromkeys(row[0] for row in rows))
    for kind in [*kinds, *dict.fromkeys(kind.partition(", ")[2] for kind in kinds)]:
        here = [row for row in rows if row[0] == kind or row[0].endswith(f", {kind}")]
        named = [row[5].partition(":")[0] for row in here]
        verdicts = Counter(name if name in (OK, FRAGMENT, UNREAD) else "wrong" for name in named)
        flagged = sum(row[3] != "yes" for row in here)
        silent = sum(
            row[3] == "yes" and name not in (OK, FRAGMENT, UNREAD) for row, name in zip(here, named, strict=True)
        )
        shares = [share(verdicts[name], len(here)) for name in (OK, FRAGMENT, "wrong")]
        shares += [str(verdicts[UNREAD]), share(flagged, len(here)), share(silent, len(here))]
        lines.append("| " + " | ".join([kind, str(len(here)), *shares]) + " |")
    return "\n".join(lines)


def by_doubts(rows: list[list[str]]) -> str:
    """Return the table of the shares that read right, by the number of doubts."""
    lines = ["| doubts | sentences | ok |", "|---|---|---|"]
    for name in ("0", *map(str, range(1, MANY)), f"{MANY} or more"):
        number = int(name[0])
        here = [row for row in rows if row[4] and min(int(row[4]), MANY) == number and row[5] != UNREAD]
        lines.append(f"| {name} | {len(here)} | {share(sum(row[5] == OK for row in here), len(here))} |")
    return "\n".join(lines)


def compared(old: Path, new: Path) -> str:
    """Return how the verdicts of two files, or of two folders of them, differ; the rows are of the same acts, in order.

    Equal sentences, judged twice, have a line of their own, and so have those that differ.
    """
    names = sorted(file.name for file in new.glob("reading*.md")) if new.is_dir() else []
    files = [(old / name, new / name) for name in names] or [(old, new)]
    pairs = [pair for a, b in files for pair in zip(read(a), read(b), strict=True)]
    lines = []
    for what, same in (("equal sentences", True), ("sentences that differ", False)):
        own = [(a[5] == OK, b[5] == OK) for a, b in pairs if (a[2] == b[2]) is same]
        right = [share(sum(row[place] for row in own), len(own)) for place in (0, 1)]
        agree = share(sum(a == b for a, b in own), len(own))
        lines.append(f"| {what} | {len(own)} | {' | '.join([*right, agree])} |")
    return "\n".join(["| | number | ok in OLD | ok in NEW | both or neither |", "|---|---|---|---|---|", *lines])


def share(part: int, whole: int) -> str:
    """Return a count with its share."""
    return f"{part} ({part / whole:.1%})" if whole else "0"


def main() -> None:
    """Print or write the sentences, or count their verdicts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="*", metavar="RUN")
    for option, (_, _, text) in KINDS.items():
        default = 25 if option == "away" else 0
        parser.add_argument(f"--{option}", type=int, metavar="N", default=default, help=f"{text}, N for each run")
    people = "people's sentences for acts of the test split, and the run's for the same acts, N for each run"
    parser.add_argument("--people", type=int, metavar="N", default=0, help=people)
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--verdicts", type=Path, metavar="FILE", help="the file to write; its verdicts are kept")
    parser.add_argument("--count", type=Path, metavar="FILE", help="only count the verdicts of a file")
    parser.add_argument("--compare", type=Path, nargs=2, metavar=("OLD", "NEW"), help="only compare verdicts")
    options = parser.parse_args()
    if options.compare:
        print(compared(*options.compare))
        return
    if options.count:
        rows = read(options.count)
        print(f"{count(rows)}\n\n{by_doubts(rows)}")
        return
    known = {(row[1], row[2]): row[5] for row in read(options.verdicts)} if options.verdicts else {}
    rows = []
    for folder in options.runs:
        drawn = sentences(folder, {option: getattr(options, option) for option in KINDS}, options.seed)
        for row in [*drawn, *beside_people(folder, options.people, options.seed)]:
            rows.append([*row, known.get((row[1], row[2]), UNREAD)])
        print(f"{folder}: done", file=sys.stderr)
    if options.verdicts:
        text = f"# Sentences read\n\n{__doc__}\n{count(rows)}\n\n{by_doubts(rows)}\n\n{table(HEADER, rows)}\n"
        options.verdicts.write_text(text, encoding="utf-8")
    else:
        print(table(HEADER, rows))


if __name__ == "__main__":
    main()
