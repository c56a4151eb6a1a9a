"""`dactnlg study serve`: the pages that raters see."""

from __future__ import annotations

from pathlib import Path

import click

from dactnlg.cli import options, streams


@click.command()
@click.argument("study", type=options.PATH, metavar="STUDY")
@click.option("--host", default="127.0.0.1", help="The address to listen at; 0.0.0.0 for every one of this machine.")
@click.option("--port", type=click.IntRange(0, 65535), default=8080, help="0 takes any that is free.")
@click.option("--base-url", metavar="URL", help="What links begin with. [default: the address listened at]")
@click.option("--database", metavar="URL", help="Keep the ratings there. [default: ratings.sqlite in STUDY]")
def serve(*, study: Path, host: str, port: int, base_url: str | None, database: str | None) -> None:
    """Serve a study: a link for each rater, and a page for its owner.

    links.csv in STUDY has a link for each rater; whoever has a link can rate with it, and goes on where they left.
    Answers are kept in ratings.sqlite as soon as a page is sent, or in PostgreSQL (--database postgresql+psycopg://...,
    with the extra `postgresql`). At /owner, with the token in owner-token.txt, stands who has come how far. Ctrl-C ends
    the server when the pages that are being sent are kept.

    Raters from elsewhere need a web server in front that adds HTTPS; give its address with --base-url.

    \b
    dactnlg study serve study
    dactnlg study serve study --host 0.0.0.0 --port 80 --base-url https://ratings.example.org
    """
    from dactnlg._utils.web.server import address, bound
    from dactnlg._utils.web.server import serve as run
    from dactnlg._utils.web.tokens import digest
    from dactnlg.studies.server.application import application
    from dactnlg.studies.server.links import LINKS, owner_token, rater_tokens
    from dactnlg.studies.storage import Storage, sqlite_url
    from dactnlg.studies.study import Study

    found = Study.load(study)
    storage = Storage(found, database or sqlite_url(study))
    listening = bound(host, port)
    here = (base_url or address(listening)).rstrip("/")
    tokens = rater_tokens(study, (rater.id for rater in found.raters), here)
    storage.enroll({rater: digest(token) for rater, token in tokens.items()})
    owner = owner_token(study)
    streams.tell(f"{found.name}: {here}; links for {len(tokens)} raters in {study / LINKS}; Ctrl-C ends it")
    streams.tell(f"the owner's page: {here}/owner, with the token in {study / 'owner-token.txt'}")
    run(application(storage, owner), listening)
