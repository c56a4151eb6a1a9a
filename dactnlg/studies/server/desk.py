"""What the routes of a study's server work with."""

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
    """What the routes work with, whatever kind of study it is.

    Attributes:
        study: what is asked.
        storage: where the answers go.
        owner_token: the secret of the study's owner.
        base_url: where the server is reached, without a slash at the end.
        pages: the templates.
    """

    study: Asked
    storage: Kept
    owner_token: str
    base_url: str
    pages: Pages

    @property
    def root(self) -> str:
        """The path under which the server is reached: empty, or `/study` where a proxy gives it that place."""
        return urlsplit(self.base_url).path

    def page(self, template: str, status: int = 200, **values: object) -> Response:
        """Return a page; every template knows the study and the root."""
        return self.pages.render(template, {"study": self.study, "root": self.root, **values}, status)

    def door(self) -> OwnerDoor:
        """Return what lets the owner in."""
        return OwnerDoor(
            self.owner_token,
            self.root,
            lambda mistake: self.page("sign_in.html", 401, mistake=mistake),
            secure=self.base_url.startswith("https://"),
        )


StudyDesk = Desk[Study, Storage]
"""Of a study whose raters judge sentences."""


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a plain text, whose lines may be broken anywhere.

    A paragraph ends with an empty line, or with a line that ends a sentence.

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
    """Return a time, in seconds since 1970, as owners read it."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"


def download(name: str, text: str, media_type: str) -> Response:
    """Return a file that browsers save under a name, and that nobody keeps in between."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Response(text.encode("utf-8"), media_type=f"{media_type}; charset=utf-8", headers=headers)
