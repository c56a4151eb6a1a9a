"""Imports: templates of Rasa, OVOS and Home Assistant become training pairs; what cannot be read is listed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from dactnlg import Generator, parse
from dactnlg.cli.main import main
from dactnlg.data.corpus import load_corpus
from dactnlg.errors import ConfigError, UserError
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.serving.imports import home_assistant, ovos, rasa
from dactnlg.serving.imports.pairs import PER_TEMPLATE, write_import
from dactnlg.serving.imports.slot_map import SlotMap, invented, map_of, read_map
from dactnlg.serving.imports.templates import ExpansionError, variants
from dactnlg.serving.rasa import RasaResponder

DOMAIN = Path(__file__).parent / "shop_domain.yml"


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The import of a domain of 60 responses, and a run trained with the imported configuration."""
    folder = tmp_path_factory.mktemp("import") / "shop"
    assert main(["import", "rasa", str(DOMAIN), "--output", str(folder)]) == 0
    command = ["train", str(folder / "pairs.yaml"), "--output", str(folder / "run"), "--quiet"]
    # benchmarks/imports.py trains for all epochs of the configuration.
    assert main([*command, "--set", "training.epochs=250"]) == 0
    return folder


def test_a_run_says_all_slots_of_sixty_imported_responses(shop: Path) -> None:
    acts = [parse(line) for line in (shop / "acts.txt").read_text().splitlines()]
    assert len(acts) == 60
    patterns: dict[str, list[str]] = {}
    for row in rows(shop / "templates.jsonl"):
        said = re.sub(r"\\\{.*?\\\}", "(.+)", re.escape(row["template"]).replace("\\ ", " "))
        patterns.setdefault(row["response"].removeprefix("utter_"), []).append(said)
    generator = Generator.load(shop / "run")
    # Also with a value that is not in the training data.
    other = [re.sub(r"=(\w[^;)']*|'[^']*')", "=Quux", str(turn)) for turn in acts]
    single = [text for text in other if text.count("Quux") == 1]
    for turn, found in zip([*acts, *map(parse, single)], generator.generate([*acts, *single]), strict=True):
        assert found.slots_ok, found
        for _, slot in turn.slots():
            assert slot.value in found.text
        named = turn.acts[0].act_type
        assert any(re.fullmatch(pattern, found.text) for pattern in patterns[named]), found.text


def test_responses_that_cannot_be_imported_are_listed(shop: Path) -> None:
    reasons = {row["origin"].split(", ")[1]: row["reason"] for row in rows(shop / "not-read.jsonl")}
    assert set(reasons) == {"utter_picture", "utter_vip", "utter_slack", "utter_twice"}
    assert "no text, but image" in reasons["utter_picture"] and "condition" in reasons["utter_vip"]
    assert "channel slack" in reasons["utter_slack"] and "twice" in reasons["utter_twice"]


def test_every_imported_pair_is_faithful(shop: Path) -> None:
    corpus = load_corpus(shop / "pairs.card.yaml")
    checker = FidelityChecker(corpus.style().checker())
    pairs = [pair for split in corpus.splits for pair in corpus.pairs(split)]
    assert len(pairs) == 69 * PER_TEMPLATE
    assert all(checker.check(turn, text).ok for turn, text in pairs)
    assert len({turn for turn, _ in pairs if turn.acts[0].act_type == "found_product"}) > 5


def test_the_imported_mapping_file_works_as_it_is(shop: Path, tmp_path: Path) -> None:
    mapping = yaml.safe_load((shop / "mapping.yml").read_text())
    path = tmp_path / "mapping.yml"
    path.write_text(yaml.safe_dump({**mapping, "domain": str(DOMAIN)}))
    said = RasaResponder.load(Generator.load(shop / "run"), path)
    slots = {"product": "lamp", "brand": "Lux", "price": "$9"}
    answer = said.respond({"response": "utter_found_product", "tracker": {"slots": slots}})
    assert all(value in answer["text"] for value in slots.values()) and said.counts == {"said": 1}
    assert said.respond({"response": "utter_picture"})["image"] == "https://example.org/shoe.png"


