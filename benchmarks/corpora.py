"""Every corpus under its field's own protocol, beside the best published results without pre-training.

    python benchmarks/corpora.py                             configs/CORPUS.yaml of each, three seeds: about four hours
    python benchmarks/corpora.py --corpus hotel tv --seeds 1
    python benchmarks/corpora.py --corpus e2e --config e2e-sclstm --set training.epochs=3
    python benchmarks/corpora.py --runs FOLDER               keep the runs there; finished ones are not trained again

E2E and ViGGO are scored as in the E2E challenge, with all references of a distinct act together; RNNLG's domains as in
that toolkit, with its ERR beside our SER; restaurants with human and handcrafted targets, and DSTC2, as in Sharma et
al. (2017). Figures are medians over the seeds, with the lowest and the highest in brackets. `slots_ok` is the share of
distinct test acts whose sentence has no slot error. Speeds are acts per second of processor time without reuse, over
all test acts and over acts that are one slot away from those of training; minutes are wall time of training. If it is
interrupted, the script continues where it stopped: each run is trained once, in a folder named after its configuration
and seed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from common import DATA
from table1 import broken, heading, median, trained
from unseen import one_away

from dactnlg import models
from dactnlg.acts import Turn
from dactnlg.data.corpus import load_corpus
from dactnlg.evaluation.evaluate import evaluate
from dactnlg.generation.generation import Generation
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.metrics import rnnlg
from dactnlg.runs.config import load_config
from dactnlg.text.example import Example

E2E_METRICS = ("BLEU-4", "NIST", "METEOR-1.5", "ROUGE-L", "CIDEr", "SER")
UNSEEN = 200
"""How many acts that training lacks are generated to measure their speed."""
SHARMA_METRICS = ("BLEU-1", "BLEU-4", "ROUGE-L", "SER")
RNNLG_METRICS = ("BLEU-4", "SER")


@dataclass(frozen=True)
class Protocol:
    """How a corpus is scored, and what others have reached.

    Attributes:
        preset: the evaluation protocol.
        metrics: the scores shown.
        best: the best known results without pre-training, with their systems, by score.
        goal: what should be reached here, by score.
    """

    preset: str
    metrics: tuple[str, ...]
    best: dict[str, str] = field(default_factory=dict)
    goal: dict[str, str] = field(default_factory=dict)


# ERR is RNNLG's own count of slot errors, in per cent.
PROTOCOLS = {
    "e2e": Protocol(
        "e2e",
        E2E_METRICS,
        {"BLEU-4": ".697 (HRM), .671 (TGen), .682 (Elder et al. 2020)"},
        {"BLEU-4": ".70", "NIST": "8.8", "METEOR-1.5": ".46", "ROUGE-L": ".71", "CIDEr": "2.4"},
    ),
    "viggo": Protocol("e2e", E2E_METRICS, {"BLEU-4": ".539 (Slug2Slug's Transformer)"}, {"BLEU-4": ".56"}),
    "restaurants-human": Protocol("rnnlg", RNNLG_METRICS, {"BLEU-4": ".812 (HRM)", "ERR": ".20"}, {"BLEU-4": ".82"}),
    "hotel": Protocol("rnnlg", RNNLG_METRICS, {"BLEU-4": ".939 (NLG-LM)"}, {"BLEU-4": ".945"}),
    "laptop": Protocol("rnnlg", RNNLG_METRICS, {"BLEU-4": ".591 (HRM)", "ERR": ".31"}, {"BLEU-4": ".60"}),
    "tv": Protocol("rnnlg", RNNLG_METRICS, {"BLEU-4": ".617 (NLG-LM)"}, {"BLEU-4": ".62"}),
    "restaurants": Protocol("sharma2017", SHARMA_METRICS, {"BLEU-4": ".962 (Sharma et al.)"}, {"BLEU-4": ".98"}),
    "dstc2": Protocol("sharma2017", SHARMA_METRICS, {"BLEU-4": ".870 (Sharma et al.)"}, {"BLEU-4": ".89"}),
    "trails": Protocol("e2e", E2E_METRICS),
    # METEOR does not support Czech.
    "cs_restaurants": Protocol("e2e", ("BLEU-4", "NIST", "ROUGE-L", "CIDEr", "SER")),
}


@dataclass
class Measured:
    """The figures of one configuration, one entry for each seed.

    Attributes:
        scores: by name; with ERR if the protocol is RNNLG's.
        slots_ok: share of the distinct acts whose sentence has no slot error.
        broken: number of sentences that must not reach a user.
        minutes: training time.
        speed: acts per second of processor time, without reuse.
        unseen: the same for acts that training lacks.
    """

    scores: dict[str, list[float]] = field(default_factory=dict)
    slots_ok: list[float] = field(default_factory=list)
    broken: int = 0
    minutes: list[float] = field(default_factory=list)
    speed: list[float] = field(default_factory=list)
    unseen: list[float] = field(default_factory=list)


def measure(name: str, config: str, seeds: Sequence[int], runs: Path, overrides: Sequence[str]) -> Measured:
    """Train and score a configuration with every seed."""
    protocol, found = PROTOCOLS[name], Measured()
    # A run with other settings gets another folder.
    suffix = "".join(f"-{setting.replace('/', '_')}" for setting in overrides)
    for seed in seeds:
        settings = [f"training.seed={seed}", f"corpus.data_dir={DATA}", *overrides]
        folder = runs / f"{Path(config).stem}{suffix}-{seed}"
        seconds = trained(load_config(config, settings, models), folder)
        corpus = load_config(folder / "config.yaml").corpus.name
        data = load_corpus(corpus, DATA)
        examples = data.split("test")
        result = evaluate(folder, presets=[protocol.preset], metrics=protocol.metrics, data_dir=DATA)
        for score in protocol.metrics:
            found.scores.setdefault(score, []).append(result.results[0].scores[score].value or 0.0)
        if protocol.preset == "rnnlg":
            found.scores.setdefault("ERR", []).append(err(examples, result.generations))
        distinct = {generation.act: generation.slots_ok for generation in result.generations}
        found.slots_ok.append(sum(distinct.values()) / len(distinct))
        found.broken += sum(broken(generation.text) for generation in result.generations)
        found.minutes.append(seconds / 60)
        others = [*(example.turn for example in data.split("valid")), *one_away(data, UNSEEN // 4, 2)]
        found.speed.append(speed(folder, [example.turn for example in examples], others))
        found.unseen.append(speed(folder, one_away(data, UNSEEN, 1), others))
    return found


def err(examples: Sequence[Example], generations: Sequence[Generation]) -> float:
    """Return RNNLG's slot error rate of sentences, in per cent."""
    pairs = zip(examples, generations, strict=True)
    counts = [rnnlg.slot_errors(rnnlg.normalize(generation.raw), example.turn) for example, generation in pairs]
    required, wrong = (sum(column) for column in zip(*counts, strict=True))
    return 100 * wrong / max(required, 1)


