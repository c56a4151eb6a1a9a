"""README, CONTRIBUTING and the guides: every command runs, every example is right, and they name only what exists."""

from __future__ import annotations

import configparser
import doctest
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from helpers import lend_meteor

from benchmarks.own_corpora import flights, write
from dactnlg._utils.web.tokens import digest
from dactnlg.cli.main import app, main
from dactnlg.data.card import SlotCard, load_card
from dactnlg.runs.config import load_config
from dactnlg.serving.chat.storage import ChatStorage
from dactnlg.serving.chat.study import ChatStudy

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *sorted((REPOSITORY / "docs/pages").rglob("*.md"))]
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
SMALL = ["corpus.name=mine", "training.epochs=1", "model.hidden_size=8", "model.embedding_size=8"]
"""What a training of the README is reduced to; some of the embedded corpus stands for those that have to be fetched."""
FEWER = 6
"""Of so many rows of the embedded corpus one is kept."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)


def commands() -> Iterator[str]:
    """Yield every line that a reader may copy into a shell, without its comment."""
    for block in blocks("sh"):
        for line in block.splitlines():
            yield re.sub(r"\s+#.*", "", line)


COMMANDS = list(dict.fromkeys(commands()))
DACTNLG = [command for command in COMMANDS if command.startswith("dactnlg ")]
RAY = pytest.mark.needs("ray", "pip install 'dactnlg[ray]'")
SPECIAL = {
    "dactnlg corpora fetch": "the network: parsed, and the corpus has files to fetch",
    "dactnlg train e2e-sclstm": "several GPUs or machines: on processors of this one, in tests of their own below",
    "dactnlg train trails-gpt2": "a checkpoint that has to be fetched: from another in tests/models/test_gpt2.py",
    "dactnlg reproduce": "a run whose code is committed: in a test of its own below",
    "dactnlg study serve": "a server, which serves until it is told to stop: as a process in tests/studies",
    "dactnlg chat serve": "the same: in tests/serving",
    "dactnlg serve": "a server: in a test of its own below",
    "dactnlg leaderboard --published": "what that test has published",
}
PLAIN = [command for command in DACTNLG if not command.startswith(tuple(SPECIAL))]
MARKS = {
    "dactnlg sweep": RAY,
    "--jobs": RAY,
    "--format onnx": pytest.mark.needs("onnx", "pip install 'dactnlg[export]'"),
}


def marked(command: str) -> object:
    """Return a command as a parameter, with the modules that it needs."""
    return pytest.param(command, marks=[mark for words, mark in MARKS.items() if words in command])


def environment(folder: Path) -> dict[str, str]:
    """Return the variables of a shell in which `dactnlg` is this code, and neither cache nor data are the user's."""
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    program = programs / "dactnlg"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m dactnlg "$@"\n')
    program.chmod(0o755)
    there = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(REPOSITORY)}
    there |= {"XDG_CACHE_HOME": str(folder / "cache"), "DACTNLG_TRACK": str(folder / "store")}
    lend_meteor(folder / "cache")
    return {**{k: v for k, v in os.environ.items() if k not in ("MLFLOW_TRACKING_URI", "DACTNLG_DATA")}, **there}


