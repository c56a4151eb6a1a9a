"""Batching: requests that arrive together share one search, which costs little more than the search for one act.

One thread generates for all models, as two would only compete for the interpreter and the processors. It takes the
queued requests, up to a batch, and waits a few milliseconds for more only if other requests are open.
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
    """A queued request: its acts, the generator in use when it arrived, and the future for its sentences.

    `contexts` has the preceding user turn of each act; if it is empty, so are all of them.
    """

    generator: Generator
    turns: Sequence[Turn]
    options: GenerationOptions
    contexts: Sequence[str]
    answer: Future[list[Generation]]


class Batcher:
    """Generates in batches for requests from several threads or tasks.

    Args:
        batch: maximum number of acts in a batch; a larger request is a batch of its own.
        wait: seconds that the first request of a batch waits for others, if several requests are open.
        waiting: maximum number of queued acts.
        observe: called after each batch with its number of acts and the seconds it took.
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
        """Return one sentence per turn; sampled ones depend only on their own request, not on the rest of the batch.

        Raises:
            Problem: 503, too many acts are queued.
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
        """Answer the queued requests, then end the thread."""
        with self._arrived:
            self._ended = True
            self._arrived.notify()
        self._thread.join()

    def _work(self) -> None:
        while taken := self._take():
            # Requests of clients that have gone are dropped.
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
        """Return the requests of the next batch; none once the batcher is closed and the queue is empty."""
        with self._arrived:
            while not self._queue and not self._ended:
                self._arrived.wait()
            if not self._queue:
                return []
            until = time.monotonic() + self._wait
            # A request that is the only open one does not wait.
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
        """Retry the requests of a failed batch one by one, so that a bad act fails its own request only."""
        if len(alive) == 1:
            alive[0].answer.set_exception(error)
            return
        for one in alive:
            try:
                one.answer.set_result(one.generator.generate(one.turns, one.options, context=one.contexts))
            except Exception as own:  # noqa: BLE001  (it goes to whoever asked)
                one.answer.set_exception(own)


def _drawn(one: _Waiting) -> bool:
    """Return whether random draws depend on the position in the batch; such a request is a batch of its own."""
    options = one.options
    chance = (options.sample, options.temperature, options.top_k, options.top_p)
    return one.generator.decoder is None or one.generator.defaults.sample or any(value is not None for value in chance)
