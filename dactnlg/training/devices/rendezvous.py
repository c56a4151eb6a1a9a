"""Worker processes wait for each other before the backend connects them.

JAX would abort a process that waits too long; TensorFlow would wait for ever and ignore Ctrl-C.
"""

from __future__ import annotations

import contextlib
import socket
import time

from dactnlg.errors import WorkerError
from dactnlg.training.devices.workers import Cluster

_GO = b"go"


def rendezvous(cluster: Cluster, seconds: float) -> None:
    """Return when all workers have called this; the port of rank 0 is then free again.

    Raises:
        WorkerError: some workers did not start in time, or the port of rank 0 is in use.
    """
    host, _, port = cluster.addresses[0].rpartition(":")
    deadline = time.monotonic() + seconds
    if cluster.rank == 0:
        came = _wait_for_all(int(port), cluster.workers - 1, deadline)
        if came < cluster.workers - 1:
            raise WorkerError(f"of {cluster.workers} workers only {came + 1} came within {seconds:g} s")
    elif not _wait_for_rank_0((host.strip("[]"), int(port)), cluster.rank, deadline):
        raise WorkerError(f"worker 0 at {cluster.addresses[0]} did not start within {seconds:g} s, or others did not")


def _wait_for_all(port: int, count: int, deadline: float) -> int:
    """Accept connections until all other workers have connected, then answer them; return how many connected."""
    both = socket.has_dualstack_ipv6()
    came: dict[bytes, socket.socket] = {}
    ranks = {str(rank).encode() for rank in range(1, count + 1)}
    with contextlib.ExitStack() as stack:
        try:
            family = socket.AF_INET6 if both else socket.AF_INET
            server = stack.enter_context(socket.create_server(("", port), family=family, dualstack_ipv6=both))
        except OSError as error:
            raise WorkerError(f"worker 0 cannot listen on port {port}: {error.strerror}") from None
        while len(came) < count and (left := deadline - time.monotonic()) > 0:
            server.settimeout(left)
            with contextlib.suppress(OSError):
                connection = stack.enter_context(server.accept()[0])
                connection.settimeout(5)
                # Whoever sends no rank is no worker: a port scanner, say. One that connects again has been restarted.
                if (rank := connection.recv(16)) in ranks:
                    came[rank] = connection
        for connection in came.values() if len(came) == count else ():
            with contextlib.suppress(OSError):
                connection.sendall(_GO)
                # Wait for the other end to close first, so that the port is free at once.
                connection.recv(1)
    return len(came)


def _wait_for_rank_0(address: tuple[str, int], number: int, deadline: float) -> bool:
    """Connect to rank 0 as soon as it listens, and return whether all workers connected."""
    while (left := deadline - time.monotonic()) > 0:
        with contextlib.suppress(OSError), socket.create_connection(address, left) as connection:
            connection.sendall(str(number).encode())
            connection.settimeout(max(deadline - time.monotonic(), 0.1))
            if connection.recv(len(_GO)) == _GO:
                return True
        time.sleep(0.2)
    return False
