"""The benchmark of words beside values: it finds the faults that are put in, and none in what is right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from helpers import table_rows

from benchmarks import edges
from benchmarks.edges import faults
from dactnlg.acts import parse
from dactnlg.data.corpus import load_corpus
from dactnlg.data.pairs import build_preprocessor
from dactnlg.text.preprocessor import Preprocessor


@pytest.fixture(scope="module")
def preprocessor() -> Preprocessor:
    """Return the preprocessor of the embedded corpus."""
    return build_preprocessor(load_corpus("trails"))[0]


@pytest.mark.parametrize(
    ("text", "found"),
    {
        "The The Opal is fine.": {"doubled", "article", "verb"},
        "See the The Opal.": {"doubled", "article", "verb"},
        "The Opal opal is fine.": {"doubled"},
        "The Opal is is fine.": {"doubled elsewhere", "verb"},
        "The Opal has a easy and an short hike.": {"article"},
        "The Opal has 1 routes.": {"count"},
        "There are 1 route at The Opal.": {"count"},
        "The Opal is fine , yes. and easy": {"marks"},
        "the Opal is fine.": {"marks"},
        "The Opal has 1 route, an hour from A to B, and 2 routes.": set(),
    }.items(),
)
def test_faults_are_found(preprocessor: Preprocessor, text: str, found: set[str]) -> None:
    turn = parse("inform(name='The Opal')")
    assert {fault for fault, _ in faults(preprocessor, frozenset({"route"}), turn, text)} == found


def test_a_run_is_measured(run_benchmark: Callable[..., str], random_run: Path) -> None:
    printed = run_benchmark(edges, random_run, "--subsets", "20")
    rows = [row[:3] for row in table_rows(printed) if row[0].startswith("random")]
    assert rows == [["random, test", "300", "0"], ["random, subsets", "20", "0"]]
