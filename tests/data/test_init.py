"""`dactnlg init`: what it writes for a user's data loads, is true, and replaces nothing unasked."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from benchmarks.own_corpora import faults, flights, home, unseen_flights, write, written
from dactnlg import models
from dactnlg.acts import parse
from dactnlg.cli.main import main
from dactnlg.data.card import load_card
from dactnlg.data.columns import choose_columns
from dactnlg.data.contrast import Contrast
from dactnlg.data.corpus import load_corpus
from dactnlg.data.inspection import audit
from dactnlg.data.proposals import propose
from dactnlg.errors import CorpusError
from dactnlg.runs.config import load_config
from dactnlg.text.slots import SlotChecker
from dactnlg.text.values.delexicalization import Delexicalizer


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own")
    write(folder)
    return folder


class Done(NamedTuple):
    """The exit status of a command, and what it has printed."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def init(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """Give a function that runs `dactnlg init` in a folder."""

    def run(folder: Path, *arguments: str) -> Done:
        monkeypatch.chdir(folder)
        return Done(main(["init", *arguments]), *capsys.readouterr())

    return run


def test_a_card_and_a_configuration_for_flights(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, "-m", "dactnlg", "init", "flights.csv"]
    done = subprocess.run(command, cwd=own, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    monkeypatch.chdir(own)
    card = load_card("flights.card.yaml")
    assert set(card.slots) == {"meal", "refundable"}
    assert set(card.slots["meal"].cues) == {"yes", "no", "dontcare"}
    checker = SlotChecker(Delexicalizer(), {name: slot.cues for name, slot in card.slots.items()})
    assert checker.shown_cues("refundable", "It is not refundable.") == ("no",)
    found = audit(load_corpus("flights.card.yaml"))
    assert list(found.splits) == ["train", "valid", "test"]
    assert found.values_not_found.count == found.round_trips.count == found.test_in_train.count == 0
    # The phrases come from the training part, and hold in the others.
    assert found.cues.count == 0 and found.cues.out_of > 90 and not found.unchecked
    config = load_config("flights.yaml", models=models)
    assert config.corpus.name == "flights.card.yaml"
    assert "goodbye: only 6 training sentences" in done.stdout
    assert "dactnlg train flights.yaml --output runs/flights" in done.stdout
    for line in (own / "flights.card.yaml").read_text().splitlines():
        assert len(line) <= 120


def test_nothing_is_replaced_unasked(own: Path, init: Callable[..., Done], tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes((own / "flights.csv").read_bytes())
    (tmp_path / "a.yaml").write_text("mine")
    done = init(tmp_path, "a.csv")
    assert done.returncode == 2 and "--overwrite" in done.stderr
    assert not (tmp_path / "a.card.yaml").exists()
    assert init(tmp_path, "a.csv", "--overwrite").returncode == 0
    assert (tmp_path / "a.yaml").read_text() != "mine"
    elsewhere = init(tmp_path, "a.csv", "--output", "new/folder")
    assert elsewhere.returncode == 0
    assert load_corpus(tmp_path / "new/folder/a.card.yaml", tmp_path).split("test")
    assert "--data-dir ." in elsewhere.stdout


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("t.tsv", []),
        ("t.json", []),
        ("t.jsonl", []),
        ("odd name é.csv", []),
        ("other.csv", []),
        ("other.csv", ["--act", "Dialogue act"]),
        ("other.json", ["--act", "Dialogue act", "--text", "what is said"]),
        ("mr.csv", []),
        ("mr.json", []),
        ("mr references.json", []),
        ("other references.jsonl", []),
        ("other unnamed.csv", ["--act", "Dialogue act"]),
        ("family \U0001f469\u200d\U0001f373.csv", []),
    ],
)
def test_every_format_has_a_card_and_a_configuration(
    name: str, arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    keys = ("Dialogue act", "what is said") if "other" in name else ("mr", "ref") if "mr" in name else ("act", "text")
    rows = [dict(zip(keys, pair, strict=True)) | {"id": "7"} for pair in flights()]
    if "references" in name:
        rows = [{keys[0]: act, "references": [text]} for act, text in flights()]
    path = Path(name)
    if path.suffix == ".json":
        path.write_text(json.dumps(rows), encoding="utf-8-sig")
    elif path.suffix == ".jsonl":
        path.write_text("\r\n".join(map(json.dumps, rows)) + "\r\n", encoding="utf-8")
    else:
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, rows[0].keys(), delimiter="\t" if path.suffix == ".tsv" else ",")
            writer.writeheader()
            writer.writerows(rows)
        if "unnamed" in name:
            # As spreadsheets leave them.
            path.write_text("".join(f"{line},,\n" for line in path.read_text(encoding="utf-8").splitlines()))
    assert main(["init", name, *arguments]) == 0
    (card,) = tmp_path.glob("*.card.yaml")
    corpus = load_corpus(card)
    assert sum(1 for split in corpus.splits for _ in corpus.pairs(split)) == 300
    (configuration,) = (path for path in tmp_path.glob("*.yaml") if path != card)
    assert load_config(configuration, models=models).model.name == "sclstm"


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        ("a,b\n1,2\n", [], "no column of x.csv looks like dialogue acts.*columns a, b.*--act COLUMN --text COLUMN"),
        ("act,text\ninform(a=b),b\n", ["--act", "acts"], "no column 'acts'; it has the columns act, text"),
        ("act,text\ninform(a=b),b\n", ["--act", "act", "--text", "act"], "both name the column 'act'"),
        ("act,text\ninform(a=b),b\n", ["--text", "act"], "no column of x.csv looks like dialogue acts"),
        ("", [], "no column of x.csv"),
        ("act,text\n", [], "holds no act/sentence pair"),
        ("act,text\ninform(a=,b\n" * 2, [], "x.csv, line 2"),
        ("act\ninform(a=b)\n", [], "no column of x.csv looks like sentences"),
        ("inform(a=b),It is b.\ninform(a=c),It is c.\n", [], "the first row names the columns.*inform.a=b"),
    ],
)
def test_what_is_no_data_is_refused(
    content: str, arguments: list[str], message: str, init: Callable[..., Done], tmp_path: Path
) -> None:
    (tmp_path / "x.csv").write_text(content)
    done = init(tmp_path, "x.csv", *arguments)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) <= 3, done.stderr
    assert re.search(message, done.stderr), done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


def test_data_in_the_place_of_a_configuration_are_told_of_init(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", str(own / "flights.csv")]) == 2
    assert "flights.csv is data, not a configuration" in (error := capsys.readouterr().err)
    assert "dactnlg init" in error
    assert main(["init", "there-is-none.csv"]) == 2
    assert main(["init", str(own / "flights.docx")]) == 2
    assert "ends in one of" in capsys.readouterr().err


def test_few_pairs_have_a_card_and_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"act": f"inform(name=n{n};dogs={'yes' if n % 2 else 'no'})", "text": f"n{n} is it."} for n in range(12)]
    (tmp_path / "few.json").write_text(json.dumps(rows))
    assert main(["init", str(tmp_path / "few.json")]) == 0
    printed = capsys.readouterr().out
    assert "12 pairs are too few" in printed
    assert main(["corpora", "inspect", str(tmp_path / "few.card.yaml")]) == 0
    assert "train      12 acts,     12 pairs" in capsys.readouterr().out
    assert main(["train", str(tmp_path / "few.yaml"), "--output", str(tmp_path / "run")]) == 2
    assert "its 12 pairs are too few to take one from" in capsys.readouterr().err
    (tmp_path / "few.json").write_text(json.dumps(rows * 2))
    card = tmp_path / "few.card.yaml"
    card.write_text(re.sub("^# .*`(divide: .*)`.*$", r"\1", card.read_text(), flags=re.M))
    assert load_corpus(card).splits == ("train", "valid", "test")
    assert "dogs=no: no cue tells most of its 6 sentences" in printed


def test_proposals_from_a_noisy_corpus(data_dir: Path) -> None:
    """What E2E's own pairs say of it: the closed classes of its published configuration, and family friendliness."""
    found = propose(load_corpus(data_dir / "e2e" / "trainset.csv"))
    assert {"area", "customer rating", "food", "priceRange"} == set(found.lexicalized)
    slots = {slot.name: slot for slot in found.slots}
    friendly = slots["familyFriendly"]
    assert friendly.cues["yes"].covered > 0.85 * friendly.cues["yes"].out_of
    assert friendly.cues["no"].covered > 0.7 * friendly.cues["no"].out_of
    assert not slots["name"].aliases and not slots["near"].aliases


