"""Score a trained generator: `python evaluate.py --model RUN [--preset NAME]...`, as `dactnlg evaluate`."""

from __future__ import annotations

import sys

from dactnlg.__main__ import run

if __name__ == "__main__":
    sys.exit(run(["evaluate", *sys.argv[1:]]))
