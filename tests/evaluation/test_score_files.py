"""Files of other systems: references in groups, tables, GEM's JSON; what is read, and messages for what is not."""

from __future__ import annotations

import json
from itertools import count, islice
from pathlib import Path

import pytest
from helpers import command
from hypothesis import given
from hypothesis import strategies as st

from dactnlg.acts import parse
from dactnlg.cli.main import main
from dactnlg.errors import MetricError
from dactnlg.evaluation.files import groups
from dactnlg.evaluation.lines import begun, seen_format
from dactnlg.evaluation.pairs import TextPair, read_files, read_input

A, B = parse("inform(name=a)"), parse("inform(name=b)")
PLAIN = [TextPair("one two", ("one two", "uno")), TextPair("three", ("three",))]
WITH_ACTS = [pair._replace(turn=turn) for pair, turn in zip(PLAIN, (A, B), strict=True)]
GEM_REFERENCES = {
    "language": "en",
    "task": "food_test",
    "values": [{"gem_id": "k1", "target": ["one two", "uno"]}, {"gem_id": "k2", "target": ["three"]}],
}
FILES = {
    "hyp.txt": "one two\nthree\n",
    "windows.txt": "\ufeffone two\r\nthree\r\n",
    "grouped.txt": "one two\nuno\n\nthree\n",
    "loose.txt": "one two\r\nuno\r\n\r\nthree\r\n\r\n\r\n",
    "first.txt": "one two\nthree\n",
    "second.txt": "uno\n\n",
    "all.tsv": "act\thypothesis\tref1\tref2\ninform(name=a)\tone two\tone two\tuno\nname[b]\tthree\tthree\t\n",
    "quoted.csv": 'mr,output,reference,ref2\n"inform(name=a)","one two","one two",uno\ninform(name=b),three,three,\n',
    "semicolons.csv": "mr;output;reference;ref2\ninform(name=a);one two;one two;uno\ninform(name=b);three;three;\n",
    "system.tsv": "MR\tsystem output\ninform(name=b)\tthree\ninform(name=a)\tone two\n",
    "e2e.csv": "mr,ref\nname[a],one two\nname[a],uno\nname[b],three\n",
    "submission.json": json.dumps(
        {
            "submission_name": "x",
            "tasks": {
                "food-test": {"values": ["three", "one two"], "keys": ["k2", "k1"]},
                "other_test": {"values": ["y"]},
            },
        },
        indent=1,
    ),
    "one-task.json": json.dumps({"submission_name": "x", "tasks": {"z": {"values": ["one two", "three"]}}}),
    "outs.json": json.dumps({"language": "en", "values": [{"generated": "one two"}, {"generated": "three"}]}),
    "list.json": json.dumps(["one two", "three"]),
    "references.json": json.dumps(GEM_REFERENCES),
    "reversed.json": json.dumps(
        {"values": [{"gem_id": "k2", "target": ["drei"]}, {"gem_id": "k1", "target": ["eins"]}]}
    ),
    "twice.json": json.dumps({"values": ["one two", "three"], "keys": ["k1", "k1"]}),
    "actless.json": json.dumps({"values": [{"generated": "one two", "act": None}]}),
    "empty.txt": "",
    "by-task.json": json.dumps({"food_test": GEM_REFERENCES, "other_test": {"values": ["y"]}}, indent=2),
    "lists.json": json.dumps([["one two", "uno"], ["three"]]),
    "both.json": json.dumps(
        {
            "values": [
                {"generated": "one two", "references": ["one two", "uno"], "act": "inform(name=a)"},
                {"generated": "three", "references": "three", "act": "name[b]"},
            ]
        }
    ),
    "pairs.jsonl": '{"hypothesis": "one two", "references": ["one two", "uno"]}\n'
    '{"hypothesis": "three", "references": ["three"]}\n',
    # As `generate` and `check` write them.
    "generated.jsonl": '{"act": "inform(name=a)", "text": "one two", "raw": "x", "n_best": []}\n\n'
    '{"act": "name[b]", "text": "three"}\n',
    "checked.jsonl": '{"act": "inform(name=b)", "hypothesis": "three", "slots_ok": true}\n'
    '{"act": "inform(name=a)", "hypothesis": "one two", "slots_ok": true}\n',
    "actless.jsonl": '{"text": "one two"}\n{"text": "three"}\n',
    "strange.json": '{"scores": {}, "tasks": 3}',
    "short.txt": "one two\n",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_bytes(text.encode())
    return tmp_path


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("hyp.txt grouped.txt", PLAIN),
        ("windows.txt loose.txt", PLAIN),
        ("hyp.txt first.txt second.txt", PLAIN),
        ("hyp.txt first.txt e2e.csv", None),
        ("all.tsv", WITH_ACTS),
        ("quoted.csv", WITH_ACTS),
        ("semicolons.csv", WITH_ACTS),
        ("hyp.txt e2e.csv", WITH_ACTS),
        ("system.tsv e2e.csv", WITH_ACTS[::-1]),
        ("submission.json references.json", PLAIN),
        ("submission.json by-task.json --task food_test", PLAIN),
        ("one-task.json references.json", PLAIN),
        ("outs.json lists.json", PLAIN),
        ("list.json grouped.txt", PLAIN),
        ("hyp.txt references.json", PLAIN),
        ("both.json", WITH_ACTS),
        ("pairs.jsonl", PLAIN),
        ("generated.jsonl grouped.txt", WITH_ACTS),
        ("generated.jsonl first.txt second.txt", WITH_ACTS),
        ("generated.jsonl references.json", WITH_ACTS),
        ("checked.jsonl e2e.csv", WITH_ACTS[::-1]),
        ("actless.jsonl grouped.txt", PLAIN),
    ],
)
def test_formats_are_recognised(folder: Path, names: str, expected: list[TextPair] | None) -> None:
    files, _, task = names.partition(" --task ")
    found = list(read_files(files.split(), task or None))
    if expected is None:
        assert [pair.references for pair in found] == [("one two", "one two", "uno"), ("three", "three")]
    else:
        assert found == expected
    if len(files.split()) == 1:
        assert list(read_input(files)) == found
    else:
        first, *others = files.split()
        assert list(read_input(None, first, others[:1], others[1:], task or None)) == found


