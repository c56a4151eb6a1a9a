"""The command line: arguments in, calls to the package, messages and exit codes out.

Commands (`dactnlg.commands`) import what they need when they run: `--help`, `score` and `corpora` never wait for
TensorFlow.
Exit codes: 0; 2 for what the user can mend, with one plain message; 130 after Ctrl-C; 1 for the rest.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from dactnlg import __version__
from dactnlg.commands import corpora, exporting, making, runs, scoring, sweeping
from dactnlg.errors import DactnlgError, UserError
from dactnlg.quiet import quiet_tensorflow

app = typer.Typer(
    help="Dialogue acts in, checked sentences out: train, generate, evaluate, score.",
    no_args_is_help=True,
    add_completion=False,
    # Plain text: help and errors are read by people, logs and grep alike.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for command in (
    making.train,
    sweeping.sweep,
    making.generate,
    scoring.evaluate,
    scoring.score,
    scoring.compare,
    runs.publish,
    runs.reproduce,
    runs.leaderboard,
    exporting.export,
):
    app.command()(command)
app.add_typer(corpora.app, name="corpora")


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False) -> None:
    if version:
        print(f"dactnlg {__version__}")
        raise typer.Exit


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; `arguments` are those of the process by default."""
    quiet_tensorflow()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Sentences are UTF-8 wherever we run; a lone surrogate from JSON must not stop the line after it.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        app(args=list(sys.argv[1:] if arguments is None else arguments), prog_name="dactnlg")
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 1
    except KeyboardInterrupt:
        return 130
    except UserError as error:
        print(f"dactnlg: {error}", file=sys.stderr)
        return 2
    except DactnlgError as error:
        print(f"dactnlg: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        if error.filename is None:
            raise
        print(f"dactnlg: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
