"""Pages that all kinds of studies share for people with a link: welcome, consent, and withdrawal."""

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
    """A person's progress."""

    @property
    def rater(self) -> str:
        """The person."""

    @property
    def withdrawn(self) -> bool:
        """Whether they have withdrawn."""


DeskType = TypeVar("DeskType", bound=Desk[Any, Any])
State = TypeVar("State", bound=VisitorState)


class VisitorRoom(Generic[DeskType, State]):
    """The pages of people with a link; each kind of study has a subclass with its questions.

    Args:
        desk: what the routes work with; its storage has a method `state(rater)`.
        people: names of all participants.
    """

    def __init__(self, desk: DeskType, people: Collection[str]) -> None:
        self.desk, self._people = desk, people

    def current(self, state: State, token: str) -> Response:
        """Return a person's next page."""
        raise NotImplementedError

    def agreed(self, rater: str) -> None:
        """Record that somebody consents to take part."""
        self.desk.storage.consent(rater)

    def state(self, token: str) -> State:
        """Return the progress of the person whose link has this token.

        Raises:
            Problem: 404, there is no such link.
        """
        # If a study was recreated with fewer people, the database may have links of others.
        rater = self.desk.storage.rater_with(digest(token))
        if rater is None or rater not in self._people:
            raise Problem(404, "there is no such link; please copy it whole from the message that you got")
        found: State = self.desk.storage.state(rater)
        return found

    def onward(self, token: str, place: str = "") -> Response:
        """Redirect the browser to the next page, so that a reload does not submit the form again."""
        return RedirectResponse(f"{self.desk.root}/r/{token}{place}", 303)

    def welcome(self, token: str, mistake: str = "") -> Response:
        """Return the page with instructions and the consent form."""
        return self.desk.page("welcome.html", UNPROCESSABLE if mistake else 200, token=token, mistake=mistake)

    def leaving(self, token: str, mistake: str = "") -> Response:
        """Return the page that asks for confirmation before leaving."""
        return self.desk.page("leave.html", UNPROCESSABLE if mistake else 200, token=token, mistake=mistake)

    def router(self) -> APIRouter:
        """Return the routes under `/r/TOKEN`, where TOKEN is the secret in a person's link."""
        router = APIRouter(prefix="/r/{token}", responses={404: {"description": "there is no such link"}})

        @router.get("")
        def current(token: Token) -> Response:
            """Show the next page: the welcome, a question, or thanks."""
            return self.current(self.state(token), token)

        @router.post("/consent", openapi_extra=form_schema(AGREES))
        def consent(token: Token, form: Form) -> Response:
            """Record that the person consents to take part."""
            state = self.state(token)
            if form != {AGREES: YES}:
                return self.welcome(token, "Please tick the box if you agree; otherwise simply close this page.")
            self.agreed(state.rater)
            return self.onward(token)

        @router.get("/leave")
        def leaving(token: Token) -> Response:
            """Ask the person to confirm that they want to leave."""
            state = self.state(token)
            return self.current(state, token) if state.withdrawn else self.leaving(token)

        @router.post("/leave", openapi_extra=form_schema(LEAVES))
        def leave(token: Token, form: Form) -> Response:
            """Delete all of the person's answers."""
            state = self.state(token)
            if form != {LEAVES: YES}:
                return self.leaving(token, "Please tick the box if you want all of it deleted.")
            if not state.withdrawn:
                self.desk.storage.withdraw(state.rater)
            return self.onward(token)

        return router
