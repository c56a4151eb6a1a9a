"""Runs in a store: complete, once each, found again by id; a store that fails is one message and changes nothing."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from dactnlg.cli.main import main
from dactnlg.data.corpus import load_corpus
from dactnlg.errors import RunError
from dactnlg.evaluation.hash_codes import corpus_codes
from dactnlg.experiments import publish as publishing
from dactnlg.experiments import published
from dactnlg.experiments.leaderboard import collect
from dactnlg.experiments.publish import publish
from dactnlg.experiments.tracking import StoreError, opened
from dactnlg.runs.run import Run, flat

pytestmark = pytest.mark.needs("mlflow", "pip install 'dactnlg[track]'")


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, empty_database: Path) -> Path:
    """An empty store for each test."""
    for name in ("MLFLOW_TRACKING_URI", "MLFLOW_EXPERIMENT_NAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    folder = tmp_path / "store"
    folder.mkdir()
    shutil.copy(empty_database, folder / "mlflow.db")
    monkeypatch.setenv("DACTNLG_TRACK", str(folder))
    return folder


@pytest.fixture(scope="module")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """MLflow's tables without rows; making them takes seconds."""
    folder = tmp_path_factory.mktemp("empty")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        patch.setenv("DACTNLG_TRACK", str(folder))
        with opened("cannot make the store", make=True) as made:
            made.client.search_experiments()
    return folder / "mlflow.db"


@pytest.fixture
def run(scored_run: Path, tmp_path: Path) -> Path:
    """A copy of the scored run for each test."""
    return Path(shutil.copytree(scored_run, tmp_path / "run"))


def edit(run: Path, **facts: object) -> None:
    path = run / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **facts}))


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a run; locks, which are made and left empty, do not count."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def command(*words: str | Path) -> list[str]:
    return [sys.executable, "-m", "dactnlg", *map(str, words)]


def process(*words: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*words), capture_output=True, text=True, **options)  # type: ignore[call-overload]


def refused(done: subprocess.CompletedProcess[str]) -> str:
    """Return the message of a command that failed with one line."""
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.startswith("dactnlg: ") and done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def test_a_published_run_has_all_files_parameters_and_scores_of_its_folder(run: Path, tmp_path: Path) -> None:
    before = contents(run)
    publication = publish(run)
    assert publication.new and publication.replaces is None
    assert contents(run) == before
    assert contents(published.fetch(publication.id, tmp_path / "fetched")) == before
    manifest = Run(run).manifest()
    with opened("") as store:
        logged = store.client.get_run(publication.id)
    assert logged.info.status == "FINISHED"
    assert logged.data.params == flat(manifest["config"])
    assert logged.data.params["model.name"] == "random"
    (entry,) = manifest["evaluations"]
    for preset, scores in entry["scores"].items():
        for name, score in scores.items():
            key = f"trails/test/{preset}/{name}"
            assert logged.data.metrics[key] == score["value"]
            assert logged.data.tags[f"dactnlg.hash/{key}"] == score["hash"]
    tags = logged.data.tags
    assert tags["dactnlg.commit"] == tags["mlflow.source.git.commit"] == manifest["code"]["commit"]
    assert tags["dactnlg.command"] == manifest["command"]["line"]
    assert tags["dactnlg.data/trails/test"] == manifest["corpora"]["trails"]["test"]
    assert (tags["dactnlg.setting"], tags["dactnlg.vocabulary"]) == (manifest["setting"], manifest["vocabulary"])


def test_a_run_is_published_once_until_it_changes(run: Path, tmp_path: Path) -> None:
    first = publish(run)
    again = publish(shutil.copytree(run, tmp_path / "a copy"))
    assert (again.id, again.new) == (first.id, False)
    edit(run, note="scored again")
    changed = publish(run)
    assert changed.new and changed.id != first.id and changed.replaces == first.id
    assert publish(run).id == changed.id
    edit(run, begun="2001-01-01T00:00:00Z")
    other = publish(run)
    assert other.new and other.replaces is None
    # The latest state of each run, one row each.
    names = [row.run for block in collect(with_published=True) for row, _ in block.ordered() if block.preset == "fair"]
    assert sorted(names) == sorted(f"run {found.id[:8]}" for found in (changed, other))
    here = [
        row.run
        for block in collect([run, first.id], with_published=True)
        for row, _ in block.ordered()
        if block.preset == "fair"
    ]
    assert sorted(here) == sorted(["run", f"run {first.id[:8]}"]), "a run that is here is not listed from the store"


def test_names_of_metrics_are_distinct_and_valid_for_mlflow() -> None:
    score = {"value": 0.5, "hash": "h"}
    entry = {"split": "test", "options": {"beam_width": 5}, "scores": {"single": {"BLEU-4": score}}}
    corpora = ["trails", "../my data/é.jsonl", "../my data/è.jsonl"]
    found = publishing.metrics({"evaluations": [{**entry, "corpus": name} for name in corpora]})
    assert len(found) == 3
    first, *others = found
    assert first.startswith("trails/test beam_width-5-") and first.endswith("/single/BLEU-4")
    for name in others:
        assert name.isascii() and not name.startswith(".") and name.count("/") == 3
    undefined = {"scores": {"single": {"CIDEr": {"value": None, "hash": "h"}}}}
    assert publishing.metrics({"evaluations": [{**entry, **undefined, "corpus": "trails"}]}) == {}


