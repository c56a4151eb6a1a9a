"""The objects shared by the routes of a chat server."""

from __future__ import annotations

from dataclasses import dataclass

from dactnlg.serving.chat.replies import Replies
from dactnlg.serving.chat.storage import ChatStorage
from dactnlg.serving.chat.study import ChatStudy
from dactnlg.studies.server.desk import Desk


@dataclass(frozen=True)
class ChatDesk(Desk[ChatStudy, ChatStorage]):
    """The objects shared by the routes.

    Attributes:
        replies: lets the systems answer.
    """

    replies: Replies
