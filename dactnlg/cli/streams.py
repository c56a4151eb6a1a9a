"""The standard streams: UTF-8, errors that name the stream, and no tracebacks if one is closed, full or broken."""

from __future__ import annotations

import contextlib
import errno
import io
import logging
import os
import sys
from pathlib import Path
from typing import Any

from dactnlg._utils.terminal import LINES, PlainTerminal, printable

_INPUT, _OUTPUT = "standard input", "standard output"


class _Output(io.FileIO):
    """Standard output, named by its first error; after that, output is discarded.

    A buffer tries to write its contents again when it is garbage-collected, and since Python 3.13 prints its errors.
    """

    _failed = False

    def write(self, data: Any) -> int:
        """Write bytes."""
        if self._failed:
            return len(data)
        try:
            return super().write(data)
        except OSError as error:
            self._failed = True
            raise OSError(error.errno, error.strerror, _OUTPUT) from None


class _ClosedStream(io.RawIOBase):
    """A standard stream that was closed when the process started: using it raises an error that names it.

    Args:
        label: its name in messages.
    """

    def __init__(self, label: str) -> None:
        self._label, self._failed = label, False

    def readable(self) -> bool:
        """Return True: only reading fails."""
        return True

    def writable(self) -> bool:
        """Return True: only writing fails."""
        return True

    def readinto(self, _: Any) -> int:
        """Refuse to read."""
        return self.fileno()

    def write(self, data: Any) -> int:
        """Refuse to write."""
        if self._failed:
            return len(data)
        # As in `_Output`: its buffer will write again.
        self._failed = True
        return self.fileno()

    def fileno(self) -> int:
        """Refuse to name a file."""
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), self._label)

    def isatty(self) -> bool:
        """Return False."""
        return False


def prepare() -> None:
    """Make the standard streams fit for use; called once when a process begins."""
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        # Otherwise the next file opened would get the number of a standard stream, which libraries write to.
        while os.open(os.devnull, os.O_RDWR) < 2:
            pass
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(_ClosedStream(_INPUT)), "utf-8")
    if sys.stderr is None:
        # Messages are discarded.
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - lives as long as the process
    out = sys.stdout
    if out is None:
        sys.stdout = _text(io.BufferedWriter(_ClosedStream(_OUTPUT)))
    elif out is sys.__stdout__ and isinstance(out, io.TextIOWrapper) and not isinstance(out.buffer, _Output):
        raw = _Output(out.fileno(), "w", closefd=False)
        kind = PlainTerminal if out.isatty() else io.TextIOWrapper
        sys.stdout = _text(
            io.BufferedWriter(raw), kind, line_buffering=out.line_buffering, write_through=out.write_through
        )
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Output is UTF-8 whatever the locale; a lone surrogate from JSON must not stop the lines after it.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def tell(message: str) -> None:
    """Write a line to standard error; errors, such as a closed stream, are ignored."""
    with contextlib.suppress(OSError, ValueError):
        print(f"dactnlg: {printable(message, LINES)}", file=sys.stderr, flush=True)


class MessageHandler(logging.Handler):
    """Writes the messages of the logger `dactnlg` to standard error, above a progress bar if there is one."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a message; warnings and errors are prefixed with their level."""
        text = printable(record.getMessage(), LINES)
        if record.levelno >= logging.WARNING:
            text = f"dactnlg: {record.levelname.lower()}: {text}"
        # A progress bar can exist only if tqdm has been imported.
        bars = sys.modules.get("tqdm")
        with contextlib.suppress(OSError, ValueError):
            if bars is None:
                print(text, file=sys.stderr, flush=True)
            else:
                bars.tqdm.write(text, file=sys.stderr)
                sys.stderr.flush()


def flush() -> None:
    """Flush standard output.

    Raises:
        OSError: it cannot be written. Its contents are discarded, or Python would try again at exit, and complain.
    """
    try:
        sys.stdout.flush()
    except OSError:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - lives as long as the process
        raise


def discard_messages() -> None:
    """Discard what standard error does not take, or Python would try again at exit, and return 120."""
    try:
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - lives as long as the process


def _text(
    buffer: Any,
    kind: type[io.TextIOWrapper] = io.TextIOWrapper,
    *,
    line_buffering: bool = False,
    write_through: bool = False,
) -> io.TextIOWrapper:
    return kind(buffer, "utf-8", "backslashreplace", line_buffering=line_buffering, write_through=write_through)
