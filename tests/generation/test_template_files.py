"""Template files: one template for every form of act in a corpus; filled in, it is the run's sentence."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from dactnlg import Generator, parse
from dactnlg._utils import resources
from dactnlg.cli.main import main
from dactnlg.data.corpus import load_corpus
from dactnlg.generation.generation import Generation
from dactnlg.generation.template_files import frames, template_rows
from dactnlg.text.placeholders import required_slots


def filled(template: str, act: str) -> str:
    """Return a template with the values of its act filled in, as its reader would."""
    values: dict[str, list[str]] = {}
    for item in required_slots(parse(act)):
        values.setdefault(item.slot.name, []).append(item.slot.value or "")
    names = {n if i == 0 else f"{n}_{i + 1}": v for n, each in values.items() for i, v in enumerate(each)}
    return re.sub(r"\{([^{}]+)\}", lambda match: names[match[1]], template)


def test_every_frame_is_said_once(poor_run: Callable[[str], Path], tmp_path: Path) -> None:
    run, output = poor_run("sclstm"), tmp_path / "new" / "templates.jsonl"
    # A part of the corpus, because a poor model searches for long.
    part = tmp_path / "part.jsonl"
    lines = (resources.datasets_dir() / "trails" / "train.jsonl").read_text(encoding="utf-8").splitlines()[:60]
    part.write_text("\n".join(lines), encoding="utf-8")
    command = ["export", str(run), "--format", "templates", "--output", str(output), "--corpus", str(part)]
    assert main(command) == 0
    rows = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    generator, corpus = Generator.load(run), load_corpus(part)
    turns = [example.turn for split in corpus.splits for example in corpus.split(split)]
    # Counted independently: acts by their types, slots and special values, as a model sees them.
    kinds = {generator.preprocessor.request(turn).act for turn in turns}
    assert len(rows) == len(kinds) == len(frames(corpus, generator))
    assert sum(row["slots_ok"] for row in rows) > 0.9 * len(rows)
    said = {each.act: each.text for each in generator.generate([row["act"] for row in rows])}
    same = [filled(row["template"], row["act"]) == said[row["act"]] for row in rows]
    # A value at the beginning of a sentence is capitalised, and lists have either order.
    assert sum(same) > 0.93 * len(rows)
    for row in rows:
        for item in required_slots(parse(row["act"])):
            assert "{" + item.slot.name in row["template"]
        assert "'" not in row["delexicalized_act"] and row["delexicalized_act"].partition("(")[0] in row["act"]


def test_a_placeholder_stays_attached_to_its_neighbours(random_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generator, turn = Generator.load(random_run), parse("inform(name=xx;height=yy)")
    # Neither value occurs in the text.
    said = Generation(str(turn), "", "", "東 ￭SLOT_NAME￭ 京 SLOT_HEIGHT ￭m", None, True, (), ())
    monkeypatch.setattr(generator, "generate", lambda turns, strict: [said])
    assert [row["template"] for row in template_rows(generator, [turn])] == ["東{name}京 {height}m"]


def test_the_suffix_csv_gives_a_table(random_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = tmp_path / "acts.csv"
    corpus.write_text('act,text\n"inform(name=A;name=B)","A, or B."\n"inform(name=C)",C.\n"inform(name=D)",D.\n')
    command = ["export", "--model", str(random_run), "--format", "templates", "--corpus", str(corpus)]
    assert main([*command, "--output", str(tmp_path / "t.csv")]) == 0
    with (tmp_path / "t.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["delexicalized_act"] for row in rows] == ["inform(name;name)", "inform(name)"]
    assert (
        "{name}" in rows[0]["template"]
        and "{name_2}" in rows[0]["template"]
        and rows[0]["slots_ok"] in ("true", "false")
    )
    # Existing files are kept, and options of the search belong to other formats.
    assert main([*command, "--output", str(tmp_path / "t.csv")]) == 2
    assert main([*command, "--output", str(tmp_path / "u.csv"), "--beam-width", "2"]) == 2
    assert "leave out beam width" in capsys.readouterr().err