@pytest.mark.parametrize("first", ["act,hypothesis", '{"text": "a"}', "one two"])
def test_the_format_of_a_stream_is_told_by_its_first_line(folder: Path, first: str) -> None:
    endless = ((number, first) for number in count(1))
    form, lines = begun(endless)
    Path("stream").write_text(f"{first}\n")
    assert form == seen_format("stream")
    # No line is lost, and none is read before it is wanted.
    assert [number for number, _ in islice(lines, 3)] == [1, 2, 3] and next(endless)[0] == 4


@pytest.mark.parametrize("names", ["references.json reversed.json", "reversed.json references.json"])
def test_references_of_several_files_are_matched_by_key(folder: Path, names: str) -> None:
    found = read_files(["submission.json", *names.split()], "food_test")
    references = {pair.hypothesis: sorted(pair.references) for pair in found}
    assert references == {"one two": ["eins", "one two", "uno"], "three": ["drei", "three"]}


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (
            "hyp.txt",
            "hyp.txt is plain text; its references are expected beside it: dactnlg score HYPOTHESES",
        ),
        ("pairs.jsonl hyp.txt", "pairs.jsonl is JSON Lines and holds its references; expected it alone"),
        ("generated.jsonl", 'generated.jsonl, line 1: no \'references\'; expected {"hypothesis": text, "references"'),
        ("--input checked.jsonl", "or references in files of their own: dactnlg score HYPOTHESES REFERENCES"),
        ("hyp.txt pairs.jsonl", "pairs.jsonl is JSON Lines; expected references as plain text, as a table or as GEM's"),
        ("e2e.csv", "e2e.csv is a table without a column of hypotheses; expected columns: act"),
        ("hyp.txt system.tsv", "system.tsv is a table without a column of references; expected columns: act"),
        ("submission.json", "submission.json: several tasks; choose with --task: food-test, other_test"),
        ("submission.json --task food", "no file has the task 'food'; choose with --task: food-test, other_test"),
        ("one-task.json references.json --task y", "no file has the task 'y'; choose with --task: z, food_test"),
        ("hyp.txt grouped.txt --task z", "no file has the task 'z'; only GEM's JSON has tasks"),
        ("pairs.jsonl --task z", "no file has the task 'z'; only GEM's JSON has tasks"),
        ("absent.json grouped.txt --task z", "cannot read absent.json: No such file"),
        ("one-task.json", "one-task.json has hypotheses and no references; give these too: dactnlg score"),
        ("references.json hyp.txt", "references.json is GEM's JSON without outputs; expected {"),
        ("strange.json hyp.txt", "strange.json: JSON, but not GEM's; expected {"),
        (
            "short.txt grouped.txt",
            "grouped.txt does not fit 1 hypotheses: it has 4 lines, 2 groups between",
        ),
        ("short.txt e2e.csv", "e2e.csv does not fit 1 hypotheses: it has 3 rows, 2 different acts"),
        ("short.txt lists.json", "lists.json does not fit 1 hypotheses: it has 2 values"),
        ("empty.txt e2e.csv", "e2e.csv does not fit 0 hypotheses: it has 3 rows, 2 different acts"),
        ("actless.json e2e.csv", "e2e.csv has no reference for the act 'None'"),
        ("twice.json references.json", "references.json cannot be matched by key: two outputs have the same key"),
        ("hyp.txt absent.txt", "cannot read absent.txt: No such file"),
    ],
)
def test_a_wrong_format_is_one_plain_message(
    folder: Path, names: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", *names.split(), "--metric", "BLEU-4"]) == 2
    told = capsys.readouterr().err
    assert message in told and "Traceback" not in told and told.count("\n") == 1


def test_what_generate_writes_is_scored_as_plain_text_is(random_run: Path, folder: Path) -> None:
    acts = ["goodbye()", "inform(name='Ivy Cutting';length='7 km')"]
    words, score = ["generate", "--model", random_run, *acts], ["--metric", "BLEU", "--preset", "single", "--json", "-"]
    for name, form in (("said.txt", "text"), ("said.jsonl", "json")):
        Path(name).write_text(command(*words, "--format", form).stdout, encoding="utf-8")
    both = [json.loads(command("score", name, "first.txt", *score).stdout) for name in ("said.txt", "said.jsonl")]
    plain, with_acts = ([segment["scores"] for segment in found["segments"]] for found in both)
    assert plain == with_acts and [segment.get("act") for segment in both[1]["segments"]] == acts
    # Of a stream the lines are not texts either, although nothing is known of it before it is read.
    piped = command("score", "-", "first.txt", stdin=Path("said.jsonl").read_bytes())
    assert (piped.returncode, piped.stdout) == (2, "")
    assert piped.stderr == "dactnlg: standard input is JSON Lines, not plain text; give it as a file\n"
    plain_text = command("score", "-", "first.txt", *score, stdin=Path("said.txt").read_bytes())
    assert json.loads(plain_text.stdout)["scores"] == both[0]["scores"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("act\thyp\tref\n", "bad is a table with a header and no row"),
        ('{"values": []}', "bad: 'values' is an empty list"),
        ("act\thyp\tref\na\tb\n", "bad, line 2: 2 columns, where the header has 3"),
        ("mr\tact\thyp\tref\n", "mr, act are 2 columns of acts"),
        ("act\thyp\tref\n\ninform(\tb\tc\n", "bad, line 3, column 8: "),
        ('{"values": [{"generated": 3}]}', r"bad, values\[0\]: expected a text, not 3"),
        ('{"values": [{"generated": "a"}, {}]}', r"bad, values\[1\]: no 'generated', which values\[0\] has"),
        ('{"values": ["a"], "keys": []}', "'keys' must be a list of as many items as 'values'"),
        ('{"values": ["a"], \n "keys": NaN}', r"bad, line 1: not JSON \(NaN is no number"),
        ('{"values": [{"generated": "a", "target": "b", "act": "x("}]}', r"bad, values\[0\], column 3: "),
        ('act\thyp\tref\na\t"b\tc\n', "bad, line 2, column 2: "),
    ],
)
def test_bad_contents_are_named_with_their_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad").write_text(text)
    with pytest.raises(MetricError, match=message):
        list(read_files(["bad"]))


