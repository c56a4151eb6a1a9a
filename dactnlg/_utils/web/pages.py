"""Pages without a build step: templates and static files of a package, and headers that forbid everything else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from starlette.datastructures import MutableHeaders
from starlette.responses import HTMLResponse
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dactnlg._utils.terminal import printable

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    # A rater's link is a secret and must not reach another site through a click.
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Pages:
    """The Jinja2 templates in a package's folder `templates`; all values are escaped and made printable.

    Args:
        package: the package's dotted name.
        filters: additional filters for the templates, by name.
        fallback: a package for templates that the first does not have.
    """

    def __init__(
        self, package: str, filters: Mapping[str, Callable[..., Any]] | None = None, fallback: str | None = None
    ) -> None:
        self._templates = Environment(
            loader=ChoiceLoader([PackageLoader(each) for each in (package, fallback) if each]),
            autoescape=True,
            undefined=StrictUndefined,
            finalize=lambda value: printable(value) if type(value) is str else value,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters.update(filters or {})

    def render(self, template: str, values: Mapping[str, Any], status: int = 200) -> HTMLResponse:
        """Return a rendered page, marked as not to be cached, since it may be private to one rater."""
        text = self._templates.get_template(template).render(**values)
        return HTMLResponse(text, status, {"Cache-Control": "no-store"})


def static_files(package: str) -> StaticFiles:
    """Return an application that serves only the folder `static` of a package.

    >>> app.mount("/static", static_files("dactnlg.serving.playground"))  # doctest: +SKIP
    """
    return StaticFiles(packages=[(package, "static")])


class SecurityHeaders:
    """An ASGI application that adds `POLICY` and the other security headers to every response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, guarded)
