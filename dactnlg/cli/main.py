"""The command line: arguments in, calls to the package, messages and exit codes out.

Commands (`dactnlg.commands`) import what they need when they run: `--help`, `score` and `corpora` never wait for
TensorFlow.
Exit codes: 0; 2 for what the user can mend, with one plain message; 130 after Ctrl-C; 1 for the rest.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence

import click

from dactnlg import __version__
from dactnlg.cli import corpora, making, runs, scoring
from dactnlg.cli import export as exporting
from dactnlg.cli import sweep as sweeping
from dactnlg.cli.quiet import quiet_tensorflow
from dactnlg.errors import DactnlgError, UserError


class _InOrder(click.Group):
    """Lists its commands in the order in which people need them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(
    cls=_InOrder,
    help="Dialogue acts in, checked sentences out: train, generate, evaluate, score.",
    no_args_is_help=True,
    context_settings={"show_default": True},
)
@click.version_option(__version__, message="dactnlg %(version)s", help="Print the version and leave.")
def app() -> None:
    """The group of these commands."""


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
    corpora.app,
):
    app.add_command(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; `arguments` are those of the process by default."""
    quiet_tensorflow()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Sentences are UTF-8 wherever we run; a lone surrogate from JSON must not stop the line after it.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        given = list(sys.argv[1:] if arguments is None else arguments)
        # None where a command ran to its end, else what it left with.
        return int(app.main(given, "dactnlg", standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return 130
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 1
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


if __name__ == "__main__":
    sys.exit(main())
