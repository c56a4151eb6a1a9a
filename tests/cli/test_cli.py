"""The command line: output, messages, exit codes, and what it does not import."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import command, commands, dactnlg

from dactnlg import __version__
from dactnlg.cli.main import app

REPOSITORY = Path(__file__).resolve().parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
DACTNLG = [sys.executable, "-m", "dactnlg"]
ACTS = [
    "inform(name='Red Kite Ridge';difficulty=moderate;length='7 km';dogsallowed=yes)",
    "?request(region)",
    "goodbye()",
    "inform_count(count=12;difficulty=easy)",
]


@pytest.mark.parametrize("words", [words for words, _ in commands(app)], ids=" ".join)
def test_every_command_has_help_with_an_example(words: tuple[str, ...]) -> None:
    done = command(*words, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    example = f"  dactnlg {' '.join(words)} "
    assert any(f"{line} ".startswith(example) for line in done.stdout.splitlines()[1:])


def test_help_names_the_guides() -> None:
    done = command("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert " corpora " in done.stdout
    assert "Guides" in done.stdout and ("docs/pages/guides" in done.stdout or "https://" in done.stdout)
    assert list((REPOSITORY / "docs/pages/guides").glob("*.md"))


def test_version() -> None:
    assert command("--version").stdout == f"dactnlg {__version__}\n"


def test_light_commands_never_import_tensorflow(tmp_path: Path) -> None:
    light = [
        (["--help"], 0),
        (["generate", "--help"], 0),
        (["corpora", "list"], 0),
        (["corpora", "inspect", "trails"], 0),
        (["corpora", "hash", "trails"], 0),
        (["score", "--hypotheses", "LICENSE", "--references", "LICENSE", "--metric", "BLEU-4"], 0),
        (["train", "no-such-configuration"], 2),
        (["train", "trails-random", "--output", str(tmp_path / "run")], 0),
    ]
    code = f"""if True:
        import sys
        from dactnlg.cli.main import main
        for words, expected in {light}:
            code, heavy = main(words), {{"tensorflow", "keras", "jax", "torch"}} & set(sys.modules)
            if code != expected or heavy:
                sys.exit(f"{{words}}: {{code}}, {{heavy}}")
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=ENVIRONMENT, cwd=REPOSITORY)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["train", "evaluate"])
def test_the_two_scripts_are_short_and_call_the_package(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    script = REPOSITORY / f"{name}.py"
    assert len(script.read_text(encoding="utf-8").splitlines()) < 30
    monkeypatch.setenv("COLUMNS", "80")
    environment = {**ENVIRONMENT, "COLUMNS": "80"}
    done = subprocess.run([sys.executable, str(script), "--help"], capture_output=True, text=True, env=environment)
    assert done.stdout == command(name, "--help").stdout != ""


MISTAKES = [
    (["train", "nothing.yaml"], "there is no configuration nothing.yaml"),
    (["train", "trails-sclstn"], "did you mean 'trails-sclstm'"),
    (["train", "trails-sclstm", "--set", "training.epoch=3"], "did you mean 'epochs'?"),
    (["train", "trails-sclstm", "--set", "corpus.name=mountains"], "unknown corpus 'mountains'"),
    (["generate", "--model", "nowhere", "goodbye()"], "nowhere"),
    (["generate", "--model", "RUN", "goodbye("], "act 1, column 9: expected ';' or ')'\n  goodbye(\n          ^"),
    (["generate", "--model", "RUN", "goodbye()", "inform(name=)"], "act 2, column 13"),
    (["generate", "--model", "RUN", "inform(nmae=x)"], "name"),
    (["generate", "--model", "RUN", "infrom(name=x)"], "inform"),
    (["generate", "--model", "RUN", "--input", "nothing.txt"], "nothing.txt: No such file"),
    (["generate", "--model", "RUN", "--input", "-", "goodbye()"], "not both"),
    (["generate", "--model", "RUN", "--format", "xml", "goodbye()"], "'text', 'json'"),
    (["generate", "--model", "RUN", "--constraint", "soft", "goodbye()"], "'none', 'rerank', 'hard'"),
    (["generate", "--model", "RUN", "--n-best", "0", "goodbye()"], "--n-best"),
    (["generate", "goodbye()"], "--model"),
    (["evaluate", "--model", "nowhere"], "nowhere"),
    (["evaluate", "--model", "RUN", "--preset", "sharma2071"], "did you mean 'sharma2017'?"),
    (["evaluate", "--model", "RUN", "--corpus", "trials"], "did you mean 'trails'?"),
    (["evaluate", "--model", "RUN", "--json", "no/such/folder.json"], "no folder"),
    (["selfplay", "RUN", "--output", "talks", "--open", "--data-dir", "data"], "does not go with --open"),
    (["serve", "RUN", "--log-values"], "--log: give both"),
    (["prompts", "trails", "--prompts", "asked.jsonl"], "--prompts goes with --read"),
    (["prompts", "--read", "answers.jsonl", "--per-act", "3"], "--per-act and --data-dir are for making prompts"),
    (["train", "trails-random", "--output", "-"], "--output cannot be standard output"),
    (["serve", ""], "is empty"),
    (["leaderboard", ""], "is empty"),
    (["study", "analyse", "ratings.csv", "--rule", "most-pairs"], "--rule says whom --min-kappa excludes"),
    (["study", "analyse", "ratings.csv", "--anova-type", "3"], "analysis of variance of --properties"),
    (["import", "rasa", str(Path(__file__)), "--output", "bot", "--language", "de"], "--language is for ovos"),
    (["compare", "a.json", "b.json", "--preset", "fair"], "A and B hold scores already"),
    (["compare", "a.json", "b.json", "--beam-width", "3"], "A and B hold scores already"),
    (["score"], "--input"),
    (["score", "--input", "nothing.jsonl"], "nothing.jsonl"),
    (["score", "stray"], "stray"),
    (["score", "--input", "x", "--hypotheses", "y"], "not both"),
    (["corpora", "inspect", "restaurant"], "did you mean 'restaurants'"),
    (["corpora", "fetch", "restaurant"], "did you mean 'restaurants'"),
    (["nonsense"], "nonsense"),
]


@pytest.mark.parametrize(("words", "message"), MISTAKES)
def test_a_mistake_of_the_user_is_a_message_and_exit_code_2(words: list[str], message: str, random_run: Path) -> None:
    done = command(*[random_run if word == "RUN" else word for word in words])
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_a_missing_corpus_names_the_fetch_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DACTNLG_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    done = command("train", "restaurants-sclstm", "--output", tmp_path / "run")
    assert done.returncode == 2
    assert "dactnlg corpora fetch restaurants" in done.stderr


def test_acts_from_anywhere_become_a_line_each_in_order(random_run: Path, tmp_path: Path) -> None:
    text = "".join(f"{act}\n" for act in ACTS)
    (tmp_path / "acts.txt").write_text(text, encoding="utf-8")
    generate = ["generate", "--model", random_run]
    ways = [
        command(*generate, *ACTS),
        command(*generate, "--input", tmp_path / "acts.txt"),
        command(*generate, "--input", "-", stdin=text),
        command(*generate, stdin=text),
        command(*generate, stdin="\ufeff" + text.rstrip("\n").replace("\n", "\r\n")),
        dactnlg(REPOSITORY, *generate, stdin=text),
    ]
    for done in ways:
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == ways[0].stdout
    lines = ways[0].stdout.splitlines()
    assert len(lines) == len(ACTS)
    assert "Red Kite Ridge" in lines[0]
    assert "12" in lines[3]


def test_json_lines(random_run: Path) -> None:
    words = ["generate", "--model", random_run, "--format", "json", "--seed", "3", *ACTS]
    done = command(*words)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["act"] for row in rows] == ACTS
    for row in rows:
        assert {"act", "text", "delexicalized", "score", "slots_ok", "missing", "extra", "n_best"} <= set(row)
    # Another process has other hashes of strings, and so another order of sets.
    assert dactnlg(REPOSITORY, *words).stdout == done.stdout


