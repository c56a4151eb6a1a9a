"""A newcomer's first hour: three corpora of their own, with defaults alone and no file edited.

    python benchmarks/newcomer.py [--corpus flights] [--rows 2000] [--set KEY=VALUE] FOLDER

For each corpus the commands `init`, `corpora inspect`, `train`, `evaluate --report` and `generate` are run; the script
prints the minutes of each, and scores and sentences. For flights, sentences are generated for 50 acts that the data
lack, and patterns that do not use dactnlg check what they say.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

from common import DATA
from own_corpora import faults, unseen_flights, write, written

ACTS = 50
FILES = {"flights": "flights.csv", "home": "home.json", "e2e": "e2e.csv"}


def run(folder: Path, *arguments: str | Path) -> str:
    """Run a command, print how long it took, and return what it printed."""
    start = time.monotonic()
    command = [sys.executable, "-m", "dactnlg", *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    print(f"  {(time.monotonic() - start) / 60:5.2f} min  dactnlg {' '.join(map(str, arguments[:2]))}")
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def first_hour(folder: Path, data: str, settings: list[str]) -> Path:
    """Go from a data file to a report, and return the run."""
    name = Path(data).stem
    print(data)
    run(folder, "init", data, "--overwrite")
    run(folder, "corpora", "inspect", f"{name}.card.yaml")
    overrides = [word for setting in settings for word in ("--set", setting)]
    run(folder, "train", f"{name}.yaml", "--output", f"runs/{name}", "--overwrite", *overrides)
    run(folder, "evaluate", "--model", f"runs/{name}", "--report", f"{name}.html", "--json", f"{name}.scores.json")
    scores = json.loads((folder / f"{name}.scores.json").read_text(encoding="utf-8"))["scores"]
    print(
        "  " + ", ".join(f"{key} {entry['value']:.3f}" for key, entry in scores.items() if entry["value"] is not None)
    )
    return folder / "runs" / name


def generated(folder: Path, model: Path, acts: list[str]) -> list[dict[str, object]]:
    """Return the results of `generate` for acts."""
    (folder / "acts.txt").write_text("\n".join(acts) + "\n", encoding="utf-8")
    printed = run(folder, "generate", "--model", model.resolve(), "--input", "acts.txt", "--format", "json")
    return [json.loads(line) for line in printed.splitlines()]


def count_flights(folder: Path, model: Path) -> int:
    """Generate for 50 unseen flights; print the sentences that say a value wrong, and return their number."""
    unseen = unseen_flights(ACTS)
    wrong = 0
    results = generated(folder, model, [written(act, slots) for act, slots in unseen])
    for (act, slots), result in zip(unseen, results, strict=True):
        if found := faults(slots, str(result["text"])):
            wrong += 1
            print(f"    {written(act, slots)}\n      {result['text']}  [{'; '.join(found)}]")
    ok = sum(bool(result["slots_ok"]) for result in results)
    print(f"  {len(unseen) - wrong} of {len(unseen)} unseen acts say every value once; slots_ok {ok}")
    for result in results[:3]:
        print(f"    {result['text']}")
    return wrong


def main() -> int:
    """Run the chosen corpora; return 1 if a sentence for a flight says a value wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="for data, runs and reports")
    parser.add_argument("--corpus", choices=list(FILES), action="append", help="may be repeated [default: all]")
    parser.add_argument("--rows", type=int, default=2000, help="rows of E2E's training file; 0 for all")
    parser.add_argument(
        "--set", dest="settings", action="append", default=[], metavar="KEY=VALUE", help="override one key of training"
    )
    options = parser.parse_args()
    folder = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    write(folder)
    wrong = 0
    for name in options.corpus or list(FILES):
        if name == "e2e":
            text = (DATA / "e2e" / "trainset.csv").read_text(encoding="utf-8")
            lines = text.splitlines(keepends=True)[: options.rows + 1 if options.rows else None]
            (folder / "e2e.csv").write_text("".join(lines), encoding="utf-8")
        model = first_hour(folder, FILES[name], options.settings)
        if name == "flights":
            wrong = count_flights(folder, model)
        else:
            acts = {"home": ["inform(device='attic light';state=on;minutes=1;locked=no)"]}
            acts["e2e"] = ["name[Bob's], food[Indian], priceRange[cheap], familyFriendly[no], near[Fitzbillies]"]
            for result in generated(folder, model, acts[name]):
                print(f"    {result['text']}  slots_ok {result['slots_ok']}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
