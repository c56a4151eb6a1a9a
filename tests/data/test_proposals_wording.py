"""What `dactnlg init` proposes as wordings: aliases without the sentence around them, denials with their negation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from dactnlg._utils.patterns import compile_pattern, matches
from dactnlg.data.card import SlotCard, load_card
from dactnlg.data.contrast import DENIED, Contrast, is_bare
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


def says(slot: SlotCard, value: str, sentence: str) -> bool:
    """Whether a cue of a special value is found in a folded sentence."""
    return any(matches(compile_pattern(cue), sentence) for cue in slot.cues[value])


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
        (f"{DENIED} free", False),
    ],
)
def test_bare_phrases(phrase: str, bare: bool) -> None:
    assert is_bare(phrase) is bare


def test_cues_of_no_hold_the_negation(tmp_path: Path) -> None:
    slots = proposed(
        tmp_path,
        [
            ("wheelchair=yes", "Wheelchairs are welcome at {}."),
            ("wheelchair=no", "{} is not wheelchair accessible."),
            ("wheelchair=no", "Wheelchairs cannot enter {}."),
        ],
    )
    wheelchair = slots["wheelchair"]
    assert says(wheelchair, "no", "it is not wheelchair accessible.")
    assert not says(wheelchair, "no", "it is wheelchair accessible.")
    assert says(wheelchair, "yes", "wheelchairs are welcome.")


def test_one_cue_of_no_for_many_negations(tmp_path: Path) -> None:
    slots = proposed(
        tmp_path,
        [
            ("multiplayer=yes", "{} has multiplayer."),
            ("multiplayer=no", "{} doesn't have multiplayer."),
            ("multiplayer=no", "{} has no multiplayer."),
            ("multiplayer=no", "{} comes without any multiplayer."),
        ],
    )
    multiplayer = slots["multiplayer"]
    for sentence in ("it doesn’t offer multiplayer.", "it never had real multiplayer.", "it has no multiplayer."):
        assert says(multiplayer, "no", sentence) and not says(multiplayer, "yes", sentence)
    # Neither a value nor a mark nor many words stand between a negation and what it denies.
    for sentence in ("it is not bad, it has multiplayer.", "without _ it has multiplayer.", "it has multiplayer."):
        assert not says(multiplayer, "no", sentence) and says(multiplayer, "yes", sentence)


def test_what_is_said_without_a_negation_stays_a_cue_of_no(tmp_path: Path) -> None:
    pairs = [("locked=yes", "{} is locked."), ("locked=no", "{} is not locked."), ("locked=no", "{} is unlocked.")]
    slots = proposed(tmp_path, pairs)
    assert says(slots["locked"], "no", "it is unlocked.") and says(slots["locked"], "no", "it is not locked.")
    assert says(slots["locked"], "yes", "it is locked.") and not says(slots["locked"], "yes", "it is not locked.")


def test_cues_of_yes_stand_behind_no_negation(tmp_path: Path) -> None:
    pairs = [("guide=yes", "{} has an audio guide."), ("guide=no", "{} has no audio guide.")]
    guide = proposed(tmp_path, pairs)["guide"]
    assert says(guide, "yes", "it has an audio guide.") and not says(guide, "no", "it has an audio guide.")
    assert says(guide, "no", "it has no audio guide.")
    for sentence in ("it has no audio guide.", "it does not have an audio guide.", "it doesn't offer an audio guide."):
        assert not says(guide, "yes", sentence)


def test_phrases_behind_a_negation() -> None:
    sentences = ["it does not have an audio guide", "it is not bad, an audio guide is there", "an audio guide"]
    contrast = Contrast([*sentences, *sentences])
    assert contrast.having([f"{DENIED} audio guide"]) == {0, 3}
    # What denies in many ways is chosen only where that is asked for.
    assert not any(phrase.startswith(DENIED) for phrase in contrast.telling({0, 3}).phrases)
