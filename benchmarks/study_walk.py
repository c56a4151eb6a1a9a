"""A study from `create` to the report, as in the guide: the time of each command, and the time to type it.

    python benchmarks/study_walk.py RUN RUN

Eighteen raters answer at once over loopback, without thinking; everything else is the guide's commands as processes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from study_raters import Rater, rate_all, serving, tokens

from dactnlg._utils.tables import aligned

TYPED_IN_A_SECOND = 3
"""Characters: a slow typist, 36 words a minute."""


def main() -> None:
    """Print a row for each command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs=2, type=Path, metavar="RUN")
    runs = [str(run.resolve()) for run in parser.parse_args().runs]
    rows = [["command", "to type, s", "it takes, s"]]

    def told(command: str, seconds: float) -> None:
        rows.append([command.split(" --")[0], f"{len(command) / TYPED_IN_A_SECOND:.0f}", f"{seconds:.1f}"])

    def run(command: str, folder: Path) -> None:
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-m", *command.split()], cwd=folder, check=True, capture_output=True)
        told(command, time.perf_counter() - begun)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        systems = f"gold {runs[0]} {runs[1]}"
        run(f"dactnlg study create --corpus trails --acts 20 --systems {systems} --raters 18 --output study", folder)
        begun = time.perf_counter()
        with serving(folder / "study") as server:
            told("dactnlg study serve study", time.perf_counter() - begun)
            begun = time.perf_counter()
            wrong = rate_all([Rater(*one) for one in tokens(folder / "study").items()], [server], 300)
            if wrong:
                raise SystemExit("\n".join(wrong))
            rows.append(["18 raters, 20 pages each", "", f"{time.perf_counter() - begun:.1f}"])
        run("dactnlg study analyse study --people gold --report ratings.html", folder)
        run("dactnlg study datasheet study", folder)
        size = (folder / "ratings.html").stat().st_size
    print(aligned(rows, rule=True))
    print(f"the report has {size:,} bytes")


if __name__ == "__main__":
    main()
