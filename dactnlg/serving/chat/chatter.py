"""The pages behind a person's link: chat, rating, and thanks."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Path
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse

from dactnlg._utils.web.forms import Form, form_schema
from dactnlg._utils.web.problems import UNPROCESSABLE, Problem
from dactnlg._utils.web.tokens import new_token
from dactnlg.serving.chat.conversation import Chat, ChatterState
from dactnlg.serving.chat.desk import ChatDesk
from dactnlg.serving.chat.replies import clean
from dactnlg.serving.chat.storage import TooManyMessages, check_length
from dactnlg.studies.enrolment import OutOfOrder
from dactnlg.studies.server.questions import read_scales, scale_questions
from dactnlg.studies.server.visitors import Token, VisitorRoom

VOTES = {"up": 1, "down": -1}
_REQUEST = re.compile(r"[A-Za-z0-9_-]{8,64}")
_PLACE = re.compile(r"[0-9]{1,6}")
ChatNumber = Annotated[int, Path(ge=1, le=1_000, description="which of the person's conversations, from 1")]


def routes(desk: ChatDesk) -> APIRouter:
    """Return the routes under `/r/TOKEN`, where TOKEN is the secret of a person's link."""
    room = ChatterRoom(desk, desk.study.place_of)
    router = room.router()

    @router.post("/chats/{number}", openapi_extra=form_schema("begin"))
    def begin(token: Token, number: ChatNumber, form: Form) -> Response:
        """Begin a conversation."""
        desk.storage.begin(room.state(token).rater, number)
        return room.onward(token)

    @router.post("/chats/{number}/messages", openapi_extra=form_schema("id", "text"))
    async def message(request: Request, token: Token, number: ChatNumber, form: Form) -> Response:
        """Store a message and return the answer."""
        state = await run_in_threadpool(room.state, token)
        chat, place = await room.say(state, number, form)
        return room.said(request, token, chat, place)

    @router.post("/chats/{number}/answer", openapi_extra=form_schema("again"))
    async def answer(request: Request, token: Token, number: ChatNumber, form: Form) -> Response:
        """Return the answer to a message that has none yet."""
        chat = room.open(await run_in_threadpool(room.state, token), number)
        if not chat.texts:
            raise OutOfOrder("nothing was said yet")
        chat = await room.answered(chat)
        return room.said(request, token, chat, 2 * (chat.turns - 1))

    @router.post("/chats/{number}/votes", openapi_extra=form_schema("id", "place", "vote"))
    def vote(request: Request, token: Token, number: ChatNumber, form: Form) -> Response:
        """Store a vote on an answer; the same vote again clears it."""
        state = room.state(token)
        if form.get("vote") not in VOTES or not _PLACE.fullmatch(form.get("place", "")):
            raise Problem(UNPROCESSABLE, "a vote has a place, a number, and is up or down")
        place = int(form["place"])
        chat = desk.storage.vote(state.rater, number, _id(form), place, VOTES[form["vote"]])  # type: ignore[arg-type]
        if _wants_json(request):
            return JSONResponse({"place": place, "vote": chat.votes.get(place, 0)})
        return room.onward(token, f"#place-{place}")

    @router.get("/chats/{number}/rating")
    def rating(token: Token, number: ChatNumber) -> Response:
        """Show the rating form of a conversation, once it is long enough."""
        return room.rating(room.state(token), token, number)

    @router.post("/chats/{number}/rating", openapi_extra=form_schema())
    def rate(token: Token, number: ChatNumber, form: Form) -> Response:
        """Store the ratings and end the conversation."""
        return room.rate(room.state(token), token, number, form)

    return router


