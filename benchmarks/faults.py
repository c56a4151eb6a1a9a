"""Random faults: is anything lost, mixed up or left half done, and does every failure end with a plain message?

    python benchmarks/faults.py                  5,000 cases, half an hour on two cores
    python benchmarks/faults.py --cases 200      fewer
    python benchmarks/faults.py --only disk      one kind of faults

Kinds: `damage` truncates, empties, replaces or alters a file of a run, and then runs a command that reads it; `disk`
runs a command that can write only so many bytes to each file, as on a full disk, and then again without the limit; the
others kill training, generation, publication and sweeps (SIGKILL, SIGINT, SIGTERM) at random moments, and then let them
finish. A case is a fault if a command ends with a traceback, with an exit code outside the contract, or with another
result than an undisturbed one. The cases depend on the seed alone, but not the instruction at which a kill strikes.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from faults_bench import SIZES, TRAIN, Bench, Done, run
from tqdm import tqdm

from dactnlg.experiments import published
from dactnlg.runs.config import load_config

CASES = 5000
SHARES = {"damage": 0.78, "disk": 0.14, "train": 0.04, "generate": 0.03, "publish": 0.009, "sweep": 0.001}
SWEEP = """
config: trails-sclstm
set: {training.epochs: 2, model.hidden_size: 16, model.embedding_size: 16}
space: {training.seed: [1, 2]}
"""


def damaged(data: bytes, chance: random.Random, other: bytes) -> tuple[str, bytes]:
    """Return a kind of damage, drawn at random, and the data so damaged."""
    kind = chance.choice(["truncate", "flip", "empty", "swap", "change", "drop", "type"])
    if kind == "truncate":
        return kind, data[: chance.randrange(len(data) + 1)]
    if kind == "empty":
        return kind, b""
    if kind == "swap":
        return kind, other
    if kind in ("drop", "type"):
        with contextlib.suppress(ValueError):
            return kind, json.dumps(_changed(json.loads(data), chance, kind)).encode()
    changed = bytearray(data or b"?")
    for _ in range(1 if kind == "flip" else chance.randrange(1, 20)):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return "flip", bytes(changed)


def _changed(value: Any, chance: random.Random, kind: str) -> Any:
    """Return JSON data with one value, at any depth, dropped or replaced by one of another type."""
    children = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    if children and chance.random() < 0.85:
        key = chance.choice(children)
        if kind == "drop" and chance.random() < 0.5:
            del value[key]
        else:
            value[key] = _changed(value[key], chance, kind)
        return value
    return chance.choice([None, True, -1, 1e308, 10**30, "", "x" * 50, [], {}, [[]], {"a": 1}, "../../x"])


def damage(bench: Bench, chance: random.Random, number: int) -> None:
    """Damage a file of a run, and run a command that reads it."""
    resume = chance.random() < 0.25
    base, folder = bench.half if resume else bench.whole, bench.scratch / "case"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(base, folder)
    path = chance.choice(sorted(path for path in folder.iterdir() if path.name[0] != "."))
    strangers = [bench.other / path.name, *sorted(path for path in bench.whole.iterdir() if path.is_file())]
    swapped = chance.choice([each for each in strangers if each.is_file()])
    kind, data = damaged(path.read_bytes(), chance, swapped.read_bytes())
    path.write_bytes(data)
    command: tuple[str | Path, ...] = (*TRAIN, folder, "--resume")
    if not resume:
        others = [("leaderboard", folder), bench.evaluate(folder, folder / "out.json"), ("publish", folder)]
        command = bench.generate(folder) if chance.random() < 0.6 else chance.choice(others)
    done = run(*command)
    same = True
    if done.code == 0 and resume:
        same = bench.result(folder) == bench.result(bench.whole)
    elif done.code == 0 and command[0] == "generate" and path.name != "config.yaml":
        # An edited configuration may give other sentences.
        same = done.out == bench.sentences
    bench.judge(done, f"damage {number}: {kind} {path.name} {command[0]}", same=same)


@contextlib.contextmanager
def full_disk(size: int) -> Iterator[None]:
    """Let no file grow beyond `size` bytes, as if the disk were full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def disk(bench: Bench, chance: random.Random, number: int) -> None:
    """Run a command on a full disk, then again with enough space."""
    folder, kind = bench.scratch / "case", chance.choice(["train", "generate", "evaluate", "score"])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    size = int(2 ** chance.uniform(0, 20 if kind == "train" else 17))
    report = folder / chance.choice(["report.html", "report.md"])
    pairs = folder / "pairs.jsonl"
    pairs.write_text('{"hypothesis": "a b c d", "references": ["a b c e"]}\n' * 50)
    command: dict[str, tuple[str | Path, ...]] = {
        "train": (*TRAIN, folder / "run", "--resume"),
        "generate": (*bench.generate(bench.whole), "--output", folder / "out", "--resume"),
        "evaluate": (*bench.evaluate(bench.other, folder / "scores.json"), "--report", report),
        "score": ("score", "--input", pairs, "--metric", "BLEU", "--json", folder / "scores.json", "--report", report),
    }
    with full_disk(size):
        done = run(*command[kind])
    half = [path for path in folder.rglob("*") if "partial-" in path.name]
    half += [path for path in (folder / "scores.json", report) if path.exists() and not _whole(path)]
    bench.judge(done, f"disk {number}: {kind} at {size}, left {half}", same=not half)
    again = run(*command[kind])
    same = again.code == 0
    if kind == "train":
        same = same and bench.result(folder / "run") == bench.result(bench.whole)
    elif kind == "generate":
        same = same and (folder / "out").read_text(encoding="utf-8") == bench.sentences
    bench.judge(again, f"disk {number}: {kind} again after {size}", same=same)


