"""What the routes of a chat server work with."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.responses import Response

from dactnlg._utils.web.pages import Pages
from dactnlg.serving.chat.replies import Replies
from dactnlg.serving.chat.storage import ChatStorage
from dactnlg.serving.chat.study import ChatStudy
from dactnlg.studies.server.desk import paragraphs


@dataclass(frozen=True)
class ChatDesk:
    """What the routes work with.

    Attributes:
        study: what is asked.
        storage: where everything goes.
        replies: the systems.
        owner_token: the secret of the study's owner.
        base_url: where the server is reached, without a slash at the end.
        pages: the templates.
    """

    study: ChatStudy
    storage: ChatStorage
    replies: Replies
    owner_token: str
    base_url: str
    pages: Pages

    @property
    def root(self) -> str:
        """The path under which the server is reached: empty, or `/chat` where a proxy gives it that place."""
        return urlsplit(self.base_url).path

    @property
    def secure(self) -> bool:
        """Whether browsers reach it through HTTPS alone."""
        return self.base_url.startswith("https://")

    def page(self, template: str, status: int = 200, **values: object) -> Response:
        """Return a page; every template knows the study's texts and the root, and none a system."""
        return self.pages.render(template, {"study": self.study, "root": self.root, **values}, status)


def pages() -> Pages:
    """Return the templates of this room, and behind them those of studies: welcome and consent are the same."""
    return Pages("dactnlg.serving.chat", {"paragraphs": paragraphs}, behind="dactnlg.studies.server")
