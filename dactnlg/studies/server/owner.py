"""The owner's page: who has come how far, how much raters agree, and the ratings as a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import RedirectResponse

from dactnlg._utils.web.forms import read_form
from dactnlg._utils.web.pages import Pages
from dactnlg._utils.web.problems import Problem
from dactnlg._utils.web.tokens import digest, same
from dactnlg.studies.ratings import Ratings
from dactnlg.studies.storage import Storage

COOKIE = "owner"
Form = Annotated[dict[str, str], Depends(read_form)]
Summary = Callable[[Ratings], list[list[str]]]


def owner_pages(storage: Storage, pages: Pages, token: str, agreement: Summary) -> APIRouter:
    """Return the routes of the owner, below `/owner`.

    Args:
        storage: the ratings.
        pages: the templates.
        token: what the owner has to know, in a form once or as `Authorization: Bearer TOKEN`.
        agreement: what the page says of the raters' agreement so far: cells of a table, the header first.
    """
    router = APIRouter(prefix="/owner")

    def allowed(request: Request) -> bool:
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        by_header = scheme.lower() == "bearer" and same(given.strip(), token)
        # The cookie holds a hash: who reads it elsewhere does not learn the token.
        return by_header or same(request.cookies.get(COOKIE, ""), digest(token))

    @router.get("")
    def overview(request: Request) -> Response:
        if not allowed(request):
            return pages.render("login.html.j2", {"wrong": False}, status=401)
        return pages.render("owner.html.j2", _overview(storage, agreement))

    @router.post("")
    def login(form: Form) -> Response:
        if not same(form.get("token", ""), token):
            return pages.render("login.html.j2", {"wrong": True}, status=401)
        answer = RedirectResponse("/owner", status_code=303)
        answer.set_cookie(COOKIE, digest(token), httponly=True, samesite="strict", path="/owner")
        return answer

    @router.get("/ratings.csv")
    def export(request: Request) -> Response:
        if not allowed(request):
            raise Problem(401, "this needs the owner's token", headers={"WWW-Authenticate": "Bearer"})
        headers = {"Content-Disposition": 'attachment; filename="ratings.csv"', "Cache-Control": "no-store"}
        return Response(storage.ratings().csv(), media_type="text/csv; charset=utf-8", headers=headers)

    return router


def _overview(storage: Storage, agreement: Summary) -> dict[str, Any]:
    done, failed = storage.progress(), storage.failed_checks()
    rows = [
        {"rater": rater.id, "done": done[rater.id], "pages": len(rater.pages), "failed": failed[rater.id]}
        for rater in storage.study.raters
    ]
    ratings = storage.ratings()
    return {
        "study": storage.study,
        "rows": rows,
        "ratings": len(ratings.rows),
        "done": sum(done.values()),
        "pages": sum(row["pages"] for row in rows),
        "finished": sum(row["done"] == row["pages"] for row in rows),
        "agreement": agreement(ratings) if ratings.rows else [],
    }
