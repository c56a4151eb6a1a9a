"""`dactnlg chat`: people talk with systems and rate them; one file per command."""

from __future__ import annotations

import click

from dactnlg.cli.chat.create import create
from dactnlg.cli.chat.export import export
from dactnlg.cli.chat.serve import serve


@click.group(no_args_is_help=True)
def chat() -> None:
    """Let people chat with systems, without knowing which, and rate the conversations.

    \b
    dactnlg chat create runs/trails-sclstm runs/trails-lstm --people 20 --output chats
    dactnlg chat serve chats
    dactnlg chat export chats --output said
    """


for command in (create, serve, export):
    chat.add_command(command)
