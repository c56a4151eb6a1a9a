"""Nouns of values: "it has a color of SLOT_COLOR", as training says it."""

from __future__ import annotations

from dactnlg.text.grammar.value_nouns import LEAST, value_nouns, with_value_nouns


def test_values_have_the_nouns_that_training_gives_them() -> None:
    texts = ["it has a color of SLOT_COLOR"] * LEAST + ["a view of SLOT_SEA"] * LEAST + ["with a size of SLOT_SIZE"] * 9
    nouns = value_nouns([text.split() for text in texts])
    assert nouns == {"SLOT_COLOR": "color"}
    for said, better in {
        "it has a SLOT_COLOR .": "it has a color of SLOT_COLOR .",
        "a pub with an SLOT_COLOR and beer": "a pub with a color of SLOT_COLOR and beer",
        "it has a SLOT_COLOR#2 and a SLOT_COLOR": "",
        "it has a SLOT_COLOR color": "",
        "it is SLOT_COLOR": "",
    }.items():
        assert with_value_nouns(tuple(said.split()), nouns) == tuple((better or said).split())
