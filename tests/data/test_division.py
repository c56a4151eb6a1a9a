"""Data of one file are divided: nothing is lost, equal acts stay together, and the seed alone decides."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.own_corpora import flights
from dactnlg.acts import parse
from dactnlg.cli.main import main
from dactnlg.data.corpus import Corpus, load_corpus
from dactnlg.data.division import divide
from dactnlg.data.pairs import build_preprocessor, validation_pairs
from dactnlg.errors import CorpusError
from dactnlg.text.example import Example

SHARES = {"valid": 10, "test": 10}
ACTS = st.tuples(st.sampled_from(["inform", "?request", "goodbye"]), st.integers(0, 30))


def example(act_type: str, number: int, text: str = "x") -> Example:
    return Example(parse(f"{act_type}(a=v{number})"), (text,))


@given(st.lists(ACTS, max_size=120), st.integers(0, 5))
def test_every_example_is_in_one_split(acts: list[tuple[str, int]], seed: int) -> None:
    examples = [example(*act, text=str(place)) for place, act in enumerate(acts)]
    parts = divide(examples, SHARES, seed)
    assert sorted(e.references[0] for part in parts.values() for e in part) == sorted(map(str, range(len(examples))))
    turns = [{e.turn for e in part} for part in parts.values()]
    assert sum(map(len, turns)) == len(set().union(*turns))
    # No act type is in validation or test alone.
    assert {e.turn.acts[0].act_type for e in examples} == {e.turn.acts[0].act_type for e in parts["train"]}
    for part in parts.values():
        places = [int(e.references[0]) for e in part]
        assert places == sorted(places)


def test_each_act_type_is_divided_by_the_shares() -> None:
    examples = [
        example(kind, n) for kind, count in (("inform", 700), ("?request", 200), ("bye", 100)) for n in range(count)
    ]
    parts = divide(examples, SHARES)
    assert [len(part) for part in parts.values()] == [800, 100, 100]
    for part in ("valid", "test"):
        counts = Counter(e.turn.acts[0].act_type for e in parts[part])
        assert [abs(counts[kind] - wanted) <= 1 for kind, wanted in (("inform", 70), ("?request", 20), ("bye", 10))]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), max_size=90), st.integers(0, 5))
def test_acts_without_values_are_learned(asked: list[tuple[str, int]], seed: int) -> None:
    examples = [Example(parse(f"request({slot})"), (f"{slot} {number}?",)) for slot, number in asked]
    parts = divide(examples, SHARES, seed)
    assert {e.turn for e in parts["train"]} == {e.turn for e in examples}
    # Equal sentences of an act stay together.
    said = [{(e.turn, e.references) for e in part} for part in parts.values()]
    assert sum(map(len, said)) == len(set().union(*said))
    assert abs(len(parts["test"]) - len(examples) / 10) <= max([9, *Counter(asked).values()])


def test_neither_order_nor_the_way_of_writing_matters() -> None:
    examples = [example("inform", n) for n in range(100)]
    mixed = random.Random(3).sample(examples, len(examples))
    assert {e.turn for e in divide(examples, SHARES)["test"]} == {e.turn for e in divide(mixed, SHARES)["test"]}
    assert divide(examples, SHARES, 1)["test"] != divide(examples, SHARES, 2)["test"]
    same = [Example(parse(act), ("x",)) for act in ("inform(a=x;b=y)", "inform(b=Y;a=x)") for _ in range(30)]
    assert [len(part) for part in divide(same, SHARES).values()] == [60, 0, 0]


def lines(path: Path, count: int) -> Path:
    rows = [{"act": f"inform(name=n{n % 40};food=f{n})", "text": f"n{n % 40} serves f{n}."} for n in range(count)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def hashes(corpus: Corpus) -> dict[str, str]:
    return {split: corpus.digest(split) for split in corpus.splits}


def test_a_single_file_is_divided_and_that_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = lines(tmp_path / "own.jsonl", 100)
    assert main(["corpora", "inspect", str(path)]) == 0
    printed = capsys.readouterr()
    assert "own.jsonl is one file: its pairs are divided into train 80, valid 10, test 10" in printed.err
    assert printed.err.count("\n") == 1
    assert "test pairs that also occur in training: 0 of 10" in printed.out
    assert hashes(load_corpus(path)) == hashes(load_corpus(path))
    # The same splits from a folder with train alone, and from a card.
    folder = tmp_path / "folder"
    folder.mkdir()
    lines(folder / "train.jsonl", 100)
    (tmp_path / "own.yaml").write_text("{name: own, format: pairs, files: {train: {path: own.jsonl}}, divide: {}}")
    assert hashes(load_corpus(folder)) == hashes(load_corpus(path)) == hashes(load_corpus(tmp_path / "own.yaml"))
    lines(folder / "test.jsonl", 30)
    assert load_corpus(folder).splits == ("train", "test")


def test_a_card_names_the_shares(tmp_path: Path) -> None:
    lines(tmp_path / "own.jsonl", 100)
    lines(tmp_path / "more.jsonl", 20)
    card = (
        "{name: own, format: pairs, files: {train: {path: own.jsonl}, test: {path: more.jsonl}}, divide: {valid: 20}}"
    )
    (tmp_path / "own.yaml").write_text(card)
    corpus = load_corpus(tmp_path / "own.yaml")
    assert [sum(1 for _ in corpus.pairs(split)) for split in corpus.splits] == [80, 20, 20]


@pytest.mark.parametrize("count", [1, 19])
def test_too_few_pairs_are_refused_with_what_to_do(count: int, tmp_path: Path) -> None:
    corpus = load_corpus(lines(tmp_path / "own.jsonl", count))
    assert corpus.splits == ("train",)
    with pytest.raises(
        CorpusError, match=rf"no validation split.*its {count} pairs are too few.*20 pairs.*divide: {{}}"
    ):
        validation_pairs(corpus, build_preprocessor(corpus).preprocessor)


def test_a_validation_file_without_a_pair_is_none(tmp_path: Path) -> None:
    lines(tmp_path / "train.jsonl", 40)
    (tmp_path / "valid.jsonl").write_text("")
    corpus = load_corpus(tmp_path)
    with pytest.raises(CorpusError, match="no validation pairs, to decide when training stops"):
        validation_pairs(corpus, build_preprocessor(corpus).preprocessor)


def test_equal_rows_are_divided_alike_in_every_format_and_order(tmp_path: Path) -> None:
    rows = [(f"inform(name=n{n})", f"It is n{n}.") for n in range(30)]
    rows += [("goodbye()", f"Bye number {n}.") for n in range(30)]
    mixed = random.Random(4).sample(rows, len(rows))
    lists = [{"act": act, "references": [text for own, text in rows if own == act]} for act in dict(rows)]
    files = {
        "sorted.csv": "\n".join(map(",".join, [("act", "text"), *rows])),
        "mixed.csv": "\n".join(map(",".join, [("act", "text"), *mixed])),
        "e2e.csv": "\n".join(map(",".join, [("mr", "ref"), *mixed])),
        "lines.jsonl": "\n".join(json.dumps({"act": act, "text": text}) for act, text in rows),
        "lists.json": json.dumps(lists),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    corpora = [load_corpus(tmp_path / name) for name in files]
    divided = [{split: sorted(corpus.pairs(split)) for split in corpus.splits} for corpus in corpora]
    assert all(parts == divided[0] for parts in divided)
    assert {split: len(pairs) for split, pairs in divided[0].items()} == {"train": 48, "valid": 6, "test": 6}


@pytest.mark.parametrize(
    "rows", ["goodbye(),Bye!\r\n" * 50, "".join(f"inform_{n}(name=Ark{n}),It is Ark{n}.\n" for n in range(50))]
)
def test_one_act_of_every_type_cannot_be_divided(rows: str, tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text(f"act,text\n{rows}")
    with pytest.raises(CorpusError, match="cannot be divided into train, valid, test: .* of every act type one act"):
        load_corpus(tmp_path / "own.csv").split("train")


def test_the_flights_are_the_same_everywhere() -> None:
    pairs = flights()
    assert len(pairs) == 300 and pairs == flights()
    assert pairs[1] == ("inform(airline='Air France';to=Oslo)", "There is a flight to Oslo with Air France.")
