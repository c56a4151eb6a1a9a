"""The embedded corpus, and a checker with the reader of a run on it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dactnlg.data.corpus import Corpus
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.fidelity.reader_file import load_reader
from dactnlg.runs.run import Run


@pytest.fixture(scope="module")
def corpus(corpora: Callable[[str], Corpus]) -> Corpus:
    return corpora("trails")


@pytest.fixture(scope="module")
def checker(corpus: Corpus, random_run: Path) -> FidelityChecker:
    return FidelityChecker(corpus.card.style().checker(), load_reader(Run(random_run).reader_path))
