"""Suppress unwanted output of libraries: TensorFlow's start-up notices about CUDA and CPU features, and JAX's log.

Some notices are written before any log level is read, so no environment variable stops them. While TensorFlow is
imported, file descriptor 2 points to a temporary file; all but the notices is written to the terminal afterwards.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import logging
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

_NOTICE = re.compile(
    rb"All log messages before absl|cudart_stub|cuda_(?:platform|dnn|blas|fft)|computation_placer|cuInit"
    rb"|cpu_feature_guard|TF-TRT|oneDNN"
)


def quiet_tensorflow() -> None:
    """Suppress TensorFlow's notices when it is first imported, unless the user has set `TF_CPP_MIN_LOG_LEVEL`."""
    # 3 means silence, requested by the user or by the parent process.
    level = os.environ.get("TF_CPP_MIN_LOG_LEVEL")
    if "tensorflow" in sys.modules or level not in (None, "3"):
        return
    if level is None:
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
        os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    if not any(isinstance(finder, _QuietImport) for finder in sys.meta_path):
        sys.meta_path.insert(0, _QuietImport())


class _QuietImport(MetaPathFinder):
    """Finds TensorFlow as Python does and wraps the `exec_module` of its loader."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return TensorFlow's spec with its loader wrapped; None for every other module."""
        if name != "tensorflow":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        run = spec.loader.exec_module

        def run_quietly(module: ModuleType) -> None:
            with _filtered_stderr():
                run(module)
                # The first listing of devices writes the notices again.
                module.config.list_physical_devices()
            # Beam search is deliberately compiled once for each of a few sizes.
            logging.getLogger("tensorflow").addFilter(lambda record: "tf.function retracing" not in record.getMessage())

        spec.loader.exec_module = run_quietly  # type: ignore[method-assign]
        return spec


def own_standard_output() -> None:
    """Reserve standard output for Python: what libraries write to file descriptor 1 goes to standard error.

    The library that connects JAX's processes logs to standard output, and C++ may buffer that until the process ends.
    """
    sys.stdout.flush()
    ours = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = io.TextIOWrapper(io.FileIO(ours, "w"), "utf-8", "backslashreplace", line_buffering=True)


@contextlib.contextmanager
def _filtered_stderr() -> Iterator[None]:
    """Collect what is written to file descriptor 2 and write it on exit without the notices."""
    sys.stderr.flush()
    with tempfile.TemporaryFile() as kept:
        screen = os.dup(2)
        os.dup2(kept.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(screen, 2)
            os.close(screen)
            kept.seek(0)
            for line in kept:
                if not _NOTICE.search(line):
                    os.write(2, line)
