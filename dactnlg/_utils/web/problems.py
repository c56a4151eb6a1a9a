"""Errors as `application/problem+json` (RFC 9457): a status, a title and one plain sentence."""

from __future__ import annotations

import http
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from dactnlg._utils.terminal import printable
from dactnlg.errors import UserError

MEDIA_TYPE = "application/problem+json"
UNPROCESSABLE = 422
_TEXT = {"type": "string"}
DOCUMENTED: dict[str, Any] = {
    "description": "The request is refused, or has failed: RFC 9457",
    "content": {
        MEDIA_TYPE: {
            "schema": {
                "title": "Problem",
                "type": "object",
                "properties": {"type": _TEXT, "title": _TEXT, "status": {"type": "integer"}, "detail": _TEXT},
                "required": ["type", "title", "status", "detail"],
            }
        }
    },
}
"""OpenAPI description of problems; FastAPI's default describes another form."""
_MOST = 20
"""Maximum mistakes listed per request; a long list of values may have one for each."""
_log = logging.getLogger("dactnlg")


class Problem(Exception):
    """A request that is answered with an error.

    Attributes:
        status: the HTTP status, 400 to 599.
        detail: what is wrong and what would be right, in a sentence.
        members: additional members of the response, such as `position` of a mistake in a text.
        headers: headers of the response, such as `Retry-After`.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        members: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail
        self.members, self.headers = dict(members or {}), dict(headers or {})

    def response(self) -> Response:
        """Return the response; client input repeated in the detail is made printable."""
        body = {
            "type": "about:blank",
            "title": http.HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": "\n".join(printable(line) for line in self.detail.split("\n")),
            **self.members,
        }
        return JSONResponse(body, self.status, self.headers, MEDIA_TYPE)


ErrorPage = Callable[[Request, Problem], Response]
"""Makes the response to a request that ended in a problem."""


def install(app: FastAPI, page: ErrorPage | None = None) -> None:
    """Make an application answer every error as a problem; unexpected ones as 500 without internal details.

    Args:
        app: the application.
        page: makes the response for clients that accept `text/html` explicitly, as browsers do when they open a page;
            it should have the status of the problem.
    """

    def installed(found: Callable[[Exception], Problem]) -> Callable[[Request, Exception], Response]:
        def answer(request: Request, error: Exception) -> Response:
            problem = found(error)
            if page is None or "text/html" not in request.headers.get("accept", ""):
                return problem.response()
            return page(request, problem)

        return answer

    app.add_exception_handler(Problem, installed(lambda error: error if isinstance(error, Problem) else _inside(error)))
    app.add_exception_handler(UserError, installed(lambda error: Problem(UNPROCESSABLE, str(error))))
    app.add_exception_handler(RequestValidationError, installed(_validation_error))
    app.add_exception_handler(HTTPException, installed(_http_exception))
    app.add_exception_handler(Exception, installed(_inside))


def _validation_error(error: Exception) -> Problem:
    found: Sequence[Any] = error.errors() if isinstance(error, RequestValidationError) else []
    if isinstance(getattr(error, "body", None), bytes):
        # FastAPI parses a body only under its media type, and calls another one no dictionary.
        return Problem(415, "this takes JSON with the header Content-Type: application/json")
    listed = [_mistake(e) for e in found[:_MOST]]
    first = f"{listed[0]['where']}: {listed[0]['what']}" if listed else "the request does not fit"
    more = f" (and {len(found) - 1} more mistakes)" if len(found) > 1 else ""
    return Problem(UNPROCESSABLE, f"{first}{more}", {"errors": listed})


def _mistake(found: Mapping[str, Any]) -> dict[str, str]:
    if found["type"] == "json_invalid":
        place, at = found["loc"]
        return {"where": place, "what": f"it is not JSON: {found['ctx']['error']}, at character {at + 1}"}
    return {"where": ".".join(str(part)[:60] for part in found["loc"]), "what": found["msg"]}


def _http_exception(error: Exception) -> Problem:
    if not isinstance(error, HTTPException):
        return _inside(error)
    return Problem(error.status_code, str(error.detail), headers=error.headers)


def _inside(error: Exception) -> Problem:
    _log.error("a request failed: %s", type(error).__name__, exc_info=error)
    return Problem(500, "something went wrong here; the server's log says what")
