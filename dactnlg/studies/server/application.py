"""The server of a study, put together."""

from __future__ import annotations

import logging
import socket
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from fastapi.responses import Response
from sqlalchemy.exc import SQLAlchemyError
from starlette.types import ASGIApp

from dactnlg._utils.web import application, problems
from dactnlg._utils.web.limits import RequestLimits
from dactnlg._utils.web.pages import static_files
from dactnlg._utils.web.problems import Problem
from dactnlg._utils.web.server import serve as serve_application
from dactnlg.errors import UserError
from dactnlg.studies.enrolment import OutOfOrder
from dactnlg.studies.server import owner, rater
from dactnlg.studies.server.desk import StudyDesk, pages
from dactnlg.studies.storage import AnswersConflict, Storage
from dactnlg.studies.study import Study

BODY_BYTES = 256 * 1024
SECONDS = 60.0
_log = logging.getLogger("dactnlg")


def build(study: Study, storage: Storage, owner_token: str, base_url: str) -> ASGIApp:
    """Return the application of a study.

    Args:
        study: what is asked.
        storage: where the answers go.
        owner_token: what the owner's page asks for.
        base_url: where the server is reached.
    """
    desk = StudyDesk(study, storage, owner_token, base_url.rstrip("/"), pages())

    def error_page(_request: Request, problem: Problem) -> Response:
        answer = desk.page("error.html", problem.status, problem=problem)
        answer.headers.update(problem.headers)
        return answer

    app = application.create(
        "dactnlg study", "Raters judge sentences; the owner sees how far they are.", error_page=error_page
    )
    app.mount("/static", static_files("dactnlg.studies.server"))
    app.include_router(rater.routes(desk))
    app.include_router(owner.routes(desk))
    install_errors(app, error_page)

    @app.get("/", include_in_schema=False)
    def home() -> Response:
        return desk.page("home.html")

    @app.get("/healthz")
    def healthy() -> dict[str, str]:
        """Say that the server answers."""
        return {"status": "ok"}

    return application.guarded(app, RequestLimits(body_bytes=BODY_BYTES, seconds=SECONDS))


def serve(app: ASGIApp, listening: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM; requests that have begun are finished."""
    serve_application(app, listening)


def check_base_url(text: str) -> str:
    """Return an address without a slash at its end.

    Raises:
        UserError: it is no address of a web server.
    """
    try:
        parts = urlsplit(text)
        good = parts.scheme in ("http", "https") and parts.hostname and not parts.query and not parts.fragment
    except ValueError:
        good = False
    if not good:
        raise UserError(f"--base-url {text[:80]!r}: write where raters reach the server, such as https://example.org")
    return text.rstrip("/")


def install_errors(app: FastAPI, error_page: problems.ErrorPage) -> None:
    """Answer errors of the storage: the rater's mistakes as 409, the database's as 503."""

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
