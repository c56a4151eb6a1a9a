"""Options that the servers of studies share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

_SERVER = (
    click.option(
        "--host", default="127.0.0.1", metavar="HOST", help="The address to listen on; 0.0.0.0 for every network."
    ),
    click.option(
        "--port",
        type=click.IntRange(0, 65535),
        default=8080,
        metavar="PORT",
        help="The port to listen on; 0 takes any free port.",
    ),
    click.option(
        "--database",
        envvar="DACTNLG_DATABASE",
        metavar="URL",
        help="Keep answers in PostgreSQL: postgresql+psycopg://USER:PASSWORD@HOST/NAME; or in DACTNLG_DATABASE. "
        "[default: ratings.sqlite in the folder]",
    ),
    click.option(
        "--owner-token",
        envvar="DACTNLG_OWNER_TOKEN",
        metavar="TOKEN",
        help="The token for the owner's page; or in DACTNLG_OWNER_TOKEN. [default: a new one, printed]",
    ),
    click.option("--base-url", metavar="URL", help="Where people reach the server. [default: host and port]"),
    click.option("--new-links", is_flag=True, help="Make new links for everybody; the old ones become invalid."),
    click.option("--show-links", is_flag=True, help="Print every person's link."),
)
_FIELDS = ("host", "port", "database", "owner_token", "base_url", "new_links", "show_links")


def server(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a server, collected in one `ServerOptions` as its argument `options`."""

    @wraps(command)
    def run(**given: Any) -> None:
        from dactnlg.studies.server.session import ServerOptions

        chosen = ServerOptions(**{name: given.pop(name) for name in _FIELDS})
        command(**given, options=chosen)

    for option in reversed(_SERVER):
        run = option(run)
    return run
