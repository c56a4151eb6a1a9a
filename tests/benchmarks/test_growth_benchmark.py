"""The benchmark of growth: tiny points in processes of their own, and slopes that are what they are called."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from helpers import table_rows

from benchmarks import growth, growth_points, growth_slopes
from dactnlg.generation.generator import Generator


def test_it_prints_points_and_slopes(run_benchmark: Callable[..., str], neural_run: Path, tmp_path: Path) -> None:
    keep = tmp_path / "points.jsonl"
    words = "--only acts search-hidden --acts 3 30 --most-acts 29 --hidden 8 16 --seconds 0 --keep"
    plan = [neural_run, *words.split(), keep]
    output = run_benchmark(growth, *plan)
    assert [row[1] for row in table_rows(output)[:4]] == ["size", "3", "8", "16"]
    points = [json.loads(line) for line in keep.read_text().splitlines()]
    assert [(point["kind"], point["size"]) for point in points] == [
        ("acts", 3),
        ("search-hidden", 8),
        ("search-hidden", 16),
    ]
    assert all(point["processor"] > 0 and point["peak"] > point["before"] > 0 for point in points[1:])
    # What is known is not measured again.
    again = run_benchmark(growth, *plan)
    assert table_rows(again) == table_rows(output) and len(keep.read_text().splitlines()) == 3


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
def test_a_slope_is_the_exponent_of_the_last_points(power: float) -> None:
    points = [{"kind": "beam", "size": size, "processor": size**power, "before": 5.0} for size in (10, 20, 50)]
    points = [{**point, "peak": 5.0 + 3 * point["processor"]} for point in points]
    points = [{"kind": "beam", "size": 1, "processor": 99.0, "before": 0.0, "peak": 99.0}, *points]
    assert growth_slopes.slope(points, growth_slopes.cost) == pytest.approx(power)
    assert growth_slopes.slope(points, growth_slopes.memory) == pytest.approx(power)


def test_a_sentence_says_when_it_is_not_about_these_slopes() -> None:
    def line(power: float) -> str:
        same = {"kind": "beam", "products": 1.0, "operations": 1.0, "before": 0.0}
        sizes = (10, 20, 50)
        return growth_slopes.explained([{**same, "size": n, "processor": n**power, "peak": n**0.5} for n in sizes])

    assert "NOT so" not in line(0.4)
    assert "NOT so here: the sentence is for a slope of time" in line(2.0)


def test_operations_are_those_of_the_search(neural_run: Path) -> None:
    """Counted a second way: from the sizes of the weights and the number of beams that were advanced."""
    decoder = Generator.load(neural_run).decoder
    vectors = growth_points.act_vectors(neural_run)
    model = decoder.model
    shapes = growth_points.recorded(model)
    context, state = model.prepare({"act": vectors})
    for _ in range(2):
        tokens = np.full(len(vectors), 5)
        _, state = model.step(context, state, tokens, np.arange(len(vectors)))
    weights = [model._kernel, context.reading_kernel, context.act, model.weights["output_kernel"]]
    counted = sum(2 * n * a * b * c for n, a, b, c in shapes)
    assert counted == 2 * len(vectors) * sum(2 * weight.size for weight in weights)


def test_a_step_of_training_is_measured(neural_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth_points, "least", 0.0)
    point = growth_points.train(neural_run, vocabulary=50, hidden=8)
    # How long anything takes on a busy machine is not for a test to say.
    assert min(point["products"], point["processor"], point["operations"]) > 0


def test_without_matplotlib_it_names_the_extra(
    run_benchmark: Callable[..., str], neural_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SystemExit, match=r"dactnlg\[bench\]"):
        run_benchmark(growth, neural_run, "--png")
