"""Human sentences that the reader flags, listed for a person to judge: is the sentence at fault, or the alarm false?

    python benchmarks/alarms.py [--corpus NAME]... [--verdicts benchmarks/alarms.md]    write the list, keep verdicts
    python benchmarks/alarms.py --count benchmarks/alarms.md                            print the shares

For each corpus a reader is learned from train and valid, and all human sentences of test are checked, as in
`benchmarks/fidelity.py`; 25 of the flagged ones are drawn with a seed. The verdict `right` means that the sentence
leaves out, adds or contradicts something, in meaning or by a typing error in a value, or expresses another act; `false`
that it says all of its act and nothing else, perhaps in words that are rare in training. `?` marks sentences that
nobody has judged yet. The rate of false alarms is the share of flagged sentences times the share of `false` among those
judged.
"""

from __future__ import annotations

import argparse
import hashlib
from collections import Counter
from pathlib import Path

from fidelity import CORPORA, SEED
from reading import UNREAD, read, share, table

from dactnlg.data.corpus import load_corpus
from dactnlg.errors import CorpusError
from dactnlg.training.readers import corpus_checker

HEADER = "| corpus | act | sentence | found | verdict |\n|---|---|---|---|---|"
FALSE = "false"
TOLD = "flagged of"


def alarms(name: str, most: int) -> list[list[str]]:
    """Return the rows of a corpus without verdicts; the first cell also counts its sentences and alarms."""
    corpus = load_corpus(name)
    fidelity = corpus_checker(corpus)
    pairs = list(dict.fromkeys(corpus.pairs("test")))
    flagged = [(pair, report) for pair in pairs if not (report := fidelity.check(*pair)).ok]
    # The order depends on each pair alone, so that the draw stays the same when others are no longer flagged.
    flagged.sort(key=lambda each: hashlib.sha256(f"{SEED} {each[0]}".encode()).digest())
    rows = []
    for (turn, sentence), report in flagged[:most]:
        faults = {
            key: value for key, value in report.to_json().items() if value and key not in ("slots_ok", "unchecked")
        }
        found = "; ".join(f"{key} {', '.join(map(str, value))}" for key, value in faults.items())
        rows.append([f"{name}, {len(flagged)} {TOLD} {len(pairs)}", f"`{turn}`", " ".join(sentence.split()), found])
    return rows


def count(rows: list[list[str]]) -> str:
    """Return the table of shares."""
    lines = ["| corpus | sentences | flagged | read | false of these | false alarms |", "|---|---|---|---|---|---|"]
    for kind in dict.fromkeys(row[0] for row in rows):
        name, _, numbers = kind.partition(", ")
        flagged, _, whole = numbers.partition(f" {TOLD} ")
        verdicts = Counter(row[4].split(":")[0] for row in rows if row[0] == kind)
        known = verdicts.total() - verdicts[UNREAD]
        false = verdicts[FALSE] / known * int(flagged) / int(whole) if known else 0.0
        shares = [share(int(flagged), int(whole)), str(known), str(verdicts[FALSE]), f"{false:.1%}" if known else "?"]
        lines.append("| " + " | ".join([name, whole, *shares]) + " |")
    return "\n".join(lines)


def main() -> None:
    """Write the sentences, or count their verdicts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", action="append", choices=CORPORA, help="may be repeated [default: all]")
    parser.add_argument("--most", type=int, default=25, help="at most so many sentences of a corpus")
    parser.add_argument(
        "--verdicts", type=Path, default=Path("benchmarks/alarms.md"), help="the file to write; its verdicts are kept"
    )
    parser.add_argument("--count", type=Path, metavar="FILE", help="only count the verdicts of a file")
    options = parser.parse_args()
    if options.count:
        print(count(read(options.count, HEADER)))
        return
    before = read(options.verdicts, HEADER)
    known = {(row[1], row[2]): row[4] for row in before}
    rows = []
    for name in CORPORA:
        try:
            here = alarms(name, options.most) if name in (options.corpus or CORPORA) else None
        except CorpusError as error:
            print(error)
            here = None
        # Rows of corpora that are not chosen or not available are kept.
        rows += [row for row in before if row[0].split(",")[0] == name] if here is None else []
        rows += [[*row, known.get((row[1], row[2]), UNREAD)] for row in here or ()]
    text = f"# Alarms read\n\n{__doc__}\n{count(rows)}\n\n{table(HEADER, rows)}\n"
    options.verdicts.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
