"""Connections that say nothing: how long one may stay open without a whole request head on its way to an answer."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

SILENT_SECONDS = 15.0
"""How long the head of a request may take, on a new connection or after an answer."""


class PatientProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 on a connection that is closed when no request's head arrives in time.

    uvicorn itself waits without end for the first request, and for the rest of one whose first bytes have come; each
    such connection keeps a file descriptor, of which a process has some thousands at most.

    Attributes:
        silent_seconds: how long it waits.
    """

    silent_seconds = SILENT_SECONDS

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._silence: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take what has arrived; a head that is whole ends the wait, a part of one does not make it longer."""
        super().data_received(data)
        if self._answering():
            self._stop()
        elif self._silence is None:
            self._wait()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request, unless that one stands in the buffer already."""
        super().on_response_complete()
        if not self._answering() and not self.transport.is_closing():
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the wait."""
        self._stop()
        super().connection_lost(exc)

    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self) -> None:
        self._stop()
        self._silence = self.loop.call_later(self.silent_seconds, self._close)

    def _stop(self) -> None:
        if self._silence is not None:
            self._silence.cancel()
            self._silence = None

    def _close(self) -> None:
        self._silence = None
        if not self._answering() and not self.transport.is_closing():
            self.transport.close()


def patient(seconds: float) -> type[PatientProtocol]:
    """Return the protocol with another time to wait."""
    return type("PatientProtocol", (PatientProtocol,), {"silent_seconds": seconds})
