"""`dactnlg init` on files as users have them: other toolkits' formats, and quirks of spreadsheets and scripts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dactnlg.cli.main import main
from dactnlg.data.card import load_card
from dactnlg.data.corpus import load_corpus


def test_files_of_rnnlg_have_a_card_of_their_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [[f"inform(name='n{n}')", f"n{n} is it , is it ?", "it is ."] for n in range(40)]
    rows[0][1] = "n0 is a slip, as RNNLG's files have them."
    path = tmp_path / "flights.json"
    path.write_text("####\r\n# Copyright\r\n" + json.dumps(rows, indent=4), encoding="utf-8-sig")
    assert main(["init", str(path), "--act", "act"]) == 2
    assert "leave --act and --text out" in capsys.readouterr().err
    assert main(["init", str(path)]) == 0
    card = load_card(tmp_path / "flights.card.yaml")
    assert (card.format, card.columns, card.spaced) == ("rnnlg", None, True)
    corpus = load_corpus(tmp_path / "flights.card.yaml")
    assert sum(len(example.handcrafted) for split in corpus.splits for example in corpus.split(split)) == len(rows)
    path.write_text(json.dumps([*rows, ["goodbye()", " ", "bye"]]))
    assert main(["init", str(path), "--overwrite"]) == 2
    assert "the sentence is blank" in capsys.readouterr().err
