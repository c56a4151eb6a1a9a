"""`python -m dactnlg` is the command `dactnlg`."""

import sys

from dactnlg.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
