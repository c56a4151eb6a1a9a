"""Consensus: which sentences of an act are learned."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dactnlg.acts import parse
from dactnlg.data.corpus import load_corpus
from dactnlg.data.pairs import build_preprocessor
from dactnlg.runs.config import load_config
from dactnlg.runs.run import Run
from dactnlg.text.example import Pair
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.training.consensus import agreed
from dactnlg.training.train import train


def pair(act: str, text: str, corpus: str | None = None) -> Pair:
    return Pair(parse(act), corpus, tuple(text.split()))


@pytest.fixture(scope="module")
def trails() -> tuple[Preprocessor, list[Pair]]:
    data = build_preprocessor(load_corpus("trails"))
    return data.preprocessor, data.pairs


def test_what_one_says_alone_is_left_out(trails: tuple[Preprocessor, list[Pair]]) -> None:
    near = "SLOT_NAME is near SLOT_NEAR ."
    pairs = [
        pair("inform(name=a;near=b)", "by SLOT_NEAR you will see , if you look , SLOT_NAME"),
        pair("inform(name=c;near=d)", near),
        pair("inform(name=e)", "it is SLOT_NAME"),
        pair("inform(name=e;near=f)", "SLOT_NAME is near the SLOT_NEAR ."),
        pair("inform(name=g;near=f)", near),
        pair("inform(name=g;near=f)", "there is SLOT_NAME", corpus="other"),
    ]
    # The acts of other values are the same act, those of another corpus are not.
    assert agreed(pairs, 0.5, trails[0]) == [pairs[1], pairs[2], pairs[4], pairs[5]]
    assert agreed(pairs, 0.6, trails[0]) == [pairs[1], pairs[2], pairs[3], pairs[4], pairs[5]]
    assert agreed(pairs, 1.0, trails[0]) == pairs


@given(share=st.floats(0.01, 1.0))
def test_every_act_keeps_its_share_of_pairs_in_their_order(
    trails: tuple[Preprocessor, list[Pair]], share: float
) -> None:
    preprocessor, pairs = trails
    kept = agreed(pairs, share, preprocessor)
    places = iter(pairs)
    assert all(any(each is other for other in places) for each in kept)
    before, after = (Counter(preprocessor.request(each.turn).act for each in some) for some in (pairs, kept))
    assert all(after[act] >= share * count for act, count in before.items())


def test_a_model_learns_what_is_agreed_and_composes_of_all(
    trails: tuple[Preprocessor, list[Pair]], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    small = ["model.hidden_size=8", "model.embedding_size=8", "training.epochs=1", "training.consensus=0.5"]
    with caplog.at_level("INFO"):
        train(load_config("trails-sclstm", small), tmp_path / "run", progress=True)
    preprocessor, pairs = trails
    kept = {(preprocessor.request(each.turn).act, each.tokens) for each in agreed(pairs, 0.5, preprocessor)}
    assert f"{len(kept):,} pairs" in caplog.text
    learned = Preprocessor.load(Run(tmp_path / "run").preprocessor_path)
    assert learned.templates.sentences == preprocessor.templates.sentences
