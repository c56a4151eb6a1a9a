"""What is the same for everybody with a link, whatever is asked: welcome and consent, what comes next, the way out."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any, Generic, Protocol, TypeVar

from fastapi import APIRouter, Path
from fastapi.responses import RedirectResponse, Response

from dactnlg._utils.web.forms import Form, form_schema
from dactnlg._utils.web.problems import UNPROCESSABLE, Problem
from dactnlg._utils.web.tokens import digest
from dactnlg.studies.server.desk import Desk

AGREES, LEAVES = "agree", "leave"
YES = "yes"
Token = Annotated[str, Path(max_length=200, description="the secret in a person's link")]


class VisitorState(Protocol):
    """How far somebody is."""

    @property
    def rater(self) -> str:
        """Who it is."""

    @property
    def withdrawn(self) -> bool:
        """Whether they have left."""


DeskType = TypeVar("DeskType", bound=Desk[Any, Any])
State = TypeVar("State", bound=VisitorState)


class VisitorRoom(Generic[DeskType, State]):
    """What people with a link see; a kind of study adds what it asks.

    Args:
        desk: what the routes work with; its storage has `state(rater)`.
        people: all who were asked.
    """

    def __init__(self, desk: DeskType, people: Collection[str]) -> None:
        self.desk, self._people = desk, people

    def current(self, state: State, token: str) -> Response:
        """Return what comes next for somebody."""
        raise NotImplementedError

    def agreed(self, rater: str) -> None:
        """Note that somebody agrees to take part."""
        self.desk.storage.consent(rater)

    def state(self, token: str) -> State:
        """Return how far the person with a link is.

        Raises:
            Problem: 404, nobody has it.
        """
        # A study that was made anew with fewer people may have links of others.
        rater = self.desk.storage.rater_with(digest(token))
        if rater is None or rater not in self._people:
            raise Problem(404, "there is no such link; please copy it whole from the message that you got")
        found: State = self.desk.storage.state(rater)
        return found

    def onward(self, token: str, place: str = "") -> Response:
        """Send the browser to what comes next; a reload there repeats nothing."""
        return RedirectResponse(f"{self.desk.root}/r/{token}{place}", 303)

    def welcome(self, token: str, mistake: str = "") -> Response:
        """Return instructions and the form of consent."""
        return self.desk.page("welcome.html", UNPROCESSABLE if mistake else 200, token=token, mistake=mistake)

    def leaving(self, token: str, mistake: str = "") -> Response:
        """Return the question whether somebody means to leave."""
        return self.desk.page("leave.html", UNPROCESSABLE if mistake else 200, token=token, mistake=mistake)

    def router(self) -> APIRouter:
        """Return the routes under `/r/TOKEN`, where TOKEN is the secret in a person's link."""
        router = APIRouter(prefix="/r/{token}", responses={404: {"description": "there is no such link"}})

        @router.get("")
        def current(token: Token) -> Response:
            """Show what comes next: the welcome, what is asked, or thanks."""
            return self.current(self.state(token), token)

        @router.post("/consent", openapi_extra=form_schema(AGREES))
        def consent(token: Token, form: Form) -> Response:
            """Note that the person agrees to take part."""
            state = self.state(token)
            if form != {AGREES: YES}:
                return self.welcome(token, "Please tick the box if you agree; otherwise simply close this page.")
            self.agreed(state.rater)
            return self.onward(token)

        @router.get("/leave")
        def leaving(token: Token) -> Response:
            """Ask whether the person means it."""
            state = self.state(token)
            return self.current(state, token) if state.withdrawn else self.leaving(token)

        @router.post("/leave", openapi_extra=form_schema(LEAVES))
        def leave(token: Token, form: Form) -> Response:
            """Delete everything of the person."""
            state = self.state(token)
            if form != {LEAVES: YES}:
                return self.leaving(token, "Please tick the box if you want all of it deleted.")
            if not state.withdrawn:
                self.desk.storage.withdraw(state.rater)
            return self.onward(token)

        return router
