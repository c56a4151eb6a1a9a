"""Start Ray quietly, on this machine or on the cluster that `$RAY_ADDRESS` names.

Usage statistics are turned off before it starts: nothing is sent to anybody.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dactnlg.errors import UserError

STORE = 256 << 20
"""Bytes of Ray's object store on this machine. Only sentences on their way to a file pass through it."""
_FORCED = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_CHDIR_TO_TRIAL_DIR": "0",
    "RAY_AIR_NEW_OUTPUT": "0",
    "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",
}
_DEFAULTS = {
    # Workers without a GPU leave the environment as it is; workers that share one allocate its memory on demand.
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "TF_FORCE_GPU_ALLOW_GROWTH": "true",
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
    # Workers run at the priority of this process.
    "RAY_worker_niceness": "0",
    "TUNE_WARN_EXCESSIVE_EXPERIMENT_CHECKPOINT_SYNC_THRESHOLD_S": "0",
}
_PASSED_ON = ("DACTNLG_DATA", "DACTNLG_VECTORS", "KERAS_BACKEND", "TF_CPP_MIN_LOG_LEVEL")
_LOGGERS = ("ray", "ray.data", "ray.tune", "ray.train", "ray.air")


def check_installed() -> None:
    """Check that Ray is installed.

    Raises:
        UserError: it is not; the message names the extra to install.
    """
    try:
        for module in ("ray.tune", "ray.data"):
            os.environ.update(_FORCED)
            importlib.import_module(module)
    except ImportError:
        raise UserError("this needs Ray: pip install 'dactnlg[ray]'") from None


@contextlib.contextmanager
def started(jobs: int) -> Iterator[Any]:
    """Start Ray, yield the module `ray`, and shut Ray down on exit; if Ray already runs in this process, use that.

    Args:
        jobs: number of worker processes on this machine, one core each; a cluster has its own number of cores.

    Raises:
        UserError: Ray is not installed, or the cluster that `$RAY_ADDRESS` names cannot be reached.
    """
    for name, value in _DEFAULTS.items():
        os.environ.setdefault(name, value)
    check_installed()
    import ray

    _hush()
    if ray.is_initialized():
        yield ray
        return
    options: dict[str, Any] = {"include_dashboard": False, "log_to_driver": False, "logging_level": logging.ERROR}
    if address := os.environ.get("RAY_ADDRESS"):
        _check_reachable(address)
        variables = {name: os.environ[name] for name in (*_PASSED_ON, *_FORCED) if name in os.environ}
        options |= {"address": address, "runtime_env": {"env_vars": variables}}
    else:
        options |= {"address": "local", "num_cpus": jobs, "object_store_memory": STORE}
        # Failures are raised as exceptions; Ray's own log adds nothing for users.
        os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    handler = signal.getsignal(signal.SIGTERM)
    try:
        with contextlib.nullcontext() if address else _silence():
            ray.init(**options)
    except ConnectionError as error:
        raise UserError(f"no Ray at RAY_ADDRESS={address}: {' '.join(str(error).split()):.300}") from None
    except SystemExit as ended:
        # Raised by Ray's own SIGTERM handler, which it installs early while it starts.
        if ended.code == signal.SIGTERM:
            raise KeyboardInterrupt from None
        raise
    finally:
        with contextlib.suppress(ValueError, TypeError):
            signal.signal(signal.SIGTERM, handler)
    _hush()
    try:
        yield ray
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """Connect to a cluster's address once: Ray itself would retry forever."""
    host, colon, port = address.rpartition(":")
    if "//" in address or not (colon and port.isdecimal()):
        return
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise UserError(f"no Ray at RAY_ADDRESS={address}: {error}") from None


def gpu_share(ray: Any, jobs: int) -> float:
    """Return the share of a GPU that each of `jobs` processes gets, 0 to 1; 0 if there is no GPU."""
    cards = float(ray.cluster_resources().get("GPU", 0))
    return min(1.0, cards / jobs)


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Discard standard error, including that of C++ libraries: Ray even prints that its notices are turned off."""
    sys.stderr.flush()
    screen = os.dup(2)
    try:
        with Path(os.devnull).open("wb") as nothing:
            os.dup2(nothing.fileno(), 2)
        yield
    finally:
        os.dup2(screen, 2)
        os.close(screen)


def _hush() -> None:
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
