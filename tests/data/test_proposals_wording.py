"""Aliases that `dactnlg init` proposes: they have no words of the sentence around a value."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from dactnlg.data.card import SlotCard, load_card
from dactnlg.data.contrast import is_bare
from dactnlg.data.corpus import load_corpus
from dactnlg.data.inspection import audit
from dactnlg.data.proposal_files import initialize

Pairs = Sequence[tuple[str, str]]
NAMES = ["Gold", "Kings", "The Sea", "Dinosaurs", "Voices", "Atelier", "Storm", "Paper"]


def proposed(folder: Path, pairs: Pairs) -> dict[str, SlotCard]:
    """Return the slots of the card that is proposed for acts and sentences about each of some names."""
    rows = [
        {"act": f"inform(name='{name}';{values})", "text": text.format(name)}
        for values, text in pairs
        for name in NAMES
    ]
    (folder / "x.json").write_text(json.dumps(rows))
    return load_card(initialize(folder / "x.json").card).slots


def test_aliases_are_without_the_words_around_a_value(tmp_path: Path) -> None:
    slots = proposed(
        tmp_path,
        [
            ("price='£0'", "{} is free."),
            ("price='£12'", "{} costs £12."),
            ("opens='10:00'", "{} opens at 10 o'clock."),
            ("opens='12:00'", "{} opens at noon."),
            ("opens='18:45'", "{} opens at 6:45 pm."),
        ],
    )
    assert slots["price"].aliases == {"£0": ["free"]}
    assert slots["opens"].aliases == {"10:00": ["10 o'clock"], "12:00": ["noon"]}


def test_aliases_are_written_as_sentences_write_them(tmp_path: Path) -> None:
    pairs = [("stops=0", "{} is non-stop."), ("stops=2", "{} makes two stops."), ("stops=3", "{} makes three stops.")]
    assert proposed(tmp_path, pairs)["stops"].aliases == {"0": ["non-stop"]}
    found = audit(load_corpus(str(tmp_path / "x.card.yaml")))
    assert found.values_not_found.count == 0


def test_a_part_of_a_value_is_no_alias(tmp_path: Path) -> None:
    pairs = [("opens='10:00'", "{} opens at 10."), ("opens='18:45'", "{} opens at 6:45 pm."), ("guide=no", "{} is it.")]
    assert not [slot for slot in proposed(tmp_path, pairs).values() if slot.aliases]


@pytest.mark.parametrize(
    ("phrase", "bare"),
    [
        ("free", True),
        ("10 o'clock", True),
        ("bed and breakfast", True),
        ("no charge", True),
        ("is free", False),
        ("at 10", False),
        ("and fighting", False),
        ("first and", False),
        ("costs nothing", False),
        ("entry is free", False),
        ("'s free", False),
    ],
)
def test_bare_phrases_have_no_words_around_a_value(phrase: str, bare: bool) -> None:
    assert is_bare(phrase) is bare


def test_the_rules_of_english_are_for_english(tmp_path: Path) -> None:
    pairs = [("allumé=yes", "Il y a un {} allumé."), ("allumé=no", "Il y a un {} éteint."), ("x=1", "{} : 1.")]
    proposed(tmp_path, pairs)
    assert load_card(tmp_path / "x.card.yaml").language == load_corpus(tmp_path / "x.json").card.language == "und"
    assert "language: und" in (tmp_path / "x.card.yaml").read_text()
    english = [{"act": f"inform(n={i})", "text": f"You have {i} rooms."} for i in range(30)]
    (tmp_path / "y.json").write_text(json.dumps(english))
    assert load_corpus(tmp_path / "y.json").card.language == "en"
    (tmp_path / "y.json").write_text(json.dumps([{**row, "text": str(row["text"]).upper()} for row in english]))
    assert load_corpus(tmp_path / "y.json").card.language == "en"


def test_values_inside_longer_words_are_not_silent(tmp_path: Path) -> None:
    rows = [
        {"act": f"bilgi(yer={place};derece={degrees})", "text": f"{place}'da sıcaklık {degrees} derece."}
        for place in ("İstanbul", "Bursa", "Ankara")
        for degrees in range(15)
    ]
    (tmp_path / "x.json").write_text(json.dumps(rows))
    assert not load_card(initialize(tmp_path / "x.json").card).silent
    assert "lexicalized: [yer]" in (tmp_path / "x.yaml").read_text()
