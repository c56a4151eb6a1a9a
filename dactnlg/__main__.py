"""`python -m dactnlg` is the command `dactnlg`."""

import signal
import sys
from collections.abc import Sequence


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command as a process does, and return its exit code; Ctrl-C is heard from the first import on."""
    try:
        from dactnlg.cli.main import main

        code = main(arguments)
    except KeyboardInterrupt:
        code = 130
    # What is left is Python's end, which would complain of a Ctrl-C in it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return code


if __name__ == "__main__":
    sys.exit(run())
