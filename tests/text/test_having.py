"""Having: "it has a SLOT_COLOR" or "it is SLOT_COLOR", as training mostly says."""

from __future__ import annotations

from dactnlg.text.grammar.having import LEAST, OFTENER, as_held, as_values_of, held_values, value_nouns


def test_things_have_what_training_mostly_says_that_they_have() -> None:
    texts = ["it has a SLOT_COLOR"] * LEAST + ["SLOT_NAME is SLOT_COLOR , and cheap"] * (LEAST // OFTENER - 1)
    texts += ["with a SLOT_USE and beer"] * LEAST + ["it has beer and is SLOT_USE"] * (LEAST // OFTENER)
    texts += ["it has a SLOT_RARE"] * (LEAST - 1)
    texts += ["it has a SLOT_SIZE screen", "the size is SLOT_SIZE", "it is SLOT_SIZE in size"] * LEAST
    held = held_values([text.split() for text in texts])
    assert held == {"SLOT_COLOR"}
    for said, better in {
        "it is SLOT_COLOR .": "it has a SLOT_COLOR .",
        "it is cheap and is SLOT_COLOR#2": "it is cheap and has a SLOT_COLOR#2",
        "SLOT_NAME is SLOT_COLOR , and cheap": "SLOT_NAME has a SLOT_COLOR , and cheap",
        "the color is SLOT_COLOR .": "",
        "it is SLOT_COLOR in color": "",
        "it is SLOT_USE": "",
    }.items():
        assert as_held(tuple(said.split()), held) == tuple((better or said).split())


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
        assert as_values_of(tuple(said.split()), nouns) == tuple((better or said).split())
