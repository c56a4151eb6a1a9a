"""Serving an application on a port checked beforehand, with a shutdown that lets running requests finish."""

from __future__ import annotations

import contextlib
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from dactnlg._utils.web.connections import SILENT_SECONDS, patient
from dactnlg._utils.web.signals import left_to_supervisor
from dactnlg.errors import UserError


def bound(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """Return a listening socket; port 0 takes any free port.

    Args:
        host, port: the address to listen at.
        shared: whether further sockets of this user may listen there; see `bound_together`.

    Raises:
        UserError: the port is taken or not permitted, or there is no such host.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # asyncio sets TCP_NODELAY only if the protocol is given; without it, every response on a kept-alive connection
        # waits 40 ms for the client's acknowledgement of the headers.
        found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    except (OSError, UnicodeError, OverflowError) as error:
        raise UserError(f"there is no host {host!r} with a port {port} here: {error}") from None
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        found.bind((host, port))
        found.listen(2048)
    except OSError as error:
        found.close()
        raise UserError(
            f"cannot listen at {host}, port {port}: {error.strerror or error}; choose another --port"
        ) from None
    return found


def bound_together(host: str, port: int, count: int) -> list[socket.socket]:
    """Return sockets, as from `bound`, for several processes that listen at one port.

    On Linux there is one per process, and the system spreads connections over them; elsewhere all processes share one,
    and the first to accept a connection gets it.

    Raises:
        UserError: see `bound`.
    """
    alone = bound(host, port)
    if count == 1 or not sys.platform.startswith("linux"):
        return [alone]
    # Binding it exclusively first makes sure that no other server shares the port already.
    port = alone.getsockname()[1]
    alone.close()
    return [bound(host, port, shared=True) for _ in range(count)]


def address(listening: socket.socket) -> str:
    """Return the URL of a listening socket, such as `http://127.0.0.1:8080`."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def serve(
    app: ASGIApp,
    listening: socket.socket,
    *,
    drain_seconds: int,
    silent_seconds: float = SILENT_SECONDS,
    on_reload: Callable[[], None] | None = None,
    ready: Callable[[], None] | None = None,
) -> None:
    """Serve an application until SIGINT or SIGTERM; then let running requests finish, and return.

    Args:
        app: the application.
        listening: the socket, from `bound`.
        drain_seconds: how long running requests may go on, such as `RequestLimits.drain_seconds`; a second Ctrl-C ends
            them at once.
        silent_seconds: how long a connection may stay open without a whole request head, or without its client taking
            any of a response, before it is closed.
        on_reload: called on SIGHUP, in the main thread, between two steps of the loop.
        ready: called once requests and signals are handled.
    """
    config = uvicorn.Config(
        app,
        http=patient(silent_seconds),
        access_log=False,
        log_config=None,
        log_level="warning",
        lifespan="on",
        # Otherwise any client could claim another address in a header.
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=drain_seconds,
        ws="none",
    )
    _Server(config, on_reload, ready).run([listening])


class _Server(uvicorn.Server):
    """uvicorn's server, except that SIGTERM and Ctrl-C end it normally, not as a failure."""

    def __init__(
        self, config: uvicorn.Config, on_reload: Callable[[], None] | None, ready: Callable[[], None] | None
    ) -> None:
        super().__init__(config)
        self._on_reload, self._ready = on_reload, ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening, then call `ready`."""
        await super().startup(sockets)
        if self.started and self._ready is not None:
            self._ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals while the server runs, without raising them again afterwards as uvicorn would.

        Ctrl-C is left to the supervisor of a worker.
        """
        handlers: dict[int, Callable[[int, FrameType | None], None]] = {signal.SIGTERM: self.handle_exit}
        if signal.getsignal(signal.SIGINT) is not left_to_supervisor:
            handlers[signal.SIGINT] = self.handle_exit
        if hasattr(signal, "SIGHUP") and self._on_reload is not None:
            handlers[signal.SIGHUP] = lambda _number, _frame: self._on_reload and self._on_reload()
        try:
            before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        except ValueError:
            # Not in the main thread, as in tests: the caller sets `should_exit`.
            yield
            return
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
