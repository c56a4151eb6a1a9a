"""Novikova et al. 2017: eleven metrics beside the medians of three crowd workers, for two data sets and three systems.

    python benchmarks/ratings.py novikova [--own]

--own also computes BLEU-1, BLEU-4, ROUGE-L, CIDEr and METEOR for SFRES, from references of the restaurants corpus.

The authors did not publish their references, but the values of their metrics tell what they were: all sentences of the
corpus for the same act, of all three splits (hakkasan's "area" matches nothing, though other acts with the same slots
have it), with names and places as one token (the address of "skool" matches 4 of 6 words, not 6 of 8), without
punctuation. With these, 56% of the BLEU-1 values and 77% of the BLEU-4 values are equal to a thousandth; for RNNLG's
sentences (WEN) about 75% and 85% are. The others differ because LOLS ends with a mark that often stays at the last
word, and because of the plurals that the corpus writes "kid -s". For CIDEr, which weighs words by how many references
have them, no reading of the references gives their values.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from common import DATA

from dactnlg.data.readers.rnnlg import read as read_rnnlg
from dactnlg.evaluation.scoring import score
from dactnlg.studies.analysis.correlation import MetricCorrelation, correlate
from dactnlg.studies.analysis.metric_scores import MetricScores
from dactnlg.studies.analysis.williams import MetricDifferences, compare_metrics
from dactnlg.studies.ratings import Ratings

CRITERIA = ("informativeness", "naturalness", "quality")
NOT_METRICS = ("dataset", "system", "mr", "sys_ref", *CRITERIA)
OWN = {"BLEU-1": "Bleu_1", "BLEU-4": "Bleu_4", "ROUGE-L": "ROUGE_L", "CIDEr": "CIDEr", "METEOR-1.5": "METEOR"}
DELEXICALISED = ("name", "near", "area", "address", "phone", "postcode")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        prog="ratings.py novikova", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--own", action="store_true", help="compute our metrics as well")
    options = parser.parse_args(arguments)
    ratings, scores = read(DATA / "ratings" / "novikova2017.csv")
    print_correlations(ratings, scores)
    for name in ("spearman", "pearson"):
        print_apart(compare_metrics(ratings, scores, name=name))  # type: ignore[arg-type]
    if options.own:
        print_own(ratings, scores)


def read(path: Path) -> tuple[Ratings, MetricScores]:
    """Return their medians, as one rater's, and their metrics; an act that occurs again is another item."""
    judged, found = [], []
    seen: Counter[tuple[str, ...]] = Counter()
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            key = row["dataset"], row["system"], row["mr"]
            seen[key] += 1
            item = row["mr"] if seen[key] == 1 else f"{row['mr']} #{seen[key]}"
            names = {"item": item, "system": row["system"], "corpus": row["dataset"], "output": row["sys_ref"]}
            judged += [
                {**names, "rater": "median of 3", "criterion": criterion, "value": float(row[criterion])}
                for criterion in CRITERIA
            ]
            metrics = {name: float(value) for name, value in row.items() if name not in NOT_METRICS}
            found.append(((row["dataset"], item, row["system"]), metrics))
    return Ratings(judged), MetricScores.of(found)


def systems_of(ratings: Ratings) -> list[tuple[str, str]]:
    """Return each data set with each of its systems."""
    return list(dict.fromkeys((row["corpus"], row["system"]) for row in ratings.rows))


def by_system(ratings: Ratings, scores: MetricScores) -> list[tuple[str, str, MetricCorrelation]]:
    """Return the correlations of each data set and system."""
    return [
        (corpus, system, row)
        for corpus, system in systems_of(ratings)
        for row in correlate(ratings.where(corpus=corpus, system=system), scores).rows
    ]


def print_correlations(ratings: Ratings, scores: MetricScores) -> None:
    """Print Spearman's coefficient of each metric, by data set, system and criterion, with 95% intervals."""
    found = by_system(ratings, scores)
    blocks = systems_of(ratings)
    for criterion in CRITERIA:
        print(f"\n{criterion}: Spearman with 95% intervals over acts (left out one by one, Fisher's z)")
        print(f"{'metric':12}" + "".join(f"{' '.join(block):28}" for block in blocks))
        for metric in scores.metrics:
            rows = [row for *_, row in found if (row.metric, row.criterion) == (metric, criterion)]
            print(f"{metric:12}" + "".join(f"{_cell(row):28}" for row in rows))
    everything = [("all", "all", row) for row in correlate(ratings, scores).rows] + found
    for criterion in CRITERIA:
        rows = [one for one in everything if one[2].criterion == criterion]
        corpus, system, top = max(rows, key=lambda one: abs(one[2].spearman.value or 0))
        ends = max(abs(end) for *_, row in rows for end in row.spearman.interval or (0.0,))
        where = f"{top.metric}, {top.corpus or corpus}, {system}"
        print(f"{criterion}: largest |rho| {abs(top.spearman.value or 0):.3f} ({where}), end of an interval {ends:.3f}")


