"""How much another domain helps a small corpus: fine-tuning, learning both, and counterfeit pairs (Wen et al. 2016).

    python benchmarks/adaptation.py                        tv for laptop, 100 to 400 pairs, three seeds
    python benchmarks/adaptation.py --source laptop --target tv --sizes 200
    python benchmarks/adaptation.py --runs FOLDER          keep the runs there; finished ones are not trained again

Training pairs of the target are drawn with a seed, with them a quarter as many validation pairs (at least 25) and 500
test pairs. `alone` learns from these; `both` also from the other domain's training split (`corpus.also`); `counterfeit`
also from that split with the target's slots in place of its own (`corpus.counterfeit`). `fine-tuned` starts from a run
of the other domain (`model.initialize_from`), `counterfeit, fine-tuned` from the run of `counterfeit`. Models are those
of `configs/TARGET-sclstm.yaml`, trained for at most 60 epochs. The table has BLEU-4 by the preset `rnnlg` and SER, the
share of wrong slots, under `--constraint rerank` and `hard`, as medians over the seeds.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml
from common import DATA, REPOSITORY
from table1 import trained

from dactnlg import models
from dactnlg.evaluation.evaluate import evaluate
from dactnlg.generation.options import GenerationOptions
from dactnlg.runs.config import load_config

WAYS = ("alone", "both", "counterfeit", "fine-tuned", "counterfeit, fine-tuned")
CONSTRAINTS = ("rerank", "hard")
TESTED = 500
"""How many pairs of the test split are scored."""


def small_card(corpus: str, size: int, seed: int, folder: Path) -> Path:
    """Write the card of a corpus reduced to `size` training pairs, and return its path."""
    card = yaml.safe_load((REPOSITORY / "datasets" / f"{corpus}.yaml").read_text(encoding="utf-8"))
    card["name"] = f"{corpus}-{size}-{seed}"
    card.pop("splits", None)
    for split, count in (("train", size), ("valid", max(25, size // 4)), ("test", TESTED)):
        text = (DATA / card["files"][split]["path"]).read_text(encoding="utf-8")
        rows = json.loads(text[text.index("[") :])
        name = f"{card['name']}-{split}.json"
        (folder / name).write_text(json.dumps(random.Random(seed).sample(rows, count)), encoding="utf-8")
        card["files"][split] = {"path": name}
    path = folder / f"{card['name']}.yaml"
    path.write_text(yaml.safe_dump(card, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path


def settings(way: str, source: str, runs: Path, card: Path, seed: int) -> list[str]:
    """Return the settings of one way to use the other domain; the run that it starts from is trained first."""
    if way in ("both", "counterfeit"):
        return [f"corpus.also=[{source}]", f"corpus.counterfeit={str(way == 'counterfeit').lower()}"]
    if way == "fine-tuned":
        begun = runs / f"{source}-{seed}"
        trained(load_config(f"{source}-sclstm", [f"training.seed={seed}", f"corpus.data_dir={DATA}"], models), begun)
        return [f"model.initialize_from={begun}"]
    return [f"model.initialize_from={runs / f'{card.stem}-counterfeit'}"] if way.startswith("counterfeit") else []


def measured(source: str, target: str, size: int, seed: int, runs: Path) -> Iterator[tuple[str, str, float, float]]:
    """Train every way, and yield for each way and constraint BLEU-4 and the slot error rate."""
    card = small_card(target, size, seed, runs)
    for way in WAYS:
        chosen = [f"corpus.name={card}", f"corpus.data_dir={DATA}", f"training.seed={seed}", "training.epochs=60"]
        chosen += settings(way, source, runs, card, seed)
        run = runs / f"{card.stem}-{way.replace(', ', '-')}"
        trained(load_config(f"{target}-sclstm", chosen, models), run)
        for constraint in CONSTRAINTS:
            options = GenerationOptions(constraint=constraint)
            scores = evaluate(run, presets=["rnnlg"], metrics=["BLEU-4", "SER"], options=options).results[0].scores
            yield way, constraint, scores["BLEU-4"].value or 0.0, scores["SER"].value or 0.0


def main() -> None:
    """Train, score and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", default="tv", help="the other domain")
    parser.add_argument("--target", default="laptop", help="the domain with few pairs")
    parser.add_argument("--sizes", nargs="+", type=int, default=[100, 200, 400], help="its numbers of training pairs")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3], help="of the draws and the initial weights")
    parser.add_argument("--runs", type=Path, help="a folder to keep the runs in [default: a temporary one]")
    args = parser.parse_args()
    with TemporaryDirectory() as scratch:
        runs = args.runs or Path(scratch)
        runs.mkdir(parents=True, exist_ok=True)
        print("| pairs | way | BLEU-4, rerank | SER | BLEU-4, hard | SER |\n|---|---|---|---|---|---|", flush=True)
        for size in args.sizes:
            found: dict[tuple[str, str], list[tuple[float, float]]] = {}
            for seed in args.seeds:
                for way, constraint, bleu, ser in measured(args.source, args.target, size, seed, runs):
                    found.setdefault((way, constraint), []).append((bleu, ser))
            for way in WAYS:
                cells = [
                    f"{statistics.median(column):.3f}"
                    for c in CONSTRAINTS
                    for column in zip(*found[way, c], strict=True)
                ]
                print(f"| {size} | {way} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
