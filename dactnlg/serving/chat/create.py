"""Making a study of chats: its systems are runs that can talk."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from dactnlg.dialogue.talkers import check_talker
from dactnlg.serving.chat.study import CONSENT, INSTRUCTIONS, ChatLimits, ChatStudy
from dactnlg.studies.study import StudyError, StudySystem, mistake

_NAMED = re.compile(r"([^=/\\]+)=(.+)")


def parse_system(text: str) -> StudySystem:
    """Read `RUN` or `NAME=RUN`; the name of a run is that of its folder.

    Raises:
        RunError: the folder is no run.
        CorpusError: nobody can talk with it: no tasks can be made of its corpus.
    """
    named = _NAMED.fullmatch(text)
    name, path = (named[1], Path(named[2])) if named else ("", Path(text))
    check_talker(path)
    return StudySystem(name=name or path.resolve().name, source=str(path.resolve()))


def create(
    name: str,
    systems: Sequence[StudySystem],
    people: int,
    *,
    chats: int,
    limits: ChatLimits,
    seed: int,
    instructions: str | None = None,
    consent: str | None = None,
) -> ChatStudy:
    """Return a study of chats.

    Args:
        name: of the study, as people read it.
        systems: whom they may meet.
        people: how many are asked.
        chats: conversations of each at most.
        limits: what they may send.
        seed: what decides who meets which system.
        instructions, consent: texts for them; None for those of the package.

    Raises:
        StudyError: two systems have one name, or a text is too long.
    """
    texts = {
        "instructions": instructions or INSTRUCTIONS.format(least=limits.least_turns),
        "consent": consent or CONSENT,
    }
    try:
        return ChatStudy(
            name=name, systems=tuple(systems), people=people, chats=chats, limits=limits, seed=seed, **texts
        )
    except ValidationError as error:
        raise StudyError(mistake(error)) from None