def test_an_edited_slot_map_changes_acts_and_values(shop: Path, tmp_path: Path) -> None:
    known = yaml.safe_load((shop / "slots.yaml").read_text())
    assert known["slots"]["size"]["values"] == ["small", "medium", "large"]
    mended = tmp_path / "slots.yaml"
    mended.write_text("acts: {utter_found_product: inform}\nslots: {product: {name: item, values: [kite, lamp]}}\n")
    command = ["import", "rasa", str(DOMAIN), "--output", str(tmp_path / "again"), "--map", str(mended)]
    assert main(command) == 0
    acts = [row["act"] for row in rows(tmp_path / "again" / "templates.jsonl")]
    assert "inform(item;brand;price)" in acts and "product_size(item;size)" in acts
    texts = [row["text"] for row in rows(tmp_path / "again" / "pairs.jsonl") if row["act"].startswith("removed")]
    assert set(texts) == {"I took the kite out of your cart.", "I took the lamp out of your cart."}
    # Nothing is overwritten unless asked for.
    assert main(command) == 2
    assert main([*command, "--overwrite"]) == 0


def test_an_import_keeps_the_settings_of_a_mapping_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mapping = tmp_path / "out" / "mapping.yml"
    mapping.parent.mkdir()
    mapping.write_text("domain: ../domain.yml\nresponses: {utter_mine: goodbye()}\n")
    command = ["import", "rasa", str(DOMAIN), "--output", str(tmp_path / "out")]
    assert main(command) == 2
    assert "mapping.yml is there already" in capsys.readouterr().err
    assert "utter_mine" in mapping.read_text()
    # The responses are rewritten; settings that the import cannot know stay.
    assert main([*command, "--overwrite"]) == 0
    found = yaml.safe_load(mapping.read_text())
    assert (found["domain"], found["otherwise"]) == ("../domain.yml", "Sorry, I cannot say that.")
    assert "utter_mine" not in found["responses"] and "utter_found_product" in found["responses"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("acts: {a: 'in form'}", "cannot be an act type"),
        ("slots: {a: {name: 'x=y'}}", "cannot be a slot name"),
        ("slot: {}", "slot"),
        ("slots: {a: {value: [x]}}", "slots.a.value"),
        ("- x", "a slot map is a mapping"),
    ],
)
def test_mistakes_in_a_slot_map_are_reported(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "slots.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=re.escape(told)):
        read_map(path)


def test_invented_values_are_distinct_and_fit() -> None:
    assert "7:30 pm" in invented("pickupTime") and "$240" in invented("total_price") and "12" in invented("num_people")
    words = [*invented("cuisine"), *invented("street"), *invented("runtime_thing")]
    assert len(set(words)) == len(words)
    assert invented("cuisine") == invented("cuisine")


def test_alternatives_are_expanded() -> None:
    assert variants("(Hi|Hello) {name}[, how are you]?") == [
        "Hi {name}, how are you?",
        "Hi {name}?",
        "Hello {name}, how are you?",
        "Hello {name}?",
    ]
    assert variants("a (b|(c|d) [e|f])") == ["a b", "a c e", "a c f", "a c", "a d e", "a d f", "a d"]
    assert variants("plain | text") == ["plain | text"]
    for bad in ("(a", "a)", "[a)", "(a|b]", "(1|2)" * 9):
        with pytest.raises(ExpansionError):
            variants(bad)


def test_dialog_files_of_ovos_are_read_in_the_language_asked_for(tmp_path: Path) -> None:
    here = tmp_path / "locale" / "en-us" / "dialog"
    here.mkdir(parents=True)
    (tmp_path / "locale" / "de-de").mkdir()
    (tmp_path / "locale" / "de-de" / "weather.dialog").write_text("In {city} sind es {degrees}.\n")
    (here / "weather.dialog").write_text(
        "# now\n(Right now|Now) it is {degrees} in {city}\n{city} has {{ degrees }}.\n\n"
    )
    (here / "bad.dialog").write_text("(half\nfine (here|there)\n")
    (here / "latin.dialog").write_bytes(b"\xff\xfe")
    source = ovos.read(tmp_path / "locale")
    texts = [template.text for template in source.templates if template.response == "weather"]
    assert texts == ["Right now it is {degrees} in {city}", "Now it is {degrees} in {city}", "{city} has {degrees}."]
    assert {(each.origin, each.reason.split(":")[0]) for each in source.unread} == {
        ("bad.dialog, line 1", "brackets do not match"),
        ("latin.dialog", "it cannot be read"),
    }
    made = write_import(source, tmp_path / "out", kind="ovos")
    assert made.responses == 2 and not (tmp_path / "out" / "mapping.yml").exists()
    card = tmp_path / "german" / "pairs.card.yaml"
    write_import(ovos.read(tmp_path / "locale", "de"), card.parent, SlotMap())
    assert load_corpus(card).card.language == "de"
    for folder, wanted, language in (("de-de", None, "de"), ("de-de", "da", "da"), ("en-us/dialog", None, "en")):
        assert ovos.read(tmp_path / "locale" / folder, wanted).language == language
    assert ovos.read(tmp_path, "de").templates == ovos.read(tmp_path / "locale" / "de-de").templates
    for folder in (tmp_path, tmp_path / "locale"):
        with pytest.raises(UserError, match="has no fr; it has de-de, en-us"):
            ovos.read(folder, "fr")


HOME = """
language: en
responses:
  intents:
    HassTurnOn:
      default: "Turned on {{ slots.name | capitalize }}"
      area: "Turned on the lights in {{ slots['area'] }}"
    HassGetState:
      one_yesno: |
        {% if query.matched %}
          Yes
        {% else %}
          No, {{ state.state_with_unit }}
        {% endif %}
      which: |
        {% for name in query.matched %}{{ name }}{% endfor %}
      how_many: "{{ query.matched | length }}"
      rounded: "It is {{ state.state | round }}."
      whole: "It is {{ state.state | int }}."
      replaced: "It is {{ state.state | replace('_', ' ') }}."
      bad: "{{ slots.name"
    HassOld:
      success:
        - templates: ["It is {{ state.state }}."]
      hostile: "{{ ''.__class__.__mro__[1].__subclasses__() }}"
      set: "{% set x = 1 %}{{ x }}"
"""


def test_responses_of_home_assistant_are_read_but_never_executed(tmp_path: Path) -> None:
    (tmp_path / "responses" / "en").mkdir(parents=True)
    (tmp_path / "responses" / "en" / "Hass.yaml").write_text(HOME)
    source = home_assistant.read(tmp_path / "responses")
    assert {template.response: template.text for template in source.templates} == {
        "HassTurnOn.default": "Turned on {name}",
        "HassTurnOn.area": "Turned on the lights in {area}",
        "HassGetState.one_yesno.1": "Yes",
        "HassGetState.one_yesno.2": "No, {state_with_unit}",
        "HassOld.success": "It is {state}.",
    }
    reasons = {each.origin.split(", ")[2]: each.reason for each in source.unread}
    assert "{% for %}" in reasons["which"] and "length" in reasons["how_many"] and "{% assign %}" in reasons["set"]
    # These filters would change what is said.
    assert {reasons[key].split()[2] for key in ("rounded", "whole", "replaced")} == {"round", "int", "replace"}
    assert "computes" in reasons["hostile"] and len(reasons) == 8
    assert main(["import", "home-assistant", str(tmp_path / "responses"), "--output", str(tmp_path / "out")]) == 0
    assert "HassTurnOn.default(name)" in [row["act"] for row in rows(tmp_path / "out" / "templates.jsonl")]


def test_the_slot_map_takes_precedence_over_the_source() -> None:
    source = rasa.read(DOMAIN)
    given = SlotMap.model_validate({"slots": {"size": {"values": ["XL", "S"]}}})
    assert map_of(source, given).values("size") == ["XL", "S"]
    assert map_of(source).values("size") == ["small", "medium", "large"]


def test_sources_without_readable_templates_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    domain = tmp_path / "domain.yml"
    for text, told in (
        ("responses: {utter_a: text}", "is a list of variations"),
        ("responses: {}", "no template could be read"),
        ("[]", "a domain is a mapping"),
        ("responses: {utter_a: [{text: '{a}\\x1b[31m {a}'}]}", "twice"),
    ):
        domain.write_text(text)
        assert main(["import", "rasa", str(domain), "--output", str(tmp_path / "out")]) == 2
        assert told in capsys.readouterr().err
        assert not (tmp_path / "out").exists() or not (tmp_path / "out" / "pairs.yaml").exists()
    assert main(["import", "ovos", str(tmp_path / "none"), "--output", str(tmp_path / "out")]) == 2
