"""What `dactnlg init` proposes as cues: phrases of the slot itself, not of others that often come with it."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.cues import proposed, read
from dactnlg.data.card import load_card
from dactnlg.data.contrast import merely_names
from dactnlg.data.corpus import load_corpus
from dactnlg.data.proposal_files import initialize
from dactnlg.text.slots import SlotChecker
from dactnlg.text.values.delexicalization import Delexicalizer

WORDS = ["quick", "slow", "new", "old", "big", "small", "long", "short"]


def cues_of(folder: Path, slot: str, said: dict[str, str]) -> dict[str, list[str]]:
    """Return the cues of a slot that are proposed for acts and their sentences, each with one of several words."""
    every = [(act, text.format(word)) for act, text in said.items() for word in WORDS]
    rows = [{"act": f"inform(name=N{n};{act})", "text": f"N{n}: {text}"} for n, (act, text) in enumerate(every)]
    (folder / "x.json").write_text(json.dumps(rows), encoding="utf-8")
    card = load_card(initialize(folder / "x.json", overwrite=True).card)
    return {value: list(found) for value, found in card.slots[slot].cues.items()} if slot in card.slots else {}


def test_a_value_in_other_words_is_no_cue_of_a_slot_beside_it(tmp_path: Path) -> None:
    # Only inns for adults are in the centre here, which not all sentences say.
    said = {
        "area='city centre';family=no": "This {} inn is in the city center.",
        "family=no": "This {} inn is for adults only.",
        "area=riverside;family=yes": "This {} inn on the riverside is for families.",
        "area=riverside": "This {} inn is on the riverside.",
    }
    cues = cues_of(tmp_path, "family", said)["no"]
    assert r"\bfor[ -]adults\b" in cues and not any("cent" in cue for cue in cues)


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


@pytest.mark.parametrize(
    ("name", "rows", "slot", "least"),
    [
        # People's sentences in E2E often lack the value, or say the opposite.
        ("e2e", 400, "familyFriendly", {"yes": (0.8, 0.01), "no": (0.6, 0.08)}),
        ("viggo", 800, "available_on_steam", {"yes": (0.95, 0.03), "no": (0.9, 0.08)}),
        ("viggo", 800, "has_linux_release", {"yes": (0.95, 0.03), "no": (0.9, 0.08)}),
        ("viggo", 800, "has_multiplayer", {"yes": (0.9, 0.05), "no": (0.95, 0.02)}),
        ("tv", 1500, "hasusbport", {"yes": (0.85, 0.05), "no": (0.85, 0.05)}),
        ("laptop", 1500, "isforbusinesscomputing", {"yes": (0.95, 0.05), "no": (0.9, 0.06)}),
    ],
)
def test_cues_from_few_pairs_read_yes_and_no_in_the_test_split(
    name: str, rows: int, slot: str, least: dict[str, tuple[float, float]], data_dir: Path
) -> None:
    corpus = load_corpus(name, data_dir)
    found = read(corpus, proposed(corpus, rows))
    for value, (share, error) in least.items():
        count = found[slot, value, "all"]
        assert found[slot, value, "right"] >= share * count > 0, found
        assert found[slot, value, "wrong"] <= error * count, found


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("It allows dogs.", ("yes",)),
        ("Dogs are fine.", ("yes",)),
        ("It doesn't allow any dogs.", ("no",)),
        ("No big dogs, please.", ("no",)),
        ("Dogs are not allowed.", ("no",)),
        ("It is not only for dogs.", ("yes",)),
        ("It has no pool but takes dogs.", ("yes",)),
        ("It has no pool and allows dogs.", ("yes",)),
        ("It has no room for cats and dogs.", ("no",)),
        ("It has a pool.", ()),
    ],
)
def test_a_denied_topic_is_a_no(sentence: str, said: tuple[str, ...], tmp_path: Path) -> None:
    texts = {"dogs=yes": "This {} inn is fine with dogs.", "dogs=no": "This {} inn has no room for dogs."}
    cues = cues_of(tmp_path, "dogs", texts | {"pool=yes": "This {} inn has a pool."})
    assert SlotChecker(Delexicalizer(), {"dogs": cues}).shown_cues("dogs", sentence) == said


def test_what_does_not_matter_has_a_cue_only_if_that_finds_nearly_all(tmp_path: Path) -> None:
    free = "If the size does not matter to you, here is a {} inn."
    assert cues_of(tmp_path, "size", {"size=dontcare": free, "pool=yes": "This {} inn has a pool."})["dontcare"]
    said = {"size=dontcare": free, "size=dontcare;town=x": "This {} inn is of whatever kind."}
    assert "dontcare" not in cues_of(tmp_path, "size", said | {"pool=yes": "This {} inn is of whatever kind."})


@pytest.mark.parametrize("seed", [2, 7, 8])
def test_what_the_card_says_of_its_cues_is_what_a_check_finds(seed: int, tmp_path: Path) -> None:
    every, chance = list(load_corpus("trails").pairs("train")), random.Random(seed)
    choices = [pair for pair in every if pair[0].acts[0].act_type == "?select"]
    pairs = chance.sample(every, 150) + chance.sample(choices, 30)
    (tmp_path / "x.jsonl").write_text("".join(json.dumps({"act": str(t), "text": text}) + "\n" for t, text in pairs))
    made = initialize(tmp_path / "x.jsonl").card
    claims = re.findall(r"^  (\S+):$|^      (\S+):  # (\d+) of (\d+) training", made.read_text(), re.M)
    corpus, slot = load_corpus(made), ""
    checker, found, said = (
        corpus.style().checker(),
        dict[tuple[str, str], list[int]](),
        dict[tuple[str, str], list[int]](),
    )
    for name, value, covered, out_of in claims:
        slot = name or slot
        if value:
            said[slot, value.strip("'")] = [int(covered), int(out_of)]
    for turn, text in corpus.pairs("train"):
        tally = checker.check_cues(turn, text)
        wrong = {fault.partition("=")[0] for fault in (*tally.missing, *tally.extra)}
        names = Counter(each.name for _, each in turn.slots())
        # A choice between two values of a slot is not checked.
        for _, each in turn.slots():
            if names[each.name] == 1 and (each.name, each.special or "") in said:
                counts = found.setdefault((each.name, each.special or ""), [0, 0])
                counts[0] += each.name not in wrong
                counts[1] += 1
    assert said and found == said