class ChatterRoom(VisitorRoom[ChatDesk, ChatterState]):
    """The pages and actions of a person."""

    def agreed(self, rater: str) -> None:
        """Record that a person agrees to take part, and begin the first conversation."""
        super().agreed(rater)
        self.desk.storage.begin(rater, 1)

    def current(self, state: ChatterState, token: str) -> Response:
        """Return the page that comes next."""
        study, page = self.desk.study, self.desk.page
        if state.withdrawn:
            return page("left.html")
        if not state.consented:
            return self.welcome(token)
        if state.latest is None or state.latest.rated:
            begun = state.finished
            return page("between.html", token=token, finished=begun, next=begun + 1 if begun < study.chats else None)
        return page("chat.html", token=token, chat=state.latest, request=new_token(), mistake="")

    async def say(self, state: ChatterState, number: int, form: dict[str, str]) -> tuple[Chat, int]:
        """Store a message and its answer; return the conversation and the index of the message in it."""
        text, most = clean(form.get("text", "")), self.desk.study.limits.message_length
        if not text:
            raise Problem(UNPROCESSABLE, "please write something")
        if len(text) > most:
            raise Problem(UNPROCESSABLE, f"a message has at most {most} characters; yours has {len(text)}")
        storage, request = self.desk.storage, _id(form)
        try:
            chat, place = await run_in_threadpool(storage.say, state.rater, number, request, text)
        except TooManyMessages as error:
            raise Problem(429, str(error), headers={"Retry-After": str(error.wait)}) from None
        return await self.answered(chat), place

    async def answered(self, chat: Chat) -> Chat:
        """Store the answer to the last message if it has none; return the conversation."""
        if not chat.waiting:
            return chat
        text = await self.desk.replies.reply(chat)
        return await run_in_threadpool(self.desk.storage.answer, chat.rater, chat.number, len(chat.texts), text)

    def said(self, request: Request, token: str, chat: Chat, place: int) -> Response:
        """Return the response to a message: JSON for the page's script, otherwise a redirect to the page."""
        if not _wants_json(request):
            return self.onward(token, f"#place-{place + 1}")
        limits = self.desk.study.limits
        return JSONResponse(
            {
                "place": place,
                "text": chat.texts[place],
                "answer": chat.texts[place + 1],
                "may_rate": chat.turns >= limits.least_turns,
                "left": limits.most_turns - chat.turns,
            }
        )

    def rating(self, state: ChatterState, token: str, number: int, form: dict[str, str] | None = None) -> Response:
        """Return the rating form of a conversation, with the mistakes of a submitted form."""
        chat = self.open(state, number)
        check_length(self.desk.study, chat)
        asked = scale_questions(self.desk.study.scale, self.desk.study.criteria, form)
        mistakes = [question for question in asked if question.mistake]
        values = {"token": token, "chat": chat, "questions": asked, "mistakes": mistakes}
        return self.desk.page("rating.html", UNPROCESSABLE if mistakes else 200, **values)

    def rate(self, state: ChatterState, token: str, number: int, form: dict[str, str]) -> Response:
        """Store ratings and go on, or show the form again if there are mistakes."""
        asked = scale_questions(self.desk.study.scale, self.desk.study.criteria, form)
        ratings = read_scales(asked, form)
        if ratings is None:
            return self.rating(state, token, number, form)
        self.desk.storage.rate(state.rater, number, ratings)
        return self.onward(token)

    def open(self, state: ChatterState, number: int) -> Chat:
        """Return the conversation that a person is in.

        Raises:
            OutOfOrder: it has another number, or is rated, or the person has withdrawn.
        """
        if state.latest is None or state.latest.number != number or state.latest.rated or state.withdrawn:
            raise OutOfOrder("this is not the conversation that you are in; please open your link again")
        return state.latest


def _id(form: dict[str, str]) -> str:
    found = form.get("id", "")
    if not _REQUEST.fullmatch(found):
        raise Problem(UNPROCESSABLE, "a request has an id of 8 to 64 letters and digits, the same in every retry")
    return found


def _wants_json(request: Request) -> bool:
    return "application/json" in request.headers.get("accept", "")
