"""`dactnlg study serve`: pages for raters, and one for the study's owner."""

from __future__ import annotations

from pathlib import Path

import click

from dactnlg.cli import options, streams


@click.command()
@click.argument("study", type=options.PATH, metavar="STUDY")
@click.option("--host", default="127.0.0.1", metavar="HOST", help="Listen at; 0.0.0.0 for every network.")
@click.option("--port", type=click.IntRange(0, 65535), default=8080, metavar="PORT", help="0 takes any that is free.")
@click.option(
    "--database",
    envvar="DACTNLG_DATABASE",
    metavar="URL",
    help="Keep answers in PostgreSQL: postgresql+psycopg://USER:PASSWORD@HOST/NAME; or in DACTNLG_DATABASE. "
    "[default: ratings.sqlite in the study]",
)
@click.option(
    "--owner-token",
    envvar="DACTNLG_OWNER_TOKEN",
    metavar="TOKEN",
    help="What the owner's page asks for; or in DACTNLG_OWNER_TOKEN. [default: a new one, printed]",
)
@click.option("--base-url", metavar="URL", help="Where raters reach the server. [default: host and port]")
@click.option("--new-links", is_flag=True, help="Make all links of raters anew; the old ones end.")
@click.option("--show-links", is_flag=True, help="Print every rater's link.")
def serve(
    *,
    study: Path,
    host: str,
    port: int,
    database: str | None,
    owner_token: str | None,
    base_url: str | None,
    new_links: bool,
    show_links: bool,
) -> None:
    """Serve a study: each rater opens a link, agrees, answers page after page, and goes on there another time.

    The links are in links.csv in the study's folder. Answers that were acknowledged survive a crash of the machine.
    The owner's page, /owner, shows how far everybody is and how well raters agree. Ctrl-C ends the server; the same
    command goes on. Of a rater it keeps a number, the hash of the link, the answers and their times; no address.

    In the open, put a server with HTTPS before it, and say where raters reach that with --base-url.

    \b
    dactnlg study serve study
    dactnlg study serve study --host 0.0.0.0 --port 8000 --base-url http://192.168.1.20:8000
    dactnlg study serve study --database postgresql+psycopg://me@localhost/ratings --base-url https://rate.example.org
    """
    from dactnlg._utils.web.server import address, bound
    from dactnlg._utils.web.tokens import digest
    from dactnlg.studies.server import application, door, links
    from dactnlg.studies.storage import Storage
    from dactnlg.studies.study import Study

    token = door.owner_token(owner_token)
    found = Study.load(study)
    with bound(host, port) as listening:
        where = application.check_base_url(base_url) if base_url else address(listening)
        storage = Storage.open(study, found, database)
        try:
            tokens = links.rater_tokens(study, list(found.rater_by_id), where, renew=new_links)
            storage.set_links({rater: digest(each) for rater, each in tokens.items()}, replace=new_links)
            click.echo(f"{where}  {len(tokens)} raters, whose links are in {study / links.FILE}")
            click.echo(f"{where}/owner  " + ("" if owner_token else f"token {token}"))
            for rater, each in tokens.items() if show_links else ():
                click.echo(f"{links.link(where, each)}  {rater}")
            streams.flush()
            application.serve(application.build(found, storage, token, where), listening)
        finally:
            storage.close()
    streams.tell(f"the server has ended; the answers are in {database and 'the database' or study}")
