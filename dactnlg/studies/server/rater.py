"""Pages for raters who judge sentences."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from fastapi.responses import Response

from dactnlg._utils.web.forms import Form, form_schema
from dactnlg._utils.web.problems import UNPROCESSABLE, Problem
from dactnlg.studies.enrolment import LEFT, OutOfOrder
from dactnlg.studies.server.desk import StudyDesk
from dactnlg.studies.server.questions import Question, questions, read_answers
from dactnlg.studies.server.visitors import Token, VisitorRoom
from dactnlg.studies.storage import AnswersConflict, RaterState

Number = Annotated[int, Path(ge=1, le=1_000_000, description="which of the rater's pages, from 1")]


def routes(desk: StudyDesk) -> APIRouter:
    """Return the routes under `/r/TOKEN`, where TOKEN is the secret in a rater's link."""
    room = RaterRoom(desk, desk.study.rater_by_id)
    router = room.router()

    @router.post("/pages/{number}", openapi_extra=form_schema())
    def answer(token: Token, number: Number, form: Form) -> Response:
        """Store the answers to one page."""
        return room.answer(room.state(token), token, number, form)

    return router


class RaterRoom(VisitorRoom[StudyDesk, RaterState]):
    """The pages that a rater sees."""

    def current(self, state: RaterState, token: str) -> Response:
        """Return the next page."""
        pages = self.desk.study.rater_by_id[state.rater].pages
        if state.withdrawn:
            return self.desk.page("left.html")
        if not state.consented:
            return self.welcome(token)
        if state.answered >= len(pages):
            return self.desk.page("thanks.html", token=token, pages=len(pages))
        return self._page(state, token, questions(self.desk.study, pages[state.answered]))

    def answer(self, state: RaterState, token: str, number: int, form: dict[str, str]) -> Response:
        """Store the answers to a page and redirect to the next; if they have mistakes, show the page again."""
        if state.withdrawn:
            raise OutOfOrder(LEFT)
        pages = self.desk.study.rater_by_id[state.rater].pages
        if number > len(pages):
            raise Problem(404, f"there are {len(pages)} pages")
        if number - 1 > state.answered or not state.consented:
            raise Problem(409, f"page {number} is not the one that you are at; please open your link again")
        asked = questions(self.desk.study, pages[number - 1], form)
        answers = read_answers(asked, form)
        if answers is not None:
            self.desk.storage.answer(state.rater, number - 1, answers)
            return self.onward(token)
        if number - 1 < state.answered:
            raise AnswersConflict("this page was sent before, with other answers; those stand")
        return self._page(state, token, asked, UNPROCESSABLE)

    def _page(self, state: RaterState, token: str, asked: list[Question], status: int = 200) -> Response:
        study = self.desk.study
        pages = study.rater_by_id[state.rater].pages
        page = pages[state.answered]
        item = study.item_by_id[page.item]
        return self.desk.page(
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
