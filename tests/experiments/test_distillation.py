"""Distilling: faulty paraphrases are rejected with reasons, a run is trained on the others; prompts and answers."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.distil import paraphrases
from dactnlg.acts import parse
from dactnlg.cli.main import main
from dactnlg.data.corpus import load_corpus
from dactnlg.errors import ConfigError, CorpusError, UserError
from dactnlg.experiments.distillation import distil, read_rows, unseen
from dactnlg.experiments.prompts import acts_of, prompts, read_answers, sentences
from dactnlg.experiments.self_teaching import self_taught
from dactnlg.experiments.sifting import Inventory, Judged, judge
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.runs.run import Run
from dactnlg.text.traits import kind
from dactnlg.training.readers import corpus_checker


@pytest.fixture(scope="module")
def checker() -> FidelityChecker:
    """A checker trained on the embedded corpus."""
    return corpus_checker(load_corpus("trails"))


@pytest.fixture(scope="module")
def inventory(checker: FidelityChecker) -> Inventory:
    """The values of some pairs of that corpus."""
    rows, _ = paraphrases("trails", 200)
    return Inventory([(turn, text) for turn, text, _ in rows], checker)


def shares(kinds: list[str], judged: list[Judged]) -> tuple[float, float]:
    """Return the share of the corrupted pairs that was rejected, and that of the good ones."""
    rejected = Counter(bool(k) for k, each in zip(kinds, judged, strict=True) if each.reasons)
    return rejected[True] / sum(map(bool, kinds)), rejected[False] / kinds.count("")


def test_corrupted_paraphrases_are_rejected_and_good_ones_kept(checker: FidelityChecker) -> None:
    # benchmarks/distil.py does the same with more pairs, and with human sentences.
    rows, kinds = paraphrases("trails", 1_000)
    assert sum(map(bool, kinds)) == 200 and len(rows) == 1_000
    judged = judge(rows, checker, Inventory([(turn, text) for turn, text, _ in rows], checker))
    corrupted, good = shares(kinds, judged)
    assert corrupted >= 0.98 and good <= 0.02


def test_without_a_corpus_the_pairs_teach_each_other() -> None:
    rows, kinds = paraphrases("trails", 600)
    corrupted, good = shares(kinds, self_taught(rows)[0])
    assert corrupted >= 0.94 and good <= 0.05


def test_blank_sentences_are_rejected_also_where_the_pairs_teach_each_other() -> None:
    rows = paraphrases("trails", 40)[0]
    blank = [(rows[0][0], " ", "x.jsonl, line 1"), (rows[1][0], "", "x.jsonl, line 2")]
    judged, _ = self_taught([*blank, *rows])
    assert [each.reasons for each in judged[:2]] == [("empty",), ("empty",)]
    assert [each.reasons for each in judged[2:]] == [each.reasons for each in self_taught(rows)[0]]


FAULTS = [
    ("inform(name='Ivy Cutting';length='7 km')", "Ivy Cutting is a walk.", "missing: length='7 km'"),
    (
        "inform(name='Ivy Cutting';length='7 km')",
        "Ivy Cutting is 9 km long.",
        "contradicted: length='7 km' is length='9 km'",
    ),
    ("inform(name='Ivy Cutting')", "Ivy Cutting is near the old mill.", "extra: near='the old mill'"),
    ("inform(name='Ivy Cutting';dogsallowed=no)", "Ivy Cutting allows dogs.", "contradicted: dogsallowed=no"),
    ("inform(name='Ivy Cutting')", "Ring 0555 999 999 about Ivy Cutting.", "invented: the number"),
    ("inform(name='Ivy Cutting')", "{name} is a walk.", "placeholder: { is left in it"),
    ("inform(name='Ivy Cutting')", "Sure!\nIvy Cutting is a walk.", "lines: more than one"),
    ("goodbye()", " ", "empty"),
]


@pytest.mark.parametrize(("act", "text", "reason"), FAULTS)
def test_each_fault_has_its_reason(
    act: str, text: str, reason: str, checker: FidelityChecker, inventory: Inventory
) -> None:
    (found,) = judge([(parse(act), text, "row 1")], checker, inventory)
    assert any(each.startswith(reason) for each in found.reasons), found.reasons


def write(path: Path, rows: list[object]) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    return path


def test_distil_trains_a_run_on_the_pairs_that_it_keeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # As many acts as are measured by default take seconds.
    monkeypatch.setattr("dactnlg.experiments.distillation.UNSEEN", 40)
    rows, kinds = paraphrases("trails", 400)
    pairs: list[object] = [{"act": str(turn), "text": text} for turn, text, _ in rows]
    path = write(tmp_path / "pairs.jsonl", [*pairs, {"act": "inform(", "text": "x"}, {"text": "y"}, [1]])
    small = ["training.epochs=6", "model.hidden_size=48", "model.embedding_size=24"]
    command = ["distil", str(path), "--output", str(tmp_path / "run"), "--check-with", "trails"]
    assert main([*command, *(word for each in small for word in ("--set", each))]) == 0
    told = capsys.readouterr().out
    summary = json.loads((tmp_path / "run-pairs" / "summary.json").read_text())
    assert summary["pairs"] == 403 and summary["reasons"]["unreadable"] == 3
    assert summary["kept"] + summary["rejected"] == 403
    assert abs(summary["rejected"] - 3 - sum(map(bool, kinds))) <= 4
    assert summary["unseen"] == 40 and summary["acts_per_second"] > 0
    assert summary["faithful"] > 0.5 and 0 <= summary["by_model"] <= summary["faithful"] <= 1
    assert f"{summary['kept']} of 403 pairs kept" in told and "acts/s" in told and "unseen combinations" in told
    rejected = [json.loads(line) for line in (tmp_path / "run-pairs" / "rejected.jsonl").read_text().splitlines()]
    assert len(rejected) == summary["rejected"] and all(row["reasons"] for row in rejected)
    Run(tmp_path / "run").check()
    # Existing output is not replaced.
    assert main(command) == 2
    assert "--overwrite" in capsys.readouterr().err


def test_mistakes_in_overrides_are_reported_before_anything_is_judged_or_written(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="training.epochss: unknown key; did you mean 'epochs'"):
        distil(tmp_path / "absent.jsonl", tmp_path / "run", overrides=["training.epochss=3"])
    assert not list(tmp_path.iterdir())


def test_tables_and_lines_give_the_same_rows(tmp_path: Path) -> None:
    rows, _ = paraphrases("trails", 60)
    pairs = [{"act": str(turn), "text": text} for turn, text, _ in rows]
    lines = write(tmp_path / "pairs.jsonl", [*pairs, {"act": "inform(", "text": "x"}])
    found, bad = read_rows(lines)
    assert len(found) == 60 and len(bad) == 1
    for suffix, delimiter in ((".csv", ","), (".tsv", "\t")):
        with lines.with_suffix(suffix).open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, ("act", "text"), delimiter=delimiter)
            writer.writeheader()
            writer.writerows([*pairs, {"act": "inform(", "text": "x"}])
        own, unread = read_rows(lines.with_suffix(suffix))
        assert [row[:2] for row in own] == [row[:2] for row in found]
        assert len(unread) == 1 and "unreadable" in unread[0]["reasons"][0]
    named = write(tmp_path / "named.jsonl", [{"mr": pair["act"], "ref": pair["text"]} for pair in pairs])
    assert [row[:2] for row in read_rows(named)[0]] == [row[:2] for row in found]
    assert [act for act, _ in acts_of(str(named))] == list(dict.fromkeys(turn for turn, _, _ in found))


@pytest.mark.parametrize(
    "said", [{"references": [None]}, {"references": []}, {"text": None}, {"text": 5}, {"text": ["Hi.", 5]}]
)
def test_a_row_without_a_sentence_is_unreadable(tmp_path: Path, said: dict[str, object]) -> None:
    path = write(tmp_path / "pairs.jsonl", [{"act": "goodbye()", **said}, {"act": "goodbye()", "references": ["Bye."]}])
    rows, bad = read_rows(path)
    assert [text for _, text, _ in rows] == ["Bye."]
    assert [row["reasons"] for row in bad] == [["unreadable: no act with a sentence"]]


def test_rows_that_can_be_trained_on_can_be_distilled(tmp_path: Path) -> None:
    said: list[dict[str, object]] = [{"text": ["Bye.", "Goodbye."]}, {"references": "So long."}, {"text": "See you."}]
    path = write(tmp_path / "pairs.jsonl", [{"act": "goodbye()", **each} for each in said])
    rows, bad = read_rows(path)
    assert [row[:2] for row in rows] == list(load_corpus(path).pairs("train")) and not bad


def test_columns_that_cannot_be_named_are_to_be_renamed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "pairs.jsonl", [{"topic": "x", "note": "y"}])
    assert main(["distil", str(path), "--output", str(tmp_path / "run")]) == 2
    told = capsys.readouterr().err
    assert told.endswith("the columns topic, note. Call the columns of acts and sentences act and text\n")
    write(path, [{"act": "goodbye()"}])
    with pytest.raises(CorpusError, match="Call the columns of acts and sentences act and text$"):
        read_rows(path)


def test_a_repeated_pair_is_rejected_once(checker: FidelityChecker, inventory: Inventory) -> None:
    pairs = [(parse("inform(name='Ivy Cutting';difficulty=easy)"), "Ivy Cutting is easy.", "x.jsonl, line 1")] * 2
    judged = judge(pairs, checker, inventory)
    assert [bool(each.reasons) for each in judged] == [False, True]
    assert "repeated" in judged[1].reasons[0]


def test_too_few_pairs_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "pairs.jsonl", [{"act": f"inform(name=Ivy{n})", "text": "Hello."} for n in range(9)])
    with pytest.raises(CorpusError, match="0 of 9 pairs are left, and 20 are the least"):
        distil(path, tmp_path / "run", progress=False)
    bad = {"act": "goodbye(", "text": "Bye."}
    write(path, [{"act": "goodbye()", "text": "Bye."}, bad])
    with pytest.raises(CorpusError, match=r"1 of 2 pairs are left, and 20 are the least \(unreadable 1\)$"):
        distil(path, tmp_path / "run", progress=False)
    write(path, [{"act": "goodbye()", "text": ""}, bad])
    with pytest.raises(
        CorpusError, match=r"pairs\.jsonl has no act with a sentence \(unreadable: .*pairs\.jsonl, line 2"
    ):
        distil(path, tmp_path / "run", progress=False)
    assert not (tmp_path / "run-pairs").exists()


def test_measured_acts_have_combinations_of_slots_that_the_pairs_lack() -> None:
    rows, _ = paraphrases("trails", 300)
    pairs = [(turn, text) for turn, text, _ in rows]
    found = unseen(pairs, 50)
    known = {kind(turn) for turn, _ in pairs}
    assert len({kind(turn) for turn in found}) == len(found) == 50
    assert not known & {kind(turn) for turn in found}


def test_answers_are_matched_to_their_prompts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    acts = tmp_path / "acts.txt"
    acts.write_text("inform(name='Ivy Cutting';dogsallowed=no)\n?request(region)\ngoodbye()\n")
    asked = tmp_path / "prompts.jsonl"
    assert main(["prompts", str(acts), "--per-act", "3", "--output", str(asked)]) == 0
    lines = [json.loads(line) for line in asked.read_text().splitlines()]
    assert [line["act"] for line in lines] == acts.read_text().split("\n")[:3]
    assert "name: Ivy Cutting" in lines[0]["prompt"] and "dogsallowed: no" in lines[0]["prompt"]
    assert "Write 3 different sentences" in lines[0]["prompt"] and "region (to be asked for" in lines[1]["prompt"]
    answers = [
        {
            "id": lines[0]["id"],
            "act": None,
            "answer": 'Here they are:\n1. Ivy Cutting allows no dogs.\n2) "No dogs on Ivy Cutting!"',
        },
        {"id": lines[1]["id"], "act": lines[1]["act"], "text": ["Which region?"]},
        {"id": lines[2]["id"], "completion": '["Bye.", "Bye.", "See you."]'},
    ]
    path = write(tmp_path / "answers.jsonl", list(answers))
    out = tmp_path / "pairs.jsonl"
    assert main(["prompts", "--read", str(path), "--prompts", str(asked), "--output", str(out)]) == 0
    pairs = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["text"] for row in pairs] == [
        "Ivy Cutting allows no dogs.",
        "No dogs on Ivy Cutting!",
        "Which region?",
        "Bye.",
        "See you.",
    ]
    assert pairs[0]["act"] == lines[0]["act"]
    with pytest.raises(CorpusError, match="no act, and no prompt of this id"):
        list(read_answers(path))
    assert main(["prompts"]) == 2
    assert "name a file of acts" in capsys.readouterr().err
    with pytest.raises(UserError):
        list(read_answers(write(tmp_path / "bad.jsonl", [{"act": "goodbye()", "reply": "x"}])))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ('```json\n[\n "A.",\n "B."\n]\n```', ["A.", "B."]),
        ("Here:\n```\n1. A.\n2. B.\n```", ["A.", "B."]),
        (["\"Ivy Cutting\" is as easy as \"pie\"", "\"It's easy.\"", "'It's easy!'"],
         ["\"Ivy Cutting\" is as easy as \"pie\"", "It's easy.", "It's easy!"]),
        ("[Ivy Cutting] is easy.", ["[Ivy Cutting] is easy."]),
        ("{name} is easy.", ["{name} is easy."]),
    ],
)  # fmt: skip
def test_fences_and_quotes_around_sentences_are_removed(answer: object, said: list[str]) -> None:
    assert sentences(answer) == said


@pytest.mark.parametrize("answer", [{"sentences": ["A."]}, '```json\n{"sentences": ["A."]}\n```', 5, ["A.", 5]])
def test_an_answer_that_is_not_text_is_refused(tmp_path: Path, answer: object) -> None:
    path = write(tmp_path / "answers.jsonl", [{"act": "goodbye()", "answer": answer}])
    with pytest.raises(CorpusError, match=r"line 1: an answer is a text, or a list of texts"):
        list(read_answers(path))


def test_an_answer_without_an_id_is_matched_to_no_prompt(tmp_path: Path) -> None:
    asked = write(tmp_path / "prompts.jsonl", [{"act": "goodbye()", "prompt": "Say goodbye."}])
    path = write(tmp_path / "answers.jsonl", [{"answer": "Which region?"}])
    with pytest.raises(CorpusError, match="line 1: no act, and no prompt of this id"):
        list(read_answers(path, asked))


def test_prompts_of_a_corpus_have_examples_of_other_acts() -> None:
    acts = [(parse("inform(name=A)"), ("A it is.",)), (parse("inform(name=B)"), ("B it is.",))]
    first, _ = prompts(acts, 5)
    assert "one could say: B it is." in first["prompt"] and "A it is." not in first["prompt"]
    assert sentences("- One.\n\n- Two!") == ["One.", "Two!"]
