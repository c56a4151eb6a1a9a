"""What the routes of a study's server work with."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.responses import Response

from dactnlg._utils.web.pages import Pages
from dactnlg.studies.storage import Storage
from dactnlg.studies.study import Study


@dataclass(frozen=True)
class StudyDesk:
    """What the routes work with.

    Attributes:
        study: what is asked.
        storage: where the answers go.
        owner_token: the secret of the study's owner.
        base_url: where the server is reached, without a slash at the end.
        pages: the templates.
    """

    study: Study
    storage: Storage
    owner_token: str
    base_url: str
    pages: Pages

    @property
    def root(self) -> str:
        """The path under which the server is reached: empty, or `/study` where a proxy gives it that place."""
        return urlsplit(self.base_url).path

    @property
    def secure(self) -> bool:
        """Whether browsers reach it through HTTPS alone."""
        return self.base_url.startswith("https://")

    def page(self, template: str, status: int = 200, **values: object) -> Response:
        """Return a page; every template knows the study's name and the root."""
        return self.pages.render(template, {"study": self.study, "root": self.root, **values}, status)


def pages() -> Pages:
    """Return the templates of this room, with filters of their own."""
    return Pages("dactnlg.studies.server", {"paragraphs": paragraphs, "coefficient": _coefficient})


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


def _coefficient(value: float | None) -> str:
    # Adding 0 takes the sign away from what is rounded to zero.
    return "–" if value is None else f"{round(value, 2) + 0:.2f}"
