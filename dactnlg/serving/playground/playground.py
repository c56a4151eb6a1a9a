"""The routes of the two pages and their static files."""

from __future__ import annotations

from functools import cache

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import HTMLResponse

from dactnlg import __version__
from dactnlg._utils.web.pages import Pages, static_files
from dactnlg.serving.playground.reference import Operation, operations

_PACKAGE = "dactnlg.serving.playground"


def mount(app: FastAPI) -> None:
    """Add the pages `/` and `/docs`, and `/static`, to an application.

    None of them requires the service's token: they contain nothing about its models, which the playground requests.
    """
    pages = Pages(_PACKAGE)
    app.mount("/static", static_files(_PACKAGE))

    @cache
    def listed() -> list[Operation]:
        # Cached on first use, when all routes have been added.
        return operations(app.openapi())

    @app.get("/", include_in_schema=False)
    def play() -> HTMLResponse:
        return pages.render("play.html.j2", {"version": __version__})

    @app.get("/docs", include_in_schema=False)
    def reference(request: Request) -> HTMLResponse:
        here = str(request.base_url).rstrip("/")
        document = app.openapi()
        values = {"version": __version__, "info": document["info"], "operations": listed(), "here": here}
        return pages.render("docs.html.j2", values)