def test_many_acts_keep_their_order_and_their_seed(random_run: Path, tmp_path: Path) -> None:
    path = tmp_path / "acts.txt"
    path.write_text("".join(f"inform_count(count={number};difficulty=easy)\n" for number in range(100, 1100)))
    words = ["generate", "--model", random_run, "--seed", "7"]
    done = command(*words, "--input", path)
    lines = done.stdout.splitlines()
    assert len(lines) == 1000
    assert all(str(number) in line for number, line in enumerate(lines, start=100))
    assert dactnlg(REPOSITORY, *words, stdin=path.read_text()).stdout == done.stdout


def test_a_program_may_write_an_act_and_wait(random_run: Path) -> None:
    command = [*DACTNLG, "generate", "--model", str(random_run)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT) as process:
        for number in (21, 34):
            process.stdin.write(f"inform_count(count={number};difficulty=easy)\n".encode())
            process.stdin.flush()
            assert str(number) in process.stdout.readline().decode()
        process.stdin.close()
        assert process.wait(60) == 0


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("", "line 3: blank"),
        ("   ", "line 3: blank"),
        ("inform(", "line 3, column 8"),
        ("inform(nmae=x)", "line 3: unknown slot 'nmae'"),
        (b"goodbye(\xff)", "line 3: not UTF-8"),
    ],
)
def test_a_bad_line_is_named_after_the_good_ones(random_run: Path, bad: str | bytes, message: str) -> None:
    raw = bad if isinstance(bad, bytes) else bad.encode()
    given = b"goodbye()\n?request(region)\n" + raw + b"\ngoodbye()\n"
    done = command("generate", "--model", random_run, stdin=given)
    assert done.returncode == 2
    assert len(done.stdout.splitlines()) == 2
    assert f"standard input, {message}" in done.stderr


def test_no_acts_no_lines(random_run: Path) -> None:
    done = command("generate", "--model", random_run)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_value_with_a_line_break_stays_in_its_line(random_run: Path) -> None:
    done = command("generate", "--model", random_run, r"goodbye(name='a\nb\tc')", "goodbye()")
    assert len(done.stdout.splitlines()) == 2, done.stderr
    assert "a b c" in done.stdout.splitlines()[0]


