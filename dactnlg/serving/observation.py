"""Monitoring of a service: metrics for Prometheus, and a log with one line of JSON per request.

Neither contains acts, values or sentences, which may be about people, unless `log_values` is set for the log.
"""

from __future__ import annotations

import json
import logging
import os
import time
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dactnlg.serving.settings import RASA

log = logging.getLogger("dactnlg.requests")
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
_ANSWERS = ("/v1/generate", "/v1/check", "/v1/models", "/v1/parse", "/v1/trace")
_KNOWN = (*_ANSWERS, RASA, "/healthz", "/readyz", "/metrics", "/openapi.json", "/docs", "/")


COUNTED_TOGETHER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable with the folder in which prometheus_client keeps numbers to be summed over processes."""


class ServiceMetrics:
    """Metrics of one service, in their own registry; summed over its processes if they share a folder."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter("dactnlg_requests_total", "Requests.", ["path", "status"], registry=self.registry)
        self.seconds = Histogram(
            "dactnlg_request_seconds", "Seconds until an answer.", ["path"], registry=self.registry, buckets=_SECONDS
        )
        self.acts = Counter("dactnlg_acts_total", "Acts said.", ["model", "slots_ok"], registry=self.registry)
        self.checked = Counter("dactnlg_checked_total", "Sentences checked.", ["model"], registry=self.registry)
        self.fallbacks = Counter(
            "dactnlg_fallbacks_total", "Sentences in the place of a faulty one.", ["model"], registry=self.registry
        )
        self.batches = Histogram(
            "dactnlg_batch_acts", "Acts that were searched for together.", registry=self.registry, buckets=_SIZES
        )
        self.batch_seconds = Histogram(
            "dactnlg_batch_seconds", "Seconds of a batch.", registry=self.registry, buckets=_SECONDS
        )
        self.reloads = Counter("dactnlg_reloads_total", "Models read again.", ["model"], registry=self.registry)
        self.open = Gauge(
            "dactnlg_open_requests",
            "Requests without an answer yet.",
            registry=self.registry,
            multiprocess_mode="livesum",
        )

    def batch(self, acts: int, seconds: float) -> None:
        """Record a batch."""
        self.batches.observe(acts)
        self.batch_seconds.observe(seconds)

    def text(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        if COUNTED_TOGETHER not in os.environ:
            return generate_latest(self.registry)
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]  # the library has no types
        return generate_latest(together)


class Observed:
    """An ASGI application whose requests are counted and logged.

    Entries of `request.state.facts`, a dictionary, are added to the request's line in the log.
    """

    def __init__(self, app: ASGIApp, metrics: ServiceMetrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = time.perf_counter()
        # Stays if there is no answer because the connection was lost or closed.
        status = 499
        facts: dict[str, Any] = {}
        scope.setdefault("state", {})["facts"] = facts

        async def observed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        self._metrics.open.inc()
        try:
            await self._app(scope, receive, observed)
        finally:
            seconds = time.perf_counter() - begun
            self._metrics.open.dec()
            # Clients may request any path: all unknown ones count as one.
            path = scope["path"] if scope["path"] in _KNOWN else "other"
            self._metrics.requests.labels(path, str(status)).inc()
            self._metrics.seconds.labels(path).observe(seconds)
            if log.isEnabledFor(logging.INFO):
                log.info(_line(scope, status, seconds, facts))


def start_log() -> None:
    """Log one line per request to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(message)s"))
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False


def _line(scope: Scope, status: int, seconds: float, facts: dict[str, Any]) -> str:
    line = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "method": scope["method"],
        "path": scope["path"][:200],
        "status": status,
        "ms": round(1000 * seconds, 2),
        **facts,
    }
    return json.dumps(line, ensure_ascii=True)
