"""Answers of systems, generated in one thread, one request at a time, with a limit on the queue."""

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
"""Joiners of letters and emoji: invisible themselves, they affect how others are displayed."""
SILENCE = "…"
"""Stands for an empty answer."""
_log = logging.getLogger("dactnlg")


class Replies:
    """Lets systems answer.

    Args:
        talkers: system -> its talker.
        seed: for sampling; each conversation has its own seed, derived from it, so that an answer requested again, for
            instance after a crash, is the same.
    """

    def __init__(self, talkers: Mapping[str, Talker], seed: int) -> None:
        self._talkers, self._seed = talkers, seed
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="dactnlg-replies")
        self._waiting = 0

    async def reply(self, chat: Chat) -> str:
        """Return the answer to a conversation's last message.

        Raises:
            Problem: 503, too many requests are queued, or the system failed; the message is stored and can be retried.
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
        """End the thread; queued requests get no answer."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _ask(self, chat: Chat) -> str:
        seed = zlib.crc32(f"{self._seed} {chat.rater} {chat.number}".encode())
        (text,) = self._talkers[chat.system].reply([chat.texts], seeds=[seed])
        return clean(text) or SILENCE


def clean(text: str) -> str:
    r"""Return a text on one line, without control and formatting characters other than joiners.

    >>> clean(" Hi\n\x1b[31mthere\u202e ")
    'Hi [31mthere'
    """
    shown = (character if character.isprintable() or character in _JOINERS else " " for character in text)
    return " ".join("".join(shown).split())
