"""The calls from `Generator.generate` to the model's step: few frames on every backend, and many threads at once."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import dactnlg
from dactnlg.data.corpus import load_corpus
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.models.numpy.inference import NumpyModel

PACKAGE = str(Path(dactnlg.__file__).parent)
MOST = 6
"""The most frames of the package between `Generator.generate` and the model's step."""
# Values, special values, an unknown slot, questions next to other acts: all branches on the way.
ACTS = [example.turn for example in load_corpus("trails").split("test")[:60]]
ODD = ["inform(name='Red Kite Ridge';dogsallowed=yes;stroller=no)", "inform(name=x;altitude='900 m') & request(region)"]


class Counter:
    """Counts the frames between `generate` and a step."""

    def __init__(self) -> None:
        self.paths: list[tuple[str, ...]] = []

    def watch(self, step: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*arguments: Any) -> Any:
            self.paths.append(self._path())
            return step(*arguments)

        return watched

    def _path(self) -> tuple[str, ...]:
        names, frame = [], sys._getframe(2)
        while frame is not None:
            code = frame.f_code
            if code.co_filename.startswith(PACKAGE):
                if code.co_name == "generate":
                    return tuple(names)
                names.append(code.co_name)
            frame = frame.f_back  # type: ignore[assignment]
        pytest.fail("a step without a generate: the frames of another thread")


WAYS = [GenerationOptions(constraint=constraint) for constraint in ("none", "rerank", "hard")]
WAYS += [GenerationOptions(n_best=3), GenerationOptions(sample=True, seed=1), GenerationOptions(beam_width=1)]


@pytest.mark.parametrize("backend", ["numpy", "keras"])
@pytest.mark.parametrize("model", ["sclstm", "hierarchical"])
def test_few_frames_lie_between_generate_and_the_step(
    backend: str, model: str, poor_run: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    generator, counter = Generator.load(poor_run(model), backend=backend), Counter()
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    if backend == "numpy":
        monkeypatch.setattr(NumpyModel, "step", counter.watch(NumpyModel.step))
    else:
        # A compiled step is called once for each shape, when it is traced.
        monkeypatch.setattr(generator.decoder.model, "step", counter.watch(generator.decoder.model.step))
    some = ACTS[:30] if backend == "numpy" else ACTS[:4]
    for options in WAYS:
        generator.generate(some, options)
        generator.generate(ODD, options, strict=False)
    assert counter.paths
    longest = max(counter.paths, key=len)
    assert len(longest) <= MOST, " <- ".join(longest)


def test_many_threads_get_what_one_gets(poor_run: Callable[[str], Path]) -> None:
    run = poor_run("sclstm")
    some = ACTS[:20]
    expected = [Generator.load(run).generate(some, options) for options in WAYS]
    shared, together = Generator.load(run), Barrier(6)

    def generate(number: int) -> list[Any]:
        together.wait()
        # Each thread begins with other options, so that caches are filled concurrently.
        order = [(place + number) % len(WAYS) for place in range(len(WAYS))]
        found = {place: shared.generate(some, WAYS[place]) for place in order}
        return [found[place] for place in range(len(WAYS))]

    with ThreadPoolExecutor(6) as pool:
        for result in pool.map(generate, range(6)):
            assert [[g.text for g in row] for row in result] == [[g.text for g in row] for row in expected]
            assert [[g.slots_ok for g in row] for row in result] == [[g.slots_ok for g in row] for row in expected]


def test_threads_leave_the_number_of_blas_threads_unchanged(poor_run: Callable[[str], Path]) -> None:
    def threads() -> list[int]:
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    generator = Generator.load(poor_run("lstm"))
    # The tests have one thread, which would not show that it is the number from before.
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda act: generator.generate([act], GenerationOptions(beam_width=3)), ACTS[:24]))
        assert threads() == before
    assert 2 in before
