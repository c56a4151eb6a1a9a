"""Embedding average, vector extrema, greedy matching: by hand, and against plain loops on random and real sentences."""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from helpers import missing
from hypothesis import given, settings
from hypothesis import strategies as st

from dactnlg.errors import MetricError, UnknownNameError
from dactnlg.evaluation.scoring import TextPair, score_pairs
from dactnlg.metrics.base import Segment
from dactnlg.metrics.embeddings import vectors as vectors_module
from dactnlg.metrics.embeddings.embedding import EmbeddingMetrics, extrema
from dactnlg.metrics.embeddings.vectors import WordVectors, load_vectors
from dactnlg.metrics.registry import Materials
from dactnlg.metrics.tokenizers.words import split_treebank

TOY = {"a": [1.0, 0.0], "b": [0.0, 2.0], "c": [3.0, 4.0], "d": [-4.0, 3.0], "e": [0.0, -1.0], "nil": [0.0, 0.0]}
WORDS = st.lists(st.sampled_from([*TOY, "xyzzy"]), max_size=7).map(" ".join)


def text_file(path: Path, table: dict[str, list[float]], header: bool = False) -> Path:
    lines = [f"{word} {' '.join(map(repr, numbers))}\n" for word, numbers in table.items()]
    counts = f"{len(table)} {len(next(iter(table.values())))}\n" if header else ""
    path.write_text(counts + "".join(lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> WordVectors:
    folder = tmp_path_factory.mktemp("toy")
    return load_vectors(text_file(folder / "toy.txt", TOY), folder / "cache")


def scores(metric: EmbeddingMetrics, hypothesis: str, *references: str) -> list[float]:
    return metric.segment_scores(metric.statistics([Segment(hypothesis, references)]))[0].tolist()


def loops(
    table: dict[str, list[float]], mean: list[float] | None, hypothesis: list[str], references: list[list[str]]
) -> list[float]:
    """The three scores from the paper's formulas, number by number; `mean` stands for unknown words if it is given."""

    def known(words: list[str]) -> list[list[float]]:
        found = [table.get(word, table.get(word.lower(), mean)) for word in words]
        return [vector for vector in found if vector is not None]

    def cosine(x: list[float], y: list[float]) -> float:
        norm = math.sqrt(math.fsum(v * v for v in x)) * math.sqrt(math.fsum(v * v for v in y))
        return math.fsum(v * w for v, w in zip(x, y, strict=True)) / norm if norm else 0.0

    def average(vectors: list[list[float]]) -> list[float]:
        return [math.fsum(column) for column in zip(*vectors, strict=True)]

    def most_extreme(vectors: list[list[float]]) -> list[float]:
        result = []
        for column in zip(*vectors, strict=True):
            result.append(max(column) if max(column) > abs(min(column)) else min(column))
        return result

    def matched(one: list[list[float]], other: list[list[float]]) -> float:
        return math.fsum(max(cosine(v, w) for w in other) for v in one) / len(one)

    said = known(hypothesis)
    best: list[list[float]] = []
    for reference in references:
        wanted = known(reference)
        if said and wanted:
            greedy = (matched(said, wanted) + matched(wanted, said)) / 2
            best.append(
                [
                    cosine(average(said), average(wanted)),
                    cosine(most_extreme(said), most_extreme(wanted)),
                    greedy,
                ]
            )
    return [max(column) for column in zip(*best, strict=True)] if best else [0.0, 0.0, 0.0]


def test_embedding_scores_of_a_few_words_by_hand(toy: WordVectors) -> None:
    """a = (1, 0), b = (0, 2), c = (3, 4), d = (-4, 3)."""
    metric = EmbeddingMetrics(toy)
    # (1, 2) and (3, 4): 11 / (sqrt 5 * 5); extrema are (1, 2) and (3, 4) as well; cosines of a and b with c .6 and .8.
    assert scores(metric, "a b", "c") == pytest.approx([11 / math.sqrt(125), 11 / math.sqrt(125), (0.7 + 0.8) / 2])
    # c + d = (-1, 7); extrema of c and d: -4 is further from 0 than 3, 4 further than 3.
    assert scores(metric, "c d", "b")[:2] == pytest.approx([7 / math.sqrt(50), 4 / math.sqrt(32)])
    assert scores(metric, "c d", "c d") == pytest.approx([1, 1, 1])
    # Each score takes its own best reference.
    assert scores(metric, "a", "b", "c", "zzz") == pytest.approx([0.6, 0.6, 0.6])
    assert scores(metric, "a", "d") == pytest.approx([-0.8, -0.8, -0.8]), "cosines may be negative"
    assert scores(metric, "a", "zzz", "d") == pytest.approx([-0.8, -0.8, -0.8]), "an unknown reference hides nothing"
    # Greedy matching counts repeated words: a a b against a.
    assert scores(metric, "a a b", "a")[2] == pytest.approx((2 / 3 + 1) / 2)


def test_extrema_are_nlg_evals_where_one_end_is_zero() -> None:
    """nlg-eval's condition takes 0 here and there; the paper's compares with the absolute lowest value."""
    words = np.array([[0.0, 0.0, -2.0, 2.0, 0.0], [-3.0, 3.0, 2.0, 1.0, 0.0]])
    assert extrema(words).tolist() == [-3, 3, -2, 2, 0]


@settings(deadline=None, max_examples=150)
@given(WORDS, st.lists(WORDS, min_size=1, max_size=3), st.sampled_from(["skip", "mean"]))
def test_embedding_scores_equal_plain_loops_on_random_sentences(
    toy: WordVectors, hypothesis: str, references: list[str], oov: str
) -> None:
    mean = None if oov == "skip" else [math.fsum(column) / len(TOY) for column in zip(*TOY.values(), strict=True)]
    expected = loops(TOY, mean, hypothesis.split(), [reference.split() for reference in references])
    assert scores(EmbeddingMetrics(toy, oov), hypothesis, *references) == pytest.approx(expected, abs=1e-6)


@cache
def read_table(path: Path) -> dict[str, list[float]]:
    rows = (line.split(" ") for line in path.read_text(encoding="utf-8").splitlines())
    return {word: list(map(float, numbers)) for word, *numbers in rows}


@pytest.mark.parametrize("oov", ["skip", "mean"])
def test_embedding_scores_equal_plain_loops_on_real_sentences(
    data_dir: Path, oracle_dir: Path, tmp_path_factory: pytest.TempPathFactory, oov: str
) -> None:
    """Real system outputs with GloVe's vectors."""
    path = data_dir / "embeddings" / "glove.6B.100d.subset.txt"
    if not path.is_file():
        missing(f"{path} is not there")
    table = read_table(path)
    mean = None if oov == "skip" else [math.fsum(column) / len(table) for column in zip(*table.values(), strict=True)]
    metric = EmbeddingMetrics(load_vectors(path, tmp_path_factory.getbasetemp() / "glove"), oov)
    for segment in json.loads((oracle_dir / "sfres_nlgeval.json").read_text())["segments"][::120]:
        words = [split_treebank(text) for text in (segment["hypothesis"], *segment["references"])]
        found = scores(metric, segment["hypothesis"], *segment["references"])
        assert found == pytest.approx(loops(table, mean, words[0], words[1:]), abs=1e-6)


def test_unknown_words_are_warned_of_and_their_policy_is_in_the_signature(toy: WordVectors) -> None:
    skip, mean = EmbeddingMetrics(toy), EmbeddingMetrics(toy, "mean")
    assert scores(skip, "xyzzy", "a") == scores(skip, "", "a") == scores(skip, "a", "xyzzy") == [0, 0, 0]
    assert scores(mean, "xyzzy", "plugh") == pytest.approx([1, 1, 1]), "nlg-eval cannot tell unknown words apart"
    assert scores(mean, "", "a") == [0, 0, 0]
    assert np.isnan(scores(skip, "a")).all(), "no reference: undefined"
    text = " ".join(skip.warnings())
    assert "1 of 3 words of the hypotheses are unknown and left out ('xyzzy')" in text
    assert "1 of 4 hypotheses have no known word and score 0" in text
    assert EmbeddingMetrics(toy).warnings() == []
    signatures = {metric.signature(name) for metric in (skip, mean) for name in metric.names}
    assert len(signatures) == 6
    assert all("|vectors:toy@" in s and ("|oov:skip|" in s or "|oov:mean|" in s) for s in signatures)
    with pytest.raises(UnknownNameError, match="policy for unknown words"):
        EmbeddingMetrics(toy, "zero")


def test_vectors_of_sentences_are_freed(toy: WordVectors) -> None:
    metric = EmbeddingMetrics(toy)
    metric.statistics([Segment("a", ["b"])])
    assert metric._embed.cache_info().currsize
    metric.forget()
    assert not metric._embed.cache_info().currsize


def test_a_word_without_a_vector_has_that_of_its_lower_case(toy: WordVectors) -> None:
    assert scores(EmbeddingMetrics(toy), "A C.", "a c") == pytest.approx([1, 1, 1])


def test_ten_thousand_different_words_are_matched_in_blocks(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    words = [f"w{number}" for number in range(10_000)]
    table = dict(zip(words, random.normal(size=(10_000, 3)).tolist(), strict=True))
    metric = EmbeddingMetrics(load_vectors(text_file(tmp_path / "v.txt", table), tmp_path))
    line = " ".join(words)
    assert scores(metric, line, line) == pytest.approx([1, 1, 1])
    # The result does not depend on the blocks of greedy matching.
    expected = loops(table, None, words[:1100], [words[1050:1053]])
    assert scores(metric, " ".join(words[:1100]), " ".join(words[1050:1053])) == pytest.approx(expected, abs=1e-6)


def test_an_index_gives_back_every_vector(tmp_path: Path) -> None:
    """From text, text with word2vec's header and .npz; words with spaces, signs and accents; of two the first."""
    random = np.random.default_rng(1)
    words = ["the", ". . .", "café", "naïve", "|", "3.5", "at name@domain.com", *(f"w{n}" for n in range(200))]
    values = random.normal(size=(len(words), 5)).astype(np.float32)
    table = dict(zip(words, values.tolist(), strict=True))
    files = [text_file(tmp_path / "plain.txt", table), text_file(tmp_path / "w2v.txt", table, header=True)]
    np.savez(tmp_path / "both.npz", words=np.array(words), vectors=values)
    with files[0].open("a", encoding="utf-8") as stream:
        stream.write("the 9 9 9 9 9\n")
    for file in [*files, tmp_path / "both.npz"]:
        found = load_vectors(file, tmp_path / "cache")
        assert found.dimensions == 5
        assert found.vectors(found.rows(words)) == pytest.approx(values)
        assert found.rows(["THE", "absent", "Café"]) == [0, -1, 2]
        assert isinstance(found._vectors, np.memmap)
    assert np.allclose(found.mean, values.mean(axis=0), atol=1e-6)


def test_an_index_is_made_once_and_again_for_a_changed_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = text_file(tmp_path / "v.txt", TOY)
    first = load_vectors(path, tmp_path / "cache")
    assert len(first) == len(TOY)
    with monkeypatch.context() as patch:
        patch.setattr(vectors_module, "_index", lambda *_: pytest.fail("indexed twice"))
        patch.setenv(vectors_module.VARIABLE, str(path))
        assert load_vectors(None, tmp_path / "cache").name == first.name
    text_file(path, {"a": [1.0]})
    again = load_vectors(path, tmp_path / "cache")
    assert len(again) == 1 and again.name != first.name


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "line 1: expected a word and its numbers"),
        (b"a 1 2\nb 1\n", "line 2: expected a word and 2 numbers"),
        (b"a 1 2\nb 1 x\n", "line 2: expected a word and 2 numbers"),
        (b"a 1 2\nb 1 nan\n", "line 2: a vector must have finite numbers"),
        (b"2 2\na 1 2\n\x80\x81\x00\n", "line 3: expected a word and 2 numbers"),
        (b"\x93NUMPY\n", "line 1"),
        (b"a 1 2\nb 1 1e300\n", "line 2: a vector must have finite numbers"),
        (b"a 1 2\n\nb 1 2\n", "line 2: expected a word and 2 numbers"),
        (b"5 2\na 1 2\nb 1 2\n", "line 1: 5 words are said to follow, but 2 lines do"),
        (b"1 2\na 1 2\nb 1 2\n", "line 1: 1 words are said to follow, but 2 lines do"),
        (b"2 0\na\nb\n", "line 1: expected a word and its numbers"),
        (b"2 " + b"9" * 5000 + b"\na 1 2\nb 1 2\n", "line 1: a count of more digits"),
        (b"3 4\nthe \x00 \x80?\n@\x00\x00@@\x00\x00\n", "line 1: 3 words .* binary form"),
    ],
)
def test_bad_word_vectors_are_named_with_file_and_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(content)
    with pytest.raises(MetricError, match=f"bad.txt, {message}"):
        load_vectors(path, tmp_path / "cache")
    assert not list((tmp_path / "cache").glob("*")), "nothing half-made is left"


