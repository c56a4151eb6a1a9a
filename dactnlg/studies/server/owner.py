"""The owner's page: progress, agreement so far, attention checks, and the ratings for download."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends
from fastapi.responses import Response
from starlette.requests import Request

from dactnlg.studies.answers import failed_checks, rating_rows
from dactnlg.studies.ratings import Ratings
from dactnlg.studies.server.agreement import AgreementSoFar
from dactnlg.studies.server.desk import StudyDesk, download, moment


def routes(desk: StudyDesk) -> APIRouter:
    """Return the routes under `/owner`; all but the sign-in require its cookie or a bearer token."""
    router = APIRouter(prefix="/owner", responses={401: {"description": "the owner's token is missing"}})
    agreement = AgreementSoFar(desk.study)
    door = desk.door()
    door.add(router)

    @router.get("")
    def overview(request: Request) -> Response:
        """Show the progress of all raters, or ask for the token."""
        if asked := door.question(request):
            return asked
        door.check(request)
        values = desk.storage.values()
        return desk.page("owner.html", agreement=agreement.of(values), **_progress(desk, values))

    @router.get("/ratings.csv", dependencies=[Depends(door.check)])
    def ratings() -> Response:
        """Return all ratings so far as CSV, without attention checks."""
        rows = rating_rows(desk.study, desk.storage.values())
        return download("ratings.csv", Ratings(list(rows)).csv(), "text/csv")

    @router.get("/progress", dependencies=[Depends(door.check)])
    def progress() -> dict[str, Any]:
        """Return the progress of all raters as JSON."""
        return _progress(desk, desk.storage.values())

    return router


def _progress(desk: StudyDesk, values: dict[str, dict[tuple[int, str], float]]) -> dict[str, Any]:
    """Return a row per rater, and totals."""
    states, checks = desk.storage.states(), failed_checks(desk.study, values)
    rows = []
    for rater in desk.study.raters:
        state = states.get(rater.id)
        failed, checked = checks[rater.id]
        rows.append(
            {
                "rater": rater.id,
                "state": _word(state, len(rater.pages)),
                "answered": state.answered if state else 0,
                "pages": len(rater.pages),
                "latest": moment(state.latest) if state and state.latest is not None else "",
                "checks_failed": failed,
                "checks": checked,
            }
        )
    return {
        "raters": rows,
        "answered": sum(row["answered"] for row in rows),
        "pages": sum(row["pages"] for row in rows),
        "done": sum(row["state"] == "done" for row in rows),
        "left": sum(row["state"] == "left" for row in rows),
    }


def _word(state: Any, pages: int) -> str:
    if state is None or not (state.consented or state.withdrawn):
        return "not begun"
    if state.withdrawn:
        return "left"
    return "done" if state.answered >= pages else "rating"
