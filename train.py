"""Train a generator: `python train.py CONFIG [--set key=value]... [--output RUN] [--resume]`, as `dactnlg train`."""

from __future__ import annotations

import sys

from dactnlg.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["train", *sys.argv[1:]]))