def test_n_best_stands_in_one_line(random_run: Path, neural_run: Path) -> None:
    for folder in (random_run, neural_run):
        done = command("generate", "--model", folder, "--n-best", "3", *ACTS)
        assert len(done.stdout.splitlines()) == len(ACTS)
        assert "\t" in done.stdout


def test_ctrl_c_leaves_without_a_traceback(random_run: Path) -> None:
    # A shell starts what it puts in the background with SIGINT ignored, and children inherit that: the tests may run
    # there, but the command shall meet Ctrl-C as it does in the foreground.
    code = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code += "; from dactnlg.cli.main import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "generate", "--model", str(random_run)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=ENVIRONMENT, **pipes) as process:
        process.stdin.write(b"goodbye()\n")
        process.stdin.flush()
        process.stdout.readline()  # it is up, and waits for more
        process.send_signal(signal.SIGINT)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            # Between Python's last look for signals and its reading there is a moment in which one waits for the next.
            process.send_signal(signal.SIGINT)
        try:
            assert process.wait(100) == 130
        finally:
            process.kill()  # else leaving the block would wait for ever
        assert b"Traceback" not in process.stderr.read()


def test_a_neural_run_generates_and_is_evaluated(neural_run: Path, tmp_path: Path) -> None:
    said = command("generate", "--model", neural_run, "--format", "json", *ACTS)
    assert (said.returncode, said.stderr) == (0, "")
    rows = [json.loads(line) for line in said.stdout.splitlines()]
    assert [row["act"] for row in rows] == ACTS
    assert "Red Kite Ridge" in rows[0]["text"]
    assert "7 km" in rows[0]["text"]

    scores, report = tmp_path / "scores.json", tmp_path / "report.md"
    words = ["evaluate", "--model", neural_run, "--split", "valid", "--preset", "single"]
    done = command(*words, "--json", scores, "--report", report)
    assert done.returncode == 0, done.stderr
    assert "BLEU-4" in done.stdout
    data = json.loads(scores.read_text(encoding="utf-8"))
    assert {"value", "signature", "hash"} <= set(data["scores"]["BLEU-4"])
    assert data["scores"]["SER"]["value"] == 0.0
    assert "SER" in report.read_text(encoding="utf-8")


def test_evaluate_writes_json_alone_to_standard_output(random_run: Path) -> None:
    done = command("evaluate", "--model", random_run, "--json", "-")
    data = json.loads(done.stdout)
    examples = (REPOSITORY / "datasets" / "trails" / "test.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(data["segments"]) == len(examples)
    assert all(set(segment["scores"]) == set(data["scores"]) for segment in data["segments"])


def test_score_reads_pairs_and_plain_text_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [("a b c d e", ["a b c d e", "x"]), ("a b c d f", ["a b c d e", "y"])]
    pairs = [json.dumps({"hypothesis": hypothesis, "references": references}) for hypothesis, references in rows]
    Path("pairs.jsonl").write_text("\n".join(pairs))
    Path("out").write_text("".join(f"{row[0]}\n" for row in rows))
    for number in (0, 1):
        Path(f"ref{number}").write_text("".join(f"{row[1][number]}\n" for row in rows))
    score = ["score", "--metric", "BLEU-4", "--json", "-"]
    plain = [*score, "--hypotheses", "out"]
    ways = [
        command(*score, "--input", "pairs.jsonl"),
        command(*score, "--input", "-", stdin="\n".join(pairs)),
        command(*plain, "--references", "ref0", "ref1"),
        command(*plain, "--references", "ref0", "--references", "ref1"),
    ]
    for done in ways:
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == json.loads(ways[0].stdout)
    data = json.loads(ways[0].stdout)
    assert list(data["scores"]) == ["BLEU-4"]
    assert [segment["scores"]["BLEU-4"] > 0.9 for segment in data["segments"]] == [True, False]


def test_corpora_are_listed_and_inspected(data_dir: Path) -> None:
    done = command("corpora", "list", "--data-dir", data_dir)
    assert done.returncode == 0
    names = {line.split()[0] for line in done.stdout.splitlines()}
    assert {"restaurants", "hotel", "laptop", "tv", "dstc2", "e2e", "viggo", "trails"} <= names
    done = command("corpora", "inspect", "trails")
    assert done.returncode == 0, done.stderr
    assert "inform_no_match" in done.stdout
    found = command("corpora", "inspect", "trails", "--json", "-")
    assert json.loads(found.stdout)["splits"].keys() == {"train", "valid", "test"}


def test_an_argument_that_is_not_utf8_is_refused(random_run: Path) -> None:
    command = [*DACTNLG, "generate", "--model", str(random_run), b"inform(name=\xff)"]
    done = subprocess.run(command, capture_output=True, env=ENVIRONMENT, timeout=300, check=False)
    assert done.returncode == 2 and done.stdout == b""
    assert done.stderr.decode().splitlines() == ["dactnlg: act 1: not UTF-8 (character 13)"]
