"""Odd input across every registered metric: a finite documented value, undefined, or one plain message."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from dactnlg.acts import parse
from dactnlg.cli.main import main
from dactnlg.errors import MetricError
from dactnlg.evaluation.scoring import Scores, TextPair, read_input, score_pairs, table
from dactnlg.metrics.embeddings import vectors
from dactnlg.metrics.meteor import data as meteor_data
from dactnlg.metrics.presets import PRESETS
from dactnlg.metrics.registry import CORPUS_NAMES, SEGMENT_NAMES, Materials

TABLE = "the 1 0 .5\nred 0 1 0\ndoor .3 .3 1\nserves -1 0 .2\nthai 0 -1 1\nfood 1 1 0\na .1 .2 .3\n"
UNAVAILABLE = set() if meteor_data.installed() else {"METEOR-1.5"}
NAMES = [name for name in SEGMENT_NAMES if name not in UNAVAILABLE | {"PARENT"}]
GOOD = TextPair(
    "the red door serves thai food", ("the red door serves thai food", "it serves thai"), parse("inform(food=thai)")
)
"""A segment beside the odd one, so that CIDEr and NIST have a corpus."""
EMPTY = dict.fromkeys(SEGMENT_NAMES, 0.0) | {"TER": 1.0}
"""The scores of an empty hypothesis; TER counts every word of the reference as an edit."""


class Letters:
    """A quick encoder; MiniLM meets odd sentences in test_metrics_cosine."""

    name = "letters"

    def encode(self, sentences: Sequence[str]) -> np.ndarray:
        return np.array([[sentence.count(letter) for letter in "aeiou "] for sentence in sentences], float)

    def encode_tokens(self, sentences: Sequence[str], layer: int) -> list[np.ndarray]:
        end, words = np.ones((1, 26)), [sentence.split()[:256] for sentence in sentences]
        letters = [[[word.count(chr(97 + place)) for place in range(26)] for word in split] for split in words]
        return [np.vstack([end, np.reshape(rows, (-1, 26)), end]).astype(float) for rows in letters]


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Materials:
    """A few word vectors, whose index is not in the user's cache, encoders, and training data."""
    (tmp_path / "v.txt").write_text(TABLE)
    monkeypatch.setattr(vectors, "user_cache", lambda: tmp_path)
    return Materials(tmp_path / "v.txt", Letters(), ["the red door"], token_encoder=Letters())


def score(odd: list[TextPair], preset: str, given: Materials) -> Scores:
    """Score odd pairs behind a good one, by every metric, SER included; nothing may be NaN or infinite in JSON."""
    result = score_pairs([GOOD, *odd], [*NAMES, *CORPUS_NAMES, "PARENT", "SER"], preset, given=given)
    text = json.dumps(result.to_dict(), allow_nan=False)
    assert "NaN" not in text and "Infinity" not in text
    assert "nan" not in result.table()
    assert set(result.all_scores) == {*NAMES, *CORPUS_NAMES, "PARENT", "SER"}
    return result


def segment(result: Scores, index: int = 1) -> dict[str, float]:
    row = dict(zip(result.scores, result.segments[index].tolist(), strict=True))
    # Both need an act, which the odd segments lack.
    del row["SER"], row["PARENT"]
    return row


@pytest.mark.parametrize("preset", PRESETS)
def test_an_empty_hypothesis_has_the_worst_scores(preset: str, given: Materials) -> None:
    for hypothesis in ("", "  \t"):
        assert segment(score([TextPair(hypothesis, ("the red door",))], preset, given)) == pytest.approx(
            {name: EMPTY[name] for name in NAMES}, abs=1e-3
        )


@pytest.mark.parametrize("preset", PRESETS)
def test_unknown_words_have_low_finite_scores(preset: str, given: Materials) -> None:
    row = segment(score([TextPair("xyzzy plugh", ("the red door",))], preset, given))
    assert all(map(math.isfinite, row.values()))
    if PRESETS[preset].oov == "skip":
        assert row["embedding-average"] == row["vector-extrema"] == row["greedy-matching"] == 0
    assert row["ROUGE-L"] == 0 and row["BLEU-1"] < 0.2


@pytest.mark.parametrize("preset", PRESETS)
def test_one_word_that_is_right_has_the_best_scores(preset: str, given: Materials) -> None:
    row = segment(score([TextPair("food", ("food",))], preset, given))
    assert all(map(math.isfinite, row.values()))
    ones = {"BLEU-1", "METEOR-1.5", "ROUGE-L", "chrF", *SEGMENT_NAMES[-5:]} - UNAVAILABLE
    assert {name: row[name] for name in ones} == pytest.approx(dict.fromkeys(ones, 1.0), abs=1e-6)
    assert row["TER"] == 0


@pytest.mark.parametrize("preset", PRESETS)
def test_a_segment_without_references_is_undefined_and_changes_no_mean(preset: str, given: Materials) -> None:
    alone, beside = score([], preset, given), score([TextPair("the red door", ())], preset, given)
    assert all(math.isnan(value) for value in segment(beside).values())
    assert not any(math.isnan(value) for value in segment(beside, 0).values())
    for name in NAMES:
        assert beside.scores[name].value == pytest.approx(alone.scores[name].value), f"{name}: undefined is not 0"
    nothing = score_pairs([TextPair("the red door", ())], NAMES, preset, given=given)
    assert all(found.value is None for found in nothing.scores.values())
    assert nothing.table().count("undefined") == len(NAMES)
    assert any("no reference" in warning for warning in nothing.warnings)


@pytest.mark.parametrize("hypothesis", ["", " \t"])
@pytest.mark.parametrize("name", NAMES)
def test_a_corpus_without_words_scores_zero_or_is_undefined(name: str, hypothesis: str, given: Materials) -> None:
    for references in [("",), (" ", ""), ()]:
        found = score_pairs([TextPair(hypothesis, references)] * 2, [name], given=given).scores[name]
        assert found.value in (None, 0.0)


