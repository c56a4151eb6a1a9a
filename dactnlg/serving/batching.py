"""Requests that arrive together are searched for together: products for many acts cost little more than for one.

One thread generates, for all models: two would share the interpreter, and the processors. It takes what waits, up to a
batch, and waits a few milliseconds for more only where others are on their way.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import NamedTuple

from dactnlg._utils.web.problems import Problem
from dactnlg.acts import Turn
from dactnlg.generation.generation import Generation
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions


class _Waiting(NamedTuple):
    """Acts of one request, the generator that was in use when it came, and where the sentences go.

    Before the last, what the user has said before each act; none are as many empty ones.
    """

    generator: Generator
    turns: Sequence[Turn]
    options: GenerationOptions
    contexts: Sequence[str]
    answer: Future[list[Generation]]


class Batcher:
    """Generates for requests of several threads or tasks, in batches.

    Args:
        batch: acts of a batch at most; a larger request is a batch by itself.
        wait: seconds that the first request of a batch waits for others, where several requests are open.
        waiting: acts that wait at most.
        observe: called with the number of acts of each batch and the seconds that it took.
    """

    def __init__(
        self, batch: int, wait: float, waiting: int, observe: Callable[[int, float], object] = lambda _n, _s: None
    ) -> None:
        self._batch, self._wait, self._most, self._observe = batch, wait, waiting, observe
        self._queue: deque[_Waiting] = deque()
        self._acts = self._open = 0
        self._arrived = threading.Condition()
        self._ended = False
        self._thread = threading.Thread(target=self._work, name="dactnlg-batcher", daemon=True)
        self._thread.start()

    async def generate(
        self, generator: Generator, turns: Sequence[Turn], options: GenerationOptions, contexts: Sequence[str] = ()
    ) -> list[Generation]:
        """Return a sentence for each turn; sampled ones depend on the request alone, not on others beside it.

        Raises:
            Problem: 503, too many acts wait.
            DactnlgError: as `Generator.generate`.
        """
        answer: Future[list[Generation]] = Future()
        with self._arrived:
            if self._acts and self._acts + len(turns) > self._most:
                raise Problem(503, "too many requests wait; try again in a second", headers={"Retry-After": "1"})
            self._acts += len(turns)
            self._open += 1
            self._queue.append(_Waiting(generator, turns, options, contexts, answer))
            self._arrived.notify()
        try:
            return await asyncio.wrap_future(answer)
        finally:
            with self._arrived:
                self._open -= 1

    def close(self) -> None:
        """End the thread when what waits is answered."""
        with self._arrived:
            self._ended = True
            self._arrived.notify()
        self._thread.join()

    def _work(self) -> None:
        while taken := self._take():
            # A client that has gone is not searched for.
            alive = [one for one in taken if one.answer.set_running_or_notify_cancel()]
            if not alive:
                continue
            begun = time.perf_counter()
            turns = [turn for one in alive for turn in one.turns]
            contexts = [text for one in alive for text in one.contexts or [""] * len(one.turns)]
            try:
                said = alive[0].generator.generate(turns, alive[0].options, context=contexts)
            except Exception as error:  # noqa: BLE001  (it goes to whoever asked)
                self._one_by_one(alive, error)
                continue
            self._observe(len(turns), time.perf_counter() - begun)
            at = 0
            for one in alive:
                one.answer.set_result(said[at : at + len(one.turns)])
                at += len(one.turns)

    def _take(self) -> list[_Waiting]:
        """Return the next requests that go together; none at the end."""
        with self._arrived:
            while not self._queue and not self._ended:
                self._arrived.wait()
            if not self._queue:
                return []
            until = time.monotonic() + self._wait
            # Whoever is alone has nobody to wait for.
            while self._acts < self._batch and self._open > len(self._queue) and not self._ended:
                left = until - time.monotonic()
                if left <= 0 or not self._arrived.wait(left):
                    break
            first = self._queue[0]
            taken, size, rest = list[_Waiting](), 0, deque[_Waiting]()
            for one in self._queue:
                alike = one.generator is first.generator and one.options == first.options and not _drawn(one)
                fits = size + len(one.turns) <= self._batch
                if not taken or (alike and fits and not _drawn(first)):
                    taken.append(one)
                    size += len(one.turns)
                else:
                    rest.append(one)
            self._queue = rest
            self._acts -= size
            return taken

    def _one_by_one(self, alive: Sequence[_Waiting], error: Exception) -> None:
        """Answer the requests of a batch that failed each by itself: one bad act is one client's matter."""
        if len(alive) == 1:
            alive[0].answer.set_exception(error)
            return
        for one in alive:
            try:
                one.answer.set_result(one.generator.generate(one.turns, one.options, context=one.contexts))
            except Exception as own:  # noqa: BLE001  (it goes to whoever asked)
                one.answer.set_exception(own)


def _drawn(one: _Waiting) -> bool:
    """Whether chance decides by the place of an act among others: such a request is a batch by itself."""
    options = one.options
    chance = (options.sample, options.temperature, options.top_k, options.top_p)
    return one.generator.decoder is None or one.generator.defaults.sample or any(value is not None for value in chance)
