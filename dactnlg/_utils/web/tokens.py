"""Secrets: links of raters, the owner's password, bearer tokens of services."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from fastapi import Depends, params
from fastapi.security import HTTPBearer
from starlette.requests import Request

from dactnlg._utils.web.problems import Problem


def new_token() -> str:
    """Return a secret of 144 random bits, 24 characters that may stand in an address."""
    return secrets.token_urlsafe(18)


def digest(token: str) -> str:
    """Return the SHA-256 of a token, in hexadecimal: what a database keeps in its place.

    A token is random and long, so that, unlike a password, it needs no salt and no slow hash.
    """
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def same(given: str, wanted: str) -> bool:
    """Whether two tokens are equal; the time taken tells nothing about either."""
    return hmac.compare_digest(digest(given), digest(wanted))


class _Bearer(HTTPBearer):
    """Checks a token, and has OpenAPI documents say that it is wanted."""

    def __init__(self, wanted: str) -> None:
        super().__init__(scheme_name="token", description="The token that the service was started with.")
        self._wanted = wanted

    async def __call__(self, request: Request) -> None:  # type: ignore[override]
        check_bearer(request, self._wanted)


def bearer(wanted: str | None) -> list[params.Depends]:
    """Return the dependencies of routes that answer those alone who send a token; none where none is wanted."""
    return [] if wanted is None else [Depends(_Bearer(wanted))]


def check_bearer(request: Request, wanted: str | None) -> None:
    """Refuse a request without `Authorization: Bearer TOKEN`, where a token is wanted.

    Raises:
        Problem: 401, with what to send.
    """
    if wanted is None:
        return
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not same(given.strip(), wanted):
        raise Problem(401, "this needs the header Authorization: Bearer TOKEN", headers={"WWW-Authenticate": "Bearer"})
