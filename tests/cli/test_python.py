"""The public functions: what the command line does, from Python."""

from __future__ import annotations

import json
import os
import pydoc
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import dactnlg
from dactnlg.cli.main import main
from dactnlg.generation.options import GenerationOptions
from dactnlg.runs.config import load_config

RANDOM = {"corpus": {"name": "trails"}, "model": {"name": "random"}}


def mistakes(error: pytest.ExceptionInfo[dactnlg.errors.ConfigError], path: Path | None = None) -> list[str]:
    """Return the lines of a message, less the places in the file."""
    lines = str(error.value).splitlines()[1:]
    return sorted(
        line.split(": ", 1)[1] if path and line.strip().startswith(str(path)) else line.strip() for line in lines
    )


def test_a_mapping_is_checked_as_a_file_is(tmp_path: Path) -> None:
    wrong = {"corpus": {"nme": "trails"}, "model": {"name": "sclstm", "hidden_sise": 8}, "training": {"epoch": 3}}
    with pytest.raises(dactnlg.errors.ConfigError, match="^4 mistakes in the configuration\n") as from_mapping:
        dactnlg.train(wrong, tmp_path / "run")
    path = tmp_path / "wrong.yaml"
    path.write_text(yaml.safe_dump(wrong), encoding="utf-8")
    with pytest.raises(dactnlg.errors.ConfigError) as from_file:
        dactnlg.train(path, tmp_path / "run")
    assert mistakes(from_mapping) == mistakes(from_file, path)
    assert "training.epoch: unknown key; did you mean 'epochs'?" in mistakes(from_mapping)
    assert not (tmp_path / "run").exists()
    assert wrong["training"] == {"epoch": 3}, "what is given is not changed"


def test_what_a_configuration_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sources = ("trails-random", RANDOM, load_config("trails-random"))
    runs = [dactnlg.train(source, overwrite=True) for source in sources]
    assert [str(run.path) for run in runs] == ["runs/trails-random"] * 3
    run = dactnlg.train(RANDOM, "mine", overrides=["training.seed=7"])
    assert os.fspath(run) == "mine" and repr(run) == "Run('mine')"
    assert run.check().training.seed == 7
    with pytest.raises(dactnlg.errors.ConfigError, match="training.sed: unknown key; did you mean 'seed'"):
        dactnlg.train(RANDOM, "other", overrides=["training.sed=7"])


def test_evaluate_is_the_command(random_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = dactnlg.evaluate(
        random_run, split="valid", presets=["single"], options=GenerationOptions(seed=3, constraint="none")
    )
    command = ["evaluate", "--model", str(random_run), "--split", "valid", "--preset", "single", "--seed", "3"]
    assert main([*command, "--constraint", "none", "--json", str(tmp_path / "scores.json")]) == 0
    capsys.readouterr()
    assert json.loads((tmp_path / "scores.json").read_text(encoding="utf-8")) == json.loads(json.dumps(found.to_dict()))


def test_a_single_name_needs_no_list(random_run: Path, tmp_path: Path) -> None:
    source = tmp_path / "mine.jsonl"
    source.write_text('{"act": "goodbye()", "text": "Bye."}\n', encoding="utf-8")
    names = {"presets": "single", "metrics": "BLEU-4", "more": "ROUGE-L"}
    found = dactnlg.evaluate(random_run, corpus=source, split="train", **names)
    (scores,) = found.results
    assert (scores.preset, [*scores.all_scores]) == ("single", ["BLEU-4", "ROUGE-L"])
    assert [*dactnlg.score(["Bye."], ["Bye."], metrics="BLEU-4").scores] == ["BLEU-4"]
    assert dactnlg.train(RANDOM, tmp_path / "run", overrides="training.seed=7").check().training.seed == 7


def test_generate_and_evaluate_offer_the_same_options(capsys: pytest.CaptureFixture[str]) -> None:
    shown = {}
    for command in ("generate", "evaluate"):
        assert main([command, "--help"]) == 0
        shown[command] = capsys.readouterr().out
    names = [
        "constraint",
        "beam-width",
        "n-best",
        "sample",
        "temperature",
        "top-k",
        "top-p",
        "append-questions",
        "length-normalization",
        "slot-error-weight",
        "mbr",
        "seed",
    ]
    for name in [*names, "backend"]:
        assert all(f"--{name}" in text for text in shown.values()), name


@pytest.mark.parametrize("name", ["DialogueAct", "Turn", "Slot", "parse", "Generator", "evaluate", "score", "errors"])
def test_help_has_examples_and_errors(name: str) -> None:
    text = pydoc.render_doc(getattr(dactnlg, name), renderer=pydoc.plaintext)
    assert ">>> " in text
    assert "Raises:" in text or name == "errors"
    # A signature that people can read.
    assert max(map(len, text.splitlines())) < 500


def test_options_show_what_was_chosen() -> None:
    assert repr(GenerationOptions()) == "GenerationOptions()"
    options = GenerationOptions(constraint="rerank", n_best=2, sample=False)
    assert repr(options) == "GenerationOptions(constraint='rerank', n_best=2, sample=False)"
    assert eval(repr(options)) == options


def test_a_type_checker_finds_a_name_that_does_not_exist(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import dactnlg\n\ndactnlg.parse('a()')\ndactnlg.prase('a()')\n")
    command = [sys.executable, "-m", "mypy", "--config-file", "setup.cfg", str(tmp_path / "program.py")]
    told = subprocess.run(command, cwd=repository, capture_output=True, text=True).stdout.splitlines()
    assert len(told) == 2 and 'program.py:4: error: Module has no attribute "prase"' in told[0]
