"""The command line: arguments, messages and exit codes, a file a command.

Each file reads its arguments, calls one function of a lower room and prints what it returns; nothing is computed here.
`main` is the program `dactnlg`.
"""

from dactnlg.cli.main import main

__all__ = ["main"]