def test_phrases_that_tell_a_value_are_found() -> None:
    yes, no, none = ["it is refundable"] * 4, ["it is not refundable"] * 4, ["it is fine", "it flies", "all is well"]
    contrast = Contrast([*yes, *no, *none])
    assert contrast.telling({0, 1, 2, 3}, name="refundable").phrases == ("is refundable",)
    assert contrast.telling({4, 5, 6, 7}, name="refundable").phrases == ("not refundable",)
    assert contrast.telling({8, 9, 10}).phrases == ()


def cues_of(folder: Path, said: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the cues of `has_mac` that `init` proposes for sentences of acts."""
    every = [(act, text) for act, texts in said.items() for text in texts]
    rows = [{"act": f"inform(name=N{n};{act})", "text": f"N{n}: {text}"} for n, (act, text) in enumerate(every)]
    (folder / "games.json").write_text(json.dumps(rows), encoding="utf-8")
    assert main(["init", str(folder / "games.json"), "--overwrite"]) == 0
    return {value: list(found) for value, found in load_card(folder / "games.card.yaml").slots["has_mac"].cues.items()}


def test_what_tells_of_another_slot_is_no_cue(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = ["quick", "slow", "new", "old", "big", "small", "long", "short"]
    said = {
        "has_mac=yes;has_linux=no": [f"This {word} one is for mac, but it's not available elsewhere." for word in more],
        "has_mac=no;has_linux=no": [f"This {word} one can't be had, as it's not available." for word in more],
        "has_mac=no": [f"It is {word} and has no mac port." for word in more],
        "genre=fun": [f"It is a fun {word} game." for word in more],
    }
    assert cues_of(tmp_path, said) == {"yes": [r"\bfor[ -]mac\b"], "no": [r"\bno[ -]mac\b"]}
    # One mistaken sentence does not rule out a phrase with the slot's name.
    said["genre=odd"] = ["It is odd and for mac."]
    assert cues_of(tmp_path, said)["yes"] == [r"\bfor[ -]mac\b"]
    counts = re.findall(r"cues tell (\d+) of (\d+)", capsys.readouterr().out)
    assert counts and all(int(covered) <= int(out_of) for covered, out_of in counts)


def test_columns_are_found(own: Path) -> None:
    assert choose_columns(own / "flights.csv") is None
    with pytest.raises(CorpusError, match="no column 'x'"):
        choose_columns(own / "home.json", "x")
    with pytest.raises(CorpusError, match="both name the column 'act'"):
        choose_columns(own / "flights.csv", "act", "act")
    (own / "x.json").write_text(json.dumps([{"said": "Ark it is.", "da": parse("inform(name=Ark)").to_json()}]))
    assert choose_columns(own / "x.json") == ("da", "said")


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_spreadsheets_separate_columns_by_other_marks_than_commas(
    own: Path, delimiter: str, init: Callable[..., Done], tmp_path: Path
) -> None:
    with (own / "flights.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))
    with (tmp_path / "x.csv").open("w", encoding="utf-8-sig", newline="") as stream:
        csv.writer(stream, delimiter=delimiter).writerows(rows)
    done = init(tmp_path, "x.csv")
    assert done.returncode == 0, done.stderr
    corpus, given = load_corpus(tmp_path / "x.card.yaml"), load_corpus(own / "flights.csv")
    assert [list(corpus.pairs(split)) for split in corpus.splits] == [list(given.pairs(s)) for s in given.splits]


def test_data_cannot_write_a_card_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = ["a: b", "# c", "- d", "yes", "12", "é\u2028f", "&x", "'q", "!!python", "{g}", "\U0001f600"]
    rows = [
        {"act": json.loads(json.dumps([{"act": "inform", "slots": [{"name": name, "value": v}]}])), "text": said}
        for name in odd
        if not set(name) & set("()[]{}=;,&'\"")
        for v, said in (("yes", f"It {name} has it."), ("no", f"It {name} lacks it.")) * 6
    ]
    (tmp_path / "x.json").write_text(json.dumps(rows), encoding="utf-8")
    assert main(["init", str(tmp_path / "x.json")]) == 0
    assert "\u2028" not in capsys.readouterr().out
    card = load_card(tmp_path / "x.card.yaml")
    assert set(card.slots) <= set(odd) and len(card.slots) > 4
    assert load_config(tmp_path / "x.yaml", models=models)


def test_values_that_yaml_reads_otherwise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    card = {"name": "x", "format": "pairs", "files": {"train": {"path": "x.csv"}}}
    text = yaml.safe_dump(card) + "slots:\n  at:\n    aliases:\n      12:30: [noon]\n      1.50: [x]\n      2: [two]\n"
    (tmp_path / "x.yaml").write_text(text)
    assert set(load_card(tmp_path / "x.yaml").slots["at"].aliases) == {"12:30", "1.50", "2"}
    (tmp_path / "x.yaml").write_text(text + "      3: [3, true]\n")
    assert main(["corpora", "inspect", str(tmp_path / "x.yaml")]) == 2
    error = capsys.readouterr().err
    assert "x.yaml, line 12: slots.at.aliases.3.0: 3 is a number to YAML" in error
    assert "write it in quotes, '3'" in error and "write it in quotes, 'true'" in error


def test_the_unseen_flights_are_unseen_and_the_oracle_counts() -> None:
    acts = unseen_flights()
    known = {act for act, _ in flights()}
    assert len(acts) == 50 and not {written(*act) for act in acts} & known
    slots = {"airline": "KLM", "stops": "1", "departs": "7:05am", "price": "$1,200", "refundable": "no"}
    good = "KLM's flight makes a single stop at 7:05 am, is 1200 dollars and is not refundable."
    assert faults(slots, good) == []
    assert len(faults(slots, good.replace("KLM's", "KLM and KLM's"))) == 1
    # Another number of stops; no "not refundable", and a "refundable" in its place.
    assert len(faults(slots, good.replace("a single", "2").replace("not ", ""))) == 3
    assert len(home()) == 300 and all(parse(row["act"]) for row in home())