def test_a_run_that_cannot_be_reproduced_is_not_published(run: Path, store: Path) -> None:
    code = Run(run).manifest()["code"]
    edit(run, code={**code, "unclean": ["models/secret.py"]})
    with pytest.raises(RunError, match="code that is in no commit.*\n  models/secret.py"):
        publish(run)
    edit(run, code=code, evaluations=[])
    with pytest.raises(RunError, match="no scores; make them with: dactnlg evaluate"):
        publish(run)
    with pytest.raises(RunError, match="does not exist"):
        publish(run / "nowhere")
    assert [path.name for path in store.iterdir()] == ["mlflow.db"]


def test_publish_prints_only_the_id_and_uses_no_network(run: Path) -> None:
    code = (
        "import socket, sys; asked = []\n"
        "def ask(*words): asked.append(words); raise OSError('no')\n"
        "socket.socket.connect = socket.getaddrinfo = socket.create_connection = ask\n"
        "from dactnlg.cli.main import main; status = main(['publish', sys.argv[1]]); print(asked, status)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(run)], capture_output=True, text=True)
    first, second = done.stdout.splitlines()
    assert published.is_published_id(first)
    assert second == "[] 0"
    assert done.stderr.startswith(f"dactnlg: {run} is published in sqlite:") and done.stderr.count("\n") == 1


def test_publish_escapes_the_name_of_a_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    found = publishing.Publication("0a", "store", new=True)
    monkeypatch.setattr(publishing, "publish", lambda _run: found)
    assert main(["publish", "evil\x1b[2J"]) == 0
    assert "\x1b" not in capsys.readouterr().err


def test_unknown_foreign_and_changed_runs_are_not_fetched(
    run: Path, store: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(StoreError, match="no run 0{32} is published in sqlite"):
        published.fetch("0" * 32, tmp_path)
    with opened("") as found:
        foreign = found.client.create_run(found.client.create_experiment("other")).info.run_id
    with pytest.raises(StoreError, match="is no run that dactnlg published"):
        published.fetch(foreign, tmp_path)
    done = publish(run)
    kept = store / "artifacts" / done.id / "artifacts" / "run" / "preprocessor.json"
    kept.write_text(kept.read_text() + " ")
    with pytest.raises(StoreError, match="its files in the store .* are not those"):
        published.fetch(done.id, tmp_path)
    monkeypatch.setenv("DACTNLG_TRACK", str(tmp_path / "none"))
    with pytest.raises(StoreError, match="is not there; publish with"):
        published.fetch(done.id, tmp_path)
    assert not (tmp_path / "none").exists()


def test_foreign_or_broken_entries_of_a_store_are_skipped_with_a_note(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = publish(run).id
    tags = {published.CONTENT: "x", published.PUBLISHED: "2020", published.IDENTITY: "x"}
    score = {"corpus": "trails", "split": "test", "options": {}, "scores": {"single": {}}}
    texts = {
        "tags": None,
        "none": None,
        "broken": "{",
        "a list": "[]",
        "types": json.dumps({"evaluations": [{**score, "options": 3}]}),
        "keys": json.dumps({"evaluations": [{"corpus": "trails"}]}),
    }
    ids = {}
    with opened("") as store:
        for name, text in texts.items():
            ids[name] = store.client.create_run(published.experiment_of(store), run_name="\x1b[2J").info.run_id
            if text is not None:
                (tmp_path / "manifest.json").write_text(text)
                store.client.log_artifact(ids[name], str(tmp_path / "manifest.json"), "run")
            for tag, value in {**tags, published.IDENTITY: name}.items():
                if name != "tags" or tag == published.CONTENT:
                    store.client.set_tag(ids[name], tag, value)
    names = {row.run for block in collect(with_published=True) for row, _ in block.ordered()}
    assert names == {f"run {mine[:8]}"}
    told = capsys.readouterr().err
    assert sorted(line.split()[3].rstrip(":") for line in told.splitlines()) == sorted(
        code for name, code in ids.items() if name != "tags"
    )
    for name in texts:
        with pytest.raises((RunError, StoreError)):
            collect([ids[name]])


def test_a_store_whose_making_was_killed_is_made_again(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "new"
    monkeypatch.setenv("DACTNLG_TRACK", str(folder))
    program = """
import os, sys
from sqlalchemy import Engine, event
@event.listens_for(Engine, "before_cursor_execute")
def kill(connection, cursor, statement, *rest):
    if "ALTER TABLE" in statement:
        os.kill(os.getpid(), 9)
from dactnlg.experiments.publish import publish
publish(sys.argv[1])
"""
    killed = subprocess.run([sys.executable, "-c", program, str(run)], capture_output=True, text=True, check=False)
    assert killed.returncode == -9, killed.stderr
    assert not (folder / "mlflow.db").exists() and list(folder.glob("partial-*"))
    assert publish(run).new
    assert sorted(path.name for path in folder.iterdir() if path.is_file()) == [".lock", "mlflow.db"]


def test_a_run_whose_files_cannot_be_stored_is_not_published(run: Path, store: Path) -> None:
    before = contents(run)
    # A file where the folder of artifacts belongs.
    (store / "artifacts").write_text("")
    with pytest.raises(StoreError, match=r"cannot publish .*: the store .* failed: ") as caught:
        publish(run)
    assert "\n" not in str(caught.value)
    assert contents(run) == before
    with opened("") as found:
        assert published.finished(found) == []
        assert found.client.search_runs(["1"]) == []
    (store / "artifacts").unlink()
    assert publish(run).new


def test_a_full_store_is_one_message(run: Path, store: Path) -> None:
    before = contents(run)
    room = max(len(content) for content in before.values()) + 4096
    with contextlib.closing(sqlite3.connect(store / "mlflow.db")) as database:
        tables = list(database.iterdump())
    (store / "mlflow.db").unlink()
    with contextlib.closing(sqlite3.connect(store / "mlflow.db")) as database:
        # What is written later comes after it in the file.
        database.execute("CREATE TABLE others AS SELECT zeroblob(?) AS content", (room,))
        database.executescript("\n".join(tables))
    assert room < (store / "mlflow.db").stat().st_size, "the files of the run fit, the database does not"

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    message = refused(process("publish", run, preexec_fn=limit))
    assert f"cannot publish {run}: the store sqlite:" in message
    assert contents(run) == before
    assert publish(run).new


@pytest.mark.parametrize(
    ("variable", "value", "reason"),
    [
        ("MLFLOW_TRACKING_URI", "http://ann:secret@127.0.0.1:9", "http://127.0.0.1:9 failed: Connection refused"),
        ("MLFLOW_TRACKING_URI", "telepathy://ann:secret@there", "failed: "),
        ("DACTNLG_TRACK", "/dev/null", "failed: File exists: /dev/null"),
        ("DACTNLG_TRACK", "/proc/100%", "has ?, # or % in its path"),
        ("DACTNLG_TRACK", "/proc/nowhere", "failed: No such file or directory: /proc/nowhere"),
    ],
)
def test_a_store_that_cannot_be_reached_is_one_message(
    run: Path, variable: str, value: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(run)
    monkeypatch.setenv(variable, value)
    with pytest.raises(StoreError, match="cannot publish") as caught:
        publish(run)
    assert reason in str(caught.value) and "\n" not in str(caught.value) and "secret" not in str(caught.value)
    assert contents(run) == before


def test_a_store_that_is_no_database_is_refused(run: Path, store: Path) -> None:
    (store / "mlflow.db").write_text("no database")
    with pytest.raises(StoreError, match="file is not a database"):
        publish(run)


def test_missing_mlflow_is_one_message(run: Path) -> None:
    code = "import sys; sys.modules['mlflow'] = None; from dactnlg.cli.main import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run([sys.executable, "-c", code, "publish", str(run)], capture_output=True, text=True)
    assert "mlflow is not installed: pip install 'dactnlg[track]'" in refused(done)


def test_concurrent_publishing_scoring_and_hashing_lose_nothing(run: Path, store: Path, tmp_path: Path) -> None:
    # The first process makes the tables.
    (store / "mlflow.db").unlink()
    scored = Path(shutil.copytree(run, tmp_path / "scored"))
    edit(scored, begun="2001-01-01T00:00:00Z")
    adding = (
        "import sys; from dactnlg.runs.run import Run; run = Run(sys.argv[1])\n"
        "entry = run.manifest()['evaluations'][0]\n"
        "for i in range(40): assert run.add_evaluation({**entry, 'options': {'seed': i}}, run.state())\n"
    )
    commands = [command("publish", path) for path in (run, run, scored)]
    commands += [[sys.executable, "-c", adding, str(scored)], command("corpora", "hash", "trails", "--json")]
    started = [
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ)
        for words in commands
    ]
    ended = [(*process.communicate(), process.returncode) for process in started]
    assert [code for _, _, code in ended] == [0] * 5, ended
    one, other, third = (out.strip() for out, _, _ in ended[:3])
    assert one == other != third
    assert sum("already" in err for _, err, _ in ended) == 1
    assert len(Run(scored).manifest()["evaluations"]) == 41
    for run_id in (one, third):
        fetched = published.fetch(run_id, tmp_path / run_id)
        assert 1 <= len(Run(fetched).manifest()["evaluations"]) <= 41
    assert contents(tmp_path / one / "run") == contents(run)
    with opened("") as found:
        assert len(published.finished(found)) == 2
    assert json.loads(ended[4][0]) == corpus_codes(load_corpus("trails")).to_json()
