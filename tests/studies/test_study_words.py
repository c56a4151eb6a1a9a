"""Acts in plain words for raters: every slot and value of the act."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dactnlg.acts import Turn, parse
from dactnlg.acts.turn import DialogueAct, Slot
from dactnlg.data.corpus import load_corpus
from dactnlg.studies.sampling import distinct_acts
from dactnlg.studies.words import in_words, spaced

REAL = ["dstc2", "restaurants", "hotel", "laptop", "tv", "viggo", "e2e"]


def test_an_act_is_written_as_instructions() -> None:
    turn = parse("inform(name='Red Door Cafe';kidsallowed=no;pricerange=dontcare)&?request(near)")
    assert in_words(turn).splitlines() == [
        "Tell the user:",
        "- name: Red Door Cafe",
        "- kids allowed: no",
        "- price range: any, it does not matter",
        "Ask the user for:",
        "- near",
    ]
    assert in_words(parse("goodbye()")) == "Say goodbye."
    assert in_words(parse("Request(food=?)")) == "Ask the user for:\n- food: ask for it"
    for kind in ("request", "Request"):
        assert in_words(parse(f"{kind}(area=north)")) == "Ask the user for something with:\n- area: north"
    assert in_words(parse("offer(name=x)&offer(food=y)")) == "Offer:\n- name: x\n- food: y"


@pytest.mark.parametrize("corpus", REAL)
def test_acts_of_real_corpora_are_written_out_whole(corpus: str, data_dir: Path) -> None:
    examples = load_corpus(corpus, data_dir).split("test")
    special = {"dontcare", "dont_care", "none", "yes", "no", "true", "false", "?"}
    for act in distinct_acts(examples):
        lines = in_words(act.turn).splitlines()
        slots = [slot for one in act.turn for slot in one.slots]
        # Every slot has a line with its value, and no act type is unknown.
        assert sum(line.startswith("- ") for line in lines) == len(slots)
        assert not [line for line in lines if line.startswith(("Say (", "Ask about ("))]
        for slot in slots:
            assert not slot.value or slot.value.lower() in special or any(slot.value in line for line in lines)
    # Slot names written as one word are split.
    shown = {spaced(slot.name) for act in distinct_acts(examples) for one in act.turn for slot in one.slots}
    assert not shown & {"pricerange", "kidsallowed", "hasusbport", "screensizerange", "addr", "has_multiplayer"}


@given(st.text("ab-_.\x1b\u202eZ", min_size=1), st.text("ab-_ .\x1b\u202eZ", min_size=1), st.text(min_size=1))
def test_values_cannot_add_lines_or_control_characters(kind: str, name: str, value: str) -> None:
    slot = Slot(f"x{name}y", f"x{value}")
    found = in_words(Turn((DialogueAct(f"x{kind}y", (slot, slot)),)))
    assert len(found.splitlines()) == 3
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", found)
