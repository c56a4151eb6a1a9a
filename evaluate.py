"""Score a trained generator: `python evaluate.py --model RUN [--preset NAME]...`, as `dactnlg evaluate`."""

from __future__ import annotations

import sys

from dactnlg.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["evaluate", *sys.argv[1:]]))
