"""Scoring: the JSON, tables and frames of scores, and one plain message for every mistake of the user."""

from __future__ import annotations

import doctest
import io
import json
import math
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from dactnlg.acts import Turn, parse
from dactnlg.cli.main import main
from dactnlg.errors import MetricError, UserError
from dactnlg.evaluation import scoring
from dactnlg.evaluation.scoring import TextPair, read_input, score, score_pairs, table
from dactnlg.evaluation.stored import stored_scores
from dactnlg.metrics.base import Segment
from dactnlg.metrics.meteor import data as meteor_data
from dactnlg.metrics.presets import PRESETS
from dactnlg.metrics.slot_error import breakdown
from dactnlg.text.tallies import SlotReport, Tally

ACT = parse("inform(name='red door';food=thai)")
PAIRS = [
    TextPair("red door serves thai", ("red door serves thai", "x"), ACT),
    TextPair("", ("a b",), ACT),
    TextPair("red door", (), ACT),
]


def write(path: Path, *lines: str) -> str:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def test_scores_of_equal_texts_under_equal_settings_are_equal() -> None:
    result, again = (score(["a b", "c"], ["a b", "d"]) for _ in range(2))
    assert result == again and [result] == [again] and result != "scores"
    assert result not in (score(["a b", "e"], ["a b", "d"]), score(["a b", "c"], ["a b", "d"], preset="fair"))
    again.add_confidence()
    assert result != again


@pytest.mark.parametrize("preset", ["e2e", "fair", "rnnlg"])
def test_scores_survive_pickling(preset: str) -> None:
    result = score_pairs(PAIRS, preset=preset)
    copied = pickle.loads(pickle.dumps(result))
    assert (copied, copied.table(), repr(copied)) == (result, result.table(), repr(result))
    assert list(copied.metrics) == list(result.metrics)
    for each in (copied, result):
        each.add_confidence()
    assert copied.confidence == result.confidence is not None
    with pytest.raises(TypeError, match="score the 1 segments again"):
        copied.metrics["BLEU-1"].statistics([Segment("a", ["a"])])


def test_json_has_values_signatures_hashes_and_segments() -> None:
    result = score_pairs(PAIRS)
    data = result.to_dict()
    assert list(data["scores"]) == [*PRESETS["nlg-eval"].metrics, "SER"]
    for name, found in data["scores"].items():
        assert set(found) == {"value", "signature", "hash"}
        assert found["signature"].startswith(f"{name}|") and "preset:nlg-eval" in found["signature"]
    assert len({score["hash"] for score in data["scores"].values()}) == 8
    assert len(data["segments"]) == 3
    assert data["segments"][0]["scores"]["BLEU-4"] == pytest.approx(1, abs=1e-6)
    assert data["segments"][1]["scores"]["BLEU-4"] == 0
    assert data["segments"][2]["scores"]["BLEU-4"] is None
    assert [segment["scores"]["SER"] for segment in data["segments"]] == [0, 1, 0.5]
    assert data["scores"]["SER"]["value"] == 0.5
    stream = io.StringIO()
    result.write_json(stream)
    assert json.loads(stream.getvalue()) == json.loads(json.dumps(data))


def test_scores_are_shown_as_tables_and_in_short() -> None:
    result = score(["a b c d"] * 1000, [["a b c d"]] * 1000)
    assert str(result) == result.table() != result._repr_markdown_() == result.table("markdown")
    assert repr(result).startswith("Scores(preset='nlg-eval', scores={BLEU-1: 1.0000, BLEU-2: ")
    assert repr(result).endswith("segments=1000)") and len(repr(result)) < 500


def test_a_table_marks_what_is_undefined_and_warns() -> None:
    text = score_pairs([TextPair("a", ())]).table()
    assert text.count("undefined") == 7
    assert "1 of 1 segments have no reference" in text
    both = table([score_pairs(PAIRS), score_pairs(PAIRS, ["BLEU-4"], "single")])
    assert "nlg-eval" in both and "single" in both