def shell(command: str, folder: Path, **variables: str) -> str:
    """Run a line in a shell, as a reader would; return what it printed."""
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env={**environment(folder), **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def write_bots(folder: Path) -> None:
    """Write what the guide to frameworks imports and distils."""
    shutil.copy(REPOSITORY / "tests/serving/shop_domain.yml", folder / "domain.yml")
    for name in ("locale/en-us/dialog", "responses/en"):
        (folder / name).mkdir(parents=True)
    (folder / "locale/en-us/dialog/weather.dialog").write_text("(Now|Today) it is {degrees} in {city}[, I think].\n")
    intents = {
        "HassTurnOn": {"default": "Turned on {{ slots.name }}"},
        "HassGetState": {"one": "It is {{ state.state }}"},
    }
    text = json.dumps({"language": "en", "responses": {"intents": intents}})
    (folder / "responses/en/Hass.yaml").write_text(text, encoding="utf-8")
    answer = {"id": "1", "act": "goodbye()", "answer": "Goodbye!\nSee you."}
    (folder / "answers.jsonl").write_text(json.dumps(answer), encoding="utf-8")
    (folder / "prompts.jsonl").write_text('{"id": "1", "act": "goodbye()"}', encoding="utf-8")
    shutil.copy(folder / "mine/valid.jsonl", folder / "paraphrases.jsonl")
    shell("dactnlg import rasa domain.yml --output mybot", folder)


def write_dialogues(folder: Path) -> None:
    """Write dialogues where a shell finds DailyDialog, and train the model that the guide to such models trains."""
    (folder / "cache/dactnlg/dialogues").mkdir(parents=True, exist_ok=True)
    acts = '"acts": [["question"], ["inform"], ["question"]]'
    line = f'{{"id": "1", "turns": ["How are you?", "Fine, thanks.", "And you?"], {acts}}}\n'
    for split in ("train", "valid", "test"):
        path = folder / f"cache/dactnlg/dialogues/dailydialog-{split}.jsonl"
        path.write_text(4 * line, encoding="utf-8")
    settings = " ".join(f"--set {setting}" for setting in SMALL[1:])
    shell(f"dactnlg train dailydialog-hred {settings}", folder)
    shell(f"dactnlg train dailydialog-hred {settings} --set model.acts=true --output runs/told", folder)


@pytest.fixture(scope="module")
def files(
    tmp_path_factory: pytest.TempPathFactory, random_run: Path, neural_run: Path, rate_study: Callable[..., None]
) -> Path:
    """Everything that the commands read, under the names that they have there."""
    folder = tmp_path_factory.mktemp("reader")
    shutil.copytree(neural_run, folder / "runs" / "trails-sclstm")
    shutil.copytree(neural_run, folder / "runs" / "mine")
    shutil.copytree(neural_run, folder / "runs" / "seed-2")
    shutil.copytree(random_run, folder / "runs" / "trails-lstm")
    pair = {"hypothesis": "a b c", "references": ["a b c"], "act": "goodbye()"}
    (folder / "pairs.jsonl").write_text(json.dumps(pair), encoding="utf-8")
    for name in ("out.txt", "ref.txt", "ref0.txt", "ref1.txt"):
        (folder / name).write_text("a b c d\n", encoding="utf-8")
    other = {
        "other.txt": "a b c\n",
        "groups.txt": "a b c d\na b\n\n",
        "testset.csv": "mr,ref\nname[a],a b c d\nname[a],a b\n",
        "outputs.tsv": "mr\toutput\tref1\tref2\ninform(name=a)\ta b c d\ta b c d\ta b\n",
        "submission.json": '{"submission_name": "x", "tasks": {"food_test": {"values": ["a b c d"]}}}',
        "gem-references.json": '{"task": "food_test", "values": [{"target": ["a b c d"]}]}',
    }
    for name, text in other.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "train.txt").write_text("a b c\n", encoding="utf-8")
    (folder / "glove.6B.300d.txt").write_text("a 1 0\nb 0 1\n", encoding="utf-8")
    (folder / "acts.txt").write_text("goodbye()\n?request(region)\n", encoding="utf-8")
    for name in ("old.json", "new.json", "first.json", "second.json", "scores.json", "seed-2.json"):
        assert main(["score", "--input", str(folder / "pairs.jsonl"), "--json", str(folder / name)]) == 0
    (folder / "mine").mkdir()
    for path in (REPOSITORY / "datasets/trails").glob("*.jsonl"):
        every = path.read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / "mine" / path.name).write_text("".join(every[::FEWER]), encoding="utf-8")
    write(folder)
    write_bots(folder)
    write_dialogues(folder)
    rows = ["meaning\tsentence", *(f"{act}\t{text}" for act, text in flights() if '"' not in text)]
    (folder / "bookings.tsv").write_text("\n".join(rows), encoding="utf-8")
    settings = " ".join(f"--set {setting}" for setting in SMALL[1:])
    shell(f"dactnlg init flights.csv && dactnlg train flights.yaml --output runs/flights {settings}", folder)
    (folder / "mine.yaml").write_text("corpus: {name: mine}\nmodel: {name: sclstm}\n", encoding="utf-8")
    assert not shell("dactnlg evaluate --model runs/trails-sclstm --preset single --json /dev/null > out", folder)
    rated(folder, rate_study)
    chatted(folder)
    return folder


