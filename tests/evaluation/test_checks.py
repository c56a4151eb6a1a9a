"""What an evaluation reports of faults, and of what could not be checked: never "0 of 0"."""

from __future__ import annotations

import json
from pathlib import Path

import dactnlg
from dactnlg.acts import parse
from dactnlg.cli.main import main
from dactnlg.data.card import load_card
from dactnlg.data.corpus import load_corpus
from dactnlg.evaluation.checks import CueCount, count_checks
from dactnlg.generation.generation import Generation
from dactnlg.generation.options import GenerationOptions
from dactnlg.text.slots import SlotChecker
from dactnlg.text.values.delexicalization import Delexicalizer


def said(act: str, text: str, **facts: object) -> Generation:
    given = {"slots_ok": True, "missing": (), "extra": (), **facts}
    return Generation(act=act, text=text, raw=text, delexicalized="", score=None, **given)


ROWS = [
    said("inform(name=Ivy;dogsallowed=no)", "Ivy is closed to dogs."),
    said("inform(name=Ivy;dogsallowed=no)", "Ivy.", slots_ok=False, missing=("dogsallowed=no",), seen=False, doubts=2),
    said("inform(name=Ivy;toilets=none)", "Ivy has no toilet.", unchecked=("toilets=none",), seen=True),
    said("inform(name=Ivy)", "It is.", slots_ok=False, missing=("name=Ivy",)),
]


def test_faults_and_gaps_are_counted() -> None:
    found = count_checks(load_card("trails").style().checker(), [parse(row.act) for row in ROWS], ROWS)
    assert (found.sentences, found.value_faults, found.slot_faults, found.unseen) == (4, 1, 2, 1)
    assert found.faults == {"dogsallowed=no": 1, "name=Ivy": 1}
    assert found.unchecked == {"toilets=none": 1} and found.with_unchecked == 1
    assert found.cues == CueCount(required=2, wrong=1, unchecked=1)
    lines = "\n".join(found.lines())
    assert "which SER counts: 1 of 4" in lines and "included: 2 of 4; most often dogsallowed=no (1)" in lines
    assert "could not be checked: 1 of 4; most often toilets=none (1)" in lines
    assert "training never had: 1 of 4" in lines and "do not read like training: 1 of 4" in lines


def test_what_cues_cannot_check_is_reported_as_unchecked() -> None:
    found = count_checks(SlotChecker(Delexicalizer()), [parse(row.act) for row in ROWS], ROWS)
    assert str(found.cues) == "not checked: no cues for any of 3"
    assert not any("0 of 0" in line for line in found.lines())
    nothing = count_checks(SlotChecker(Delexicalizer()), [parse(ROWS[3].act)], ROWS[3:])
    assert str(nothing.cues) == "none to check"
    assert str(CueCount(5, 1, 2)) == "1 of 5; 2 more that cues cannot check"
    assert str(CueCount(5, 1, 2, 3)) == "1 of 5, and 3 that the acts do not have; 2 more that cues cannot check"
    assert str(CueCount(0, 0, 2, 3)) == "3 that the acts do not have; not checked: no cues for any of 2"


def test_special_values_that_the_act_lacks_are_counted_apart() -> None:
    rows = [said("inform(name=Ivy)", "Ivy is closed to dogs.")] * 3 + ROWS[:1]
    found = count_checks(load_card("trails").style().checker(), [parse(row.act) for row in rows], rows).cues
    assert (found.required, found.wrong, found.extra) == (1, 0, 3)


def test_score_and_evaluate_count_the_same_slot_errors(random_run: Path, tmp_path: Path) -> None:
    options = GenerationOptions(constraint="none")
    found = dactnlg.evaluate(random_run, presets=["single"], metrics=["SER"], options=options)
    rows = [
        {"hypothesis": g.raw, "references": e.references, "act": str(e.turn)}
        for g, e in zip(found.generations, load_corpus("trails").split("test"), strict=True)
    ]
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    out = tmp_path / "scores.json"
    arguments = ["score", "--input", str(tmp_path / "pairs.jsonl"), "--preset", "single", "--metric", "SER"]
    assert main([*arguments, "--corpus", "trails", "--json", str(out)]) == 0
    assert found.checks.cues.wrong + found.checks.cues.extra
    own = json.loads(out.read_text())["scores"]["SER"]
    score = found.results[0].scores["SER"]
    assert (own["value"], own["signature"]) == (score.value, score.signature) and own["hash"] == score.hash


def write_corpus(path: Path, count: int) -> str:
    """Write a corpus without a data card, and hence without cues, and return its path."""
    rows = [{"act": f"inform(name=N{n};wifi=none)", "text": f"N{n} is without a network."} for n in range(count)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return str(path)


def test_evaluations_of_the_same_sentences_are_equal(random_run: Path, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "own.jsonl", 6)
    found = dactnlg.evaluate(random_run, corpus=corpus, split="train", presets=["single"])
    again = dactnlg.evaluate(random_run, corpus=corpus, split="train", presets=["single", "single"])
    assert found == again and len(again.results) == 1
    write_corpus(tmp_path / "own.jsonl", 7)
    assert found != dactnlg.evaluate(random_run, corpus=corpus, split="train", presets=["single"])


def test_every_view_of_an_evaluation_shows_what_was_not_checked(random_run: Path, tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    found = dactnlg.evaluate(random_run, corpus=write_corpus(path, 6), split="train", presets=["single"])
    assert "cues: not checked: no cues for any of 6" in found.table()
    assert found.to_dict()["checks"]["cues"] == {"required": 0, "wrong": 0, "unchecked": 6, "extra": 0}
    assert found.to_dict()["checks"]["unchecked"] == {"wifi=none": 6}
    assert found.to_dict()["generations"][0]["unchecked"] == ["wifi=none"]
    assert found.to_dict()["checks"]["unseen"] == 6
    for suffix in (".html", ".md"):
        found.write_report(path.with_suffix(suffix))
        text = path.with_suffix(suffix).read_text(encoding="utf-8").replace("\\", "")
        assert "not checked: no cues for any of 6" in text
        assert "cannot check: wifi=none (6)" in text
        assert "0 of 0" not in text
