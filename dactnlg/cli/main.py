"""The program `dactnlg`: reads the arguments, runs a command, prints errors and returns the exit code.

Commands import what they need when they run, so that `--help`, `score` and `corpora` never import TensorFlow.
Exit codes: 0; 2 for what the user can mend, with one plain message; 130 after Ctrl-C; 1 for the rest.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence

import click

from dactnlg import __version__
from dactnlg._utils.terminal import PlainTerminal, printable
from dactnlg.cli.compare import compare
from dactnlg.cli.corpora import corpora
from dactnlg.cli.evaluate import evaluate
from dactnlg.cli.export import export
from dactnlg.cli.generate import generate
from dactnlg.cli.leaderboard import leaderboard
from dactnlg.cli.publish import publish
from dactnlg.cli.quiet import quiet_tensorflow
from dactnlg.cli.reproduce import reproduce
from dactnlg.cli.score import score
from dactnlg.cli.sweep import sweep
from dactnlg.cli.train import train
from dactnlg.errors import DactnlgError, UserError

LINES = "\n\t"
"""Control characters of messages that a terminal may have as they are."""


class _InOrder(click.Group):
    """A group that lists its commands in the order in which people need them, not by the alphabet."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(
    cls=_InOrder,
    help="Dialogue acts in, checked sentences out: train, generate, evaluate, score.",
    no_args_is_help=True,
    context_settings={"show_default": True},
)
@click.version_option(__version__, message="dactnlg %(version)s", help="Print the version and exit.")
def app() -> None:
    """Hold the commands; click needs a function."""


for command in (
    train,
    sweep,
    generate,
    evaluate,
    score,
    compare,
    publish,
    reproduce,
    leaderboard,
    export,
    corpora,
):
    app.add_command(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; `arguments` are those of the process by default."""
    quiet_tensorflow()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Output is UTF-8 whatever the locale; a lone surrogate from JSON must not stop the lines after it.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.isatty():
        sys.stdout = PlainTerminal(sys.stdout.detach(), "utf-8", "backslashreplace", line_buffering=True)
    try:
        given = list(sys.argv[1:] if arguments is None else arguments)
        # None if a command ran to its end, else the exit code that it raised.
        return int(app.main(given, "dactnlg", standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return 130
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else 1
    except UserError as error:
        print(f"dactnlg: {printable(str(error), LINES)}", file=sys.stderr)
        return 2
    except DactnlgError as error:
        print(f"dactnlg: {printable(str(error), LINES)}", file=sys.stderr)
        return 1
    except OSError as error:
        if error.filename is None:
            raise
        print(f"dactnlg: {printable(str(error.filename))}: {error.strerror}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