def test_a_stray_quotation_mark_in_a_tab_separated_cell_is_text(tmp_path: Path) -> None:
    """It must not join the rows below it; but spreadsheets quote cells with quotation marks, and double these."""
    path = tmp_path / "table"
    path.write_text('output\tref\na b.\ta b.\nc d.\t"c d.\n"A" is "B"\t"say ""x"""\ng"\t""\n"\ty\n')
    found = [(pair.hypothesis, *pair.references) for pair in read_files([str(path)])]
    assert found == [("a b.", "a b."), ("c d.", '"c d.'), ('"A" is "B"', 'say "x"'), ('g"',), ('"', "y")]
    path.write_text('output,ref\na,"b\nc\nd,e\n')
    with pytest.raises(MetricError, match="not a table"):
        list(read_files([str(path)]))


@pytest.mark.parametrize("first", ["good, very\rgood", f"long, {'a' * 200_000}", 'a "quote, and'])
def test_a_file_whose_first_line_is_no_header_is_text(first: str, tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(f"{first}\nb\n".encode())
    assert [pair.hypothesis for pair in read_files([path, path])] == [first, "b"]


@pytest.mark.parametrize("first", ["[name] serves [food] food.", "{name} is cheap.", "[1]", "[", "{ x"])
def test_text_in_brackets_is_text(first: str, tmp_path: Path) -> None:
    """Delexicalised sentences begin so."""
    paths = [tmp_path / name for name in ("hyp", "ref")]
    for path in paths:
        path.write_text(f"{first}\n[name] is here.\n")
    if first == "[":
        with pytest.raises(MetricError, match="not JSON"):
            list(read_files(list(map(str, paths))))
    else:
        assert [pair.hypothesis for pair in read_files(list(map(str, paths)))] == [first, "[name] is here."]


@given(st.lists(st.lists(st.sampled_from(["a", "b c", "é"]), min_size=1, max_size=3), min_size=1, max_size=5))
def test_groups_of_references_are_read_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, written: list[list[str]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "groups.txt"
    path.write_text("\n\n".join("\n".join(group) for group in written) + "\n", encoding="utf-8")
    assert groups(path) == [tuple(group) for group in written]


def test_a_gem_submission_is_read_as_it_was_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = ["score", "hyp.txt", "grouped.txt", "--metric", "BLEU-4"]
    assert main([*plain, "--gem", "made.json", "--task", "food_test"]) == 0
    first = capsys.readouterr().out
    made = json.loads(Path("made.json").read_text())
    assert made == {"submission_name": "hyp", "tasks": {"food_test": {"values": ["one two", "three"]}}}
    assert main(["score", "made.json", "references.json", "--metric", "BLEU-4"]) == 0
    assert capsys.readouterr().out == first
