"""The plan of a service, in a form that can be sent to each of its processes."""

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
from dactnlg.serving.observation import COUNTED_TOGETHER, ServiceMetrics, start_log
from dactnlg.serving.rasa import RasaResponder
from dactnlg.serving.service import application, reload
from dactnlg.serving.settings import ServiceSettings


@dataclass(frozen=True, kw_only=True)
class ServicePlan:
    """A service that can be started in this process or in several.

    Attributes:
        runs: name -> run folder; the first one is the default.
        settings: limits.
        backend: the search backend; see `Generator.load`.
        reuse: whether to cache the results for acts.
        watch: seconds between checks for changes in the run folders; None to never check.
        rasa: the mapping file of a Rasa bot to serve; None for no bot.
        log: whether to log requests to standard error.
    """

    runs: Mapping[str, Path]
    settings: ServiceSettings = field(default_factory=ServiceSettings)
    backend: str = "auto"
    reuse: bool = True
    watch: float | None = None
    rasa: Path | None = None
    log: bool = False

    def serve(self, listening: socket.socket, ready: Callable[[], None]) -> None:
        """Serve in this process until SIGTERM; SIGHUP reloads all runs.

        Args:
            listening: the socket, from `bound`.
            ready: called once requests and signals are handled.

        Raises:
            RunError: a folder is not a run.
            UserError: the mapping file is invalid or does not fit the default run.
        """
        models = Models(self.runs, self.backend, reuse=self.reuse)
        bot = RasaResponder.load(lambda: models.get(None).generator, self.rasa) if self.rasa else None
        if self.log:
            start_log()

        metrics = ServiceMetrics()

        def on_reload() -> None:
            threading.Thread(target=reload, args=(models, metrics), kwargs={"all_of_them": True}, daemon=True).start()

        app = application(models, self.settings, self.watch, bot, metrics)
        drain = self.settings.request_limits().drain_seconds
        serve(app, listening, drain_seconds=drain, on_reload=on_reload, ready=ready)

    def serve_in_processes(self, listening: Sequence[socket.socket], ready: Callable[[], None], count: int) -> None:
        """Serve in several processes, each of which loads the runs itself; `/metrics` sums over all of them."""
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
