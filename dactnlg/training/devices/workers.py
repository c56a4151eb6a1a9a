"""Where training runs: on devices of this machine, and in worker processes here or on other machines."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from dactnlg.errors import WorkerError

_ADDRESS = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:,/]+):([0-9]{1,5})")


@dataclass(frozen=True)
class Cluster:
    """The devices and processes of a training; by default one device of this process.

    Attributes:
        devices: per process, the first ones that Keras' backend sees.
        addresses: HOST:PORT of every worker process, the same list in all of them; empty for this process alone.
        rank: the index of this process among them, from 0; only rank 0 writes the run folder.

    Raises:
        WorkerError: a number or an address is invalid, or they do not fit together.
    """

    devices: int = 1
    addresses: tuple[str, ...] = ()
    rank: int = 0

    def __post_init__(self) -> None:
        if self.devices < 1:
            raise WorkerError(f"a process needs at least one device; got {self.devices}")
        for address in self.addresses:
            if not (found := _ADDRESS.fullmatch(address)) or not 0 < int(found[2]) < 2**16:
                raise WorkerError(f"the worker address '{address}' is not HOST:PORT, such as 10.0.0.1:8701")
        if twice := [address for address, count in Counter(self.addresses).items() if count > 1]:
            raise WorkerError(f"every worker needs an address of its own; named twice: {', '.join(twice)}")
        if not 0 <= self.rank < self.workers:
            raise WorkerError(
                f"there is no worker {self.rank} among {self.workers} address(es); valid: 0 to {self.workers - 1}"
            )

    @classmethod
    def read(cls, devices: int, workers: str | None, worker: int | None) -> Cluster:
        """Return the cluster given on a command line: addresses separated by commas, and this process's number.

        Raises:
            WorkerError: one is given without the other, or they do not fit together.
        """
        if (workers is None) != (worker is None):
            given, missing = ("--workers", "--worker") if worker is None else ("--worker", "--workers")
            raise WorkerError(f"{given} needs {missing}: the addresses of all processes, and this one's number from 0")
        addresses = () if workers is None else tuple(address.strip() for address in workers.split(","))
        return cls(devices, addresses, worker or 0)

    def check_devices(self, found: int, backend: str) -> None:
        """Check that this process has enough devices.

        Args:
            found: how many Keras' backend sees.
            backend: its name.

        Raises:
            WorkerError: there are too few.
        """
        if self.devices > found:
            raise WorkerError(f"--devices {self.devices}: Keras' backend {backend} sees {found} device(s) here")

    @property
    def workers(self) -> int:
        """The number of processes."""
        return len(self.addresses) or 1

    @property
    def parts(self) -> int:
        """The number of devices among which a batch is divided."""
        return self.workers * self.devices
