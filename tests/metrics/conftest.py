"""Fixtures of the metrics' tests."""

from __future__ import annotations

import pytest

from dactnlg.metrics.sentence_encoder.minilm import MiniLM


@pytest.fixture(scope="session")
def minilm() -> MiniLM:
    """The published sentence encoder; its tests are marked with what installs its weights."""
    return MiniLM()
