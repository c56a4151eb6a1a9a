"""`dactnlg study`: people rate what systems say; a file a command."""

from __future__ import annotations

import click

from dactnlg.cli.study.analyse import analyse
from dactnlg.cli.study.create import create
from dactnlg.cli.study.power import power
from dactnlg.cli.study.serve import serve


@click.group(no_args_is_help=True)
def study() -> None:
    """Let people rate sentences, and learn from their ratings about systems and metrics.

    \b
    dactnlg study create --corpus trails --systems gold runs/trails-sclstm --raters 18 --output study
    dactnlg study serve study
    dactnlg study analyse study --report report.html
    """


for command in (create, serve, analyse, power):
    study.add_command(command)
