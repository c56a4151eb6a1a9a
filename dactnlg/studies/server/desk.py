"""What the routes of a study's server share: the study, its storage, settings and templates."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, TypeVar
from urllib.parse import urlsplit

from starlette.responses import Response

from dactnlg._utils.web.pages import Pages
from dactnlg.studies.enrolment import Enrolment
from dactnlg.studies.server.door import OwnerDoor
from dactnlg.studies.storage import Storage
from dactnlg.studies.study import Study

Asked = TypeVar("Asked")
Kept = TypeVar("Kept", bound=Enrolment)


@dataclass(frozen=True)
class Desk(Generic[Asked, Kept]):
    """What the routes of any kind of study share.

    Attributes:
        study: what is asked.
        storage: where answers are stored.
        owner_token: the secret of the study's owner.
        base_url: the server's public URL, without a trailing slash.
        pages: the templates.
    """

    study: Asked
    storage: Kept
    owner_token: str
    base_url: str
    pages: Pages

    @property
    def root(self) -> str:
        """The path of `base_url`: empty, or for example `/study` if a proxy serves the study there."""
        return urlsplit(self.base_url).path

    def page(self, template: str, status: int = 200, **values: object) -> Response:
        """Render a template; `study` and `root` are always defined in it."""
        return self.pages.render(template, {"study": self.study, "root": self.root, **values}, status)

    def door(self) -> OwnerDoor:
        """Return the authentication of the owner's pages."""
        return OwnerDoor(
            self.owner_token,
            self.root,
            lambda mistake: self.page("sign_in.html", 401, mistake=mistake),
            secure=self.base_url.startswith("https://"),
        )


StudyDesk = Desk[Study, Storage]
"""The desk of a study whose raters judge sentences."""


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a hard-wrapped plain text.

    A paragraph ends at an empty line, or after a line that ends a sentence.

    >>> paragraphs("Judge every sentence\\nby itself.\\nTake your time.")
    ['Judge every sentence by itself.', 'Take your time.']
    """
    found: list[str] = []
    ended = True
    for line in map(str.strip, text.splitlines()):
        if line and ended:
            found.append(line)
        elif line:
            found[-1] += f" {line}"
        ended = not line or line[-1] in ".!?:;"
    return found


def moment(seconds: int) -> str:
    """Format a time, given in seconds since 1970, for the owner's page."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"


def download(name: str, text: str, media_type: str) -> Response:
    """Return a response that browsers save under a file name and no cache stores."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Response(text.encode("utf-8"), media_type=f"{media_type}; charset=utf-8", headers=headers)
