"""Creating a chat study, whose systems are runs that people can talk with."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from dactnlg.dialogue.talkers import check_talker
from dactnlg.runs.run import named_run
from dactnlg.serving.chat.study import CONSENT, INSTRUCTIONS, ChatLimits, ChatStudy
from dactnlg.studies.study import StudyError, StudySystem, mistake


def parse_system(text: str) -> StudySystem:
    """Parse `RUN` or `NAME=RUN`; by default the name is that of the folder.

    Raises:
        RunError: the folder is not a run.
        UserError: nobody can talk with the run (see `check_talker`).
        CorpusError: no tasks can be made from its corpus.
    """
    name, path = named_run(text)
    check_talker(path)
    return StudySystem(name=name, source=str(path.resolve()))


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
    """Return a chat study.

    Args:
        name: the name of the study that people see.
        systems: the systems to talk with.
        people: number of people.
        chats: maximum number of conversations per person.
        limits: limits on their messages.
        seed: determines who meets which system.
        instructions, consent: texts shown to people; None for the defaults.

    Raises:
        StudyError: two systems have the same name, or a text is too long.
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
