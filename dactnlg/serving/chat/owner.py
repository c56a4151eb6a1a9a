"""The page of a chat study's owner: progress, results of each system, and data to download."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Depends
from fastapi.responses import Response
from starlette.requests import Request

from dactnlg.dialogue.conversations import lines
from dactnlg.serving.chat.conversation import Chat
from dactnlg.serving.chat.desk import ChatDesk
from dactnlg.serving.chat.export import CONVERSATIONS, RATINGS, VOTES, conversation, rating_rows, vote_rows
from dactnlg.serving.chat.study import ChatStudy
from dactnlg.studies.server.desk import download, moment


def routes(desk: ChatDesk) -> APIRouter:
    """Return the routes under `/owner`; all but the sign-in require its cookie or a bearer token."""
    router = APIRouter(prefix="/owner", responses={401: {"description": "the owner's token is missing"}})
    door = desk.door()
    door.add(router)

    @router.get("")
    def overview(request: Request) -> Response:
        """Show the progress of the study, or ask for the token."""
        if asked := door.question(request):
            return asked
        door.check(request)
        return desk.page("owner.html", **progress(desk.study, desk.storage.all_chats()))

    @router.get("/progress", dependencies=[Depends(door.check)])
    def told() -> dict[str, Any]:
        """Return the progress of the study as JSON."""
        return progress(desk.study, desk.storage.all_chats())

    @router.get(f"/{RATINGS}", dependencies=[Depends(door.check)])
    def ratings() -> Response:
        """Return the ratings of conversations."""
        return download(RATINGS, rating_rows(desk.storage.all_chats(), desk.study).csv(), "text/csv")

    @router.get(f"/{VOTES}", dependencies=[Depends(door.check)])
    def votes() -> Response:
        """Return the votes in force."""
        return download(VOTES, vote_rows(desk.storage.all_chats()).csv(), "text/csv")

    @router.get(f"/{CONVERSATIONS}", dependencies=[Depends(door.check)])
    def conversations() -> Response:
        """Return the conversations, one per line."""
        text = "".join(lines(map(conversation, desk.storage.all_chats())))
        return download(CONVERSATIONS, text, "application/jsonl")

    return router


def progress(study: ChatStudy, chats: Sequence[Chat]) -> dict[str, Any]:
    """Return a row per system and per person who has said something, and the totals."""
    first = study.criteria[0].name
    by_rater: dict[str, list[Chat]] = {}
    for chat in chats:
        by_rater.setdefault(chat.rater, []).append(chat)
    people = [
        {
            "rater": rater,
            "chats": len(theirs),
            "rated": sum(chat.rated for chat in theirs),
            "turns": sum(chat.turns for chat in theirs),
            "latest": moment(theirs[-1].moments[-1]),
        }
        for rater, theirs in by_rater.items()
    ]
    return {
        "criterion": first,
        "systems": [_system(each.name, [c for c in chats if c.system == each.name], first) for each in study.systems],
        "people": people,
        "asked": study.people,
        "chats": len(chats),
        "rated": sum(chat.rated for chat in chats),
        "turns": sum(chat.turns for chat in chats),
    }


def _system(name: str, chats: Sequence[Chat], criterion: str) -> dict[str, Any]:
    given = [chat.ratings[criterion] for chat in chats if chat.rated]
    votes = [vote for chat in chats for vote in chat.votes.values()]
    return {
        "system": name,
        "chats": len(chats),
        "rated": len(given),
        "mean": sum(given) / len(given) if given else None,
        "up": votes.count(1),
        "down": votes.count(-1),
    }
