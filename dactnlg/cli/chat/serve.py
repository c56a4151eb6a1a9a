"""`dactnlg chat serve`: pages for people who chat."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dactnlg.cli import streams
from dactnlg.cli.options import PATH, data_dir
from dactnlg.cli.study.options import server

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from dactnlg.serving.chat.storage import ChatStorage
    from dactnlg.studies.server.session import ServerOptions


@click.command()
@click.argument("chats", type=PATH, metavar="CHATS")
@server
@data_dir
def serve(*, chats: Path, options: ServerOptions, data_dir: Path | None) -> None:
    """Serve a chat study: each person opens a link, consents, chats, votes on answers, and rates the conversation.

    The links are in links.csv in the folder. Whatever was acknowledged survives a crash of the machine. The owner's
    page, /owner, shows everybody's progress and the results of each system, and offers the data for download. Ctrl-C
    ends the server; run the same command again to continue. For each person it stores a number, the hash of the link,
    and what they sent, but no address.

    On the internet, put an HTTPS server in front of it, and give the address where people reach that with --base-url.

    \b
    dactnlg chat serve chats
    dactnlg chat serve chats --host 0.0.0.0 --port 8000 --base-url http://192.168.1.20:8000
    """
    from dactnlg.dialogue.talkers import load_talkers
    from dactnlg.serving.chat.application import build
    from dactnlg.serving.chat.storage import ChatStorage
    from dactnlg.serving.chat.study import ChatStudy
    from dactnlg.studies.server.session import serve_study

    chats = ChatStudy.folder(chats)
    found = ChatStudy.load(chats)

    def made(storage: ChatStorage, token: str, where: str) -> ASGIApp:
        talkers = load_talkers({each.name: Path(each.source) for each in found.systems}, data_dir)
        return build(found, storage, talkers, token, where)

    opened = partial(ChatStorage.open, chats, found, options.database)
    serve_study(chats, list(found.place_of), opened, made, options, called="people", tell=click.echo)
    streams.tell(f"the server has ended; the chats are in {options.database and 'the database' or chats}")
