"""Train a generator: `python train.py CONFIG [--set key=value]... [--output RUN] [--resume]`, as `dactnlg train`."""

from __future__ import annotations

import sys

from dactnlg.__main__ import run

if __name__ == "__main__":
    sys.exit(run(["train", *sys.argv[1:]]))
