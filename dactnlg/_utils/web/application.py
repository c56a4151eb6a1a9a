"""Assembles a web application in the same way for every server of the package."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from dactnlg import __version__
from dactnlg._utils.web import problems
from dactnlg._utils.web.limits import Admit, Limited, RequestLimits
from dactnlg._utils.web.pages import SecurityHeaders, static_files

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def create(
    title: str,
    description: str,
    lifespan: Lifespan | None = None,
    error_page: problems.ErrorPage | None = None,
    **more: Any,
) -> FastAPI:
    """Return an application that answers errors as problems and serves the common style sheet at `/common/base.css`.

    FastAPI's documentation pages are left out, since they load scripts from other sites.

    Args:
        title: name of the application.
        description: what it does.
        lifespan: what happens before the first request and after the last.
        error_page: makes the page that shows a problem in a browser; see `problems.install`.
        **more: further arguments of `FastAPI`.
    """
    app = FastAPI(
        title=title,
        description=description,
        version=__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        responses={"default": problems.DOCUMENTED},
        # A redirect would go to the address of this server, not to that of the proxy before it.
        redirect_slashes=False,
        **more,
    )
    problems.install(app, error_page)
    app.mount("/common", static_files("dactnlg._utils.web"))
    return app


def guarded(
    app: ASGIApp, limits: RequestLimits, free: frozenset[str] = frozenset(), admit: Admit | None = None
) -> ASGIApp:
    """Return an application behind limits, with the headers of `pages.SecurityHeaders` on every response.

    Args:
        app: the application.
        limits: what a request may ask for.
        free: paths that are not counted against a client's rate.
        admit: raises a `Problem` to refuse a request before its body is read.
    """
    return SecurityHeaders(_lenient(Limited(app, limits, free, admit)))


def _lenient(app: ASGIApp) -> ASGIApp:
    """Return an application that answers HEAD as GET, for load balancers, and does without a slash at a path's end.

    The server omits the body of an answer to HEAD.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            method = "GET" if scope["method"] == "HEAD" else scope["method"]
            scope = {**scope, "method": method, "path": scope["path"].rstrip("/") or "/"}
        await app(scope, receive, send)

    return answer
