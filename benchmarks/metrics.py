"""Every metric beside the figures of its reference implementation, and its speed beside that implementation's.

    python benchmarks/metrics.py            all checks; METEOR and the race only if their packages and Java are there
    python benchmarks/metrics.py --fast     without the race against pycocoevalcap
    python benchmarks/metrics.py --million  a million pairs streamed from disk, and nothing else

The corpora are looked for in DACTNLG_DATA, else in ../shared/data; the oracles, which hold the figures, in
DACTNLG_ORACLES, else in ../shared/oracles.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import million
import numpy as np
from common import DATA, REPOSITORY, children_cpu

from dactnlg.data.corpus import load_corpus
from dactnlg.evaluation.scoring import TextPair, score_pairs
from dactnlg.metrics import bleu, rnnlg
from dactnlg.metrics.base import Segment
from dactnlg.metrics.presets import handcrafted_for, references_for
from dactnlg.metrics.resampling import bootstrap, interval
from dactnlg.metrics.rouge import RougeL

ORACLES = Path(os.environ.get("DACTNLG_ORACLES") or REPOSITORY.parent / "shared" / "oracles")
METEOR = ["METEOR-1.5"] if find_spec("pycocoevalcap") and find_spec("snowballstemmer") else []
# Start-up is timed with cached bytecode, as users have it.
WARM = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
Check = tuple[str, str, str, bool]


def oracle(name: str) -> Any:
    """Return the content of one file of published figures."""
    return json.loads((ORACLES / name).read_text(encoding="utf-8"))


def equal(check: str, value: float, expected: float, digits: int = 4) -> Check:
    """Return the check that two numbers agree in all digits shown."""
    return check, f"{value:.{digits}f}", f"{expected:.{digits}f}", round(value, digits) == round(expected, digits)


def sfres() -> Iterator[Check]:
    """Compare with nlg-eval on 1,181 real outputs, segment by segment."""
    expected = oracle("sfres_nlgeval.json")
    names = ["BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", *METEOR, "ROUGE-L", "CIDEr"]
    pairs = [TextPair(s["hypothesis"], tuple(s["references"])) for s in expected["segments"]]
    result = score_pairs(pairs, names, "nlg-eval")
    for index, name in enumerate(result.scores):
        value, wanted = result.scores[name].value or 0.0, expected["corpus"]["nlg-eval"][name]
        yield f"sfres, nlg-eval: {name}", f"{value:.6f}", f"{wanted:.6f}", abs(value - wanted) < 1e-6
        each = np.array([s["scores"][name] for s in expected["segments"]])
        worst = float(np.abs(result.segments[:, index] - each).max())
        yield f"    furthest of {len(each)} segments", f"{worst:.1e}", "< 1e-6", worst < 1e-6
    value = score_pairs(pairs, ["BLEU-4"], "nlg-eval").scores["BLEU-4"].value or 0.0
    yield equal(
        "    BLEU-4 beside sacreBLEU, tokenize=none", value * 100, expected["corpus"]["sacrebleu(tokenize=none)"]
    )


def e2e() -> Iterator[Check]:
    """Compare with the E2E challenge's scripts on its baseline's outputs."""
    expected = oracle("calibration.json")["e2e"]
    hypotheses = (ORACLES / "e2e_tgen_outputs.txt").read_text(encoding="utf-8").splitlines()
    examples = load_corpus("e2e", DATA).split("test")
    pairs = [TextPair(text, e.references, e.turn) for text, e in zip(hypotheses, examples, strict=True)]
    names = {"BLEU-4": "BLEU", "NIST": "NIST (python mteval)", "ROUGE-L": "ROUGE-L", "CIDEr": "CIDEr"}
    names |= {name: name for name in METEOR}
    scores = score_pairs(pairs, list(names), "e2e").scores
    for ours, theirs in names.items():
        yield equal(f"e2e: {ours}", scores[ours].value or 0.0, expected[theirs])


def hdc() -> Iterator[Check]:
    """Compare with RNNLG's loader and scorer on its handcrafted baseline."""
    expected = oracle("calibration.json")["rnnlg"]
    metric = bleu.create("rnnlg")
    for corpus, wanted in expected["HDC BLEU-4"].items():
        examples = load_corpus(corpus, DATA).split("test")
        references, _ = references_for("rnnlg", examples)
        hypotheses = handcrafted_for(examples)
        rows = metric.statistics(list(map(Segment, hypotheses, references)))
        yield equal(f"rnnlg: HDC BLEU-4, {corpus}", float(metric.score(rows.sum(axis=0))[3]), wanted)
        if corpus == "restaurants":
            mean = sum(map(len, references)) / len(references)
            yield equal("    references a row", mean, expected["references per act (restaurants)"], 0)
            gold = [rnnlg.slot_errors(s, e.turn) for e, r in zip(examples, references, strict=True) for s in r]
            theirs = [rnnlg.slot_errors(s, e.turn) for e, s in zip(examples, hypotheses, strict=True)]
            for name, counts in (("gold references", gold), ("HDC", theirs)):
                rate = sum(wrong for _, wrong in counts) / sum(required for required, _ in counts)
                yield equal(f"    ERR, {name}", rate, expected["slot error, restaurants"][name])


