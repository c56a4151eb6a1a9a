"""Messages of training: lines that fit a terminal, warnings where something is wrong, silence as a library."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from small_trainings import SETS, SMALL

from dactnlg import models
from dactnlg._utils.quiet import _filtered_stderr
from dactnlg.cli.main import main
from dactnlg.data.corpus import load_corpus
from dactnlg.data.pairs import build_preprocessor, validation_pairs
from dactnlg.runs.config import load_config
from dactnlg.runs.run import Run
from dactnlg.training.advice import advice
from dactnlg.training.messages import duration
from dactnlg.training.schedule import scheduled
from dactnlg.training.splits import Splits
from dactnlg.training.train import train

EPOCH = re.compile(r"epoch ([123])/3  train \d\.\d{3}  valid \d\.\d{3}  (best|    )  +[\d,]+ tokens/s  <\d:\d\d left")


def told(run: Path, *words: str, errors: int = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dactnlg", "train", "trails-sclstm", *SETS, "--output", str(run), *words]
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=errors, timeout=300)


def check_lines(lines: Sequence[str]) -> None:
    """Check that the lines are those of a training of three epochs and fit 80 columns."""
    assert all(len(line) < 80 for line in lines if not line.startswith("dactnlg: ")), lines
    assert re.fullmatch(r"1,\d{3} pairs, 128 a batch; at most 3 epochs, or 6 after the best", lines[0])
    matches = [EPOCH.fullmatch(line) for line in lines[1:4]]
    assert [match and match[1] for match in matches] == ["1", "2", "3"], lines
    assert lines[4].startswith("best epoch 3 of 3, lowest validation loss ")
    assert re.fullmatch(r"\d+ of 100 validation acts faultless(.*); SER \d\.\d{4}", lines[5])
    # Acts are indented less than their sentences.
    acts = [line for line in lines[6:] if re.match(r"  [?\w]", line)]
    assert len(acts) >= 3 and sum(re.match(r"    \S", line) is not None for line in lines) >= 3


def test_lines_without_a_terminal(tmp_path: Path) -> None:
    done = told(tmp_path / "run")
    assert (done.returncode, done.stdout) == (0, f"{tmp_path / 'run'}\n")
    assert "\r" not in done.stderr
    check_lines(done.stderr.splitlines())
    quiet = told(tmp_path / "quiet", "--quiet")
    assert (quiet.returncode, quiet.stdout) == (0, f"{tmp_path / 'quiet'}\n")
    assert quiet.stderr.splitlines() == [line for line in done.stderr.splitlines() if "warning" in line]
    assert (
        quiet.stderr
        == "dactnlg: warning: the last epoch was the best: training longer may help (training.epochs is 3)\n"
    )
    assert Run(tmp_path / "run").manifest()["training"]["warnings"] == [quiet.stderr.strip().partition("warning: ")[2]]


@pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals")
def test_a_bar_and_lines_on_a_terminal(tmp_path: Path) -> None:
    import pty
    import termios

    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    done = told(tmp_path / "run", errors=theirs)
    os.close(theirs)
    seen = b""
    while True:
        try:
            seen += os.read(ours, 1 << 16)
        except OSError:
            break
    assert done.returncode == 0
    # The final content of each line, and everything that was drawn there before.
    text = seen.decode().replace("\r\n", "\n").replace("\x1b[A", "")
    lines = text.split("\n")
    drawn = [part for line in lines for part in line.split("\r")]
    assert any(re.match(r"epoch 2/3 +\d+%\|", part) for part in drawn)
    assert not [part for part in drawn if len(part) > 80 and not part.startswith("dactnlg: ")]
    left = [line.split("\r")[-1].strip() for line in lines]
    assert [line[:9] for line in left if EPOCH.fullmatch(line)] == ["epoch 1/3", "epoch 2/3", "epoch 3/3"]


def test_the_library_is_silent(tmp_path: Path) -> None:
    program = f"""if True:
        import dactnlg
        run = dactnlg.train("trails-lstm", {str(tmp_path / "run")!r}, progress=False, overrides={SMALL!r})
        assert run.manifest()["training"]["warnings"]
        import keras
        keras.ops.sum(keras.ops.ones(2))
    """
    there = {name: value for name, value in os.environ.items() if not name.startswith("TF_")}
    for more in ({}, {"TF_CPP_MIN_LOG_LEVEL": "3"}):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={**there, **more})
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        program = "import dactnlg.models, tensorflow"


def test_start_up_notices_of_older_tensorflow_are_left_out(capfd: pytest.CaptureFixture[str]) -> None:
    # As TensorFlow 2.18 and 2.19 write them while they are imported.
    told = [
        "E0000 00:00:1795923679.866975    2842 cuda_dnn.cc:8579] Unable to register cuDNN factory: Attempting to",
        "E0000 00:00:1795923679.870283    2842 cuda_blas.cc:1407] Unable to register cuBLAS factory: Attempting to",
        "W0000 00:00:1795923679.883245    2842 computation_placer.cc:177] computation placer already registered.",
        "what else is said",
    ]
    with _filtered_stderr():
        os.write(2, "".join(f"{line}\n" for line in told).encode())
    assert capfd.readouterr().err == "what else is said\n"


def test_the_logger_reports_epochs_and_warnings(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "dactnlg")
    train("trails-lstm", tmp_path / "run", overrides=SMALL, progress=False)
    assert {record.name.split(".")[0] for record in caplog.records} == {"dactnlg"}
    assert [record.levelname for record in caplog.records].count("WARNING") == 1
    assert sum(record.getMessage().startswith("epoch ") for record in caplog.records) == 3


def test_the_users_log_level_of_tensorflow_is_kept(tmp_path: Path) -> None:
    program = (
        "import os, dactnlg.models; print(os.environ['TF_CPP_MIN_LOG_LEVEL'], 'TF_ENABLE_ONEDNN_OPTS' in os.environ)"
    )
    for level, expected in (("1", "1 False"), (None, "3 True")):
        there = {name: value for name, value in os.environ.items() if not name.startswith("TF_")}
        there |= {"TF_CPP_MIN_LOG_LEVEL": level} if level else {}
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=there)
        assert done.stdout.strip() == expected, done.stderr


def rows(*losses: float) -> list[dict[str, Any]]:
    return [{"epoch": number, "loss": loss, "valid_loss": loss} for number, loss in enumerate(losses, 1)]


@pytest.fixture(scope="module")
def trails() -> Splits:
    corpus = load_corpus("trails", None)
    preprocessor, pairs = build_preprocessor(corpus)
    return Splits(pairs, validation_pairs(corpus, preprocessor), corpus)


def warned(splits: Splits, losses: list[float], best: int, **facts: bool) -> list[str]:
    options = scheduled(load_config("trails-sclstm", [f"training.epochs={max(4, len(losses))}"], models), splits.train)
    summary = {"best_epoch": best, "interrupted": False, "stopped": False, **facts}
    return advice(options.training, splits, rows(*losses), summary)


def test_a_good_training_has_no_warnings(trails: Splits) -> None:
    assert warned(trails, [3.0, 2.0, 1.5, 1.6, 1.7], 3) == []
    # The last epoch is the best, but hardly better.
    assert warned(trails, [3.0, *(1 + 0.1 / n for n in range(1, 11))], 11) == []


def test_a_training_that_is_too_short_or_too_long_is_warned_of(trails: Splits) -> None:
    (line,) = warned(trails, [3.0, 2.5, 2.0, 1.5], 4)
    assert line == "the last epoch was the best: training longer may help (training.epochs is 4)"
    assert len(warned(trails, [2.0 - number / 12 for number in range(20)], 20)) == 1
    assert warned(trails, [3.0, 2.5, 2.0, 1.5], 4, interrupted=True) == []
    assert warned(trails, [3.0, 2.5, 2.0], 3, stopped=True) == []
    (line,) = warned(trails, [3.0, 3.5, 3.6, 3.5], 1)
    assert "lowest after the first epoch" in line and "training.learning_rate is 0.002" in line


def write_pairs(folder: Path, train: list[tuple[str, str]], valid: list[tuple[str, str]]) -> None:
    folder.mkdir()
    for name, part in (("train", train), ("valid", valid)):
        lines = (json.dumps({"act": act, "text": text}) + "\n" for act, text in part)
        (folder / f"{name}.jsonl").write_text("".join(lines))


def test_scarce_data_is_warned_of(tmp_path: Path) -> None:
    common = [(f"inform(name=N{number})", f"N{number} is w{number}") for number in range(12)]
    rare = [(f"{kind}(name=A)", f"A is {kind}") for kind in ("a", "b", "c", "d", "e", "f") for _ in range(2)]
    write_pairs(tmp_path / "mine", [*common, *rare], common[:3])
    corpus = load_corpus(str(tmp_path / "mine"), None)
    preprocessor, pairs = build_preprocessor(corpus)
    splits = Splits(pairs, validation_pairs(corpus, preprocessor), corpus)
    words, acts, split = warned(splits, [3.0, 2.0, 2.5], 2)
    assert words.startswith("12 of 19 words (63%) occur once in training") and "corpus.min_count=2" in words
    assert acts == "act types with fewer than 10 training pairs: a (2), b (2), c (2), d (2), e (2) and 1 more"
    assert split == "the validation split has 3 pairs: too few to tell which epoch is the best"


def test_restaurants_are_not_warned_of(data_dir: Path) -> None:
    corpus = load_corpus("restaurants", str(data_dir))
    preprocessor, pairs = build_preprocessor(corpus, targets="both")
    assert warned(Splits(pairs, validation_pairs(corpus, preprocessor), corpus), [3.0, 1.0, 1.1], 2) == []


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0:00"), (59.6, "1:00"), (83, "1:23"), (3723, "1:02:03")])
def test_durations_are_rounded_to_seconds(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.needs("matplotlib", "pip install 'dactnlg[plot]'")
def test_losses_are_plotted_and_logged_for_tensorboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from PIL import Image

    pictures = ["training.plot=true", "training.tensorboard=true"]
    run = train("trails-lstm", tmp_path / "run", overrides=[*SMALL, *pictures], progress=False)
    with Image.open(run.plot_path) as image:
        assert image.size == (960, 600) and len(image.getcolors(1 << 20) or ()) > 20
    import tensorflow as tf

    (file,) = run.tensorboard_path.iterdir()
    events = [tf.compat.v1.Event.FromString(record.numpy()) for record in tf.data.TFRecordDataset(str(file))]
    found = {(event.step, v.tag): tf.make_ndarray(v.tensor) for event in events for v in event.summary.value}
    for row in run.history():
        for name in ("loss", "valid_loss", "learning_rate"):
            assert found[int(row["epoch"]), name] == pytest.approx(row[name], rel=1e-6)
    # With other plots it is still the same configuration.
    train("trails-lstm", run.path, overrides=SMALL, resume=True, progress=False)


def test_a_plot_without_matplotlib_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr("dactnlg.training.plot.find_spec", lambda name: None)
    words = ["train", "trails-lstm", "--set", "training.plot=true", "--output", str(tmp_path / "run")]
    assert main(words) == 2
    assert "pip install 'dactnlg[plot]'" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
