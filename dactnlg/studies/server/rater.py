"""Pages for raters: consent, one page after the other, thanks."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response
from fastapi.responses import RedirectResponse

from dactnlg._utils.web.forms import read_form
from dactnlg._utils.web.pages import Pages
from dactnlg._utils.web.problems import Problem
from dactnlg._utils.web.tokens import digest
from dactnlg.studies.server.answers import Unanswered, field_name, read_answers
from dactnlg.studies.storage import Storage
from dactnlg.studies.study import Scale, Study, StudyPage

MOST_BUTTONS = 11
"""Values of a scale that are buttons; of more, the value is written."""
Form = Annotated[dict[str, str], Depends(read_form)]


def rater_pages(storage: Storage, pages: Pages) -> APIRouter:
    """Return the routes of raters: `/r/TOKEN` and what its forms are sent to."""
    router = APIRouter()

    def known(token: str) -> tuple[str, bool]:
        found = storage.rater(digest(token))
        if found is None or found[0] not in storage.study.rater_by_id:
            # The same words whether the token is wrong or the study another one.
            raise Problem(404, "there is no such link; copy it whole from the message that you were sent")
        return found

    @router.get("/r/{token}")
    def show(token: str) -> Response:
        rater, agreed = known(token)
        if not agreed:
            return pages.render("consent.html.j2", {"study": storage.study, "token": token})
        page = storage.next_page(rater)
        if page is None:
            return pages.render("thanks.html.j2", {"study": storage.study})
        return pages.render("page.html.j2", _values(storage.study, rater, page, token))

    @router.post("/r/{token}/consent")
    def consent(token: str, form: Form) -> Response:
        rater, _ = known(token)
        if form != {"agree": "yes"}:
            raise Problem(422, "to take part, agree first: agree=yes")
        storage.agree(rater)
        return _back(token)

    @router.post("/r/{token}/pages/{page_id}")
    def answer(token: str, page_id: str, form: Form) -> Response:
        rater, agreed = known(token)
        if not agreed:
            raise Problem(409, "agree to take part first")
        page = next((page for page in storage.study.rater_by_id[rater].pages if page.id == page_id), None)
        if page is None:
            raise Problem(404, "there is no such page for this link")
        try:
            answers = read_answers(storage.study, page, form)
        except Unanswered as error:
            values = _values(storage.study, rater, page, token, form, error.names)
            return pages.render("page.html.j2", values, status=422)
        following = storage.next_page(rater)
        if following is not None and following.id != page.id and page.id not in storage.answered(rater):
            raise Problem(409, "this page is not the next one; open your link again")
        if storage.keep(rater, page, answers) == "other":
            raise Problem(409, "this page was answered already, in another way; what was sent first is kept")
        return _back(token)

    return router


def _back(token: str) -> RedirectResponse:
    # Reloading the next page sends nothing again.
    return RedirectResponse(f"/r/{token}", status_code=303)


def _values(
    study: Study,
    rater: str,
    page: StudyPage,
    token: str,
    given: Mapping[str, str] | None = None,
    missing: Collection[str] = (),
) -> dict[str, Any]:
    item = study.item_by_id[page.item]
    own = study.rater_by_id[rater].pages
    return {
        "study": study,
        "token": token,
        "page_id": page.id,
        "number": own.index(page) + 1,
        "pages": len(own),
        "words": item.words.split("\n"),
        "sentences": [item.sentences[name] for name in page.systems],
        "buttons": _buttons(study.scale),
        "field_name": field_name,
        "given": given or {},
        "missing": missing,
    }


def _buttons(scale: Scale | None) -> list[str]:
    if scale is None or len(scale.values) > MOST_BUTTONS:
        return []
    return [f"{value:g}" for value in scale.values]
