"""Assembly of the chat server."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping

from fastapi import FastAPI
from starlette.types import ASGIApp

from dactnlg._utils.web.pages import Pages
from dactnlg.dialogue.talkers import Talker
from dactnlg.serving.chat import chatter, owner
from dactnlg.serving.chat.desk import ChatDesk
from dactnlg.serving.chat.replies import Replies
from dactnlg.serving.chat.storage import ChatStorage
from dactnlg.serving.chat.study import ChatStudy
from dactnlg.studies.server.assembly import assembled
from dactnlg.studies.server.desk import paragraphs

BODY_BYTES = 64 * 1024


def build(
    study: ChatStudy, storage: ChatStorage, talkers: Mapping[str, Talker], owner_token: str, base_url: str
) -> ASGIApp:
    """Return the application for a chat study.

    Args:
        study: the design of the study.
        storage: its database.
        talkers: system -> its talker.
        owner_token: the token for the owner's page.
        base_url: the public address of the server.
    """
    replies = Replies(talkers, study.seed)
    # The pages for welcome and consent are shared by all kinds of studies.
    pages = Pages("dactnlg.serving.chat", {"paragraphs": paragraphs}, fallback="dactnlg.studies.server")
    desk = ChatDesk(study, storage, owner_token, base_url.rstrip("/"), pages, replies)

    @contextlib.asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        replies.close()

    return assembled(
        desk,
        [chatter.routes(desk), owner.routes(desk)],
        title="dactnlg chat",
        description="People chat with systems, and rate them.",
        body_bytes=BODY_BYTES,
        lifespan=lifespan,
        static={"/chat": "dactnlg.serving.chat"},
    )