def _whole(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    return bool(text) and (path.suffix != ".json" or isinstance(json.loads(text), dict))


def kill(bench: Bench, chance: random.Random, case: str, command: Sequence[str | Path], seconds: float) -> None:
    """Run a command again and again, killed at random moments at most three times, until it has ended by itself."""
    for attempt in range(1, 30):
        process = bench.fork(*command)
        number = chance.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM]) if attempt < 4 else None
        if number is not None:
            time.sleep(chance.random() * seconds)
            os.kill(process, number)
            if number != signal.SIGKILL and chance.random() < 0.3:
                time.sleep(chance.random() * 0.02)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, number)
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        # A SIGTERM before the command's first line, or after its last, kills the process.
        if code not in (-signal.SIGKILL, -signal.SIGTERM):
            told = (bench.scratch / "told").read_text(encoding="utf-8", errors="replace")
            message = told[told.find("dactnlg: ") :] if "dactnlg: " in told and "Traceback" not in told else told
            wrong = code not in ((0, 130) if number else (0,))
            bench.judge(Done(code, "", message), f"{case}, attempt {attempt}", same=not wrong)
            if code == 0 or wrong:
                break


def kill_train(bench: Bench, chance: random.Random, number: int) -> None:
    """Kill a training, and let it finish."""
    folder = bench.scratch / "killed"
    shutil.rmtree(folder, ignore_errors=True)
    kill(bench, chance, f"train {number}", (*TRAIN, folder, "--resume"), 2.5)
    same = bench.result(folder) == bench.result(bench.whole)
    bench.judge(run(*bench.generate(folder)), f"train {number}: the end", same=same)


def kill_generate(bench: Bench, chance: random.Random, number: int) -> None:
    """Kill a generation, and let it finish."""
    output = bench.scratch / "killed.txt"
    for path in bench.scratch.glob("*killed.txt*"):
        path.unlink()
    kill(bench, chance, f"generate {number}", (*bench.generate(bench.whole), "--output", output, "--resume"), 0.6)
    same = output.read_text(encoding="utf-8") == bench.sentences
    bench.judge(Done(0, "", ""), f"generate {number}: the end", same=same)


def kill_publish(bench: Bench, chance: random.Random, number: int) -> None:
    """Kill a publication; the next one must be complete, and the only one."""
    # Each case has its own store: MLflow keeps the database of a deleted one open.
    os.environ["DACTNLG_TRACK"] = str(bench.scratch / f"store-{number}")
    folder = bench.scratch / "clean"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(bench.whole, folder)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    code = {"commit": "0" * 40, "clean": True, "unclean": [], "root": None}
    for part in (manifest, *manifest["evaluations"]):
        part["code"] = code
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    kill(bench, chance, f"publish {number}", ("publish", folder), 8.0)
    last = run("publish", folder)
    bench.judge(last, f"publish {number}: again", same=last.code == 0 and len(list(published.manifests())) == 1)


def kill_sweep(bench: Bench, chance: random.Random, number: int) -> None:
    """Kill a sweep, and let it finish: every trial must equal the same run trained alone."""
    folder, file = bench.scratch / "swept", bench.scratch / "sweep.yaml"
    shutil.rmtree(folder, ignore_errors=True)
    file.write_text(SWEEP, encoding="utf-8")
    kill(bench, chance, f"sweep {number}", ("sweep", file, "--output", folder, "--jobs", "2", "--resume"), 40.0)
    for trial in sorted(folder.glob("trial-*")):
        alone = bench.scratch / "alone"
        shutil.rmtree(alone, ignore_errors=True)
        seed = load_config(trial / "config.yaml").training.seed
        sizes = [word for size in ("training.epochs=2", *SIZES[2:]) for word in ("--set", size)]
        bench.must("train", "trails-sclstm", *sizes, "--set", f"training.seed={seed}", "--output", alone)
        same = (alone / "weights.safetensors").read_bytes() == (trial / "weights.safetensors").read_bytes()
        bench.judge(Done(0, "", ""), f"sweep {number}: {trial.name}", same=same)


KINDS: dict[str, Callable[[Bench, random.Random, int], None]] = {
    "damage": damage,
    "disk": disk,
    "train": kill_train,
    "generate": kill_generate,
    "publish": kill_publish,
    "sweep": kill_sweep,
}


def main() -> int:
    """Print the table; return 1 if there were faults."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=CASES, help="of all kinds together")
    parser.add_argument("--seed", type=int, default=1, help="of the cases")
    parser.add_argument("--only", choices=KINDS, action="append", help="a kind of faults; may be repeated")
    options = parser.parse_args()
    rows, faults = [], []
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["DACTNLG_TRACK"] = str(Path(scratch) / "store")
        bench = Bench(Path(scratch))
        for kind in options.only or KINDS:
            count, begun = max(1, round(options.cases * SHARES[kind])), time.perf_counter()
            for number in tqdm(range(count), desc=kind, leave=False, disable=None):
                KINDS[kind](bench, random.Random(f"{options.seed}/{kind}/{number}"), number)
            found = Counter(
                "traceback" if "a traceback" in f else "code" if "its ending" in f else "result" for f in bench.faults
            )
            rows.append((kind, count, found["traceback"], found["code"], found["result"], time.perf_counter() - begun))
            faults += bench.faults
            bench.faults = []
    print(
        "| fault | cases | tracebacks | foreign exit codes | differing results | seconds |\n|---|---|---|---|---|---|"
    )
    for kind, *numbers, seconds in rows:
        print(f"| {kind} | {' | '.join(map(str, numbers))} | {seconds:.0f} |")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