def _cell(row: MetricCorrelation) -> str:
    value, bounds = row.spearman.value, row.spearman.interval
    ends = f"[{bounds[0]:+.2f}, {bounds[1]:+.2f}]" if bounds else ""
    return "undefined" if value is None else f"{value:+.3f} {ends}"


def print_apart(found: MetricDifferences) -> None:
    """Print which pairs of metrics Williams' test tells apart."""
    print(f"\n{found.method}")
    apart = found.apart()
    for criterion in CRITERIA:
        for corpus in (None, "BAGEL", "SFRES"):
            block = [row for row in found.rows if (row.criterion, row.corpus) == (criterion, corpus)]
            better: dict[str, list[str]] = defaultdict(list)
            for row in block:
                if row in apart:
                    better[row.first].append(row.second)
            raw = sum(row.p is not None and row.p < 0.05 for row in block)
            told = "; ".join(f"{first} above {', '.join(others)}" for first, others in better.items()) or "none"
            count = f"{sum(map(len, better.values()))} of {len(block)} pairs ({raw} before Holm)"
            print(f"{criterion}, {corpus or 'all'}: {count}: {told}")


def own_scores() -> MetricScores:
    """Return our metrics for the SFRES sentences whose act occurs in the restaurants corpus."""
    references: dict[Any, list[str]] = defaultdict(list)
    for split in ("train", "valid", "test"):
        for example in read_rnnlg(DATA / "restaurants" / f"{split}.json", Counter()):
            references[_act(example.turn)] += example.references
    chosen = []
    ratings, _ = read(DATA / "ratings" / "novikova2017.csv")
    for row in ratings.where(corpus="SFRES", criterion="quality").rows:
        act = _act(re.sub(r" #\d+$", "", row["item"]))
        if act in references:
            texts = sorted({_plain(text, act) for text in references[act]})
            chosen.append((("SFRES", row["item"], row["system"]), _plain(row["output"], act), texts))
    metrics = ["BLEU", "ROUGE-L", "CIDEr", "METEOR-1.5"]
    found = score([one[1] for one in chosen], [one[2] for one in chosen], metrics=metrics, preset="nlg-eval")
    names = list(found.scores)
    return MetricScores.of(
        (one[0], {name: float(line[names.index(name)]) for name in OWN})
        for one, line in zip(chosen, found.segments, strict=True)
    )


def print_own(ratings: Ratings, theirs: MetricScores) -> None:
    """Print the correlations of our metrics beside theirs, over the same sentences."""
    ours = own_scores()
    sentences = set(ours.values["BLEU-4"])
    same = Ratings([row for row in ratings.rows if (row["corpus"], row["item"], row["system"]) in sentences])
    acts = len(same.names("item"))
    print(f"\nSFRES, {len(sentences)} sentences for {acts} acts: Spearman of our metric, of theirs")
    left, right = correlate(same, ours).rows, correlate(same, theirs).rows
    for row in left:
        other = next(one for one in right if (one.metric, one.criterion) == (OWN[row.metric], row.criterion))
        a, b = row.spearman.value or 0, other.spearman.value or 0
        print(f"{row.criterion:16} {row.metric:11} {a:+.3f}  {b:+.3f}  difference {a - b:+.3f}")
    for name, other_name in OWN.items():
        pairs = [(value, theirs.values[other_name][key]) for key, value in ours.values[name].items()]
        equal = sum(abs(a - b) < 1e-3 for a, b in pairs) / len(pairs)
        print(f"{name:11} the same to a thousandth: {equal:.1%}")


def _act(text: object) -> Any:
    """Return an act's name and its slots in order, as both notations write them."""
    found = re.fullmatch(r"\??(\w+)\((.*)\)", str(text).strip().lower())
    if found is None:
        return str(text), ()
    slots = []
    for part in re.split(r"[;,](?=\w+(?:=|$|[;,]))", found[2]):
        name, _, value = part.partition("=")
        slots.append((name.replace("_", "").strip(), value.strip("'\" ").replace("dont_care", "dontcare")))
    return found[1].replace("_", ""), tuple(sorted(slot for slot in slots if slot[0]))


def _plain(text: str, act: Any) -> str:
    """Return a sentence without punctuation, with joined plurals, and one token for each name or place of its act."""
    text = re.sub(r" -(s|ly)\b", r"\1", re.sub(r"[.,?!;:]", " ", text.lower()))
    text = " ".join(re.sub(r" ?'s\b", " 's", text).split())
    values = {value for slot, value in act[1] if slot in DELEXICALISED and value not in ("dontcare", "none", "")}
    for value in sorted(values, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", "x", text)
    return text