@pytest.mark.parametrize("preset", ["e2e", "nlg-eval", "sharma2017"])
def test_a_preset_names_the_extra_that_brings_its_missing_score(
    preset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without METEOR's data its row says what to install; its signature and all other scores are as with them."""
    path = write(tmp_path / "pairs.jsonl", *['{"hypothesis": "a b c d", "references": ["a b c d"]}'] * 2)
    whole = score_pairs(read_input(path), None, preset).to_dict()["scores"] if meteor_data.installed() else None
    monkeypatch.setitem(sys.modules, "pycocoevalcap", None)
    assert main(["score", "--input", path, "--preset", preset, "--confidence"]) == 0
    shown = capsys.readouterr()
    (row,) = (line for line in shown.out.splitlines() if line.startswith("METEOR-1.5 "))
    assert "needs pip install 'dactnlg[meteor]'" in row and shown.err == ""
    assert main(["score", "--input", path, "--preset", preset, "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["scores"]) == set(PRESETS[preset].metrics)
    score = found["scores"]["METEOR-1.5"]
    assert score["value"] is None and score["reason"] == "needs pip install 'dactnlg[meteor]'"
    assert score["signature"].startswith("METEOR-1.5|variant:jar-en-norm-rank|")
    assert all("reason" not in other for name, other in found["scores"].items() if name != "METEOR-1.5")
    if whole:
        assert score["hash"] == whole["METEOR-1.5"]["hash"] and whole["METEOR-1.5"]["value"] is not None
        assert {**whole, "METEOR-1.5": score} == found["scores"]
    # Its file can be compared with any other one.
    assert stored_scores(found, "x.json")[preset].values["METEOR-1.5"] is None


def test_a_score_asked_for_by_name_names_its_missing_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "pairs.jsonl", '{"hypothesis": "a b c d", "references": ["a b c d"]}')
    monkeypatch.setitem(sys.modules, "pycocoevalcap", None)
    assert main(["score", "--input", path, "--metric", "METEOR"]) == 2
    message = "dactnlg: METEOR-1.5 is not installed: pip install 'dactnlg[meteor]'\n"
    assert capsys.readouterr() == ("", message)


def test_ser_is_scored_only_where_acts_are_known() -> None:
    assert "SER" not in score_pairs([TextPair("a", ("a",))]).scores
    asked = score_pairs([TextPair("a", ("a",))], ["SER"])
    assert asked.scores["SER"].value is None
    assert list(score_pairs(PAIRS, ["BLEU-4", "ser"]).scores) == ["BLEU-4", "SER"]


def test_scores_do_not_depend_on_the_size_of_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = score_pairs(PAIRS).to_dict()
    monkeypatch.setattr("dactnlg.evaluation.scoring.CHUNK", 1)
    assert score_pairs(PAIRS).to_dict() == whole


def test_json_lines_and_plain_text_are_read(tmp_path: Path) -> None:
    jsonl = write(
        tmp_path / "pairs.jsonl",
        '{"hypothesis": "a b", "references": ["a b", "c"], "act": "inform(name=x)"}',
        "",
        '{"hypothesis": "é", "references": "one"}',
    )
    assert list(read_input(jsonl)) == [
        TextPair("a b", ("a b", "c"), parse("inform(name=x)")),
        TextPair("é", ("one",)),
    ]
    files = [
        write(tmp_path / "h", "a b", "c\u2028d"),
        write(tmp_path / "r0", "a b", "c"),
        write(tmp_path / "r1", "", "d"),
    ]
    assert list(read_input(None, files[0], files[1:])) == [
        TextPair("a b", ("a b",)),
        TextPair("c\u2028d", ("c", "d")),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: not JSON"),
        ("[1]", "line 2: expected"),
        ('{"hypothesis": "a"}', "line 2: no 'references'"),
        ('{"hyp": "a", "references": []}', r"line 2: no 'hypothesis' \(it has hyp\)"),
        ('{"hypothesis": 3, "references": []}', "line 2: 'hypothesis' must be text, not 3"),
        ('{"hypothesis": "a", "references": [1]}', "line 2: 'references' must be a list of texts"),
        ('{"hypothesis": "a", "references": [], "act": "inform("}', "line 2"),
        ("[" * 100_000, r"line 2: not JSON \(nested too deeply\)"),
        ('{"hypothesis": ' + "9" * 5000 + ', "references": []}', r"line 2: not JSON \(a number of too many digits\)"),
        ('{"hypothesis": NaN, "references": []}', r"line 2: not JSON \(NaN is no number in JSON\)"),
        ('{"hypothesis": "a", "references": [], "act": "a(b=\'\')"}', "line 2, column 5: a value cannot be empty"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, line: str, message: str) -> None:
    path = write(tmp_path / "pairs.jsonl", '{"hypothesis": "a", "references": ["a"]}', line)
    with pytest.raises(MetricError, match=f"pairs.jsonl, {message}"):
        list(read_input(path))


def test_bad_files_are_named(tmp_path: Path) -> None:
    short, long = write(tmp_path / "short", "a"), write(tmp_path / "long", "a", "b")
    with pytest.raises(MetricError, match="short has 1 lines, .*long has 2 lines"):
        list(read_input(None, short, [long]))
    with pytest.raises(MetricError, match="at least one file of references"):
        list(read_input(None, short, []))
    with pytest.raises(MetricError, match=r"cannot read .*absent.*No such file"):
        list(read_input(str(tmp_path / "absent")))
    (tmp_path / "latin").write_bytes(b"ok\ncaf\xe9\n")
    with pytest.raises(MetricError, match=r"latin, line 2: not UTF-8 \(byte 4"):
        list(read_input(None, str(tmp_path / "latin"), [long]))
    with pytest.raises(MetricError, match="nothing to score"):
        score_pairs(read_input(write(tmp_path / "empty")))
    with pytest.raises(MetricError, match="not both"):
        read_input(short, short, [long])
    wide = tmp_path / "wide"
    wide.write_bytes('{"hypothesis": "x", "references": ["x"]}\n'.encode("utf-16"))
    with pytest.raises(MetricError, match=r"wide, line 1: not UTF-8 \(byte 1 of the line\); is it UTF-16\?"):
        list(read_input(str(wide)))


def test_ser_beside_other_scores_needs_a_checker() -> None:
    with pytest.raises(MetricError, match="needs a slot checker"):
        scoring.score_segments([Segment("a", ["a"], ACT)], "nlg-eval", ["BLEU-4", "SER"])


def test_nist_frees_the_information_of_n_grams() -> None:
    assert not score_pairs(PAIRS, ["NIST"]).metrics["NIST"]._information


def test_slot_errors_are_broken_down_by_act_and_slot() -> None:
    turns: list[Turn] = [ACT, parse("goodbye()"), ACT]
    reports = [
        SlotReport(Tally(2, ("food=thai",), ())),
        SlotReport(Tally(0)),
        SlotReport(Tally(2, (), ("name='red door'", "name='red door'"))),
    ]
    found = breakdown(turns, reports, [["food=thai", "name='red door'"], [], ["food", "name"]], [()] * 3)
    assert found.total.rate == 0.75 and found.total.sentences == 2
    assert found.acts["inform"].rate == 0.75
    assert found.acts["goodbye"].rate is None
    assert (found.slots["food"].required, found.slots["food"].missing) == (2, 1)
    assert (found.slots["name"].extra, found.slots["name"].sentences) == (2, 1)


def test_scoring_imports_nothing_that_is_slow_to_import(tmp_path: Path) -> None:
    """`benchmarks/metrics.py` measures the time."""
    path = write(tmp_path / "pairs.jsonl", *['{"hypothesis": "a b", "references": ["a b"]}'] * 10)
    code = (
        "import sys; from dactnlg.evaluation.scoring import read_input, score_pairs;"
        f"score_pairs(read_input({path!r})).table();"
        "heavy = {'tensorflow', 'keras', 'nltk', 'sacrebleu', 'pydantic', 'scipy'} & set(sys.modules);"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).resolve().parents[2])


def test_score_takes_lists_acts_and_options() -> None:
    hypotheses, references = ["red door serves thai", "", "red door"], [["red door serves thai", "x"], "a b", ()]
    acts = [str(ACT), ACT, next(iter(ACT))]
    assert score(hypotheses, references, acts=acts).to_dict() == score_pairs(PAIRS).to_dict()
    found = score(hypotheses, references, metrics=["BLEU-4"], preset="single", confidence=True)
    assert list(found.scores) == ["BLEU-4"] and found.preset == "single"
    assert found.to_dict()["confidence"]["resamples"] == 1000
    assert doctest.testmod(scoring).attempted and not doctest.testmod(scoring).failed


@pytest.mark.parametrize(
    ("hypotheses", "references", "acts", "message"),
    [
        ("ab", ["a", "b"], None, "hypotheses must be a sequence"),
        (["a"], "a", None, "references must be a sequence"),
        (["a"], {"a": ["b"]}, None, "references must be a sequence"),
        ({"a"}, ["a"], None, "hypotheses must be a sequence"),
        (["a"], [{"a": 1}], None, r"references\[0\] must be text or a sequence"),
        (iter("a"), ["a"], None, "hypotheses must be a sequence"),
        (["a", "b"], ["a"], None, "as many of each: 2 hypotheses, 1 references"),
        (["a"], ["a"], [], "as many of each: 1 hypotheses, 1 references, 0 acts"),
        (["a", 1], ["a", "b"], None, r"hypotheses\[1\] must be text, not 1"),
        (["a", "b"], ["a", None], None, r"references\[1\] must be text or a sequence of texts, not None"),
        (["a", "b"], ["a", ["b", 2]], None, r"references\[1\] must be text or a sequence of texts"),
        (["a", "b"], ["a", "b"], [None, "inform("], r"^acts\[1\], column 8: expected"),
        (["a"], ["a"], [3], r"acts\[0\] must be an act, not 3"),
        ([], [], None, "not a single hypothesis"),
    ],
)
def test_mistakes_in_lists_are_named_with_their_index(
    hypotheses: object, references: object, acts: object, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        score(hypotheses, references, acts=acts)


@pytest.mark.needs("pandas", "pip install 'dactnlg[pandas]'")
def test_frames_have_a_row_for_each_score_or_segment() -> None:
    result = score_pairs(PAIRS)
    frame = result.to_frame()
    assert list(frame.columns) == ["preset", "score", "value", "signature", "hash"]
    assert frame.set_index("score")["value"].to_dict() == {n: s.value for n, s in result.scores.items()}
    result.add_confidence(20)
    low, high = result.to_frame().set_index("score").loc["SER", ["low", "high"]]
    assert (low, high) == result.confidence.intervals["SER"]
    segments = result.to_frame(segments=True)
    assert list(segments.columns) == ["act", "hypothesis", "references", *result.scores]
    assert segments["hypothesis"].tolist() == [pair.hypothesis for pair in PAIRS]
    assert math.isnan(segments["BLEU-4"][2]) and segments["SER"].tolist() == [0, 1, 0.5]
    nothing = score(["a"], [()], metrics=["BLEU-4"]).to_frame()
    assert nothing["value"].isna().all() and nothing["value"].dtype == float


def test_missing_pandas_is_one_plain_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    for segments in (False, True):
        with pytest.raises(UserError, match=r"pip install 'dactnlg\[pandas\]'"):
            score_pairs(PAIRS).to_frame(segments=segments)
