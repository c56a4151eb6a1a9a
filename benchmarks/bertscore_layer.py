"""Choose the layer of MiniLM that BERTScore reads, by human ratings of E2E outputs (Dušek et al. 2020).

    python benchmarks/bertscore_layer.py [--items N]

Raters saw five outputs for one act on a page and rated them relative to each other, from 0 to 100. For each layer the
script prints Spearman's correlation of ratings and scores over the outputs of all pages, after subtracting the page's
mean from both; other metrics follow for comparison. References are those of the E2E test set. The folders `e2e` and
`ratings` are looked for in DACTNLG_DATA, else in ../shared/data.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from common import DATA
from scipy.stats import spearmanr

from dactnlg.acts import parse
from dactnlg.metrics.base import Segment
from dactnlg.metrics.meteor.meteor import Meteor
from dactnlg.metrics.rouge import RougeL
from dactnlg.metrics.sentence_encoder.bert_score import BertScore
from dactnlg.metrics.sentence_encoder.cosine import SentenceCosine
from dactnlg.metrics.sentence_encoder.minilm import MiniLM

LAYERS = range(7)
CRITERIA = ("quality", "naturalness")


def references(data: Path) -> dict[str, tuple[str, ...]]:
    """Return the references of each act of the E2E test set."""
    found: dict[str, list[str]] = defaultdict(list)
    with (data / "e2e" / "testset_w_refs.csv").open(encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file):
            found[str(parse(row.get("mr") or row["MR"]))].append(row["ref"])
    return {act: tuple(texts) for act, texts in found.items()}


def ratings(data: Path, items: int | None) -> dict[tuple[str, str], dict[tuple[str, str], float]]:
    """Return for each criterion and page the mean rating of each (act, output)."""
    values: dict[tuple[str, str], dict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    kept: set[str] = set()
    with (data / "ratings" / "e2e2017.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if items is None or row["item"] in kept or len(kept) < items:
                kept.add(row["item"])
                values[row["criterion"], row["page"]][row["item"], row["output"]].append(float(row["value"]))
    return {page: {key: float(np.mean(v)) for key, v in outputs.items()} for page, outputs in values.items()}


def centred(values: Sequence[float]) -> list[float]:
    """Return values minus their mean."""
    return [value - float(np.mean(values)) for value in values]


def main() -> None:
    """Print a table of layers and other metrics by criterion."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, metavar="N", help="use only the first N acts")
    items = parser.parse_args().items
    gold, pages = references(DATA), ratings(DATA, items)
    keys = sorted({key for outputs in pages.values() for key in outputs})
    segments = [Segment(output, gold[str(parse(item))]) for item, output in keys]
    minilm = MiniLM()
    metrics = {f"BERTScore, layer {layer}": BertScore(minilm, layer) for layer in LAYERS}
    columns = {name: metric.segment_scores(metric.statistics(segments))[:, 0] for name, metric in metrics.items()}
    for other in (SentenceCosine(minilm), Meteor("ptb"), RougeL(tokenization="ptb")):
        columns[other.names[0]] = other.segment_scores(other.statistics(segments))[:, 0]
    print(f"{len(keys)} outputs for {len({item for item, _ in keys})} acts, {len(pages)} pages, {minilm.name}")
    print(f"{'':22}" + "".join(f"{criterion:>14}" for criterion in (*CRITERIA, "mean")))
    for name, scores in columns.items():
        known = dict(zip(keys, scores.tolist(), strict=True))
        found = []
        for criterion in CRITERIA:
            mine, theirs = [], []
            for (kind, _), outputs in pages.items():
                if kind == criterion and len(outputs) > 1:
                    mine += centred([known[key] for key in outputs])
                    theirs += centred(list(outputs.values()))
            found.append(float(spearmanr(mine, theirs).statistic))
        print(f"{name:22}" + "".join(f"{value:14.3f}" for value in (*found, np.mean(found))))


if __name__ == "__main__":
    main()
