"""The web application of a study."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.responses import Response
from starlette.types import ASGIApp

from dactnlg._utils.web.application import create, guarded
from dactnlg._utils.web.limits import RequestLimits
from dactnlg._utils.web.pages import Pages, static_files
from dactnlg.studies.ratings import Ratings
from dactnlg.studies.server.owner import Summary, owner_pages
from dactnlg.studies.server.rater import rater_pages
from dactnlg.studies.storage import Storage

LIMITS = RequestLimits(body_bytes=64 << 10, per_minute=1200)
"""A page's answers are a few hundred bytes; all raters of a laboratory may come from one address."""
_PACKAGE = "dactnlg.studies.server"


def application(
    storage: Storage, owner: str, agreement: Summary | None = None, limits: RequestLimits = LIMITS
) -> ASGIApp:
    """Return the application: `/r/TOKEN` for raters, `/owner` for the study's owner.

    Args:
        storage: the study and its ratings; closed when the server ends.
        owner: the owner's token.
        agreement: what the owner's page says of agreement; see `owner.owner_pages`.
        limits: what a request may ask for.
    """

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        storage.close()

    app = create("dactnlg study", "Pages for the raters of a study, and for its owner.", lifespan)
    pages = Pages(_PACKAGE)
    app.mount("/static", static_files(_PACKAGE))

    @app.get("/")
    def welcome() -> Response:
        return pages.render("welcome.html.j2", {"study": storage.study})

    @app.get("/healthz")
    def alive() -> dict[str, str]:
        return {"status": "ok"}

    app.include_router(rater_pages(storage, pages))
    app.include_router(owner_pages(storage, pages, owner, agreement or _no_table))
    return guarded(app, limits, frozenset({"/healthz"}))


def _no_table(_ratings: Ratings) -> list[list[str]]:
    return []
