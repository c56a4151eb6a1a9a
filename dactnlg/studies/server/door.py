"""Authentication of the owner: a token, exchanged for a cookie that is valid for twelve hours."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from fastapi import APIRouter
from fastapi.responses import RedirectResponse, Response
from starlette.requests import Request

from dactnlg._utils.web.forms import Form, form_schema
from dactnlg._utils.web.tokens import check_bearer, digest, new_token, same
from dactnlg.errors import UserError

COOKIE = "dactnlg_owner"
HOURS = 12
LEAST_TOKEN = 16


def owner_token(given: str | None) -> str:
    """Return the token that the owner has chosen, or a new one.

    Raises:
        UserError: the chosen token is too short.
    """
    if given is not None and len(given.strip()) < LEAST_TOKEN:
        raise UserError(f"--owner-token has at least {LEAST_TOKEN} characters; leave it out to have one made")
    return (given or new_token()).strip()


class OwnerDoor:
    """Authenticates the owner by token or cookie.

    Args:
        token: the owner's secret.
        root: the path of the server's public URL.
        page: renders the sign-in page with an error message, which may be empty.
        secure: whether browsers reach the server through HTTPS only.
    """

    def __init__(self, token: str, root: str, page: Callable[[str], Response], *, secure: bool) -> None:
        self._token, self._path, self._page, self._secure = token, f"{root}/owner", page, secure
        # Hash of a cookie -> when it expires. A server is one process; after a restart the owner signs in again.
        self._sessions: dict[str, float] = {}

    def question(self, request: Request) -> Response | None:
        """Return the sign-in page, or None if the request has the cookie or an `Authorization` header."""
        if self._signed_in(request) or "authorization" in request.headers:
            return None
        return self._page("")

    def check(self, request: Request) -> None:
        """Check that a request has the cookie or the token.

        Raises:
            Problem: 401, it has neither.
        """
        if not self._signed_in(request):
            check_bearer(request, self._token)

    def add(self, router: APIRouter) -> None:
        """Add the routes for signing in and out to a router under `/owner`."""

        @router.post("/sign-in", openapi_extra=form_schema("token"))
        def sign_in(form: Form) -> Response:
            """Exchange the owner's token for a cookie that is valid for twelve hours."""
            if not same(form.get("token", "").strip(), self._token):
                return self._page("This is not the token that the server printed at its start.")
            answer, session = RedirectResponse(self._path, 303), self._begin()
            named = {"path": self._path, "secure": self._secure, "httponly": True}
            answer.set_cookie(COOKIE, session, HOURS * 3600, samesite="strict", **named)  # type: ignore[arg-type]
            return answer

        @router.post("/sign-out", openapi_extra=form_schema("end"))
        def sign_out(request: Request, form: Form) -> Response:
            """End the session and delete its cookie."""
            self._sessions.pop(digest(request.cookies.get(COOKIE, "")), None)
            answer = RedirectResponse(self._path, 303)
            answer.delete_cookie(COOKIE, path=self._path, httponly=True, samesite="strict")
            return answer

    def _begin(self) -> str:
        """Return a new cookie's value; forget those that have expired."""
        now, session = monotonic(), new_token()
        for each, end in list(self._sessions.items()):
            if end <= now:
                self._sessions.pop(each, None)
        self._sessions[digest(session)] = now + HOURS * 3600
        return session

    def _signed_in(self, request: Request) -> bool:
        return self._sessions.get(digest(request.cookies.get(COOKIE, "")), 0.0) > monotonic()
