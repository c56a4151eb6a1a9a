"""Answers of systems: one thread asks them, one request after the other, and nobody waits without end."""

from __future__ import annotations

import asyncio
import logging
import zlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from dactnlg._utils.web.problems import Problem
from dactnlg.dialogue.talkers import Talker
from dactnlg.serving.chat.conversation import Chat

MOST_WAITING = 200
_JOINERS = "\u200c\u200d"
"""What joins letters and emoji: it shows nothing by itself, and says how others are shown."""
SILENCE = "…"
"""What stands for an answer without a word."""
_log = logging.getLogger("dactnlg")


class Replies:
    """Lets systems answer.

    Args:
        talkers: system -> what answers.
        seed: of what they draw; each conversation has a seed of its own, so that an answer that is asked for again,
            after a crash perhaps, is the same.
    """

    def __init__(self, talkers: Mapping[str, Talker], seed: int) -> None:
        self._talkers, self._seed = talkers, seed
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="dactnlg-replies")
        self._waiting = 0

    async def reply(self, chat: Chat) -> str:
        """Return the answer to a conversation's last message.

        Raises:
            Problem: 503, too many wait, or the system has failed; the message is kept, and may be sent again.
        """
        if self._waiting >= MOST_WAITING:
            raise Problem(503, "many people are chatting; please try again", headers={"Retry-After": "2"})
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._ask, chat)
        except Exception as error:
            _log.error("a system failed to answer: %s", type(error).__name__, exc_info=error)
            raise Problem(503, "there is no answer at this moment; please try again") from error
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """End the thread; what waits gets no answer."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _ask(self, chat: Chat) -> str:
        seed = zlib.crc32(f"{self._seed} {chat.rater} {chat.number}".encode())
        (text,) = self._talkers[chat.system].reply([chat.texts], seeds=[seed])
        return clean(text) or SILENCE


def clean(text: str) -> str:
    r"""Return a text in one line, without characters that act rather than show.

    >>> clean(" Hi\n\x1b[31mthere\u202e ")
    'Hi [31mthere'
    """
    shown = (character if character.isprintable() or character in _JOINERS else " " for character in text)
    return " ".join("".join(shown).split())
