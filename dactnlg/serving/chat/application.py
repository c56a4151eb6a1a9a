"""The server of chats, put together."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping

from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.types import ASGIApp

from dactnlg._utils.web import application
from dactnlg._utils.web.limits import RequestLimits
from dactnlg._utils.web.pages import static_files
from dactnlg._utils.web.problems import Problem
from dactnlg.dialogue.talkers import Talker
from dactnlg.serving.chat import chatter, owner
from dactnlg.serving.chat.desk import ChatDesk, pages
from dactnlg.serving.chat.replies import Replies
from dactnlg.serving.chat.storage import ChatStorage
from dactnlg.serving.chat.study import ChatStudy
from dactnlg.studies.server.application import SECONDS, install_errors

BODY_BYTES = 64 * 1024


def build(
    study: ChatStudy, storage: ChatStorage, talkers: Mapping[str, Talker], owner_token: str, base_url: str
) -> ASGIApp:
    """Return the application of a study of chats.

    Args:
        study: what is asked.
        storage: where everything goes.
        talkers: system -> what answers.
        owner_token: what the owner's page asks for.
        base_url: where the server is reached.
    """
    replies = Replies(talkers, study.seed)
    desk = ChatDesk(study, storage, replies, owner_token, base_url.rstrip("/"), pages())

    def error_page(_request: Request, problem: Problem) -> Response:
        answer = desk.page("error.html", problem.status, problem=problem)
        answer.headers.update(problem.headers)
        return answer

    @contextlib.asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        replies.close()

    app = application.create("dactnlg chat", "People chat with systems, and rate them.", lifespan, error_page)
    app.mount("/static", static_files("dactnlg.studies.server"))
    app.mount("/chat", static_files("dactnlg.serving.chat"))
    app.include_router(chatter.routes(desk))
    app.include_router(owner.routes(desk))
    install_errors(app, error_page)

    @app.get("/", include_in_schema=False)
    def home() -> Response:
        return desk.page("home.html")

    @app.get("/healthz")
    def healthy() -> dict[str, str]:
        """Say that the server answers."""
        return {"status": "ok"}

    return application.guarded(app, RequestLimits(body_bytes=BODY_BYTES, seconds=SECONDS))
