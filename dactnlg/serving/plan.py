"""What a service is made of, in a form that goes to each of its processes."""

from __future__ import annotations

import contextlib
import os
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from prometheus_client.multiprocess import mark_process_dead

from dactnlg._utils.web.server import serve
from dactnlg._utils.web.workers import serve_in_processes
from dactnlg.serving.models import Models
from dactnlg.serving.observation import COUNTED_TOGETHER, start_log
from dactnlg.serving.rasa import RasaResponder
from dactnlg.serving.service import application
from dactnlg.serving.settings import ServiceSettings


@dataclass(frozen=True, kw_only=True)
class ServicePlan:
    """A service that can be started, here or in several processes.

    Attributes:
        runs: name -> run folder; the first one answers where a request names none.
        settings: limits.
        backend: what searches; see `Generator.load`.
        reuse: whether what was found for an act is remembered.
        watch: seconds between two looks at whether the folders of the runs have changed; None for none.
        rasa: the mapping file of a Rasa bot that is answered; None for no bot.
        log: whether a line for each request goes to standard error.
    """

    runs: Mapping[str, Path]
    settings: ServiceSettings = field(default_factory=ServiceSettings)
    backend: str = "auto"
    reuse: bool = True
    watch: float | None = None
    rasa: Path | None = None
    log: bool = False

    def serve(self, listening: socket.socket, ready: Callable[[], None]) -> None:
        """Serve in this process until SIGTERM; SIGHUP has the runs read again.

        Args:
            listening: the socket, from `bound`.
            ready: called when requests and signals are answered.

        Raises:
            RunError: a folder is not a run.
            UserError: the mapping file does not fit.
        """
        models = Models(self.runs, self.backend, reuse=self.reuse)
        bot = RasaResponder.load(lambda: models.get(None).generator, self.rasa) if self.rasa else None
        if self.log:
            start_log()

        def reload() -> None:
            threading.Thread(target=models.reload, kwargs={"all_of_them": True}, daemon=True).start()

        serve(application(models, self.settings, self.watch, bot), listening, on_reload=reload, ready=ready)

    def serve_in_processes(self, listening: Sequence[socket.socket], ready: Callable[[], None], count: int) -> None:
        """Serve in several processes, each of which reads the runs for itself; `/metrics` adds up what they count."""
        with _counted_together():
            serve_in_processes(self.serve, listening, count, ready=ready, ended=mark_process_dead)


@contextlib.contextmanager
def _counted_together() -> Iterator[None]:
    before = os.environ.get(COUNTED_TOGETHER)
    with tempfile.TemporaryDirectory(prefix="dactnlg-") as folder:
        os.environ[COUNTED_TOGETHER] = folder
        try:
            yield
        finally:
            os.environ.pop(COUNTED_TOGETHER)
            if before is not None:
                os.environ[COUNTED_TOGETHER] = before