@pytest.mark.parametrize("preset", PRESETS)
def test_empty_references_hide_no_others(preset: str, given: Materials) -> None:
    odd = [
        TextPair("the red door", ("the red door", "", "a", "thai food thai food thai food")),
        TextPair("the red door", ("", "the red door")),
        TextPair("é ü 漢字 😀 \u2028 \x00 \ud800", ("é ü 漢字 😀", ". ! ?")),
        TextPair("the red door", ("",)),
        TextPair("", ("",)),
        TextPair("...", ("???",)),
    ]
    result = score(odd, preset, given)
    assert all(found.value is not None for found in result.scores.values())
    assert all(math.isfinite(value) for index in (1, 3) for value in segment(result, index).values())
    # Against nothing but an empty reference a rate of its length is undefined; a share of the hypothesis is 0.
    empty = segment(result, 4)
    assert math.isnan(empty["TER"]) and empty["BLEU-1"] < 0.01 and empty["ROUGE-L"] == empty["vector-extrema"] == 0
    if PRESETS[preset].grouping != "first":
        empty_first, plain = segment(result, 2), segment(result, 1)
        assert empty_first["ROUGE-L"] == plain["ROUGE-L"] == pytest.approx(1), "an empty reference hides no other"


def test_ten_thousand_tokens_are_scored(given: Materials) -> None:
    """By every metric if the other side is short; if both are that long, METEOR and TER are undefined."""
    random = np.random.default_rng(0)
    varied = " ".join(f"w{number}" for number in random.integers(0, 5000, 9_000)) + " red door" * 500
    odd = [
        TextPair("the red door serves " * 2_500, ("the red door",)),
        TextPair("red", (varied,)),
        TextPair(varied, (varied,)),
    ]
    result = score(odd, "nlg-eval", given)
    assert all(found.value is not None for found in result.scores.values())
    for index in (1, 2):
        assert all(math.isfinite(value) for value in segment(result, index).values())
    both = segment(result, 3)
    assert {name for name, value in both.items() if math.isnan(value)} == {"METEOR-1.5", "TER"} - UNAVAILABLE
    assert both["BLEU-4"] == pytest.approx(1, abs=1e-6) and both["greedy-matching"] == pytest.approx(1)
    assert sum("1 segments are undefined: words of hypothesis times" in w for w in result.warnings) >= 1


def test_a_table_tells_zero_from_undefined_and_from_not_asked_for(given: Materials) -> None:
    pairs = [TextPair("xyzzy", ("red",), parse("hello()")), TextPair("xyzzy", ("red",), parse("hello()"))]
    first = score_pairs(pairs, ["ROUGE-L", "SER", "novelty"], "single")
    second = score_pairs(pairs, ["BLEU-1"], "nlg-eval")
    rows = {line.split()[0]: line.split()[1:] for line in table([first, second]).splitlines()[2:6]}
    assert rows["ROUGE-L"][0] == "0.0000"
    assert rows["SER"][0] == rows["novelty"][0] == "undefined", "nothing required; no training data"
    assert len(rows["BLEU-1"]) == 2, "a value and a hash of one preset only"
    data = first.to_dict()["scores"]
    assert data["SER"]["value"] is None and data["novelty"]["value"] is None and data["ROUGE-L"]["value"] == 0


def test_undefined_and_trivial_scores_say_why(given: Materials) -> None:
    pairs = [TextPair("red", ("red",)), TextPair("door", ("door",))]
    no_acts = score_pairs(pairs, ["SER"], given=given)
    assert no_acts.scores["SER"].value is None and no_acts.warnings == ["SER is undefined: no segment has an act"]
    no_values = score_pairs([pair._replace(turn=parse("request(food)")) for pair in pairs], ["SER"], given=given)
    assert no_values.scores["SER"].value is None
    assert no_values.warnings == ["SER is undefined: no act has a slot whose value could be looked for"]
    untold = score_pairs(pairs, None, given=given)
    assert "SER" not in untold.scores and not untold.warnings, "nobody asked"
    empty = score_pairs(pairs, ["novelty"], given=given._replace(train=[]))
    assert empty.all_scores["novelty"].value == 1 and "not a single sentence" in empty.warnings[0]


BAD_FILES = {
    "not-utf8": (b"a\ncaf\xe9\n", b"a\nb\n", "h, line 2: not UTF-8 (byte 4 of the line)"),
    "references-not-utf8": (b"a\nb\n", b"\xff\nb\n", "r, line 1: not UTF-8 (byte 1 of the line)"),
    "unequal": (b"a\nb\nc\n", b"a\n", "h has 3 lines, r has 1 lines"),
    "nothing": (b"", b"", "nothing to score"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_give_every_metric_one_message(
    name: str, given: Materials, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hypotheses, references, message = BAD_FILES[name]
    monkeypatch.chdir(tmp_path)
    Path("h").write_bytes(hypotheses)
    Path("r").write_bytes(references)
    for metric in (*NAMES, *CORPUS_NAMES):
        with pytest.raises(MetricError) as caught:
            score_pairs(read_input(None, "h", ["r"]), [metric], given=given)
        assert message in str(caught.value) and "\n" not in str(caught.value)


def test_bad_files_are_one_line_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("h").write_bytes(b"a\ncaf\xe9\n")
    Path("r").write_bytes(b"a\nb\n")
    assert main(["score", "--hypotheses", "h", "--references", "r", "--metric", "diversity", "--metric", "BLEU"]) == 2
    assert capsys.readouterr() == ("", "dactnlg: h, line 2: not UTF-8 (byte 4 of the line)\n")