def test_a_header_cannot_ask_for_more_than_the_file_holds(tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(b"2 99999999999999\na 1 2\nb 1 2\n")
    with pytest.raises(MetricError, match="2 lines of 99999999999999 numbers would be longer than it is"):
        load_vectors(path, tmp_path / "cache")


def test_a_byte_order_mark_is_no_part_of_the_first_word(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_bytes(b"\xef\xbb\xbfa 1 2\nb 3 4\n")
    assert load_vectors(path, tmp_path / "cache").rows(["a", "b"]) == [0, 1]


def npz(path: Path, **members: object) -> Path:
    np.savez(path, **members)  # type: ignore[arg-type]
    return path


def zipped(path: Path, words: bytes, vectors: bytes, method: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("words.npy", words)
        archive.writestr("vectors.npy", vectors)
    return path


def head(shape: tuple[int, ...], kind: str) -> bytes:
    """Return how an array of this shape begins, whatever follows."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": kind, "fortran_order": False, "shape": shape})
    return stream.getvalue()


def test_hostile_npz_are_refused_in_bounded_memory(tmp_path: Path) -> None:
    words = np.array(["a"])
    bomb = head((1, 10_000_000), "<f4") + bytes(40_000_000)
    one = head((1,), "<U1") + b"a\0\0\0"
    made = [
        (npz(tmp_path / "none.npz", words=words, vectors=np.ones((1, 0))), "it has 0 of float64"),
        (npz(tmp_path / "large.npz", words=words, vectors=np.full((1, 2), 1e300)), "finite numbers"),
        (npz(tmp_path / "complex.npz", words=words, vectors=np.ones((1, 2), complex)), "it has 2 of complex128"),
        (zipped(tmp_path / "junk.npz", b"junk", b"junk"), "it has something else"),
        (zipped(tmp_path / "lie.npz", head((10**12,), "<U1"), head((10**12, 300), "<f4")), "expected an .npz"),
        (zipped(tmp_path / "bomb.npz", one, bomb, zipfile.ZIP_DEFLATED), "it would unpack to 40,000,"),
    ]
    for path, message in made:
        with pytest.raises(MetricError, match=f"{path.name}: .*{message}") as caught:
            load_vectors(path, tmp_path / "cache")
        assert "\n" not in str(caught.value)
    os.mkfifo(tmp_path / "pipe")
    for name, reason in (
        (tmp_path / "pipe", "it is a pipe"),
        ("/dev/zero", "it is a pipe, a device"),
        (tmp_path, "it is a"),
    ):
        with pytest.raises(MetricError, match=f"cannot read the word vectors {name}: {reason}"):
            load_vectors(name, tmp_path / "cache")


def test_damaged_npz_are_refused_or_give_the_same_vectors(tmp_path: Path) -> None:
    random, path = np.random.default_rng(3), tmp_path / "v.npz"
    values = random.normal(size=(2, 5))
    np.savez_compressed(path, words=np.array(["a", "b"]), vectors=values)
    whole = path.read_bytes()
    refused = 0
    for case in range(300):
        damaged = bytearray(whole)
        if case % 3:
            damaged[random.integers(len(whole))] ^= int(random.integers(1, 256))
        else:
            del damaged[random.integers(len(whole)) :]
        path.write_bytes(damaged)
        try:
            found = load_vectors(path, tmp_path / "cache")
        except MetricError as error:
            refused += 1
            assert "\n" not in str(error) and len(str(error)) < 500
        else:
            assert found.vectors(found.rows(["a", "b"])) == pytest.approx(values, abs=1e-6)
    assert refused > 200


def test_bad_npz_and_missing_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez(tmp_path / "names.npz", tokens=np.array(["a"]), vectors=np.ones((1, 2)))
    np.savez(tmp_path / "shapes.npz", words=np.array(["a", "b"]), vectors=np.ones((1, 2)))
    np.savez(tmp_path / "objects.npz", words=np.array(["a"], dtype=object), vectors=np.ones((1, 2)))
    for name, message in (
        ("names", "it has tokens, vectors"),
        ("shapes", "words .2,."),
        ("objects", "expected an .npz"),
    ):
        with pytest.raises(MetricError, match=message):
            load_vectors(tmp_path / f"{name}.npz", tmp_path / "cache")
    with pytest.raises(MetricError, match="No such file"):
        load_vectors(tmp_path / "absent.txt")
    monkeypatch.delenv(vectors_module.VARIABLE, raising=False)
    with pytest.raises(MetricError, match="--vectors FILE or in .DACTNLG_VECTORS"):
        score_pairs([TextPair("a", ("a",))], ["embedding"])
    (tmp_path / "file").write_text("")
    with pytest.raises(MetricError, match="cannot make the index of .*v.txt"):
        load_vectors(text_file(tmp_path / "v.txt", TOY), tmp_path / "file" / "cache")


def test_presets_choose_the_policy_for_unknown_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors_module, "user_cache", lambda: tmp_path)
    given_vectors = Materials(text_file(tmp_path / "toy.txt", TOY))
    for preset, oov in (("nlg-eval", "mean"), ("sharma2017", "mean"), ("single", "skip"), ("e2e", "skip")):
        result = score_pairs([TextPair("a", ("a",))], ["embedding"], preset, given=given_vectors)
        assert list(result.scores) == ["embedding-average", "vector-extrema", "greedy-matching"]
        assert all(f"|oov:{oov}|" in score.signature and score.value == 1 for score in result.scores.values())
