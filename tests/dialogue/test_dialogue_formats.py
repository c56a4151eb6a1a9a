"""Readers of dialogue corpora, on files written by hand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from helpers import command

from dactnlg._utils.resources import dialogue_names
from dactnlg.data.dialogues import context_pairs, load_dialogue_card, load_dialogues
from dactnlg.data.readers.dialogue_formats import (
    FORMATS,
    Dialogue,
    read_cornell,
    read_dailydialog,
    read_opensubtitles,
    read_reddit,
    read_ubuntu,
)
from dactnlg.errors import CorpusError, UnknownNameError


def test_dailydialog_is_read_with_emotions_and_acts(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"id": "x", "turns": ["Hi", "Yes"], "emotions": ["anger", "fear"], "acts": [["inform"], ["a"]]}\n')
    (found,) = read_dailydialog(file, Counter())
    assert found == Dialogue(("Hi", "Yes"), ("anger", "fear"), (("inform",), ("a",)), "x")
    file.write_text('{"turns": ["Hi", "Yes"], "emotions": ["anger"]}\n')
    with pytest.raises(CorpusError, match="line 1.*emotions"):
        read_dailydialog(file, Counter())


def test_cornell_conversations_are_joined_with_their_lines(tmp_path: Path) -> None:
    (tmp_path / "movie_lines.txt").write_text(
        "L1 +++$+++ u0 +++$+++ m0 +++$+++ ANN +++$+++ Who?\nL2 +++$+++ u1 +++$+++ m0 +++$+++ BOB +++$+++ Me.\n"
        "L3 +++$+++ u1 +++$+++ m0 +++$+++ BOB +++$+++ \n"
    )
    file = tmp_path / "movie_conversations.txt"
    file.write_text("u0 +++$+++ u1 +++$+++ m0 +++$+++ ['L1', 'L2']\nu0 +++$+++ u1 +++$+++ m0 +++$+++ ['L2', 'L3']\n")
    notes: Counter[str] = Counter()
    assert [each.turns for each in read_cornell(file, notes)] == [("Who?", "Me.")]
    assert notes.total() == 1
    file.write_text("u0 +++$+++ ['L1']\n")
    with pytest.raises(CorpusError, match="line 1"):
        read_cornell(file, notes)


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8"])
def test_cornell_is_read_in_its_own_encoding_and_in_utf_8(tmp_path: Path, encoding: str) -> None:
    lines = ["L1 +++$+++ u0 +++$+++ m0 +++$+++ A +++$+++ The café…", "L2 +++$+++ u1 +++$+++ m0 +++$+++ B +++$+++ “Me”"]
    (tmp_path / "movie_lines.txt").write_bytes("\n".join(lines).encode(encoding))
    file = tmp_path / "movie_conversations.txt"
    file.write_text("u0 +++$+++ u1 +++$+++ m0 +++$+++ ['L1', 'L2']\n")
    assert [each.turns for each in read_cornell(file, Counter())] == [("The café…", "“Me”")]


def test_reddit_stops_at_a_removed_comment(tmp_path: Path) -> None:
    file = tmp_path / "train.jsonl"
    file.write_text('{"lines": [{"text": "a"}, {"text": "b"}, {"text": "[removed]"}, {"text": "c"}]}\n')
    notes: Counter[str] = Counter()
    assert [each.turns for each in read_reddit(file, notes)] == [("a", "b")]
    assert notes.total() == 2


def test_opensubtitles_pairs_posts_with_responses(tmp_path: Path) -> None:
    post, response = tmp_path / "t.post", tmp_path / "t.response"
    post.write_text("where are you\nwho\n")
    response.write_text("here\nme\n")
    assert [each.turns for each in read_opensubtitles(post, Counter())] == [("where are you", "here"), ("who", "me")]
    response.write_text("here\n")
    with pytest.raises(CorpusError, match="has 1 lines, not 2"):
        read_opensubtitles(post, Counter())


def test_a_blank_line_of_opensubtitles_shifts_no_pair(tmp_path: Path) -> None:
    post, notes = tmp_path / "t.post", Counter[str]()
    post.write_text("one\n\nthree\nfour\n")
    post.with_suffix(".response").write_text("1\n2\n3\n\n")
    assert [each.turns for each in read_opensubtitles(post, notes)] == [("one", "1"), ("three", "3")]
    assert notes.total() == 2


def test_ubuntu_rows_with_wrong_answers_are_left_out(tmp_path: Path) -> None:
    file, notes = tmp_path / "train.csv", Counter[str]()
    file.write_text(
        "Context,Utterance,Label\nhi __eou__ all __eou__ __eot__ yes __eou__ __eot__,try apt __eou__,1.0\nhi,no,0.0\n"
    )
    assert [each.turns for each in read_ubuntu(file, notes)] == [("hi all", "yes", "try apt")]
    assert notes.total() == 1
    file.write_text("Context,Ground Truth Utterance,Distractor_0\nhi __eou__ __eot__,yes,no\n")
    assert [each.turns for each in read_ubuntu(file, notes)] == [("hi", "yes")]


def test_dailydialog_may_have_one_act_for_a_turn(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(
        '{"turns": ["Hi", "Yes"], "acts": ["inform", "question"]}\n{"turns": ["Hi", "Yes"], "acts": [1, 2]}\n'
    )
    found = read_dailydialog(file, Counter())
    assert [each.acts for each in found] == [(("inform",), ("question",)), (("1",), ("2",))]


def test_reddit_may_be_one_list_of_conversations(tmp_path: Path) -> None:
    file = tmp_path / "train.jsonl"
    file.write_text('[{"lines": [{"text": "a", "character": 0}, {"text": "b"}]},\n {"lines": [{"text": "c"}, {}]}]')
    with pytest.raises(CorpusError, match="conversation 2: every line"):
        read_reddit(file, Counter())
    file.write_text('[{"lines": [{"text": "a", "character": 0}, {"text": "b"}]}]')
    assert [each.turns for each in read_reddit(file, Counter())] == [("a", "b")]


def test_mistakes_in_ubuntu_files_are_reported_with_their_line(tmp_path: Path) -> None:
    file = tmp_path / "train.csv"
    file.write_text("Context,Utterance,Label\nhi,yes,1\nhi,no,\n")
    with pytest.raises(CorpusError, match="line 3: Label is 1 or 0"):
        read_ubuntu(file, Counter())
    file.write_bytes("Caf\u00e9,Utterance,Label\n".encode("cp1252"))
    with pytest.raises(CorpusError, match="line 1: not UTF-8"):
        read_ubuntu(file, Counter())


def test_every_dialogue_card_names_a_reader() -> None:
    assert {load_dialogue_card(name).format for name in dialogue_names()} == set(FORMATS)
    with pytest.raises(UnknownNameError, match="dailydialog"):
        load_dialogue_card("dailydialogs")


def test_a_corpus_of_dialogues_is_told_from_an_unknown_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DACTNLG_DATA", raising=False)
    for name in dialogue_names():
        for words in (["corpora", "inspect", name], ["corpora", "fetch", name, "--data-dir", tmp_path]):
            done = command(*words)
            assert done.returncode == 2 and f"corpus '{name}' holds dialogues" in done.stderr
        with pytest.raises(CorpusError, match=r"it is not fetched.* --data-dir or DACTNLG_DATA"):
            load_dialogues(name, tmp_path)


def test_dailydialog_has_as_many_dialogues_as_published(data_dir: Path) -> None:
    splits = load_dialogues("dailydialog", data_dir).splits
    assert [len(splits[split]) for split in ("train", "valid", "test")] == [11118, 1000, 1000]


def test_a_pair_has_the_last_turns_before_its_target() -> None:
    pairs = context_pairs([Dialogue(tuple("abcd")), Dialogue(("x",))], turns=2)
    assert [(pair.context, pair.target) for pair in pairs] == [(("a",), "b"), (("a", "b"), "c"), (("b", "c"), "d")]
