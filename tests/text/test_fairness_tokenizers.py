"""Tokenisers: `<unk>` stays whole, and a text has one standard reading whatever the system's tokens were."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nltk
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.tokenize import TreebankWordTokenizer

from dactnlg.data.corpus import Corpus
from dactnlg.errors import MetricError, UnknownNameError
from dactnlg.evaluation.scoring import TextPair, score_pairs
from dactnlg.metrics.tokenizers.fair import (
    SubwordTokenizer,
    detokenize,
    standard_tokens,
    standardize,
    text_tokenizer,
    tokenizer_names,
)

SENTENCE = """It's a "quiet" place, isn't it? You cannot miss Joe's (the old-town one)."""


def test_treebank_is_nltks() -> None:
    assert text_tokenizer("treebank").tokenize(SENTENCE) == TreebankWordTokenizer().tokenize(SENTENCE)


@pytest.mark.parametrize("name", ["whitespace", "13a", "treebank"])
def test_unk_is_one_token(name: str) -> None:
    assert text_tokenizer(name).tokenize("A <unk> is a <unk>-ish <unk>")[1:] == ["<unk>", "is", "a", "<unk>", "<unk>"]


@pytest.mark.parametrize("corpus", ["trails", "restaurants", "e2e", "viggo"])
def test_sentences_of_all_tokenisers_have_one_standard_reading(
    corpus: str, data_dir: Path, corpora: Callable[[str], Corpus], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Huang et al. 2020, Table 9: scores of systems with different tokenisers are comparable."""
    monkeypatch.setattr("nltk.data.path", [str(data_dir / "nltk_data"), *nltk.data.path])
    sentences = [sentence for _, sentence in corpora(corpus).pairs("test")][:400]
    for name in tokenizer_names():
        tokenizer = text_tokenizer(name, sentences)
        found = [standard_tokens(tokenizer.detokenize(tokenizer.tokenize(sentence))) for sentence in sentences]
        assert found == list(map(standard_tokens, sentences)), name


def test_the_score_is_that_of_the_text() -> None:
    reference = "You can't miss Joe's: it isn't far."
    values = []
    for name in ("whitespace", "13a", "treebank"):
        tokens = " ".join(text_tokenizer(name).tokenize("You can't miss Ann's: it isn't near."))
        values.append(score_pairs([TextPair(tokens, (reference,))], ["BLEU-4"], "fair").scores["BLEU-4"])
    assert len({(score.value, score.hash) for score in values}) == 1


@settings(deadline=None)
@given(st.text(st.sampled_from("abn't's \"`.,(<unk>)-’19"), max_size=20))
def test_standard_text_is_read_as_itself(text: str) -> None:
    assert standardize(standardize(text)) == standardize(text)


def test_treebank_tokens_are_joined_and_their_quotes_are_plain() -> None:
    tokens = text_tokenizer("treebank").tokenize(SENTENCE)
    assert detokenize(tokens) == """It's a " quiet " place , isn't it ? You cannot miss Joe's ( the old-town one ) ."""


@settings(deadline=None)
@given(st.text(max_size=30))
def test_subwords_go_there_and_back(text: str) -> None:
    assert SUBWORDS.detokenize(SUBWORDS.tokenize(text)) == text


SUBWORDS = SubwordTokenizer(["a place in the north", "the place isn't far", "<unk> is near"] * 3, 300)


def test_subwords_are_learned() -> None:
    assert SUBWORDS.tokenize("the place") == ["the", "Ġplace"]
    assert "<unk>" in SUBWORDS.tokenize("a <unk> is")
    assert SUBWORDS.settings()["name"] == "subword-300"
    assert SubwordTokenizer(["zebra zebra"], 300).settings() != SUBWORDS.settings()


def test_what_is_missing_is_told_plainly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'treebank'"):
        text_tokenizer("trebank")
    with pytest.raises(MetricError, match="256 bytes; got a size of 100"):
        SubwordTokenizer(["a"], 100)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(MetricError, match=r"dactnlg\[subword\]"):
        text_tokenizer("subword", ["a"])
    command = [sys.executable, "-m", "dactnlg", "corpora", "hash", "trails", "--tokenizer", "punkt"]
    environment = {**os.environ, "NLTK_DATA": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode == 0:
        pytest.skip("NLTK's data are installed for the whole machine")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "punkt_tab" in done.stderr
