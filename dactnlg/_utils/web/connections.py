"""Silent connections: how long one may stay open without having sent a whole request head."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

SILENT_SECONDS = 15.0
"""Time for the head of a request to arrive, on a new connection or after a response."""


class PatientProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 protocol, except that a connection is closed if no request head arrives in time.

    uvicorn itself waits forever for the first request, and for the rest of a request that has begun; each such
    connection holds a file descriptor, of which a process has a few thousand at most.

    Attributes:
        silent_seconds: how long it waits.
    """

    silent_seconds = SILENT_SECONDS

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._silence: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer for the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Handle received data; a whole request head stops the timer, a part of one does not restart it."""
        super().data_received(data)
        if self._answering():
            self._stop()
        elif self._silence is None:
            self._wait()

    def on_response_complete(self) -> None:
        """Start the timer for the next request, unless it is already in the buffer."""
        super().on_response_complete()
        if not self._answering() and not self.transport.is_closing():
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
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
    """Return the protocol with another timeout."""
    return type("PatientProtocol", (PatientProtocol,), {"silent_seconds": seconds})
