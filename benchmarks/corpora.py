"""Every corpus under the field's own protocol, beside the best that is published without pre-training.

    python benchmarks/corpora.py                             configs/CORPUS.yaml of each, three seeds: about two hours
    python benchmarks/corpora.py --corpus hotel tv --seeds 1
    python benchmarks/corpora.py --corpus e2e --config e2e-sclstm --set training.epochs=3
    python benchmarks/corpora.py --runs FOLDER               keep the runs there; finished ones are not trained again

E2E and ViGGO are scored as the E2E challenge does, all references of a distinct act together; RNNLG's domains as the
toolkit does, with its ERR beside our SER; restaurants with both targets, and DSTC2, as in Sharma et al. (2017). Figures
are medians over the seeds, with the lowest and the highest in brackets. `slots_ok` is the share of distinct test acts
whose sentence says all that it should; the speed is acts a second of processor time over all test acts, every one of
them searched for, and over acts that are one slot away from those of training; minutes are wall time of training.
Interrupted, the script goes on where it was: a run is trained once, in the folder that names its configuration and
seed.
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
"""Acts that training never had of which the speed is measured."""
SHARMA_METRICS = ("BLEU-1", "BLEU-4", "ROUGE-L", "SER")
RNNLG_METRICS = ("BLEU-4", "SER")


@dataclass(frozen=True)
class Protocol:
    """How a corpus is scored, and what others reached.

    Attributes:
        preset: the evaluation protocol.
        metrics: the scores that are shown.
        best: the best known without pre-training, by score, and who has it.
        goal: what is to be reached here, by score.
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
    # METEOR has no Czech.
    "cs_restaurants": Protocol("e2e", ("BLEU-4", "NIST", "ROUGE-L", "CIDEr", "SER")),
}


@dataclass
class Measured:
    """The figures of one configuration, one entry a seed.

    Attributes:
        scores: by name, ERR included where the protocol is RNNLG's.
        slots_ok: share of the distinct acts whose sentence has no slot fault.
        broken: sentences that must not reach a user.
        minutes: time of training.
        speed: acts a second of processor time, every one searched for.
        unseen: the same for acts that training never had.
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
    # Other settings are another run.
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
    """Return RNNLG's own slot error rate of sentences, in per cent."""
    pairs = zip(examples, generations, strict=True)
    counts = [rnnlg.slot_errors(rnnlg.normalize(generation.raw), example.turn) for example, generation in pairs]
    required, wrong = (sum(column) for column in zip(*counts, strict=True))
    return 100 * wrong / max(required, 1)


def speed(folder: Path, turns: Sequence[Turn], others: Sequence[Turn]) -> float:
    """Return how many acts become sentences in a second of processor time where each is searched for.

    Wall time would say how busy the machine is. Threads add up: with a second free core it is less. What a run does
    once was done before, for other acts: training's texts are read when the first act comes whose combination of slots
    they lack.
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
    """Return the lines of a corpus, one a score, in Markdown; what scores share stands in the first."""
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
    """Print the table corpus by corpus, as the figures come in."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", nargs="+", choices=list(PROTOCOLS), default=list(PROTOCOLS), metavar="NAME")
    parser.add_argument("--config", nargs="+", metavar="CONFIG", help="one for each corpus [default: CORPUS]")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--runs", type=Path, default=Path("runs/corpora"))
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
