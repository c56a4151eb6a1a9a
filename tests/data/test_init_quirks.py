"""`dactnlg init` on files as users have them: other toolkits' formats, and quirks of spreadsheets and scripts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from dactnlg.cli.main import main
from dactnlg.data.card import ColumnsCard, load_card
from dactnlg.data.corpus import load_corpus
from dactnlg.data.proposal_files import initialize
from dactnlg.runs import yamlfile


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


def test_the_longest_column_that_has_the_values_holds_the_sentences(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        f"inform(name=Nest{n}),a long remark on row {n} of the whole table,It is Nest{n}.,Nest{n}" for n in range(30)
    ]
    (tmp_path / "x.csv").write_text("\n".join(["Meaning,Remark,Sentence,Name", *lines]))
    assert main(["init", str(tmp_path / "x.csv")]) == 0
    assert "columns: acts in 'Meaning', sentences in 'Sentence'" in capsys.readouterr().out
    assert load_card(tmp_path / "x.card.yaml").columns == ColumnsCard(act="Meaning", text="Sentence")


def test_lines_of_json_may_be_in_a_file_called_json(tmp_path: Path) -> None:
    rows = [json.dumps({"act": f"inform(name=Nest{n})", "text": f"It is Nest{n}."}) for n in range(30)]
    (tmp_path / "x.json").write_text("\r\n".join(rows) + "\n")
    corpus = load_corpus(initialize(tmp_path / "x.json").card)
    assert sum(1 for split in corpus.splits for _ in corpus.pairs(split)) == 30


def test_the_sentences_that_are_named_are_meant_beside_references(tmp_path: Path) -> None:
    """As in GEM's files, where `references` is an empty list in training."""
    rows = [
        {"meaning_representation": f"name[Nest{n}]", "target": f"It is Nest{n}.", "references": []} for n in range(30)
    ]
    (tmp_path / "x.json").write_text(json.dumps(rows))
    assert load_card(initialize(tmp_path / "x.json").card).columns == ColumnsCard(
        act="meaning_representation", text="target"
    )
    for row in rows:
        row["references"] = [row["target"], "This is it."]
    (tmp_path / "x.json").write_text(json.dumps(rows))
    for text, count in (("target", 30), ("references", 60)):
        corpus = load_corpus(initialize(tmp_path / "x.json", text=text, overwrite=True).card)
        assert sum(1 for split in corpus.splits for _ in corpus.pairs(split)) == count


def proposal(folder: Path, pairs: Sequence[tuple[str, str]]) -> tuple[list[str], list[str], str]:
    """Return the silent and the lexicalised slots that are proposed for pairs, each with 25 names, and the summary."""
    rows = [
        {"act": act.replace("()", "(name=N)").replace("N", f"Nest{n}"), "text": text.replace("N", f"Nest{n}")}
        for act, text in pairs
        for n in range(25)
    ]
    (folder / "x.json").write_text(json.dumps(rows), encoding="utf-8")
    done = initialize(folder / "x.json", overwrite=True)
    section, _, _ = yamlfile.read(done.configuration, "")
    return load_card(done.card).silent, section["corpus"].get("lexicalized", []), "\n".join(done.summary)


def test_codes_that_sentences_word_are_not_silent(tmp_path: Path) -> None:
    """A silent slot is neither learned nor checked: every price would be said alike, and pass."""
    said = {
        "1": ["It is cheap.", "It does not cost much."],
        "2": ["Prices are average.", "It is moderate."],
        "3": ["It is steep.", "It costs a lot."],
    }
    pairs = [(f"inform(name=N;price={price})", f"This is N. {text}") for price in said for text in said[price]]
    silent, lexicalized, _ = proposal(tmp_path, [*pairs, ("goodbye()", "Bye."), ("goodbye()", "Thanks, bye.")])
    assert (silent, lexicalized) == (["goodbye.name"], ["price"])
    # Its cues find every wording, so that all are learned and none is flagged.
    checker = load_corpus(tmp_path / "x.card.yaml").style().checker()
    for price, texts in said.items():
        for text in texts:
            assert checker.shown_cues("price", text) == (price,), text


def test_words_beside_yes_and_no_are_lexicalized(tmp_path: Path) -> None:
    pairs = [("yes", "N has parking."), ("no", "N has no parking."), ("garage", "N has a garage.")]
    silent, lexicalized, _ = proposal(tmp_path, [(f"inform(name=N;parking={value})", text) for value, text in pairs])
    assert (silent, lexicalized) == ([], ["parking"])


def test_forms_are_named_where_values_may_be_inflected(tmp_path: Path) -> None:
    places = {"Karlín": "v Karlíně", "Smíchov": "na Smíchově", "Dejvice": "v Dejvicích"}
    pairs = [(f"inform(name=N;area={area})", f"N je {said}.") for area, said in places.items()]
    _, lexicalized, summary = proposal(tmp_path, pairs)
    assert lexicalized == ["area"] and "see language, and forms if values are inflected" in summary
    assert "see `forms` in the guide" in (tmp_path / "x.card.yaml").read_text(encoding="utf-8")
    assert "inflected" not in proposal(tmp_path, [("inform(name=N;area=Karlín)", "N je Karlín.")])[2]


def test_a_value_that_is_not_found_is_named(tmp_path: Path) -> None:
    _, _, summary = proposal(tmp_path, [("inform(name=N;tel=555-N)", "N: 555-N."), ("inform(name=N;tel=null)", "N!")])
    assert "not found in their sentence, such as 'null'; see aliases" in summary


def test_a_number_alone_is_no_cue(tmp_path: Path) -> None:
    # "May" is too common a word to be a phrase, so that 3 alone is in all sentences of one date and in no others.
    said = {"2024-05-03": ["May 3", "3 May"], "2024-06-10": ["June 10"], "2024-07-21": ["July 21"]}
    proposal(tmp_path, [(f"inform(name=N;date={date})", f"N is on {text}.") for date in said for text in said[date]])
    cues = load_card(tmp_path / "x.card.yaml").slots["date"].cues
    assert cues.keys() == said.keys() and r"\b3\b" not in cues["2024-05-03"]
