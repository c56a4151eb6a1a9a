"""The command line: arguments, messages and exit codes, a file a command."""

from dactnlg.cli.main import main

__all__ = ["main"]
