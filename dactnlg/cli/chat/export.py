"""`dactnlg chat export`: conversations, votes and ratings."""

from __future__ import annotations

from pathlib import Path

import click

from dactnlg.cli import options, streams


@click.command()
@click.argument("chats", type=options.PATH, metavar="CHATS")
@click.option("--output", type=options.PLACE, required=True, metavar="FOLDER", help="Write the three files here.")
@click.option("--database", metavar="URL", help="Where the chats are stored, if not in CHATS.")
def export(*, chats: Path, output: Path, database: str | None) -> None:
    """Write the conversations, votes and ratings: conversations.jsonl, votes.csv and ratings.csv.

    Conversations are lines as `dactnlg selfplay` writes them; `dactnlg study analyse` reads ratings.csv. The server may
    keep running meanwhile.

    \b
    dactnlg chat export chats --output said
    """
    from dactnlg.serving.chat.export import read_chats, write_chats
    from dactnlg.serving.chat.study import ChatStudy

    chats = ChatStudy.folder(chats)
    study = ChatStudy.load(chats)
    found = read_chats(study, chats, database)
    write_chats(found, study, output)
    rated = sum(chat.rated for chat in found)
    votes = sum(len(chat.votes) for chat in found)
    streams.tell(f"{output}: {len(found)} conversations, {rated} of them rated, {votes} votes")
