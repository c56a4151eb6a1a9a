"""Hostile runs, cards and score files through every command: no code, no file outside, no script, one plain line."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from helpers import commands, lend_meteor

from dactnlg.cli.main import app, main

EVIL = "<script src=//x.y>1</script>|[a](b)`c`\x1b[2J\x1b]0;t\x07\x9b1m\u202e"
ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
TRUSTED = {"sweep", "metrics list", "presets list", "configs list"}
"""Commands that read a user's own specification alone (the runs that they make are like those of `train`), or none."""
Told = tuple[int, str, str]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place to work in, with a victim beside it: nothing in there may change, and nothing may appear there."""
    work, victim = tmp_path / "work", tmp_path / "victim"
    work.mkdir()
    victim.mkdir()
    (victim / "profile").write_text("mine")
    monkeypatch.chdir(work)
    lend_meteor(tmp_path / "home" / ".cache")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DACTNLG_TRACK", str(tmp_path / "store"))
    monkeypatch.delenv("DACTNLG_DATA", raising=False)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    return tmp_path


@pytest.fixture
def dactnlg(home: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Told]:
    """Run a command in this process: exit code, output, messages; and look for harm."""

    def run(*words: str | Path) -> Told:
        code = main(list(map(str, words)))
        told = capsys.readouterr()
        assert code in (0, 2), told.err
        assert not list(home.rglob("mark*")), words
        assert {path.name: path.read_text() for path in (home / "victim").iterdir()} == {"profile": "mine"}, words
        assert not ACTING.search(told.err), words
        return code, told.out, told.err

    return run


def refused(told: Told) -> str:
    """The one message of a command that was refused."""
    code, out, err = told
    assert (code, out) == (2, "")
    assert err.startswith("dactnlg: ") and "Traceback" not in err
    return err


SERVERS = {"serve", "study serve", "chat serve"}
"""Commands that end when they are told to: what they serve is tried in tests of their own."""


def trials(run: Path, corpus: Path, pairs: Path, card: Path, scores: Path) -> dict[str, list[list[str | Path]]]:
    """Every command of the program with what strangers may give it."""
    study, ratings = scores.parent / "study", scores.parent / "ratings.csv"
    return {
        "init": [[corpus, "--output", "own"], [pairs, "--act", "act", "--text", "hypothesis", "--output", "own"]],
        "train": [
            [card, "--set", f"corpus.name={card}", "--output", run],
            [run / "config.yaml", "--output", run, "--resume"],
        ],
        "tune": [[run, "--acts", "2"], [run, "--dry-run", "--json", "-"]],
        "generate": [["--model", run, "goodbye()"], ["--model", run, "--format", "json", "goodbye()"]],
        "evaluate": [["--model", run, "--preset", "single"], [run, "--corpus", card, "--report", "r.html"]],
        "check": [["--model", run, "--input", pairs], ["--corpus", card, "--input", pairs]],
        "score": [["--input", pairs, "--corpus", card], ["--input", pairs, "--report", "s.html"]],
        "compare": [
            [scores, scores],
            [run, run, "--preset", "single"],
            [scores, run],
            [scores, scores, "--report", "c.html"],
        ],
        "selfplay": [[run, "--output", "talks", "--conversations", "5"]],
        "import": [
            ["rasa", card, "--output", "bot"],
            ["ovos", scores.parent, "--output", "skill"],
            ["home-assistant", scores.parent, "--output", "home"],
        ],
        "prompts": [[corpus], ["--read", pairs, "--prompts", pairs]],
        "teach": [[card, "--output", "t.npz"], ["dailydialog", "--data-dir", scores.parent, "--output", "t.npz"]],
        "distil": [[pairs, "--output", "distilled", "--set", "training.epochs=1"]],
        "publish": [[run]],
        "reproduce": [[run], [run, "--code", run]],
        "leaderboard": [
            [run],
            [run, "--format", "markdown"],
            [run, "--format", "latex", "--json", "l.json"],
            [run, "--format", "csv"],
            [run, "--format", "html", "--output", "l.html"],
        ],
        "export": [[run, "--format", "onnx", "--output", "x.onnx"], [run, "--format", "saved-model", "--output", "x"]],
        "study create": [
            ["--corpus", card, "--split", "train", "--acts", "1", "--systems", "gold", "--output", "s"],
            ["--corpus", "trails", "--systems", "gold", run, pairs, "--output", "t"],
        ],
        "study export": [
            [study],
            [study, "--format", "json"],
            [ratings, "--format", "e2e", "--output", "e2e"],
            [ratings, "--format", "potato", "--output", "potato"],
        ],
        "study import": [
            [ratings, "--format", "csv"],
            [ratings, "--format", "csv", "--study", study],
            [ratings, "--format", "e2e"],
            [study, "--format", "potato"],
        ],
        "study analyse": [[study], [ratings, "--runs", "2"]],
        "study power": [[study, "--difference", "1"], [ratings, "--difference", "1"]],
        "study datasheet": [[study], [study, "--output", "d.md"]],
        "chat create": [[run, "--output", "c"], [f"x={run}", run, "--output", "d", "--name", EVIL]],
        "chat export": [[scores.parent / "chats", "--output", "said"]],
        "corpora list": [[]],
        "corpora fetch": [[card], [card, "--data-dir", "data"]],
        "corpora inspect": [[card], [corpus]],
        "corpora hash": [[card], [corpus]],
    }


def test_every_command_is_tried() -> None:
    nothing = Path()
    known = {" ".join(words) for words, _ in commands(app)}
    assert set(trials(*[nothing] * 5)) | TRUSTED | SERVERS == known


def altered(run: Path, folder: Path, **facts: Any) -> Path:
    """Copy a run, with other facts in its manifest."""
    copy = Path(shutil.copytree(run, folder))
    path = copy / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **facts}))
    return copy


def card(home: Path, text: str) -> Path:
    path = home / "card.yaml"
    path.write_text(text)
    return path


def study(home: Path) -> None:
    """Write a study, a study of chats, and a table of ratings."""
    item = {"id": "../x", "corpus": EVIL[:7], "act": EVIL, "words": EVIL, "sentences": {"a": EVIL, "b": EVIL}}
    pages = [{"id": "p", "item": "../x", "systems": ["a"]}]
    texts = dict.fromkeys(("instructions", "consent"), EVIL)
    (home / "study").mkdir()
    content = {"name": "<b>", "seed": 1, "design": "likert", "scale": {"low": 1, "high": 5}, **texts}
    content |= {"criteria": [{"name": "../c", "question": EVIL}], "items": [item]}
    content |= {
        "systems": [{"name": name, "source": EVIL} for name in "ab"],
        "raters": [{"id": "../r", "pages": pages}],
    }
    (home / "study" / "study.json").write_text(json.dumps(content))
    (home / "chats").mkdir()
    content = {"name": "<b>", "seed": 1, "people": 1, "systems": [{"name": "../s", "source": EVIL}], **texts}
    (home / "chats" / "chat.json").write_text(json.dumps(content))
    with (home / "ratings.csv").open("w", newline="") as file:
        rows = [[f"../{EVIL}", f"../{name}{EVIL}", f"../{EVIL}", f"../{EVIL}", "1"] for name in "ab"]
        csv.writer(file).writerows([["item", "system", "rater", "criterion", "value"], *rows])


def everything(dactnlg: Callable[..., Told], run: Path, home: Path, text: str) -> dict[str, list[Told]]:
    """Run every command on these, and return what each told."""
    corpus, pairs = home / "corpus.jsonl", home / "pairs.jsonl"
    corpus.write_text(json.dumps({"act": "inform(name='x')", "text": f"x {EVIL}"}) + "\n")
    row = {"act": "inform(name='x')", "hypothesis": f"x {EVIL}", "references": [EVIL, "x"]}
    pairs.write_text("\n".join([json.dumps(row)] * 3))
    scores = home / "scores.json"
    one = {"value": 0.5, "signature": EVIL, "hash": EVIL}
    scores.write_text(json.dumps({"preset": EVIL, "scores": {EVIL: one}, "segments": [{"scores": {EVIL: 0.5}}]}))
    study(home)
    tried = trials(run, corpus, pairs, card(home, text), scores)
    return {name: [dactnlg(*name.split(), *words) for words in found] for name, found in tried.items()}


class Page(HTMLParser):
    """Keeps the names of elements and attributes, and the policy."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.policy = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if ("http-equiv", "Content-Security-Policy") in attrs:
            self.policy = dict(attrs)["content"] or ""


