"""Errors as `application/problem+json` (RFC 9457): a status, a title and one plain sentence."""

from __future__ import annotations

import http
import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from dactnlg._utils.terminal import printable
from dactnlg.errors import UserError

MEDIA_TYPE = "application/problem+json"
UNPROCESSABLE = 422
_MOST = 20
"""Mistakes of one request that are listed; a long list of values may hold as many as it is long."""
_log = logging.getLogger("dactnlg")


class Problem(Exception):
    """A request that is answered with an error.

    Attributes:
        status: the HTTP status, 400 to 599.
        detail: what is wrong and what would be right, in a sentence.
        members: what the answer holds besides, such as `position` of a mistake in a text.
        headers: headers of the answer, such as `Retry-After`.
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
        """Return the answer; what a client sent and the detail repeats cannot leave its string."""
        body = {
            "type": "about:blank",
            "title": http.HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": "\n".join(printable(line) for line in self.detail.split("\n")),
            **self.members,
        }
        return JSONResponse(body, self.status, self.headers, MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Make an application answer every error as a problem; unexpected ones as 500 without a word about the inside."""
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(UserError, _user_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_exception)
    app.add_exception_handler(Exception, _unexpected)


def _problem(_request: Request, error: Exception) -> Response:
    return error.response() if isinstance(error, Problem) else _unexpected(_request, error)


def _user_error(_request: Request, error: Exception) -> Response:
    return Problem(UNPROCESSABLE, str(error)).response()


def _validation_error(_request: Request, error: Exception) -> Response:
    found = error.errors() if isinstance(error, RequestValidationError) else []
    listed = [{"where": ".".join(str(part)[:60] for part in e["loc"]), "what": e["msg"]} for e in found[:_MOST]]
    first = f"{listed[0]['where']}: {listed[0]['what']}" if listed else "the request does not fit"
    more = f" (and {len(found) - 1} more mistakes)" if len(found) > 1 else ""
    return Problem(UNPROCESSABLE, f"{first}{more}", {"errors": listed}).response()


def _http_exception(_request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        return _unexpected(_request, error)
    return Problem(error.status_code, str(error.detail), headers=error.headers).response()


def _unexpected(_request: Request, error: Exception) -> Response:
    _log.error("a request failed: %s", type(error).__name__, exc_info=error)
    return Problem(500, "something went wrong here; the server's log says what").response()
