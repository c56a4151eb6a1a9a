"""Pages for raters: welcome and consent, the questions, thanks, and the way out."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path
from fastapi.responses import RedirectResponse, Response
from starlette.requests import Request

from dactnlg._utils.web.forms import MEDIA_TYPE, read_form
from dactnlg._utils.web.problems import UNPROCESSABLE, Problem
from dactnlg._utils.web.tokens import digest
from dactnlg.studies.server.desk import StudyDesk
from dactnlg.studies.server.questions import Question, questions, read_answers
from dactnlg.studies.storage import AnswersConflict, RaterState

AGREES, LEAVES = "agree", "leave"
YES = "yes"


async def _form(request: Request) -> dict[str, str]:
    return await read_form(request)


Form = Annotated[dict[str, str], Depends(_form)]
Token = Annotated[str, Path(max_length=200, description="the secret in a rater's link")]
Number = Annotated[int, Path(ge=1, le=1_000_000, description="which of the rater's pages, from 1")]


def form_schema(*fields: str) -> dict[str, Any]:
    """Return what the OpenAPI document says about a form with some fields, or with any."""
    texts = {name: {"type": "string"} for name in fields}
    schema = {"type": "object", "properties": texts, "additionalProperties": False if fields else {"type": "string"}}
    return {"requestBody": {"required": True, "content": {MEDIA_TYPE: {"schema": schema}}}}


def routes(desk: StudyDesk) -> APIRouter:
    """Return the routes under `/r/TOKEN`, where TOKEN is the secret in a rater's link."""
    router = APIRouter(prefix="/r/{token}", responses={404: {"description": "there is no such link"}})
    room = RaterRoom(desk)

    @router.get("")
    def current(token: Token) -> Response:
        """Show what comes next for a rater: the welcome, the first page without answers, or thanks."""
        return room.current(room.state(token), token)

    @router.post("/consent", openapi_extra=form_schema(AGREES))
    def consent(token: Token, form: Form) -> Response:
        """Note that the rater agrees to take part."""
        state = room.state(token)
        if form != {AGREES: YES}:
            return room.welcome(token, "Please tick the box if you agree; otherwise simply close this page.")
        desk.storage.consent(state.rater)
        return room.onward(token)

    @router.post("/pages/{number}", openapi_extra=form_schema())
    def answer(token: Token, number: Number, form: Form) -> Response:
        """Keep the answers to one page."""
        return room.answer(room.state(token), token, number, form)

    @router.get("/leave")
    def leaving(token: Token) -> Response:
        """Ask whether the rater means it."""
        state = room.state(token)
        return room.current(state, token) if state.withdrawn else desk.page("leave.html", token=token, mistake="")

    @router.post("/leave", openapi_extra=form_schema(LEAVES))
    def leave(token: Token, form: Form) -> Response:
        """Delete everything that the rater has answered."""
        state = room.state(token)
        if form != {LEAVES: YES}:
            told = "Please tick the box if you want your answers deleted."
            return desk.page("leave.html", UNPROCESSABLE, token=token, mistake=told)
        if not state.withdrawn:
            desk.storage.withdraw(state.rater)
        return room.onward(token)

    return router


class RaterRoom:
    """What a rater sees."""

    def __init__(self, desk: StudyDesk) -> None:
        self._desk = desk

    def state(self, token: str) -> RaterState:
        """Return how far the rater with a link is.

        Raises:
            Problem: 404, nobody has it.
        """
        # A study that was made anew with fewer raters may have links of others.
        rater = self._desk.storage.rater_with(digest(token))
        if rater is None or rater not in self._desk.study.rater_by_id:
            raise Problem(404, "there is no such link; please copy it whole from the message that you got")
        return self._desk.storage.state(rater)

    def onward(self, token: str) -> Response:
        """Send the browser to what comes next; a reload there repeats nothing."""
        return RedirectResponse(f"{self._desk.root}/r/{token}", 303)

    def welcome(self, token: str, mistake: str = "") -> Response:
        """Return instructions and the form of consent."""
        return self._desk.page("welcome.html", UNPROCESSABLE if mistake else 200, token=token, mistake=mistake)

    def current(self, state: RaterState, token: str) -> Response:
        """Return what comes next."""
        pages = self._desk.study.rater_by_id[state.rater].pages
        if state.withdrawn:
            return self._desk.page("left.html")
        if not state.consented:
            return self.welcome(token)
        if state.answered >= len(pages):
            return self._desk.page("thanks.html", token=token, pages=len(pages))
        return self._page(state, token, questions(self._desk.study, pages[state.answered]))

    def answer(self, state: RaterState, token: str, number: int, form: dict[str, str]) -> Response:
        """Keep the answers to a page and go on; show the page again where they have mistakes."""
        pages = self._desk.study.rater_by_id[state.rater].pages
        if number > len(pages):
            raise Problem(404, f"there are {len(pages)} pages")
        if number - 1 > state.answered or not state.consented:
            raise Problem(409, f"page {number} is not the one that you are at; please open your link again")
        asked = questions(self._desk.study, pages[number - 1], form)
        answers = read_answers(asked, form)
        if answers is not None:
            self._desk.storage.answer(state.rater, number - 1, answers)
            return self.onward(token)
        if number - 1 < state.answered:
            raise AnswersConflict("this page was sent before, with other answers; those stand")
        return self._page(state, token, asked, UNPROCESSABLE)

    def _page(self, state: RaterState, token: str, asked: list[Question], status: int = 200) -> Response:
        study = self._desk.study
        pages = study.rater_by_id[state.rater].pages
        page = pages[state.answered]
        item = study.item_by_id[page.item]
        return self._desk.page(
            "page.html",
            status,
            token=token,
            number=state.answered + 1,
            pages=len(pages),
            words=item.words.splitlines(),
            sentences=[item.sentences[system] for system in page.systems],
            questions=asked,
            mistakes=[question for question in asked if question.mistake],
        )