def rated(folder: Path, rate_study: Callable[..., None]) -> None:
    """Make a study whose raters have answered, and its ratings in the files of other tools."""
    systems = "gold runs/trails-lstm runs/trails-sclstm"
    shell(f"dactnlg study create --corpus trails --acts 4 --systems {systems} --raters 4 --output study", folder)
    rate_study(folder / "study", lambda rater, page, question: 1.0 + (rater + page * question) % 5)
    shell("dactnlg study export study > answers.csv", folder)
    shell("dactnlg study export study --format potato --output annotations", folder)
    shell("dactnlg study export study --format e2e --output .tables && cp .tables/* .", folder)


def chatted(folder: Path) -> None:
    """Make a study of chats in which everybody has chatted, voted and rated."""
    shell("dactnlg chat create runs/trails-sclstm runs/trails-lstm --people 4 --output chats", folder)
    study = ChatStudy.load(folder / "chats")
    storage = ChatStorage.open(folder / "chats", study)
    storage.set_links({rater: digest(rater) for rater in study.place_of})
    for rater in study.place_of:
        storage.consent(rater)
        for chat in (1, 2):
            storage.begin(rater, chat)
            for turn in range(3):
                storage.say(rater, chat, f"message-{turn}", "Hello")
                storage.answer(rater, chat, 2 * turn + 1, "Hi there")
            storage.vote(rater, chat, "my-only-vote", 1, 1)
            storage.rate(rater, chat, {each.name: 1.0 + (chat + len(each.name)) % 7 for each in study.criteria})
    storage.close()
    shell("dactnlg chat export chats --output chatted", folder)


@pytest.fixture
def reader(files: Path, tmp_path: Path) -> Path:
    """A folder of one's own with these files."""
    # METEOR's index stays a link: it is larger than all the rest.
    return shutil.copytree(files, tmp_path / "reader", symlinks=True)


def test_every_command_is_fenced() -> None:
    fenced = set(COMMANDS)
    for line in re.findall(r"^\s*((?:dactnlg|make|pip) .*)$", re.sub(r"^```\w*\n.*?^```", "", TEXT, flags=re.M | re.S)):
        assert line in fenced


def test_the_readme_makes_what_it_reads() -> None:
    # In the order in which a newcomer types it. What stands behind these options, or `>`, is written.
    written, made = {"--output", "--json", "--report", ">"}, set[str]()
    readme = re.findall(r"^```sh\n(.*?)^```", PAGES[0].read_text(encoding="utf-8"), flags=re.M | re.S)
    for command in (re.sub(r"\s+#.*", "", line) for block in readme for line in block.splitlines()):
        if not command.startswith(("dactnlg", "printf")):
            continue
        words = shlex.split(command, posix=True)
        outputs = {word for before, word in zip(words, words[1:], strict=False) if before in written}
        if words[1] == "train" and "--output" not in words:
            outputs.add(f"runs/{Path(words[2]).stem}")
        for word in words:
            named = word.partition("=")[2] if word.startswith("model.initialize_from=") else word
            if re.fullmatch(r"runs/[\w-]+|[\w-]+\.(?:txt|jsonl?|csv|ya?ml)", named) and named not in outputs:
                assert named in made, command
        made |= outputs


def test_only_known_programs_are_run() -> None:
    assert {command.split()[0] for command in COMMANDS} == {"curl", "dactnlg", "docker", "hf", "make", "pip", "printf"}
    assert len(DACTNLG) > 30


@pytest.mark.parametrize("command", [marked(command) for command in PLAIN])
def test_the_commands_run(command: str, reader: Path, request: pytest.FixtureRequest) -> None:
    real = {}
    if "corpora inspect tv" in command:
        real["DACTNLG_DATA"] = str(request.getfixturevalue("data_dir"))
    more: list[str] = []
    if command.startswith("dactnlg train"):
        given = [word.split("=")[0] for word in shlex.split(command)]
        own = any(name in command for name in ("mine", "flights", "mybot", "dailydialog"))
        settings = SMALL[1:] if own else SMALL
        more = [f"--set {setting}" for setting in settings if setting.split("=")[0] not in given]
        # So poor a model takes seconds for an act that it has never seen.
        more += ["--set training.invention=0.02"] if "training.invention" in given else []
        # The reader's runs are there for the commands that read them; one that is there is not trained again.
        (run,) = re.findall(r"--output (\S+)", command) or [f"runs/{Path(shlex.split(command)[2]).stem}"]
        if "--overwrite" not in command:
            shutil.rmtree(reader / run, ignore_errors=True)
    elif command.startswith("dactnlg distil"):
        more = [f"--set {setting}" for setting in SMALL[1:]]
    elif command.startswith(("dactnlg init", "dactnlg import")):
        more = ["--overwrite"]
    elif written := re.search(r"dactnlg (?:study|chat) .*--output ([\w-]+)$", command):
        # A folder that is there is not written into.
        shutil.rmtree(reader / written[1], ignore_errors=True)
    elif command.startswith("dactnlg sweep"):
        more = ["--samples 1", *(f"--set {setting}" for setting in SMALL[:2])]
    quiet = r"--output \S+\.(html|txt|jsonl)|(study|chat) (create|export|import) .*--output|> \S+$"
    assert shell(" ".join([command, *more]), reader, **real) or re.search(quiet, command)


