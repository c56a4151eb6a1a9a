"""Traces of acts with repetitions: rows are the entries that the model sees, places refer to the act as written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dactnlg.acts import parse
from dactnlg.generation.generator import Generator
from dactnlg.generation.trace import trace


@pytest.mark.parametrize("model", ["sclstm", "seq2seq"])
@pytest.mark.parametrize(
    ("act", "rows"),
    [
        ("inform(name=x;name=x;region=north)", [("inform", None), ("name", 0), ("region", 2)]),
        ("inform(name=x)&inform(name=x)&goodbye()", [("inform", None), ("name", 0), ("goodbye", None)]),
        # A question may offer two equal things.
        ("?select(name=x;name=y;name=x)", [("?select", None), ("name", 0), ("name", 1), ("name", 2)]),
        (
            "inform(region=north;region=north)&inform(name=x;region=north)",
            [("inform", None), ("region", 0), ("inform", None), ("name", 2), ("region", 3)],
        ),
    ],
)
def test_repeated_acts_and_slots_have_one_row(
    poor_run: Callable[[str], Path], model: str, act: str, rows: list[tuple[str, int | None]]
) -> None:
    generator = Generator.load(poor_run(model))
    found = trace(generator, parse(act), ["SLOT_NAME", "￭."])
    assert [(entry.name, entry.place) for entry in found.entries if entry.name != "whole act"] == rows
    assert found.weights.shape == (len(found.entries), len(found.tokens))
