"""Training in one process and in two worker processes: the losses of each epoch, and the times.

    python benchmarks/workers.py                         TensorFlow and JAX, the embedded corpus
    python benchmarks/workers.py --backend jax --corpus restaurants --epochs 3

The workload is fixed: the sc-LSTM of the corpus's configuration, hidden 100, without dropout (each device of TensorFlow
would drop other units), `training.backend=keras`. Every run is `dactnlg train` as a process. Two workers on one machine
share its cores: the table shows that the losses agree, not what a second machine gains. Times are those of the epochs
in the run's history, of which the first compiles.
"""

from __future__ import annotations

import argparse
import csv
import os
import socket
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from common import DATA, REPOSITORY, versions


def start(corpus: str, backend: str, epochs: int, run: Path, *more: str) -> subprocess.Popen[str]:
    """Start a training as a process."""
    sets = [f"training.epochs={epochs}", f"training.patience={epochs}", "training.backend=keras", "model.dropout=0.0"]
    words = [word for setting in sets for word in ("--set", setting)]
    data = ["--data-dir", str(DATA)] if corpus != "trails" else []
    command = [sys.executable, "-m", "dactnlg", "train", f"{corpus}-sclstm", "--output", str(run), *words, *data]
    environment = {**os.environ, "KERAS_BACKEND": backend, "PYTHONPATH": str(REPOSITORY)}
    return subprocess.Popen(
        [*command, *more], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def finish(process: subprocess.Popen[str]) -> None:
    """Wait for a training; exit with its errors if it failed."""
    _, errors = process.communicate()
    if process.returncode:
        raise SystemExit(errors)


def history(run: Path) -> list[dict[str, float]]:
    """Return the figures of each epoch."""
    with (run / "history.csv").open(encoding="utf-8") as file:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]


def addresses(count: int) -> str:
    """Return free addresses of this machine, joined by commas."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    found = ",".join(f"127.0.0.1:{taken.getsockname()[1]}" for taken in sockets)
    for taken in sockets:
        taken.close()
    return found


def compare(corpus: str, backend: str, epochs: int, folder: Path) -> None:
    """Print the table of a backend."""
    one, two = folder / f"{backend}-one", folder / f"{backend}-two"
    finish(start(corpus, backend, epochs, one))
    where = addresses(2)
    for process in [
        start(corpus, backend, epochs, two, "--workers", where, "--worker", str(number)) for number in range(2)
    ]:
        finish(process)
    print(f"\n{backend} {version(backend)}, {corpus}\n")
    print("| epoch | loss, one process | two workers | valid loss, one | two | seconds, one | two |")
    print("|---|---|---|---|---|---|---|")
    furthest = 0.0
    for single, double in zip(history(one), history(two), strict=True):
        cells = [f"{row[name]:.7f}" for name in ("loss", "valid_loss") for row in (single, double)]
        cells += [f"{row['seconds']:.1f}" for row in (single, double)]
        print(f"| {single['epoch']:.0f} | {' | '.join(cells)} |")
        furthest = max(furthest, *(abs(single[name] - double[name]) for name in ("loss", "valid_loss")))
    print(f"\nfurthest apart: {furthest:.1e}", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=("tensorflow", "jax"), nargs="+", default=["tensorflow", "jax"])
    parser.add_argument("--corpus", choices=("trails", "restaurants"), default="trails")
    parser.add_argument("--epochs", type=int, default=4)
    options = parser.parse_args()
    print(versions("tensorflow", "jax", "keras", "numpy"))
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start")
    with tempfile.TemporaryDirectory() as folder:
        for backend in options.backend:
            compare(options.corpus, backend, options.epochs, Path(folder))
    print(f"\nload {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
