"""`dactnlg chat serve`: pages for those who chat."""

from __future__ import annotations

from pathlib import Path

import click

from dactnlg.cli import options, streams


@click.command()
@click.argument("chats", type=options.PATH, metavar="CHATS")
@click.option("--host", default="127.0.0.1", metavar="HOST", help="Listen at; 0.0.0.0 for every network.")
@click.option("--port", type=click.IntRange(0, 65535), default=8080, metavar="PORT", help="0 takes any that is free.")
@click.option(
    "--database",
    envvar="DACTNLG_DATABASE",
    metavar="URL",
    help="Keep chats in PostgreSQL: postgresql+psycopg://USER:PASSWORD@HOST/NAME; or in DACTNLG_DATABASE. "
    "[default: ratings.sqlite in CHATS]",
)
@click.option(
    "--owner-token",
    envvar="DACTNLG_OWNER_TOKEN",
    metavar="TOKEN",
    help="What the owner's page asks for; or in DACTNLG_OWNER_TOKEN. [default: a new one, printed]",
)
@click.option("--base-url", metavar="URL", help="Where people reach the server. [default: host and port]")
@click.option("--new-links", is_flag=True, help="Make all links anew; the old ones end.")
@click.option("--show-links", is_flag=True, help="Print every person's link.")
@options.data_dir
def serve(
    *,
    chats: Path,
    host: str,
    port: int,
    database: str | None,
    owner_token: str | None,
    base_url: str | None,
    new_links: bool,
    show_links: bool,
    data_dir: Path | None,
) -> None:
    """Serve a study of chats: each person opens a link, agrees, chats, votes on answers, and rates the conversation.

    The links are in links.csv in the folder. What was acknowledged survives a crash of the machine. The owner's page,
    /owner, shows how far everybody is and what each system got, and has the data. Ctrl-C ends the server; the same
    command goes on. Of a person it keeps a number, the hash of the link, and what they sent; no address.

    In the open, put a server with HTTPS before it, and say where people reach that with --base-url.

    \b
    dactnlg chat serve chats
    dactnlg chat serve chats --host 0.0.0.0 --port 8000 --base-url http://192.168.1.20:8000
    """
    from dactnlg._utils.web.server import address, bound
    from dactnlg._utils.web.tokens import digest
    from dactnlg.dialogue.talkers import load_talkers
    from dactnlg.serving.chat.application import build
    from dactnlg.serving.chat.storage import ChatStorage
    from dactnlg.serving.chat.study import ChatStudy
    from dactnlg.studies.server import door, links
    from dactnlg.studies.server.application import check_base_url
    from dactnlg.studies.server.application import serve as run

    token = door.owner_token(owner_token)
    found = ChatStudy.load(chats)
    with bound(host, port) as listening:
        where = check_base_url(base_url) if base_url else address(listening)
        storage = ChatStorage.open(chats, found, database)
        try:
            talkers = load_talkers({each.name: Path(each.source) for each in found.systems}, data_dir)
            tokens = links.rater_tokens(chats, list(found.place_of), where, renew=new_links)
            storage.set_links({rater: digest(each) for rater, each in tokens.items()}, replace=new_links)
            click.echo(f"{where}  {len(tokens)} people, whose links are in {chats / links.FILE}")
            click.echo(f"{where}/owner  " + ("" if owner_token else f"token {token}"))
            for rater, each in tokens.items() if show_links else ():
                click.echo(f"{links.link(where, each)}  {rater}")
            streams.flush()
            run(build(found, storage, talkers, token, where), listening)
        finally:
            storage.close()
    streams.tell(f"the server has ended; the chats are in {database and 'the database' or chats}")
