"""`dactnlg study`: people rate what systems say; one file per command."""

from __future__ import annotations

import click

from dactnlg.cli.study.analyse import analyse
from dactnlg.cli.study.create import create
from dactnlg.cli.study.datasheet import datasheet
from dactnlg.cli.study.export import export
from dactnlg.cli.study.import_ import import_
from dactnlg.cli.study.power import power
from dactnlg.cli.study.serve import serve


@click.group(no_args_is_help=True)
def study() -> None:
    """Let people rate sentences, and learn about systems and metrics from their ratings.

    \b
    dactnlg study create --corpus trails --systems gold runs/trails-sclstm --raters 18 --output study
    dactnlg study serve study
    dactnlg study analyse study --report report.html
    """


for command in (create, serve, export, import_, analyse, power, datasheet):
    study.add_command(command)