@pytest.mark.parametrize("command", [command for command in DACTNLG if command.startswith("dactnlg corpora fetch")])
def test_what_is_fetched_has_an_address(command: str) -> None:
    words = shlex.split(command)[1:]
    group = app.commands["corpora"]
    assert isinstance(group, click.Group)
    assert group.commands["fetch"].make_context("fetch", words[2:]).params["name"] == words[2]
    card = load_card(words[2])
    assert card.archives or all(file.url for file in card.files.values())


@pytest.mark.needs("jax", "pip install 'dactnlg[jax]'")
def test_a_batch_is_divided_among_devices(reader: Path) -> None:
    (command,) = (command for command in DACTNLG if "--devices" in command)
    flags = "--xla_force_host_platform_device_count=4 --xla_backend_optimization_level=0"
    small = " ".join(f"--set {setting}" for setting in SMALL)
    assert shell(f"{command} {small}", reader, KERAS_BACKEND="jax", XLA_FLAGS=flags) == "runs/e2e-sclstm\n"


def test_several_workers_train_together(reader: Path) -> None:
    (command,) = (command for command in DACTNLG if "--workers" in command)
    with socket.socket() as one, socket.socket() as two:
        one.bind(("127.0.0.1", 0))
        two.bind(("127.0.0.1", 0))
        here = [f"127.0.0.1:{each.getsockname()[1]}" for each in (one, two)]
    small = " ".join(f"--set {setting}" for setting in SMALL)
    first = f"{re.sub(r'10[.][0-9.:]+,10[.][0-9.:]+', ','.join(here), command)} {small}"
    second = first.replace("--worker 0", "--worker 1")
    assert second != first
    assert shell(f"{second} & {first} && wait $!", reader, KERAS_BACKEND="tensorflow") == "runs/e2e-sclstm\n"


@pytest.mark.needs("mlflow", "pip install 'dactnlg[track]'")
def test_runs_are_published_and_reproduced(clone: Path, scored_run: Path, tmp_path: Path) -> None:
    shutil.copytree(scored_run, tmp_path / "runs" / "trails-sclstm")
    for command in (command for command in DACTNLG if command.startswith("dactnlg reproduce")):
        printed = shell(command, tmp_path, PYTHONPATH=str(clone))
        assert printed.splitlines()[-1] == "equal"
    assert "trails-sclstm" in shell("dactnlg leaderboard --published", tmp_path, PYTHONPATH=str(clone))


def test_a_server_answers(reader: Path) -> None:
    asked = [command for command in COMMANDS if command.startswith("curl ")]
    (serve,) = (command for command in DACTNLG if command.startswith("dactnlg serve ") and "--rasa" not in command)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [*shlex.split(serve), "--port", str(port)]
    with subprocess.Popen(command, cwd=reader, env=environment(reader), stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        assert "/docs" in server.stderr.readline()
        for line in asked:
            assert '"text":' in shell(line.replace(":8080", f":{port}"), reader)
        server.terminate()
    assert server.returncode == 0


@pytest.mark.parametrize("command", [command for command in COMMANDS if command.startswith("make ")])
def test_the_makefile_has_the_targets(command: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [*shlex.split(command), "--dry-run", f"VENV={tmp_path}"], cwd=REPOSITORY, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


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
def test_the_programs_run(program: str, reader: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=reader,
        env=environment(reader),
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_configurations_are_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    for number, block in enumerate(blocks("yaml")):
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
    assert main(["corpora", "inspect", str(tmp_path)]) == 0
