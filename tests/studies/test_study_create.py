"""`study create` and its files: reproducible by the seed, without traces of systems or paths; mistakes are refused."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers import dactnlg

from dactnlg.cli.main import main
from dactnlg.data.corpus import load_corpus
from dactnlg.studies.sampling import distinct_acts
from dactnlg.studies.storage import read_ratings
from dactnlg.studies.study import CHECKS, FILE, Scale, Study, StudyError


def make(folder: Path, *words: str | Path) -> Study:
    assert main(["study", "create", "--corpus", "trails", *map(str, words), "--output", str(folder)]) == 0
    return Study.load(folder)


def refused(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    capsys.readouterr()
    assert main(["study", *map(str, words)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "Traceback" not in told.err
    return told.err


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    """A file with a sentence per line, one for each row of the test split."""
    rows = load_corpus("trails", None).split("test")
    path = tmp_path / "shout.txt"
    path.write_text("".join(f"{row.references[0].upper()}\n" for row in rows), encoding="utf-8")
    return path


def test_the_same_command_makes_the_same_study(tmp_path: Path, random_run: Path, repository: Path) -> None:
    words = ["--acts", "8", "--systems", "gold", f"run={random_run}", "--raters", "6", "--checks", "2"]
    found = make(tmp_path / "a", *words)
    # In another process, because processes hash strings differently.
    done = dactnlg(repository, "study", "create", "--corpus", "trails", *words, "--output", tmp_path / "b")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert (tmp_path / "a" / FILE).read_bytes() == (tmp_path / "b" / FILE).read_bytes()
    assert [system.name for system in found.systems] == ["gold", "run"]
    assert Counter(item.check is None for item in found.items) == {True: 8, False: 2}
    assert make(tmp_path / "c", "--acts", 8, "--systems", "gold", "--system", random_run, "--seed", 2).seed == 2


def test_the_sentences_of_a_study_are_those_of_its_systems(tmp_path: Path, lines: Path) -> None:
    acts = {str(act.turn): act for act in distinct_acts(load_corpus("trails", None).split("test"))}
    jsonl = tmp_path / "said.jsonl"
    rows = [{"act": act, "text": f"{number} said"} for number, act in enumerate(acts)]
    jsonl.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    found = make(tmp_path / "s", "--acts", 10, "--systems", "gold", lines, f"numbers={jsonl}", "--raters", 3)
    assert len({item.act for item in found.items}) == 10
    for item in found.items:
        references = acts[item.act].references
        assert item.sentences["gold"] in references
        assert item.sentences["shout"] in [text.upper() for text in references]
        assert item.sentences["numbers"] == f"{list(acts).index(item.act)} said"
        assert item.references == references
    # The file has no path of this machine.
    assert str(tmp_path) not in (tmp_path / "s" / FILE).read_text(encoding="utf-8")


def test_equal_sentences_are_shown_once_and_rated_for_all(
    tmp_path: Path, lines: Path, rate_study: Callable[..., None]
) -> None:
    found = make(tmp_path / "s", "--acts", 5, "--systems", "gold", "twin=gold", lines, "--raters", 4, "--checks", 1)
    for page in (page for rater in found.raters for page in rater.pages):
        item = found.item_by_id[page.item]
        assert len({item.sentences[name] for name in page.systems}) == len(page.systems)
    rate_study(tmp_path / "s", lambda rater, page, question: 4.0)
    counts = Counter((row["item"], row["system"]) for row in read_ratings(tmp_path / "s").rows)
    # A rater saw two sentences for three systems, but rated all three; checks are not ratings.
    assert set(counts.values()) == {4 * len(found.criteria)}
    assert {system for _, system in counts} == {"gold", "twin", "shout"}
    assert main(["study", "export", str(tmp_path / "s"), "--output", str(tmp_path / "r.csv")]) == 0
    assert "check" not in (tmp_path / "r.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize("corpus", ["restaurants", "viggo"])
def test_a_study_of_two_corpora_shows_every_act_once(corpus: str, data_dir: Path, tmp_path: Path) -> None:
    words = ["--corpus", corpus, "--data-dir", data_dir, "--acts", "15", "--systems", "gold", "twin=gold"]
    found = make(tmp_path / "s", *words, "--raters", "5", "--acts-per-rater", "6", "--design", "continuous")
    assert Counter(item.corpus for item in found.items) == {"trails": 15, corpus: 15}
    assert found.scale == Scale(low=0, high=100)
    seen = Counter(page.item for rater in found.raters for page in rater.pages)
    assert set(seen.values()) == {1}
    assert {len(rater.pages) for rater in found.raters} == {6}


def test_systems_are_named_by_their_files_or_as_given(tmp_path: Path, lines: Path) -> None:
    odd = lines.rename(tmp_path / "lr=0.1 <b>&.txt")
    found = make(tmp_path / "s", "--systems", "people=gold", odd, f"naïve ü={odd}", "--acts", 2, "--raters", 1)
    assert [system.name for system in found.systems] == ["people", "lr-0.1-b-", "naïve ü"]


def test_slot_names_are_split_into_the_words_of_the_sentences(tmp_path: Path) -> None:
    corpus = tmp_path / "own.jsonl"
    lines = [{"act": f"inform(kiteshelter={at})", "text": f"Kite shelter {at}."} for at in range(20)]
    corpus.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    words = ["--corpus", str(corpus), "--systems", "gold", "--acts", "1", "--raters", "1"]
    assert main(["study", "create", *words, "--output", str(tmp_path / "s")]) == 0
    (item,) = Study.load(tmp_path / "s").items
    assert item.words.splitlines()[1].startswith("- kite shelter: ")


def test_a_pairwise_study_has_pairs_and_checks(tmp_path: Path, lines: Path) -> None:
    found = make(tmp_path / "s", "--acts", 4, "--systems", "gold", lines, "--design", "pairwise", "--checks", 1)
    assert found.scale is None
    for rater in found.raters:
        assert {len(page.systems) for page in rater.pages} == {2}
        assert sum(set(page.systems) == set(CHECKS) for page in rater.pages) == 1
    first = Counter(page.systems[0] for rater in found.raters for page in rater.pages if page.item != "check-1")
    assert first["gold"] == first["shout"] == 18 * 4 // 2


def test_a_study_that_cannot_be_created_is_refused(
    tmp_path: Path, lines: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "short.txt").write_text("one\n", encoding="utf-8")
    (tmp_path / "empty.txt").write_text("\n" * len(lines.read_text(encoding="utf-8").splitlines()), encoding="utf-8")
    (tmp_path / "bad.jsonl").write_text('{"act": "goodbye(", "text": "x"}\n', encoding="utf-8")
    (tmp_path / "less.jsonl").write_text('{"act": "goodbye()", "text": "x"}\n', encoding="utf-8")
    create = ["create", "--corpus", "trails", "--output", tmp_path / "s", "--systems"]
    for words, told in (
        ([tmp_path / "nothing"], "there is no run folder and no file"),
        ([tmp_path], "is not a run folder"),
        ([tmp_path / "short.txt"], "has 1 lines, and the test split of trails has"),
        ([tmp_path / "empty.txt"], "has an empty sentence for"),
        ([tmp_path / "bad.jsonl"], "bad.jsonl, line 1: it is not"),
        ([tmp_path / "less.jsonl"], "acts are without one"),
        ([f"check={lines}"], "cannot be called 'check'"),
        (["check=gold"], "cannot be called 'check'"),
        ([f"a\x1b[1m={lines}"], "cannot be called"),
        ([lines, lines], "two systems are called shout"),
        (["gold", "--design", "pairwise"], "at least two systems"),
        (["gold", "--acts", "1000000"], "--acts 1000000: there are"),
        (["gold", "--scale", "5-1"], "--scale '5-1': a scale rises"),
        (["gold", "--scale", "good"], "write LOW-HIGH"),
        (["gold", "--scale", "1-5:0"], "--scale '1-5:0': step: Input should be greater than 0 (got 0.0)\n"),
        (["gold", "--scale", "1-5:0.75"], "no number of steps of 0.75 leads from 1 to 5"),
        (["gold", "--scale", "1-4.5"], "no number of steps of 1 leads from 1 to 4.5"),
        (["gold", "--criteria", "a,,b"], "the name of a quality is empty"),
        (["gold", "--criteria", "a,a"], "two criteria are called 'a'"),
        (["gold", "--acts-per-rater", "21"], "there are 20 acts"),
        (["gold", "--instructions", tmp_path / "nothing"], "nothing"),
    ):
        assert told in refused(capsys, *create, *words)
        assert not (tmp_path / "s").exists()
    make(tmp_path / "s", "--systems", "gold", "--acts", 1)
    assert "holds a study already" in refused(capsys, *create, "gold")


def test_ten_thousand_raters_share_the_sentences_equally(tmp_path: Path, lines: Path) -> None:
    words = ["--systems", "gold", lines, "--acts", "3", "--raters", "10000", "--systems-per-page", "1"]
    found = make(tmp_path / "s", *words)
    assert (found.raters[0].id, found.raters[-1].id) == ("r00001", "r10000")
    counts = Counter((page.item, page.systems) for rater in found.raters for page in rater.pages)
    assert set(counts.values()) == {5_000}


def test_invalid_study_files_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = make(tmp_path / "s", "--systems", "gold", "--acts", 2, "--raters", 1).model_dump(mode="json")
    path = tmp_path / "s" / FILE
    page = good["raters"][0]["pages"][0]
    for change, told in (
        ({"design": "stars"}, "design: "),
        ({"format_version": 2}, "format_version"),
        ({"scale": None}, "a scale belongs to every design"),
        ({"scale": {"low": 1, "high": 1e300, "step": 1e-300}}, "at most 1000 steps"),
        ({"scale": {"low": float("-inf"), "high": 1}}, "not JSON"),
        ({"name": "\x1b[2J"}, "name: "),
        ({"more": 1}, "more: "),
        ({"systems": []}, "which is no system of the study"),
        ({"raters": good["raters"] * 2}, "two raters are called 'r001'"),
        ({"raters": [{"id": "r001", "pages": [page | {"item": "../../etc/passwd"}]}]}, "that the study does not have"),
        ({"raters": [{"id": "r001", "pages": [page | {"systems": ["evil"]}]}]}, "no sentence of 'evil'"),
        ({"raters": [{"id": "r001", "pages": [page | {"systems": ["gold"] * 2}]}]}, "shows a sentence twice"),
        ({"items": [*good["items"], {"id": "c", "sentences": {"check": "9!"}, "check": 9}]}, "not on the scale"),
    ):
        path.write_text(json.dumps(good | change), encoding="utf-8")
        with pytest.raises(StudyError, match="study.json"):
            Study.load(tmp_path / "s")
        for command in ("export", "datasheet"):
            assert told in refused(capsys, command, tmp_path / "s")
    path.write_bytes(b"\xff\xfe")
    assert "not text in UTF-8" in refused(capsys, "datasheet", tmp_path / "s")
    path.unlink()
    os.mkfifo(path)
    assert "is no study" in refused(capsys, "datasheet", tmp_path / "s")


def test_the_commands_import_and_export_ratings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "".join(f"i{at},{system},r001,quality,{at + 1}\n" for at in range(3) for system in ("gold", "new"))
    (tmp_path / "r.csv").write_text(f"item,system,rater,criterion,value\n{rows}", encoding="utf-8")
    for form, made in (("potato", [tmp_path / "potato"]), ("e2e", [tmp_path / "e2e" / "quality.csv"])):
        words = ["study", "export", tmp_path / "r.csv", "--format", form, "--output", tmp_path / form]
        assert main(list(map(str, words))) == 0
        capsys.readouterr()
        assert main(["study", "import", *map(str, made), "--format", form]) == 0
        back = {tuple(line.split(",")[:5]) for line in capsys.readouterr().out.splitlines()[1:]}
        assert back == {tuple(line.split(",")) for line in rows.splitlines()}
    assert "name a new folder" in refused(capsys, "export", tmp_path / "r.csv", "--format", "e2e")
    assert "is no study" in refused(capsys, "export", tmp_path / "r.csv", "--format", "json")
    assert "goes with --format potato" in refused(
        capsys, "import", tmp_path / "r.csv", "--format", "csv", "--items", tmp_path / "r.csv"
    )
