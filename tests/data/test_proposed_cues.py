"""What `dactnlg init` proposes as cues: phrases of the slot itself, not of others that often come with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dactnlg.data.card import load_card
from dactnlg.data.contrast import merely_names
from dactnlg.data.proposal_files import initialize

WORDS = ["quick", "slow", "new", "old", "big", "small", "long", "short"]


def cues_of(folder: Path, slot: str, said: dict[str, str]) -> dict[str, list[str]]:
    """Return the cues of a slot that are proposed for acts and their sentences, each with one of several words."""
    every = [(act, text.format(word)) for act, text in said.items() for word in WORDS]
    rows = [{"act": f"inform(name=N{n};{act})", "text": f"N{n}: {text}"} for n, (act, text) in enumerate(every)]
    (folder / "x.json").write_text(json.dumps(rows), encoding="utf-8")
    return {
        value: list(found)
        for value, found in load_card(initialize(folder / "x.json", overwrite=True).card).slots[slot].cues.items()
    }


def test_a_value_in_other_words_is_no_cue_of_a_slot_beside_it(tmp_path: Path) -> None:
    # Only inns for adults are in the centre here, which not all sentences say.
    said = {
        "area='city centre';family=no": "This {} inn is in the city center.",
        "family=no": "This {} inn is for adults only.",
        "area=riverside;family=yes": "This {} inn on the riverside is for families.",
        "area=riverside": "This {} inn is on the riverside.",
    }
    assert cues_of(tmp_path, "family", said)["no"] == [r"\bfor[ -]adults\b"]


def test_words_of_another_slots_name_are_no_cue(tmp_path: Path) -> None:
    # "Release" is of both names; "linux release" has more words of the other.
    said = {
        "has_mac_release=yes;has_linux_release=no": "This {} game is for the apple and has no linux release.",
        "has_mac_release=yes": "This {} game is on mac as well.",
        "has_mac_release=no;has_linux_release=yes": "This {} game cannot be had on mac, but has one for linux.",
        "has_mac_release=no": "This {} game is not on mac at all.",
    }
    cues = cues_of(tmp_path, "has_mac_release", said)
    assert cues["yes"] and not any("linux" in cue for cue in cues["yes"])
    assert any("linux" in cue for cue in cues_of(tmp_path, "has_linux_release", said)["no"])


@pytest.mark.parametrize(
    ("phrase", "slot", "merely"),
    [
        ("the eco rating", "ecorating", True),
        ("about eco", "ecorating", True),
        ("of usb ports", "hasusbport", True),
        ("the price range", "priceRange", True),
        ("any eco rating", "ecorating", False),
        ("care about eco", "ecorating", False),
        ("all kids", "kidsallowed", False),
        ("with or without usb", "hasusbport", False),
    ],
)
def test_a_slots_name_alone_says_no_value(phrase: str, slot: str, merely: bool) -> None:
    assert merely_names(phrase, slot) == merely
