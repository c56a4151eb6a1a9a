"""A server of a study from its start to its end: the port, the links, the owner's token, the database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from starlette.types import ASGIApp

from dactnlg._utils.web.server import address, bound, serve
from dactnlg._utils.web.tokens import digest
from dactnlg.errors import UserError
from dactnlg.studies.enrolment import Enrolment
from dactnlg.studies.server import links
from dactnlg.studies.server.door import owner_token

Kept = TypeVar("Kept", bound=Enrolment)


@dataclass(frozen=True)
class ServerOptions:
    """How a study is served.

    Attributes:
        host, port: where it listens; port 0 is any that is free.
        database: an address as SQLAlchemy writes them; None for a file in the study's folder.
        owner_token: what the owner's page asks for; None for a new one, which is told.
        base_url: where people reach the server; None for host and port.
        new_links: whether all links are made anew.
        show_links: whether every link is told.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    database: str | None = None
    owner_token: str | None = None
    base_url: str | None = None
    new_links: bool = False
    show_links: bool = False


def serve_study(
    folder: Path,
    people: Sequence[str],
    open_storage: Callable[[], Kept],
    build: Callable[[Kept, str, str], ASGIApp],
    options: ServerOptions,
    *,
    called: str,
    tell: Callable[[str], None],
) -> None:
    """Serve until SIGINT or SIGTERM; requests that have begun are finished.

    Args:
        folder: the study's.
        people: all who are asked.
        open_storage: opens the database.
        build: makes the application of the storage, the owner's token and the address.
        options: how it is served.
        called: what messages call people: "raters".
        tell: takes lines about the start; is called before the first request.

    Raises:
        UserError: the port is taken, the owner's token too short, or the address none.
        StudyError: the database cannot be reached, or `links.csv` is not as it was written.
    """
    token = owner_token(options.owner_token)
    with bound(options.host, options.port) as listening:
        where = _base_url(options.base_url) if options.base_url else address(listening)
        with closing(open_storage()) as storage:
            app = build(storage, token, where)
            tokens = links.rater_tokens(folder, people, where, renew=options.new_links)
            storage.set_links({rater: digest(each) for rater, each in tokens.items()}, replace=options.new_links)
            tell(f"{where}  {len(tokens)} {called}, whose links are in {folder / links.FILE}")
            tell(f"{where}/owner  " + ("" if options.owner_token else f"token {token}"))
            for rater, each in tokens.items() if options.show_links else ():
                tell(f"{links.link(where, each)}  {rater}")
            serve(app, listening)


def _base_url(text: str) -> str:
    try:
        parts = urlsplit(text)
        good = parts.scheme in ("http", "https") and parts.hostname and not parts.query and not parts.fragment
    except ValueError:
        good = False
    if not good:
        raise UserError(f"--base-url {text[:80]!r}: write where people reach the server, such as https://example.org")
    return text.rstrip("/")
