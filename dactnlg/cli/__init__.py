"""The command line: arguments, messages and exit codes, with one file per command.

Each file reads its arguments, calls functions of lower packages and prints what they return; nothing is computed here.
`main` is the program `dactnlg`.
"""

from dactnlg.cli.main import main

__all__ = ["main"]
