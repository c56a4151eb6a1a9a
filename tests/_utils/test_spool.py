"""Long sequences in files: the same as short ones in memory."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from dactnlg._utils import spool
from dactnlg.evaluation.scoring import TextPair, score_pairs


@pytest.mark.parametrize("limit", [1, 3, 1000])
def test_rows_in_a_file_are_the_rows(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "IN_MEMORY", limit)
    rows, given = spool.SpooledRows(), np.random.default_rng(1).random((50, 3))
    for start in range(0, 50, 7):
        rows.append(given[start : start + 7])
    for _ in range(2):
        assert (rows.array() == given).all()
        assert (np.concatenate(list(rows.blocks())) == given).all()
        np.testing.assert_allclose(rows.sum(), given.sum(axis=0), rtol=1e-12)
    rows.append(given)
    assert (rows.array() == np.vstack([given, given])).all()
    assert max(len(block) for block in rows.blocks()) <= (limit if limit < 100 else 100)


def test_rows_are_appended_while_not_all_blocks_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "IN_MEMORY", 2)
    rows, given = spool.SpooledRows(), np.random.default_rng(1).random((6, 3))
    rows.append(given[:4])
    blocks = rows.blocks()
    next(blocks)
    rows.append(given[4:])
    assert (rows.array() == given).all()


def test_records_are_read_back() -> None:
    records = spool.SpooledRecords()
    given = [{"text": "é\ud800\n", "list": [1, 2]}, None, [], "x"]
    for value in given:
        records.append(value)
    assert list(records) == given
    assert records[-1] == "x" and records[1:3] == [None, []] and len(records) == 4
    records.append(1)
    assert list(records) == [*given, 1]
    with pytest.raises(IndexError):
        records[5]


@pytest.mark.parametrize("limit", [1, 1000])
def test_records_can_be_pickled_and_copied(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "_BYTES", limit)
    records = spool.SpooledRecords()
    records.append({"text": "é"})
    records.append([1, 2])
    for copied in (pickle.loads(pickle.dumps(records)), copy.deepcopy(records)):
        copied.append("only in the copy")
        assert list(copied) == [*records, "only in the copy"] and len(records) == 2


def test_files_are_closed_with_what_they_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "IN_MEMORY", 1)
    records, rows = spool.SpooledRecords(), spool.SpooledRows()
    rows.append(np.ones((2, 3)))
    files, kept = [records._file, rows._file], rows.array()
    del records, rows
    assert all(file is not None and file.closed for file in files) and kept.sum() == 6


def test_scores_of_many_segments_are_those_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [TextPair(f"a b c {i % 7} d", (f"a b {i % 5} c d", "x")) for i in range(100)]
    short = score_pairs(pairs).to_dict()
    monkeypatch.setattr(spool, "IN_MEMORY", 16)
    monkeypatch.setattr("dactnlg.evaluation.scoring.CHUNK", 10)
    long = score_pairs(pairs)
    assert isinstance(long.segments, np.memmap)
    for name, score in long.to_dict()["scores"].items():
        assert score == {**short["scores"][name], "value": pytest.approx(short["scores"][name]["value"], rel=1e-12)}
    assert long.to_dict()["segments"] == short["segments"]


def test_the_progress_bar_counts_every_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    bars = []

    class Bar:
        def __init__(self, **options: object) -> None:
            self.options, self.done = options, 0
            bars.append(self)

        def __enter__(self) -> Bar:
            return self

        def __exit__(self, *_: object) -> None:
            return None

        def update(self, count: int) -> None:
            self.done += count

    monkeypatch.setattr("tqdm.tqdm", Bar)
    monkeypatch.setattr("dactnlg.evaluation.scoring.CHUNK", 7)
    score_pairs([TextPair("a b", ("a b",))] * 20, progress=True, total=20)
    assert [(bar.done, bar.options["total"], bar.options["delay"]) for bar in bars] == [(20, 20, 2)]
    score_pairs([TextPair("a b", ("a b",))] * 20)
    assert len(bars) == 1
