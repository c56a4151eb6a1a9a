"""`dactnlg study serve`: pages for raters, and one for the study's owner."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dactnlg.cli import streams
from dactnlg.cli.options import PATH
from dactnlg.cli.study.options import server

if TYPE_CHECKING:
    from dactnlg.studies.server.session import ServerOptions


@click.command()
@click.argument("study", type=PATH, metavar="STUDY")
@server
def serve(*, study: Path, options: ServerOptions) -> None:
    """Serve a study: each rater opens a link, consents, answers page after page, and can continue there later.

    The links are in links.csv in the study's folder. Answers that were acknowledged survive a crash of the machine.
    The owner's page, /owner, shows everybody's progress and how well raters agree. Ctrl-C ends the server; run the same
    command again to continue. For each rater it stores a number, the hash of the link, the answers and their times, but
    no address.

    On the internet, put an HTTPS server in front of it, and give the address where raters reach that with --base-url.

    \b
    dactnlg study serve study
    dactnlg study serve study --host 0.0.0.0 --port 8000 --base-url http://192.168.1.20:8000
    dactnlg study serve study --database postgresql+psycopg://me@localhost/ratings --base-url https://rate.example.org
    """
    from dactnlg.studies.server.application import build
    from dactnlg.studies.server.session import serve_study
    from dactnlg.studies.storage import Storage
    from dactnlg.studies.study import Study

    study = Study.folder(study)
    found = Study.load(study)
    opened, made = partial(Storage.open, study, found, options.database), partial(build, found)
    serve_study(study, list(found.rater_by_id), opened, made, options, called="raters", tell=click.echo)
    streams.tell(f"the server has ended; the answers are in {options.database and 'the database' or study}")
