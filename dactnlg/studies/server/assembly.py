"""What the servers of all kinds of studies share: assembling the routes, and handling errors."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import Response
from sqlalchemy.exc import SQLAlchemyError
from starlette.types import ASGIApp

from dactnlg._utils.web import application, problems
from dactnlg._utils.web.limits import RequestLimits
from dactnlg._utils.web.pages import static_files
from dactnlg._utils.web.problems import Problem
from dactnlg.studies.enrolment import OutOfOrder
from dactnlg.studies.server.desk import Desk
from dactnlg.studies.storage import AnswersConflict

LIMITS = RequestLimits()
_log = logging.getLogger("dactnlg")


def assembled(
    desk: Desk[Any, Any],
    routers: Iterable[APIRouter],
    *,
    title: str,
    description: str,
    body_bytes: int,
    lifespan: application.Lifespan | None = None,
    static: dict[str, str] | None = None,
) -> ASGIApp:
    """Return an application with request limits and error pages.

    Args:
        desk: what the routes work with.
        routers: the routes.
        title: the application's title.
        description: what it does.
        body_bytes: largest request body in bytes.
        lifespan: the context around all requests, for start-up and shut-down.
        static: path -> package whose static files are served there, in addition to the studies' own at `/static`.
    """

    def error_page(request: Request, problem: Problem) -> Response:
        # Whose link it is goes on there, unless there is no such link.
        token = request.path_params.get("token") if problem.status != 404 else None
        answer = desk.page("error.html", problem.status, problem=problem, token=token)
        answer.headers.update(problem.headers)
        return answer

    app = application.create(title, description, lifespan, error_page)
    for path, package in {"/static": "dactnlg.studies.server", **(static or {})}.items():
        app.mount(path, static_files(package))
    for router in routers:
        app.include_router(router)
    _install_errors(app, error_page)

    @app.get("/", include_in_schema=False)
    def home() -> Response:
        return desk.page("home.html")

    @app.get("/healthz")
    def healthy() -> dict[str, str]:
        """Confirm that the server is up."""
        return {"status": "ok"}

    return application.guarded(app, replace(LIMITS, body_bytes=body_bytes))


def _install_errors(app: FastAPI, error_page: problems.ErrorPage) -> None:
    """Answer errors of the storage: 409 for conflicting or untimely requests, 503 if the database fails."""

    def answer(request: Request, problem: Problem) -> Response:
        html = "text/html" in request.headers.get("accept", "")
        return error_page(request, problem) if html else problem.response()

    def conflict(request: Request, error: Exception) -> Response:
        return answer(request, Problem(409, str(error)))

    def database(request: Request, error: Exception) -> Response:
        _log.error("the database failed: %s", type(error).__name__, exc_info=error)
        told = "the answers cannot be kept at this moment; please send the page again in a minute"
        return answer(request, Problem(503, told, headers={"Retry-After": "60"}))

    app.add_exception_handler(AnswersConflict, conflict)
    app.add_exception_handler(OutOfOrder, conflict)
    app.add_exception_handler(SQLAlchemyError, database)
