"""TensorFlow starts without its notices about CUDA.

Some of them are written before any log level is read, so no environment variable stops them; here the
file descriptor is held back while TensorFlow is imported, and what is not such a notice is written afterwards.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

_NOTICE = re.compile(rb"All log messages before absl|cudart_stub|cuda_platform|cuInit|cpu_feature_guard|TF-TRT|oneDNN")


def quiet_tensorflow() -> None:
    """Hold back TensorFlow's notices when it is first imported; a log level that the user set is left in charge."""
    if "TF_CPP_MIN_LOG_LEVEL" in os.environ or "tensorflow" in sys.modules:
        return
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder):
    """Finds tensorflow as Python does, and wraps what runs it."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "tensorflow":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        run = spec.loader.exec_module

        def run_quietly(module: ModuleType) -> None:
            with _held_back():
                run(module)
                # The notices come again when the devices are first looked for.
                module.config.list_physical_devices()

        spec.loader.exec_module = run_quietly  # type: ignore[method-assign]
        return spec


def own_standard_output() -> None:
    """Have standard output for Python alone: what libraries write to file descriptor 1 goes to standard error.

    The library that connects JAX's processes tells of it there, and C++ may keep that until the process ends.
    """
    sys.stdout.flush()
    ours = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = io.TextIOWrapper(io.FileIO(ours, "w"), "utf-8", "backslashreplace", line_buffering=True)


@contextlib.contextmanager
def _held_back() -> Iterator[None]:
    """Keep what is written to file descriptor 2, and write it at the end without the notices."""
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
