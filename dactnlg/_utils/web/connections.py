"""Silent connections: how long one may stay open without sending a whole request head, or without taking its answer."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

SILENT_SECONDS = 15.0
"""Time for the head of a request to arrive, on a new connection or after a response, and to take some of a response."""


class PatientProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 protocol, except that a connection is closed if its client is silent for too long.

    uvicorn itself waits forever for the first request, for the rest of a request that has begun, and for a client that
    does not read; each such connection holds a file descriptor, of which a process has a few thousand at most, and the
    unread part of its responses. A client that reads slowly is waited for as long as it reads anything at all.

    Attributes:
        silent_seconds: how long it waits.
    """

    silent_seconds = SILENT_SECONDS

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._silence: asyncio.TimerHandle | None = None
        self._unsent = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer for the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Handle received data; a whole request head stops the timer, a part of one does not restart it."""
        super().data_received(data)
        if self._at_work():
            self._stop()
        elif self._silence is None:
            self._wait()

    def on_response_complete(self) -> None:
        """Start the timer for the response to be taken and the next request, unless it is already in the buffer."""
        super().on_response_complete()
        if not self._at_work():
            self._wait()

    def pause_writing(self) -> None:
        """Start the timer: a response goes on only when the client has read."""
        super().pause_writing()
        self._wait()

    def resume_writing(self) -> None:
        """Stop the timer if the response goes on."""
        super().resume_writing()
        if self._at_work():
            self._stop()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop()
        super().connection_lost(exc)

    def _at_work(self) -> bool:
        """Return whether the application works on a response, and does not wait for the client to read."""
        return self.cycle is not None and not self.cycle.response_complete and not self.flow.write_paused

    def _wait(self) -> None:
        self._stop()
        self._unsent = self.transport.get_write_buffer_size()
        self._silence = self.loop.call_later(self.silent_seconds, self._close)

    def _stop(self) -> None:
        if self._silence is not None:
            self._silence.cancel()
            self._silence = None

    def _close(self) -> None:
        self._silence = None
        if self._at_work():
            return
        unsent = self.transport.get_write_buffer_size()
        if unsent and unsent < self._unsent:
            self._wait()
        elif unsent:
            # Closing would wait for the client to read.
            self.transport.abort()
        elif not self.transport.is_closing():
            self.transport.close()


def patient(seconds: float) -> type[PatientProtocol]:
    """Return the protocol with another timeout."""
    return type("PatientProtocol", (PatientProtocol,), {"silent_seconds": seconds})
