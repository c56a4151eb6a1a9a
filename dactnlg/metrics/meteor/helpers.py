"""Helpers that take a share of METEOR's alignments, where there are many."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from dactnlg._utils.helper import BROKEN, Helper, answer
from dactnlg._utils.processors import usable_processors

Texts = Sequence[tuple[str, str]]
"""A hypothesis and a reference each."""
Counts = list[tuple[float, ...]]

MANY = 1500
"""Alignments for which a helper is started: it takes as long as half of them."""
MOST = 3
"""Helpers, of some 80 MB each."""


class Helpers:
    """Processes that align.

    Args:
        folder: where METEOR's index lies.
        count: how many to start; one less than the processors that this process may use, and not more than `MOST`, by
            default.
    """

    def __init__(self, folder: Path, count: int | None = None) -> None:
        wanted = min(usable_processors() - 1, MOST) if count is None else count
        self._helpers = [helper for helper in (Helper.start(serve, str(folder)) for _ in range(wanted)) if helper]

    def share(self, blocks: Sequence[Texts], align: Callable[[Texts], Counts]) -> list[Counts]:
        """Return what `align` gives for each block; helpers that are ready do some of it."""
        found: dict[int, Counts] = {}
        try:
            self._share(blocks, align, found)
        except BaseException:
            # Their answers to what they have taken would come to whoever asks next.
            self.end()
            raise
        # What a helper had taken when it died.
        return [found[index] if index in found else align(block) for index, block in enumerate(blocks)]

    def _share(self, blocks: Sequence[Texts], align: Callable[[Texts], Counts], found: dict[int, Counts]) -> None:
        waiting = deque(enumerate(blocks))
        threads: dict[Helper, threading.Thread] = {}
        while waiting:
            for helper in self._helpers:
                if helper.ready and helper not in threads:
                    threads[helper] = threading.Thread(target=_work, args=(helper, waiting, found), daemon=True)
                    threads[helper].start()
            try:
                index, block = waiting.popleft()
            except IndexError:
                break
            found[index] = align(block)
        for thread in threads.values():
            thread.join()
        self._helpers = [helper for helper in self._helpers if not helper.ended]

    def end(self) -> None:
        """End all helpers."""
        for helper in self._helpers:
            helper.end()
        self._helpers = []


def _work(helper: Helper, waiting: deque[tuple[int, Texts]], found: dict[int, Counts]) -> None:
    """Have a helper align blocks until none waits; in a thread, which does nothing but wait."""
    while True:
        try:
            index, block = waiting.pop()
        except IndexError:
            return
        try:
            helper.send(block)
            found[index] = helper.receive()
        except BROKEN:
            return


def serve(folder: str) -> None:
    """Be a helper: align blocks."""
    from dactnlg.metrics.meteor.align import Aligner
    from dactnlg.metrics.meteor.data import MeteorData

    answer(Aligner(MeteorData(Path(folder))).align_texts)
