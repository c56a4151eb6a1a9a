"""Serving a study: opens the port and the database, creates the links and the owner's token, and runs the server."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from dactnlg.studies.server.assembly import LIMITS
from dactnlg.studies.server.door import owner_token

Kept = TypeVar("Kept", bound=Enrolment)


@dataclass(frozen=True)
class ServerOptions:
    """How a study is served.

    Attributes:
        host, port: where to listen; port 0 is any free port.
        database: an SQLAlchemy URL; None for a file in the study's folder.
        owner_token: the token of the owner's page; None for a new one, which is printed.
        base_url: the server's public URL; None for host and port.
        new_links: whether to replace all links.
        show_links: whether to print every link.
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
        folder: the study's folder.
        people: names of all participants.
        open_storage: opens the database.
        build: creates the application from the storage, the owner's token and the public URL.
        options: how it is served.
        called: what messages call the participants, such as "raters".
        tell: prints a line; called at the start, before the first request.

    Raises:
        UserError: the port is taken, the owner's token is too short, or `base_url` is not a URL.
        StudyError: the database cannot be reached, or `links.csv` is invalid.
    """
    token = owner_token(options.owner_token)
    with bound(options.host, options.port) as listening:
        where = _base_url(options.base_url) if options.base_url else address(listening)
        with closing(open_storage()) as storage:
            app = build(storage, token, where)

            def agree(found: Mapping[str, str]) -> None:
                storage.set_links({rater: digest(each) for rater, each in found.items()}, replace=options.new_links)

            tokens = links.rater_tokens(folder, people, where, renew=options.new_links, agree=agree)
            tell(f"{where}  {len(tokens)} {called}, whose links are in {folder / links.FILE}")
            if urlsplit(where).hostname in ("0.0.0.0", "::"):
                tell(f"Other machines cannot open links to {where}: give the address that they reach with --base-url")
            tell(f"{where}/owner  " + ("" if options.owner_token else f"token {token}"))
            for rater, each in tokens.items() if options.show_links else ():
                tell(f"{links.link(where, each)}  {rater}")
            serve(app, listening, drain_seconds=LIMITS.drain_seconds)


def _base_url(text: str) -> str:
    try:
        parts = urlsplit(text)
        good = parts.scheme in ("http", "https") and parts.hostname and not parts.query and not parts.fragment
    except ValueError:
        good = False
    if not good:
        raise UserError(f"--base-url {text[:80]!r}: write where people reach the server, such as https://example.org")
    return text.rstrip("/")