def speed(folder: Path, turns: Sequence[Turn], others: Sequence[Turn]) -> float:
    """Return how many acts per second of processor time are generated if each is searched for.

    Wall time would depend on the load of the machine; processor time is that of all threads together. Other acts are
    generated first, for what a run does only once: it reads the training sentences at the first act whose combination
    of slots they lack.
    """
    generator = Generator.load(folder)
    if generator.decoder is None:
        return 0.0
    generator.decoder.reuse = False
    generator.generate(others, GenerationOptions(), strict=False)
    generator.forget()
    started = time.process_time()
    generator.generate(turns, GenerationOptions(), strict=False)
    return len(turns) / (time.process_time() - started)


def rows(name: str, config: str, found: Measured) -> list[str]:
    """Return the rows of a corpus in Markdown, one for each score; the first one has what the scores share."""
    protocol = PROTOCOLS[name]
    shared = [f"{statistics.median(found.slots_ok):.1%}", str(found.broken), f"{statistics.median(found.minutes):.1f}"]
    shared += [f"{statistics.median(found.speed):,.0f}", f"{statistics.median(found.unseen):,.0f}"]
    lines = []
    for number, (score, values) in enumerate(found.scores.items()):
        about = [name, config, protocol.preset] if not number else ["", "", ""]
        cells = [*about, score, median(values), protocol.best.get(score, ""), protocol.goal.get(score, "")]
        lines.append("| " + " | ".join([*cells, *(shared if not number else [""] * len(shared))]) + " |")
    return lines


def main() -> None:
    """Print the table corpus by corpus, as the figures become known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", nargs="+", choices=list(PROTOCOLS), default=list(PROTOCOLS), metavar="NAME")
    parser.add_argument("--config", nargs="+", metavar="CONFIG", help="one for each corpus [default: CORPUS]")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--runs", type=Path, default=Path("runs/corpora"), help="finished runs are not trained again")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override one key")
    options = parser.parse_args()
    configs = options.config or options.corpus
    if len(configs) != len(options.corpus):
        parser.error(f"{len(configs)} configurations for {len(options.corpus)} corpora: give one for each")
    print(heading(options.seeds, "pycocoevalcap"))
    columns = ["corpus", "configuration", "preset", "score", "ours", "best known", "goal", "slots_ok", "broken"]
    columns += ["minutes", "acts/s", "unseen acts/s"]
    print("| " + " | ".join(columns) + " |")
    print("|---" * len(columns) + "|", flush=True)
    for name, config in zip(options.corpus, configs, strict=True):
        found = measure(name, config, options.seeds, options.runs, options.set)
        print("\n".join(rows(name, config, found)), flush=True)
    print(f"\nload {os.getloadavg()[0]:.1f} at the end", file=sys.stderr)


if __name__ == "__main__":
    main()
