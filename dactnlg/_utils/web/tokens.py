"""Secrets: raters' links, the owner's password, bearer tokens of services."""

# Annotations are not postponed: FastAPI 0.115 cannot resolve those of an object that is called.
import hashlib
import hmac
import secrets

from fastapi import Depends, params
from fastapi.security import HTTPBearer
from starlette.requests import Request

from dactnlg._utils.web.problems import Problem


def new_token() -> str:
    """Return a secret of 144 random bits as 24 URL-safe characters."""
    return secrets.token_urlsafe(18)


def digest(token: str) -> str:
    """Return the SHA-256 of a token in hexadecimal, which a database stores instead of the token.

    A token is random and long, so unlike a password it needs no salt and no slow hash.
    """
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def same(given: str, wanted: str) -> bool:
    """Return whether two tokens are equal; the time taken reveals nothing about either."""
    return hmac.compare_digest(digest(given), digest(wanted))


class _Bearer(HTTPBearer):
    """Checks a token and declares in the OpenAPI document that it is required."""

    def __init__(self, wanted: str) -> None:
        super().__init__(scheme_name="token", description="The token that the service was started with.")
        self._wanted = wanted

    async def __call__(self, request: Request) -> None:  # type: ignore[override]
        check_bearer(request, self._wanted)


def bearer(wanted: str | None) -> list[params.Depends]:
    """Return route dependencies that require this token; none if `wanted` is None."""
    return [] if wanted is None else [Depends(_Bearer(wanted))]


def check_bearer(request: Request, wanted: str | None) -> None:
    """Refuse a request without `Authorization: Bearer TOKEN`, unless `wanted` is None.

    Raises:
        Problem: 401; the message says what to send.
    """
    if wanted is None:
        return
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not same(given.strip(), wanted):
        raise Problem(401, "this needs the header Authorization: Bearer TOKEN", headers={"WWW-Authenticate": "Bearer"})
