"""The program `dactnlg`: reads the arguments, runs a command, prints errors and returns the exit code.

Commands import what they need when they run, so that `--help`, `score` and `corpora` never import TensorFlow.
Exit codes: 0 for success; 2 for an error that the user can correct, with one plain message; 130 after Ctrl-C or
SIGTERM; 1 for anything else, including, without a message, a pipe whose reader has ended.
"""

from __future__ import annotations

import _thread
import contextlib
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from dactnlg import __version__
from dactnlg._utils.quiet import quiet_tensorflow
from dactnlg.cli import streams
from dactnlg.cli.chat import chat
from dactnlg.cli.check import check
from dactnlg.cli.compare import compare
from dactnlg.cli.corpora import corpora
from dactnlg.cli.distil import distil
from dactnlg.cli.evaluate import evaluate
from dactnlg.cli.export import export
from dactnlg.cli.generate import generate
from dactnlg.cli.imports import import_
from dactnlg.cli.init import init
from dactnlg.cli.leaderboard import leaderboard
from dactnlg.cli.lists import configs, metrics, presets
from dactnlg.cli.prompts import prompts
from dactnlg.cli.publish import publish
from dactnlg.cli.reproduce import reproduce
from dactnlg.cli.score import score
from dactnlg.cli.selfplay import selfplay
from dactnlg.cli.serve import serve
from dactnlg.cli.study import study
from dactnlg.cli.sweep import sweep
from dactnlg.cli.teach import teach
from dactnlg.cli.train import train
from dactnlg.cli.tune import tune
from dactnlg.errors import DactnlgError, UserError

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

INTERRUPTED = 130
GUIDES = "docs/pages/guides in the source code, where `make docs` builds them as pages"
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_EXTRAS = {"serve": "serve", "study": "studies", "chat": "studies"}
"""Commands that import the packages of an extra -> the extra; the others say themselves what they need."""


class _InOrder(click.Group):
    """A group that lists its commands in the order in which they were added, not alphabetically."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_paragraph()
        formatter.write_text(f"Guides (own data, cards, protocols, models) and the Python API: {_documentation()}.")

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            # Caught here, before click prints an empty line. From now on, Ctrl-C is ignored.
            _on_signals(signal.SIG_IGN)
            streams.tell(str(error) or "interrupted")
            raise click.exceptions.Exit(INTERRUPTED) from None


def _documentation() -> str:
    """Return where the documentation is: its URL in the package's metadata, or else its folder in the source code."""
    # Imported late: it is slow, and only `--help` needs it.
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        addresses = metadata("dactnlg").get_all("Project-URL") or []
    except PackageNotFoundError:
        addresses = []
    named: dict[str, str] = dict(entry.split(", ", 1) for entry in addresses if ", " in entry)
    return named.get("Documentation", GUIDES)


@click.group(
    cls=_InOrder,
    no_args_is_help=True,
    context_settings={"show_default": True},
)
@click.version_option(__version__, message="dactnlg %(version)s", help="Print the version and exit.")
def app() -> None:
    """Dialogue acts in, checked sentences out: train, generate, evaluate, score.

    \b
    dactnlg train trails-sclstm
    dactnlg generate --model runs/trails-sclstm "inform(name='Ivy Cutting';difficulty=easy)"
    dactnlg evaluate --model runs/trails-sclstm
    """


for command in (
    init,
    train,
    sweep,
    tune,
    generate,
    evaluate,
    score,
    check,
    compare,
    selfplay,
    publish,
    reproduce,
    leaderboard,
    export,
    serve,
    study,
    chat,
    import_,
    prompts,
    distil,
    teach,
    corpora,
    configs,
    presets,
    metrics,
):
    app.add_command(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; `arguments` are those of the process by default."""
    quiet_tensorflow()
    streams.prepare()
    log, messages = logging.getLogger("dactnlg"), streams.MessageHandler()
    log.addHandler(messages)
    hook, before = sys.unraisablehook, {number: signal.getsignal(number) for number in _SIGNALS}
    sys.unraisablehook = _heard_in_vain
    # SIGTERM ends a command as Ctrl-C does: partly written files are deleted, complete ones kept.
    _on_signals(_interrupt, signal.SIGTERM)
    try:
        code = _run(list(sys.argv[1:] if arguments is None else arguments))
        try:
            streams.flush()
        except OSError as error:
            return code or _failure(error)
        return code
    finally:
        streams.discard_messages()
        log.removeHandler(messages)
        log.setLevel(logging.NOTSET)
        sys.unraisablehook = hook
        for number, handler in before.items():
            _on_signals(handler, number)


def _run(arguments: list[str]) -> int:
    """Run one command; print its error, if there is one, and return the exit code."""
    try:
        # None if the command finished, or the exit code that it raised.
        return int(app.main(arguments, "dactnlg", standalone_mode=False) or 0)
    except click.ClickException as error:
        with contextlib.suppress(OSError):
            error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else 1
    except DactnlgError as error:
        streams.tell(str(error))
        return 2 if isinstance(error, UserError) else 1
    except OSError as error:
        return _failure(error)
    except (ModuleNotFoundError, ValueError) as error:
        # Keras is imported late, and only then fails to find this backend.
        backend, module = os.environ.get("KERAS_BACKEND", ""), (getattr(error, "name", "") or "").partition(".")[0]
        if backend and backend in (module, str(error).rpartition(" ")[2]):
            streams.tell(f"KERAS_BACKEND is {backend}, which Keras cannot find: install it, or take another backend")
        elif module and arguments[0] in _EXTRAS:
            streams.tell(f"{module} is not installed: pip install 'dactnlg[{_EXTRAS[arguments[0]]}]'")
        else:
            raise
        return 2


def _failure(error: OSError) -> int:
    """Print an error of the operating system, and return the exit code."""
    if isinstance(error, BrokenPipeError):
        # The reader has ended (`| head`), which is no error.
        return 1
    what = error.strerror or str(error) or type(error).__name__
    streams.tell(what if error.filename is None else f"{error.filename}: {what}")
    return 2


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Handle a signal as Ctrl-C is handled at this moment."""
    if signal.getsignal(signal.SIGINT) in (signal.SIG_IGN, signal.SIG_DFL, None):
        raise KeyboardInterrupt
    signal.raise_signal(signal.SIGINT)


def _heard_in_vain(lost: UnraisableHookArgs) -> None:
    """Repeat a Ctrl-C that arrived where Python drops exceptions, such as in garbage collection."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        _thread.start_new_thread(_interrupt_soon, ())
    else:
        sys.__unraisablehook__(lost)


def _interrupt_soon() -> None:
    """Interrupt the main thread once it has had time to leave the code that dropped the exception."""
    time.sleep(0.02)
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        # On Windows. This does not end a system call in which the main thread waits.
        _thread.interrupt_main()


def _on_signals(handler: Any, *numbers: signal.Signals) -> None:
    """Set the handler of some signals, by default SIGINT and SIGTERM; does nothing outside the main thread."""
    with contextlib.suppress(ValueError, TypeError):
        for number in numbers or _SIGNALS:
            signal.signal(number, handler)


if __name__ == "__main__":
    sys.exit(main())