def tiny() -> Iterator[Check]:
    """Compare on single pairs with nlg-eval's figures and the paper's rule."""
    case = oracle("calibration.json")["nlg-eval, tiny"]
    pair = TextPair(case["hypothesis"], tuple(case["references"]))
    scores = score_pairs([pair], ["BLEU", *METEOR, "ROUGE-L"], "nlg-eval").scores
    for name, score in scores.items():
        value = score.value or 0.0
        yield f"tiny: {name}", f"{value:.7f}", f"{case[name]:.7f}", abs(value - case[name]) <= 1e-6
    segment = Segment("a b c d", ("a b x y z w", "c"))
    yield equal("ROUGE-L, precision and recall apart", RougeL("nlg-eval").score_segment(segment), 0.7093)
    yield equal("ROUGE-L, best reference", RougeL("best-reference").score_segment(segment), 0.4485)


def start_up() -> Iterator[Check]:
    """Time `dactnlg score` on ten pairs as a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.jsonl"
        path.write_text('{"hypothesis": "a b c d e", "references": ["a b c d e"]}\n' * 10, encoding="utf-8")
        program = (
            "import sys; from dactnlg.cli.main import main; "
            "main(['score', '--input', sys.argv[1]]); print('tensorflow' in sys.modules)"
        )
        command = [sys.executable, "-c", program, str(path)]
        times, cpu, loaded = [], [], ""
        for _ in range(5):
            start, before = time.perf_counter(), children_cpu()
            done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=REPOSITORY, env=WARM)
            times.append(time.perf_counter() - start)
            cpu.append(children_cpu() - before)
            loaded = done.stdout.splitlines()[-1]
    yield "score, 10 pairs: seconds (best of 5)", f"{min(times):.2f}", "< 0.50", min(times) < 0.5
    yield "    CPU seconds", f"{min(cpu):.2f}", "< 0.50", min(cpu) < 0.5
    yield "    TensorFlow loaded", loaded, "False", loaded == "False"


def confidence() -> Iterator[Check]:
    """Time the bootstrap of BLEU on 1,000 pairs."""
    segments = [Segment(s["hypothesis"], s["references"]) for s in oracle("sfres_nlgeval.json")["segments"][:1000]]
    metric = bleu.create("nlg-eval")
    rows = metric.statistics(segments)
    start = time.perf_counter()
    low, high = interval(bootstrap(metric.score, rows, 1000))[3]
    seconds = time.perf_counter() - start
    yield "bootstrap, 1,000 resamples of 1,000 pairs: s", f"{seconds:.2f}", "< 1.00", seconds < 1
    yield "    BLEU-4, 95% interval", f"{low:.4f}-{high:.4f}", "", low < high


def race() -> Iterator[Check]:
    """Race pycocoevalcap on 1,000 pairs with two references, of SFRES and E2E; imports and Java included."""
    if not (METEOR and shutil.which("java")):
        yield "race against pycocoevalcap", "passed over", "needs dactnlg[meteor] and Java", True
        return
    pairs = [(s["hypothesis"], s["references"]) for s in oracle("sfres_nlgeval.json")["segments"]]
    outputs = (ORACLES / "e2e_tgen_outputs.txt").read_text(encoding="utf-8").splitlines()
    pairs += [(h, e.references) for h, e in zip(outputs, load_corpus("e2e", DATA).split("test"), strict=True)]
    # coco-caption's ROUGE-L counts an empty word between two spaces; ours splits at any white space.
    rows = [
        {"hypothesis": " ".join(h.split()), "references": [" ".join(r.split()) for r in refs[:2]]}
        for h, refs in pairs
        if len(refs) > 1
    ][:1000]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        # They take turns, so that other work on the machine affects both, and the best time of each counts.
        ours, theirs = zip(*((timed(OURS, str(path)), timed(THEIRS, str(path))) for _ in range(4)), strict=True)
    us, them = ours[0].printed, theirs[0].printed
    peak = us.pop("memory")
    for name, value in us.items():
        yield equal(f"race: {name}", value, them[name], 6)
    # There is no goal for processor time: METEOR's worker process saves wall time, but its start costs processor time.
    for clock, what, least in (("wall", "seconds", 15.0), ("cpu", "CPU seconds", None)):
        mine, other = (min(getattr(run, clock) for run in runs) for runs in (ours, theirs))
        yield f"race: {what}, ours and theirs", f"{mine:.2f}", f"{other:.2f}", True
        target = "" if least is None else f"> {least:.0f}"
        yield f"race: times faster in {what}", f"{other / mine:.1f}", target, least is None or other / mine > least
    yield "race: peak memory here, MB", f"{peak:.0f}", "< 1000", peak < 1000


class Run(NamedTuple):
    """One run of a program: its wall and CPU seconds, children included, and the numbers that it printed."""

    wall: float
    cpu: float
    printed: dict[str, float]


def timed(program: str, path: str) -> Run:
    """Run a program in a process of its own."""
    start, before = time.perf_counter(), children_cpu()
    done = subprocess.run(
        [sys.executable, "-c", program, path], check=True, capture_output=True, cwd=REPOSITORY, env=WARM
    )
    return Run(time.perf_counter() - start, children_cpu() - before, json.loads(done.stdout.splitlines()[-1]))


OURS = """
import json, sys
from dactnlg.evaluation.scoring import read_input, score_pairs
result = score_pairs(read_input(sys.argv[1]), ["BLEU", "METEOR-1.5", "ROUGE-L", "CIDEr"], "nlg-eval", keep=False)
# Not `getrusage`: what that calls the peak includes the parent's.
memory = next((int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith("VmHWM")), 0)
print(json.dumps({"memory": memory} | {name: score.value for name, score in result.scores.items()}))
"""
THEIRS = """
import contextlib, io, json, sys
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.meteor.meteor import Meteor
from pycocoevalcap.rouge.rouge import Rouge
rows = [json.loads(line) for line in open(sys.argv[1])]
references = {i: row["references"] for i, row in enumerate(rows)}
hypotheses = {i: [row["hypothesis"]] for i, row in enumerate(rows)}
with contextlib.redirect_stdout(io.StringIO()):
    values = [f"BLEU-{n}" for n in range(1, 5)], Bleu(4).compute_score(references, hypotheses)[0]
    scores = dict(zip(*values))
    for name, scorer in (("METEOR-1.5", Meteor()), ("ROUGE-L", Rouge()), ("CIDEr", Cider())):
        scores[name] = float(scorer.compute_score(references, hypotheses)[0])
print(json.dumps(scores))
"""


def main() -> int:
    """Print every check; return 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fast", action="store_true", help="leave out the race against pycocoevalcap")
    parser.add_argument("--million", action="store_true", help="only score a million pairs from disk")
    options = parser.parse_args()
    if options.million:
        return million.run()
    checks: list[Callable[[], Iterator[Check]]] = [sfres, e2e, hdc, tiny, start_up, confidence]
    if not options.fast:
        checks.append(race)
    failed = 0
    print(f"{'check':<45}{'here':>14}{'reference':>34}")
    for check in checks:
        for name, value, expected, passed in check():
            failed += not passed
            print(f"{name:<45}{value:>14}{expected:>34}  {'' if passed else 'DIFFERS'}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
