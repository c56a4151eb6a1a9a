"""The web application of a study."""

from __future__ import annotations

from starlette.types import ASGIApp

from dactnlg._utils.web.pages import Pages
from dactnlg.studies.server import owner, rater
from dactnlg.studies.server.assembly import assembled
from dactnlg.studies.server.desk import StudyDesk, paragraphs
from dactnlg.studies.storage import Storage
from dactnlg.studies.study import Study

BODY_BYTES = 256 * 1024


def build(study: Study, storage: Storage, owner_token: str, base_url: str) -> ASGIApp:
    """Return the application of a study.

    Args:
        study: what is asked.
        storage: where answers are stored.
        owner_token: the token of the owner's page.
        base_url: the server's public URL.
    """
    pages = Pages("dactnlg.studies.server", {"paragraphs": paragraphs, "coefficient": _coefficient})
    desk = StudyDesk(study, storage, owner_token, base_url.rstrip("/"), pages)
    return assembled(
        desk,
        [rater.routes(desk), owner.routes(desk)],
        title="dactnlg study",
        description="Raters judge sentences; the owner sees how far they are.",
        body_bytes=BODY_BYTES,
    )


def _coefficient(value: float | None) -> str:
    # Adding 0 turns -0.0 into 0.0.
    return "–" if value is None else f"{round(value, 2) + 0:.2f}"
