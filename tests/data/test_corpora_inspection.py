"""The audit: every number on a small corpus counted by hand, and the published ones on the real corpora."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from dactnlg._utils.resources import corpus_names
from dactnlg.acts import parse
from dactnlg.data.card import load_card
from dactnlg.data.catalogue import overview
from dactnlg.data.corpus import Corpus, load_corpus
from dactnlg.data.inspection import Audit, audit, skeleton

CARD = """
name: small
format: pairs
cased: true
files: {train: {path: train.jsonl}, test: {path: test.jsonl}}
splits: {train: 7, test: 4}
slots: {pets: {cues: {yes: ['(?<!no )pets'], no: ['no pets']}}}
silent: [goodbye.name]
"""
TRAIN = [
    ("inform(name=Ark;food=thai)", "Ark serves Thai food."),
    ("inform(name=Ark;food=thai)", "Ark serves Thai food."),
    ("inform(name=Ark;food=thai)", "Ark is good."),
    ("inform(name=Ark;pets=no)", "Ark allows pets."),
    ("inform(name=Ark;near=Ark)", "Ark is near Ark."),
    ("goodbye(name=Ark)", "Bye."),
]
TEST = [
    ("inform(food=greek;name=Ark)", "Ark serves Greek food."),
    ("inform(name=Ark;food=thai)", "Ark serves Thai food."),
    ("inform(name=Ark;pets=yes)", "Ark allows pets."),
    ("?request(food)", "What food, if there are pets?"),
]


@pytest.fixture
def small(tmp_path: Path) -> Audit:
    for name, rows in (("train", TRAIN), ("test", TEST)):
        lines = [json.dumps({"act": act, "text": text}) for act, text in rows]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    (tmp_path / "small.yaml").write_text(CARD)
    return audit(load_corpus(tmp_path / "small.yaml"))


def test_acts_slots_and_splits_are_counted(small: Audit) -> None:
    assert small.splits == {
        "train": {"acts": 6, "pairs": 6, "expected": 7},
        "test": {"acts": 4, "pairs": 4, "expected": 4},
    }
    assert small.acts == {"inform": 8, "goodbye": 1, "?request": 1}
    assert small.slots == {"name": 9, "food": 6, "pets": 2, "near": 1}
    assert small.special_values == {"pets=no": 1, "pets=yes": 1}
    # name+food, name+pets=no, name+near, goodbye(name) | name+food, name+pets=yes, ?request(food)
    assert small.delexicalized_acts == {"train": 4, "test": 3}


def test_no_order_of_rows_makes_an_act_type_rare(tmp_path: Path) -> None:
    rows = [f"goodbye(),Bye {n}!\n" for n in range(20)] + [f"inform(pets=no),No pets {n}.\n" for n in range(20)]
    audits = []
    for name, order in (
        ("sorted", rows),
        ("mixed", [row for two in zip(rows[:20], rows[20:], strict=True) for row in two]),
    ):
        (tmp_path / f"{name}.csv").write_text("act,text\n" + "".join(order))
        audits.append(audit(load_corpus(tmp_path / f"{name}.csv").undivided()))
    first, second = audits
    assert first.acts == second.acts == {"goodbye": 20, "inform": 20}
    assert first.slots == second.slots == {"pets": 20} and first.special_values == second.special_values
    assert "rarer than" not in str(first)


def test_values_not_found_are_counted_by_slot(small: Audit) -> None:
    # Six in the three of name+food, one, two, none (silent); then two, two, one, none.
    assert (small.values_not_found.count, small.values_not_found.out_of) == (1, 14)
    assert small.values_not_found.examples == ["food=thai | Ark is good."]
    assert small.values_not_found.by_slot == {"inform.food": [1, 5]}


def test_ambiguous_values_and_round_trips_are_counted(small: Audit) -> None:
    assert small.ambiguous.count == 1
    assert small.ambiguous.examples[0].startswith("inform(name=Ark;near=Ark)")
    assert (small.round_trips.count, small.round_trips.out_of) == (0, 10)


def test_what_the_splits_share_is_counted(small: Audit) -> None:
    assert small.duplicates.count == 1
    assert small.test_in_train.examples == ["inform(name=Ark;food=thai) | Ark serves Thai food."]
    assert small.unseen_test_acts.count == 2
    assert small.unseen_test_acts.examples == ["inform(name=_;pets=yes)", "?request(food)"]


def test_cues_that_disagree_with_their_act_are_counted(small: Audit) -> None:
    assert (small.cues.count, small.cues.out_of) == (2, 3)
    assert small.cues.by_slot == {"pets=no": [1, 1], "pets=yes (not asked for)": [1, 1]}


def test_a_value_beside_yes_and_no_counts_as_checked(tmp_path: Path) -> None:
    """What counts as flagged counts as checked, and is named; a slot of no alone may have any values."""
    cues = "parking: {cues: {yes: [has parking], no: [no parking]}}, pets: {cues: {no: [no pets]}}"
    (tmp_path / "x.yaml").write_text(f"name: x\nformat: pairs\nfiles: {{train: {{path: x.csv}}}}\nslots: {{{cues}}}\n")
    rows = ["parking=garage,It has a garage.", "parking=yes,It has parking.", "pets=cats,Cats are welcome."]
    lines = [f"inform({slot}),{text}" for slot, text in (row.split(",") for row in rows)]
    (tmp_path / "x.csv").write_text("act,text\n" + "\n".join(lines))
    found = audit(load_corpus(tmp_path / "x.yaml"))
    assert (found.cues.count, found.cues.out_of) == (1, 2)
    assert found.cues.by_slot == {"parking (not named)": [1, 1]}
    assert "remedy: corpus.lexicalized: [parking]" in found.to_text()


def test_what_the_card_alone_has_is_named(tmp_path: Path) -> None:
    """A misspelt slot on a card does nothing, and says nothing by itself."""
    slots = [
        "nmae: {proper: true, aliases: {Ark: [ship]}}",
        "name: {aliases: {ark: [ship], Arc: [ship]}, ordinary: [Ok], cues: {none: [a], small: [b]}}",
        "area: {apart: true, aliases: {north: [up], east or north: [there]}}",
    ]
    card = f"slots: {{{', '.join(slots)}}}\nsilent: [name, inform.name]\n"
    card += "forms: {path: forms.json, slots: {areas: town, area: town}}\n"
    (tmp_path / "x.yaml").write_text(f"name: x\nformat: pairs\nfiles: {{train: {{path: x.csv}}}}\n{card}")
    (tmp_path / "x.csv").write_text("act,text\ninform(name=Ark;area='east or north'),This is Ark.\n")
    tables = {name: {"east": ["east\teasts\tX"]} for name in ("town", "name", "aera")}
    (tmp_path / "forms.json").write_text(json.dumps(tables))
    found = audit(load_corpus(tmp_path / "x.yaml"))
    expected = ["nmae", "name=Arc", "name=Ok", "name=small", "name", "forms.slots.areas", "aera in forms.json"]
    assert found.strangers == expected
    assert f"on the card alone: {', '.join(expected)}\n    remedy: " in found.to_text()


def test_cues_of_true_and_false_are_those_of_yes_and_no(tmp_path: Path) -> None:
    card = "slots: {pets: {cues: {'False': ['no pets'], 'true': ['^(?!.*(?&False)).*pets'], Few: [few]}}}"
    (tmp_path / "x.yaml").write_text(f"name: x\nformat: pairs\nfiles: {{train: {{path: x.csv}}}}\n{card}")
    cues = load_card(tmp_path / "x.yaml").slots["pets"].cues
    assert cues == {"no": ["no pets"], "yes": ["^(?!.*(?:no pets)).*pets"], "few": ["few"]}


def test_every_fault_has_a_remedy(small: Audit) -> None:
    lines = small.to_text().splitlines()
    remedies = [line for line in lines if line.startswith("    remedy: ")]
    # Round trips are the only kind without a fault here; rare act types come last.
    assert len(remedies) == 7
    assert "an alias on the card: slots: {food: {aliases: {'thai': ['OTHER WORDING']}}}" in remedies[0]
    assert any("slots: {pets: {cues: {'no': ['PATTERN']}}}" in line for line in remedies)
    assert "act types rarer than 10: inform, goodbye, ?request" in lines
    assert not small.unchecked


def test_remedies_are_of_the_slots_there_are(tmp_path: Path) -> None:
    """E2E has slots of two words; values may have quotes."""
    card = "name: x\nformat: pairs\nfiles: {train: {path: x.jsonl}}\nslots: {car park: {cues: {yes: [parking]}}}\n"
    (tmp_path / "x.yaml").write_text(card)
    act = "inform(name='Harry\\'s';car park=yes)"
    rows = [{"act": act, "text": "It is here."}, *[{"act": "inform(name=Ark)", "text": "Ark is here."}] * 20]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows)))
    lines = audit(load_corpus(tmp_path / "x.yaml")).to_text().splitlines()
    remedies = [line.partition("card")[2] for line in lines if "on the card" in line]
    found = [yaml.safe_load(re.findall(r"slots: \{.*\}", line)[0])["slots"] for line in remedies]
    assert found == [
        {"name": {"aliases": {"Harry's": ["OTHER WORDING"]}}},
        {"car park": {"cues": {"yes": ["PATTERN"]}}},
    ]


def test_special_values_without_cues_are_named(tmp_path: Path) -> None:
    rows = [{"act": "inform(name=Ark;pets=no)", "text": "Ark allows none."}] * 3
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = audit(load_corpus(tmp_path / "x.jsonl"))
    assert found.unchecked == {"pets=no": 3}
    assert "special values without cues, which only the reader of a run checks: pets=no 3" in found.to_text()
    assert "dactnlg init proposes those" in found.to_text()


def test_values_that_cues_find_are_found(tmp_path: Path) -> None:
    """The remedy for a code that sentences word, cues, is not followed by the one for what they never say."""
    rows = ["inform(price=1),It is cheap.", "inform(price=1),It costs little.", "inform(price=2),It is dear."]
    (tmp_path / "x.csv").write_text("\n".join(["act,text", *rows]))
    card = "name: x\nformat: pairs\nfiles: {train: {path: x.csv}}\nslots: {price: {cues: {'1': [cheap], '2': [dear]}}}"
    (tmp_path / "x.yaml").write_text(card)
    assert audit(load_corpus(tmp_path / "x.yaml")).values_not_found.by_slot == {"inform.price": [1, 3]}


def test_a_slot_that_is_never_said_is_silent(tmp_path: Path) -> None:
    rows = [{"act": f"goodbye(name=n{n})", "text": f"Bye {n}!"} for n in range(30)]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert (
        "if sentences never say it: silent: [goodbye.name] on the card"
        in audit(load_corpus(tmp_path / "x.jsonl")).to_text()
    )


def test_the_report_is_text_or_json(small: Audit) -> None:
    text = small.to_text()
    assert "7" in text.splitlines()[1]
    assert "values not found in their sentence: 1 of 14 (7.14%)" in text
    assert "e.g. food=thai | Ark is good." in text
    assert json.loads(json.dumps(small.to_json()))["values_not_found"]["count"] == 1


def test_skeleton_leaves_values_out_and_order_aside() -> None:
    left = skeleton(parse("inform(name='red door cafe';kidsallowed=false;near)&bye()"))
    assert str(left) == "inform(kidsallowed=no;name=_;near)&bye()"
    assert left == skeleton(parse("inform(near;kidsallowed=no;name=x)&bye()"))


def test_restaurants_as_published(corpora: Callable[[str], Corpus]) -> None:
    """158 distinct delexicalised test acts and 323 test pairs seen in training; round trips are exact."""
    result = audit(corpora("restaurants"))
    assert result.delexicalized_acts["test"] == 158
    assert result.test_in_train.count == 323
    assert result.round_trips.count == 0
    assert result.values_not_found.count < 0.003 * result.values_not_found.out_of
    assert result.repairs == {"train: stray quote stripped from a value": 1}
    assert result.cues.count < 0.04 * result.cues.out_of


def test_the_embedded_corpus_is_clean(corpora: Callable[[str], Corpus]) -> None:
    result = audit(corpora("trails"))
    assert result.values_not_found.count == result.round_trips.count == result.test_in_train.count == 0


def test_overview_lists_every_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DACTNLG_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    lines = overview().splitlines()
    assert [line.split()[0] for line in lines] == corpus_names()
    assert sum("dactnlg corpora fetch" in line for line in lines) == len(lines) - 1