def check_pages(folder: Path, count: int) -> None:
    """Every page that was written is without script and has a policy that allows none."""
    pages = list(folder.rglob("*.html"))
    assert len(pages) == count
    for path in pages:
        found = Page(path.read_text())
        assert not found.tags & {"script", "a", "img", "iframe", "link", "object", "form", "base"}, path
        assert not {name for name in found.attributes if name.startswith("on")} | {"src", "href"} & found.attributes
        assert re.fullmatch(
            r"default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'", found.policy
        )
        assert not ACTING.search(path.read_text())


def test_a_run_and_a_card_that_say_evil_things(dactnlg: Callable[..., Told], scored_run: Path, home: Path) -> None:
    mark = home / "mark"
    score = {"value": 0.5, "hash": EVIL, "signature": EVIL, "error": None}
    entry = {"corpus": EVIL, "source": EVIL, "split": EVIL, "options": {EVIL: EVIL}, "data": EVIL}
    entry |= {"scores": {EVIL: {EVIL: score}}, "code": {"commit": EVIL, "unclean": []}}
    # With another model than its configuration has, it would only be refused.
    model = json.loads((scored_run / "manifest.json").read_text(encoding="utf-8"))["config"]["model"]
    run = altered(
        scored_run,
        home / "run",
        evaluations=[entry],
        config={"model": model, "corpus": {"name": EVIL}, EVIL: {EVIL: EVIL}},
        environment={"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(mark), EVIL: EVIL},
        code={"commit": f"--upload-pack=touch {mark}", "unclean": [], "root": str(home / "victim")},
        command={"words": ["sh", "-c", f"touch {mark}"], "line": f"touch {mark}", "folder": str(home / "victim")},
        repeats={"run": EVIL, "identity": EVIL},
    )
    text = f"name: mine\ntitle: {json.dumps(EVIL)}\nformat: pairs\nfiles: {{train: {{path: corpus.jsonl}}}}\n"
    text += f"slots: {{name: {{cues: {{'yes': [{json.dumps(EVIL[:26])}]}}}}}}\n"
    told = everything(dactnlg, run, home, text)
    for name in ("reproduce", "publish"):
        assert all("is not the hash of one" in refused(found) for found in told[name])
    assert not [found for name in ("generate", "leaderboard", "corpora inspect") for found in told[name] if found[0]]
    for name in ("leaderboard", "compare", "corpora inspect", "corpora list", "corpora hash", "score", "evaluate"):
        assert not any(ACTING.search(out) for _, out, _ in told[name]), name
    check_pages(home / "work", 3)


def test_a_run_of_links_and_a_card_that_leads_out(dactnlg: Callable[..., Told], scored_run: Path, home: Path) -> None:
    run = altered(scored_run, home / "run")
    for name in (".lock", ".publishing", "partial-manifest.json", "partial-config.yaml", ".training", "more/notes"):
        (run / name).parent.mkdir(exist_ok=True)
        (run / name).unlink(missing_ok=True)
        (run / name).symlink_to(home / "victim" / ("profile" if "partial" in name else "new"))
    text = (
        "name: mine\nformat: pairs\n"
        "files: {train: {path: ../victim/profile, url: 'file:///etc/passwd'}, test: {path: /etc/passwd}}\n"
        "archives: [{url: 'ftp://x/y', into: ../../victim, members: {../victim/new: a, b: ../c}}]\n"
    )
    told = everything(dactnlg, run, home, text)
    for name in ("train", "generate", "evaluate", "publish", "reproduce", "export"):
        for found in told[name]:
            assert "is a link to" in refused(found) or "mistakes in" in refused(found), name
    for found in (*told["corpora fetch"], told["corpora inspect"][0], told["corpora hash"][0], told["score"][0]):
        # Every mistake of the card, with its line.
        assert refused(found).count("leads out of its folder") == 5
        assert refused(found).count("should match pattern") == 2


def test_a_run_that_builds_objects_and_a_card_without_an_end(
    dactnlg: Callable[..., Told], scored_run: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = altered(scored_run, home / "run")
    touch = f"!!python/object/apply:os.system ['touch {home / 'mark'}']"
    (run / "config.yaml").write_text(f"corpus: {{name: trails}}\nmodel: {touch}\n")
    text = f"name: mine\nformat: pairs\nfiles: {{train: {{path: corpus.jsonl}}}}\ntitle: {touch}\n"
    told = everything(dactnlg, run, home, text)
    for name in ("train", "generate", "evaluate", "publish", "reproduce", "export"):
        for found in told[name]:
            assert "not YAML" in refused(found) or "python/object" in refused(found), name
    cue = "slots: {near: {cues: {'yes': ['(x|xx)+$']}}}"
    text = f"name: mine\nformat: pairs\nfiles: {{train: {{path: corpus.jsonl}}}}\n{cue}\n"
    (home / "corpus.jsonl").write_text(json.dumps({"act": "inform(name='y')", "text": f"{'x' * 60}!"}))
    monkeypatch.setattr("dactnlg._utils.patterns.SECONDS", 0.1)
    assert "(x|xx)+$" in refused(dactnlg("corpora", "inspect", card(home, text)))


def test_a_run_whose_cues_have_no_end(
    dactnlg: Callable[..., Told], scored_run: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dactnlg._utils.patterns.SECONDS", 0.1)
    run = altered(scored_run, home / "run")
    path = run / "preprocessor.json"
    data = json.loads(path.read_text())
    data["style"]["cues"] = {"difficulty": {"yes": [r"((.|\w|\W)+)+(?<=#)"]}}
    path.write_text(json.dumps(data))
    (run / "manifest.json").unlink()
    (run / "state.json").unlink(missing_ok=True)
    for words in (["generate", "--model", run, "goodbye()"], ["evaluate", "--model", run]):
        assert "is too slow" in refused(dactnlg(*words))


def test_an_export_is_not_written_through_a_link(
    dactnlg: Callable[..., Told], scored_run: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The baseline has no weights; what is tried comes before they are looked for.
    monkeypatch.setattr("dactnlg.runs.sections.ModelSection.neural", True)
    run = altered(scored_run, home / "run")
    (run / "weights.safetensors").write_bytes(b"")
    Path("x.onnx").symlink_to(home / "victim" / "new")
    assert "x.onnx exists already" in refused(dactnlg("export", run, "--format", "onnx", "--output", "x.onnx"))


def test_a_run_of_pipes_is_not_waited_for(dactnlg: Callable[..., Told], scored_run: Path, home: Path) -> None:
    for name in ("config.yaml", "preprocessor.json", "weights.safetensors", ".lock", "manifest.json"):
        run = altered(scored_run, home / f"run of {name}")
        (run / name).unlink(missing_ok=True)
        os.mkfifo(run / name)
        for words in (["generate", "--model", run, "goodbye()"], ["publish", run], ["evaluate", "--model", run]):
            assert re.search(f"{name} is (?:neither a file nor a folder|not a file)", refused(dactnlg(*words)))
    assert "has no manifest" in refused(dactnlg("leaderboard", run))
