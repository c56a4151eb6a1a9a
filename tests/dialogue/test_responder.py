"""Dialogue models from training to answers: the run folder, `Responder`, scores, and messages about mistakes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import write_dialogues

import dactnlg
from dactnlg.cli.main import main
from dactnlg.data.teacher_arrays import TeacherArrays, load_teacher_arrays
from dactnlg.dialogue.evaluation import answer_scores, distinct, evaluate_dialogue
from dactnlg.dialogue.likelihood import likelihood
from dactnlg.dialogue.responder import Responder
from dactnlg.errors import ConfigError, CorpusError, RunError, UnknownNameError, UserError
from dactnlg.text.dialogue_preprocessor import ContextPair
from dactnlg.training.train import train

TURNS = [["Hello there.", "Hello!", "How are you?", "Fine.", "Goodbye."], ["Are you in?", "Yes.", "Good."]]
SIZES = {"hidden_size": 8, "embedding_size": 8, "utterance_size": 8, "context_size": 8, "longest": 8}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_dialogues(folder, [{"id": str(number), "turns": turns} for number, turns in enumerate(TURNS)])
    return folder


def config(data: Path, name: str, **more: Any) -> dict[str, Any]:
    latent = {} if name == "hred" else {"latent_size": 4, "annealing": 10}
    return {
        "corpus": {"name": "dailydialog", "data_dir": str(data)},
        "model": {"name": name, **SIZES, **latent, **more},
        "training": {"epochs": 2, "batch_size": 4, "learning_rate": 0.01},
    }


@pytest.fixture(scope="module")
def vhcr(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "vhcr"
    train(config(data, "vhcr"), folder, progress=False)
    return folder


def test_answers_are_repeatable_and_seeds_draw_noise(vhcr: Path) -> None:
    responder = Responder(vhcr, max_length=6)
    histories = [["Hello there."], [], ["a"] * 9, ["Hello there.", "Hello!"]]
    answers = responder.reply(histories)
    assert len(answers) == 4
    assert answers == responder.reply(histories)
    # The same one at a time and together.
    assert answers == [responder.reply([history])[0] for history in histories]
    assert responder.reply([]) == []
    drawn = responder.reply(histories, seeds=[3, 3, 4, 5])
    assert drawn == [
        responder.reply([each], seeds=[seed])[0] for each, seed in zip(histories, [3, 3, 4, 5], strict=True)
    ]
    assert len(set(responder.reply([[]] * 40, seeds=range(40)))) > 20
    first, later = responder.inputs([histories[0]], [3]), responder.inputs([histories[3]], [3])
    assert (first["conversation_noise"] == later["conversation_noise"]).all()
    assert (first["noise"] != later["noise"]).any()
    assert (responder.inputs([histories[0]], [4])["conversation_noise"] != first["conversation_noise"]).any()
    assert not any(array.any() for name, array in responder.inputs(histories, None).items() if "noise" in name)


def test_only_the_last_turns_matter(vhcr: Path) -> None:
    responder = Responder(vhcr, max_length=6)
    assert responder.reply([["Yes.", *TURNS[0]]]) == responder.reply([TURNS[0]])


def test_a_dialogue_model_is_evaluated(vhcr: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", str(vhcr), "--json", "-"]) == 0
    printed = capsys.readouterr()
    (found,) = json.loads(printed.out)
    assert found["pairs"] == 6
    # The splits are equal.
    assert "leakage: 2 of 2 dialogues of the split 'test' stand in the training split, too" in printed.err
    assert found["scores"]["perplexity"] > 1
    assert found["scores"]["KL"] >= 0


def test_a_resumed_training_of_dialogues_ends_with_the_same_weights(vhcr: Path, data: Path, tmp_path: Path) -> None:
    class Stop:
        def on_epoch_end(self, row: Any) -> bool:
            return False

    train(config(data, "vhcr"), tmp_path / "run", progress=False, callbacks=[Stop()])
    train(config(data, "vhcr"), tmp_path / "run", progress=False, resume=True)
    for name in ("weights.safetensors", "preprocessor.json"):
        assert (tmp_path / "run" / name).read_bytes() == (vhcr / name).read_bytes()


def test_a_model_learns_from_teacher_arrays_and_may_take_them_as_inputs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    emotions = ["happiness", "no emotion"] * 3
    write_dialogues(tmp_path, [{"turns": turns, "emotions": emotions[: len(turns)]} for turns in TURNS])
    file = tmp_path / "teacher.npz"
    assert main(["teach", "dailydialog", "--data-dir", str(tmp_path), "--output", str(file)]) == 0
    assert f"{len({text for turns in TURNS for text in turns})} different turns" in capsys.readouterr().err
    arrays = load_teacher_arrays(file)
    np.testing.assert_allclose(arrays.emotions.sum(axis=1), 1.0, rtol=1e-5)
    run = tmp_path / "run"
    train(config(tmp_path, "hred", ei="both", teacher=str(file)), run, progress=False)
    assert json.loads((run / "manifest.json").read_text())["training"]["teacher"] == arrays.id
    # Without `ei: input`, answers need no teacher.
    assert len(Responder(run, max_length=6).reply([["Hello there."]])) == 1
    fed = tmp_path / "fed"
    train(config(tmp_path, "hred", ei="input", teacher=str(file)), fed, progress=False)
    # With `ei: input`, only texts of the file can be answered.
    answers = Responder(fed, max_length=6).reply([["Hello there."], ["Hello there.", "Hello!"], []])
    assert len(answers) == 3
    assert evaluate_dialogue(fed, samples=2)["pairs"] == 6
    with pytest.raises(UserError, match="nothing for the text 'Never heard'"):
        Responder(fed, max_length=6).reply([["Never heard"]])
    # No file has the turns of a new conversation.
    for arguments in (
        ["selfplay", str(fed), "--open", "--output", str(tmp_path / "played")],
        ["chat", "create", str(fed), "--output", str(tmp_path / "chats")],
    ):
        assert main(arguments) == 2
        assert "nobody can talk with it" in capsys.readouterr().err
    TeacherArrays("another", arrays.texts, arrays.emotions, arrays.vectors).save(file)
    with pytest.raises(UserError, match="another@"):
        Responder(fed)
    assert main(["teach", "trails", "--output", str(tmp_path / "x.npz")]) == 2
    assert not (tmp_path / "x.npz").exists()


@pytest.mark.parametrize("name", ["hred", "vhcr"])
def test_a_given_act_decides_the_answer(name: str, tmp_path: Path) -> None:
    told = [("it is warm", "inform"), ("is it cold ?", "question")]
    write_dialogues(tmp_path, [{"turns": ["tell me", text], "acts": [["directive"], [act]]} for text, act in told * 8])
    options = config(tmp_path, name, acts=True, word_drop=0.0, dropout=0.0)
    options["training"] = {"epochs": 20, "batch_size": 16, "learning_rate": 0.1}
    train(options, tmp_path / "run", progress=False)
    responder = Responder(tmp_path / "run", max_length=8)
    assert responder.preprocessor.acts == ("inform", "question")
    said = responder.reply([["tell me"]] * 4, acts=[["inform"], ["question"], [], ["inform"]])
    assert said[:2] == ["it is warm", "is it cold ?"]
    assert said[2] in said[:2]
    assert said[3] == said[0]
    with pytest.raises(UnknownNameError, match="question"):
        responder.reply([["tell me"]], acts=[["questoin"]])
    with pytest.raises(ValueError, match="2 acts for 1"):
        responder.reply([["tell me"]], acts=[[], []])
    # With its label a turn is more likely than without.
    pairs = [ContextPair(("tell me",), text, acts=(act,)) for text, act in told]
    unlabelled = [pair._replace(acts=("directive",)) for pair in pairs]
    assert likelihood(responder, pairs).perplexity * 1.05 < likelihood(responder, unlabelled).perplexity


def test_configurations_that_dialogues_cannot_have_are_refused(data: Path, tmp_path: Path, vhcr: Path) -> None:
    with pytest.raises(ConfigError, match="says acts"):
        train({"corpus": config(data, "hred")["corpus"], "model": {"name": "lstm"}}, tmp_path / "a")
    with pytest.raises(ConfigError, match="teacher"):
        train(config(data, "hred", ei="both"), tmp_path / "b")
    with pytest.raises(ConfigError, match=r"model\.acts: the corpus has no labels"):
        train(config(data, "hred", acts=True), tmp_path / "d")
    with pytest.raises(ConfigError, match="dialogues"):
        train({"corpus": {"name": "trails"}, "model": {"name": "hred"}}, tmp_path / "c")
    with pytest.raises(RunError):
        dactnlg.Generator.load(vhcr)


def test_pairs_that_the_reader_leaves_out_are_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "opensubtitles").mkdir()
    for split in ("train", "dev", "test"):
        post = tmp_path / "opensubtitles" / f"opensub_pair_{split}.post"
        post.write_text("where are you\n\n")
        post.with_suffix(".response").write_text("here\nwhat\n")
    given = config(tmp_path, "hred", acts=True)
    # It is reported once the corpus has been read; this one has no labels of acts, so that nothing is trained.
    with caplog.at_level("INFO", "dactnlg"), pytest.raises(ConfigError, match="no labels of acts"):
        train({**given, "corpus": {**given["corpus"], "name": "opensubtitles"}}, tmp_path / "run", progress=False)
    assert "3 pairs with a blank line left out" in caplog.messages


def test_the_sizes_that_a_teacher_needs_are_reported(data: Path, tmp_path: Path) -> None:
    texts, file = sorted({text for turns in TURNS for text in turns}), tmp_path / "teacher.npz"
    ones = np.ones((len(texts), 64), np.float32)
    TeacherArrays("DeepMoji", texts, ones / 64, ones).save(file)
    for ei in ("emotion", "input", "both"):
        with pytest.raises(ConfigError, match=r"set model\.emotions to 64, model\.vector_size to 64"):
            train(config(data, "hred", ei=ei, teacher=str(file)), tmp_path / "run", progress=False)
    given = config(data, "hred", ei="both", teacher=str(file), emotions=64, vector_size=64)
    train({**given, "training": {"epochs": 1}}, tmp_path / "run", progress=False)


@pytest.mark.parametrize("split", ["train", "valid"])
def test_a_split_without_pairs_is_refused_before_training(split: str, tmp_path: Path) -> None:
    write_dialogues(tmp_path, [{"turns": ["Hello.", "Hi."]}])
    (tmp_path / "dialogues" / f"dailydialog-{split}.jsonl").write_text('{"turns": ["Hello."]}\n', encoding="utf-8")
    with pytest.raises(CorpusError, match=f"'{split}' of dailydialog has no dialogue of two turns"):
        train(config(tmp_path, "hred"), tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "section",
    [
        {"corpus": {"min_count": 2}},
        {"corpus": {"targets": "both"}},
        {"corpus": {"lexicalized": ["area"]}},
        {"training": {"teachers_mbr": True}},
        {"training": {"repetition": 0.5}},
        {"decoding": {"beam_width": 3}},
    ],
)
def test_keys_that_apply_only_to_acts_are_refused(
    data: Path, tmp_path: Path, section: dict[str, dict[str, Any]]
) -> None:
    given = config(data, "hred")
    ((name, keys),) = section.items()
    with pytest.raises(ConfigError, match=rf"{name}\.{next(iter(keys))}: not for dialogues"):
        train({**given, name: {**given.get(name, {}), **keys}}, tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()


@pytest.mark.needs("matplotlib", "pip install 'dactnlg[plot]'")
def test_the_losses_of_a_dialogue_model_are_plotted(data: Path, tmp_path: Path) -> None:
    given = config(data, "hred")
    given["training"] |= {"epochs": 1, "plot": True, "tensorboard": True}
    run = train(given, tmp_path / "run", progress=False)
    assert run.plot_path.read_bytes().startswith(b"\x89PNG")
    assert [*run.tensorboard_path.iterdir()]


def test_commands_for_acts_refuse_a_run_that_answers_contexts(
    vhcr: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    acts = tmp_path / "acts.txt"
    acts.write_text("goodbye()\n")
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text('{"act": "goodbye()", "text": "Bye."}\n')
    export = ("export", vhcr, "--output", tmp_path / "out", "--format")
    for arguments in (
        ("generate", "--model", vhcr, "--input", acts),
        ("check", vhcr, "--input", pairs),
        (*export, "onnx"),
        (*export, "templates"),
        ("selfplay", vhcr, "--output", tmp_path / "play"),
    ):
        assert main([*map(str, arguments)]) == 2
        told = f"{vhcr} answers contexts (model 'vhcr'); it is for evaluate, selfplay --open and chat"
        assert told in capsys.readouterr().err
    start = {"corpus": {"name": "trails"}, "model": {"name": "lstm", "initialize_from": str(vhcr)}}
    with pytest.raises(RunError, match="answers contexts"):
        train(start, tmp_path / "run", progress=False)
    # These need scores, which are not recorded for such runs.
    for command in ("leaderboard", "publish", "reproduce"):
        assert main([command, str(vhcr)]) == 2
    assert capsys.readouterr().err.count("no scores of such runs are recorded") == 3


def test_the_table_of_answers_has_the_format_asked_for(vhcr: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", str(vhcr), "--format", "csv"]) == 0
    header, row = capsys.readouterr().out.splitlines()
    assert header.startswith("model,perplexity,own-perplexity,KL,BLEU") and row.startswith("vhcr,")
    numbers = ("--beam-width", "3"), ("--n-best", "2")
    for option in (("--preset", "e2e"), ("--confidence",), *numbers, ("--backend", "numpy")):
        assert main(["evaluate", str(vhcr), *option]) == 2
        assert "not for runs of dialogue models" in capsys.readouterr().err


def test_wrong_histories_and_numbers_are_refused(vhcr: Path) -> None:
    for wrong in ({"beam_width": 0}, {"max_length": 0}):
        with pytest.raises(UserError, match="1 or more"):
            Responder(vhcr, **wrong)
    for wrong in ({"most": 0}, {"samples": 0}):
        with pytest.raises(UserError, match="1 or more"):
            evaluate_dialogue(vhcr, **wrong)
    histories: Any
    for histories in ("Hi", ["How are you?"], [["Hi"], "Hi"]):
        with pytest.raises(UserError, match="a history is a list of turns"):
            Responder(vhcr).reply(histories)


def test_forward_bleu_measures_precision_and_backward_bleu_coverage() -> None:
    texts = ["How are you now?", "I am quite fine today."]
    same = answer_scores(texts, texts[::-1])
    # Forward and backward BLEU compare sets, BLEU pairs.
    assert same["forward-BLEU"] == same["backward-BLEU"] == pytest.approx(100)
    assert same["BLEU"] < 50
    # The same answer every time is precise, but covers little.
    dull = answer_scores([texts[0]] * 2, texts)
    assert dull["forward-BLEU"] == pytest.approx(100)
    assert dull["backward-BLEU"] < 100
    assert distinct([["a", "b", "a", "b"], ["a"]], 2) == pytest.approx(2 / 3)
    assert distinct([], 1) == 0.0
