"""Contexts from end to end: own data, training, and all ways to generate."""

from __future__ import annotations

import csv
import json
import logging
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

from dactnlg import Generator, evaluate, train
from dactnlg.acts import parse
from dactnlg.cli.main import main
from dactnlg.data.corpus import load_corpus
from dactnlg.data.readers import dstc2
from dactnlg.errors import ConfigError, CorpusError, UserError
from dactnlg.experiments.tuning import tune
from dactnlg.generation.decoders.decoder import Plan
from dactnlg.generation.exports.export import describe
from dactnlg.runs.config import load_config
from dactnlg.runs.run import Run
from dactnlg.serving.models import Models
from dactnlg.serving.service import application
from dactnlg.serving.settings import ServiceSettings
from dactnlg.training.messages import tell_end

RAW = Path(__file__).parents[1] / "fixtures" / "dstc2_raw"
SAID = {
    "": "{name} serves {food} food.",
    "i want to go somewhere": "You could go to {name}, which serves {food} food.",
    "how about eating {food} things": "{name} is a place for eating {food} things.",
}
"""What the user has said before -> how the system answers."""
NAMES, FOODS = ("Red Door", "Ivy House", "Old Mill", "Sun Court"), ("Thai", "French", "Greek")


def rows() -> list[dict[str, str]]:
    found = []
    for name in NAMES:
        for food in FOODS:
            for said, answer in SAID.items():
                act = f"inform(name='{name}';food={food})"
                found.append(
                    {"act": act, "text": answer.format(name=name, food=food), "context": said.format(food=food)}
                )
    return found


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own")
    for split in ("train", "valid", "test"):
        with (folder / f"{split}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, ("act", "text", "context"))
            writer.writeheader()
            writer.writerows(rows())
    return folder


@pytest.fixture(scope="module")
def run(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "seeing"
    model = {"name": "sclstm", "hidden_size": 24, "embedding_size": 16, "context": True}
    training = {"epochs": 60, "batch_size": 4, "learning_rate": 0.02, "patience": 60}
    train({"corpus": {"name": str(corpus)}, "model": model, "training": training}, folder, progress=False)
    return folder


def test_the_wording_follows_what_the_user_said(run: Path) -> None:
    generator, wanted = Generator.load(run), rows()
    assert generator.sees_context
    said = generator.generate([row["act"] for row in wanted], context=[row["context"] for row in wanted])
    assert [one.text for one in said] == [row["text"] for row in wanted]
    # One text for all acts; an unseen value is recognised in it, too.
    acts = ["inform(name=Hut;food=Persian)", "inform(name='Red Door';food=Thai)"]
    one, other = generator.generate(acts, context="how about eating persian things")
    assert one.text == "Hut is a place for eating Persian things."
    assert other.slots_ok
    for bad in (["a"], ["a", "b", "c"], [1, 2]):
        with pytest.raises(UserError, match="context"):
            generator.generate([row["act"] for row in wanted[:2]], context=bad)  # type: ignore[arg-type]


@pytest.mark.needs("tensorflow", "dactnlg")
def test_a_saved_model_takes_contexts_of_any_length(run: Path, tmp_path: Path) -> None:
    import tensorflow as tf

    # An export's own example has 4 words.
    texts = ["", "i want to go somewhere", "how about eating thai things , " * 4]
    where = ["--format", "saved-model", "--output", str(tmp_path / "model"), "--beam-width", "2"]
    assert main(["export", str(run), *where]) == 0
    decoder = Generator.load(run).decoder
    assert decoder is not None
    inputs = decoder.inputs([parse("inform(name=SLOT_NAME;food=SLOT_FOOD)")] * 3, contexts=texts)
    assert inputs["context"].shape[1] > 8
    serve = tf.saved_model.load(str(tmp_path / "model")).signatures["serving_default"]
    # TensorFlow bakes sizes that the signature fixes into the program of some models.
    assert serve.structured_input_signature[1]["context"].shape.as_list() == [None, None]
    found = serve(**{name: tf.constant(array) for name, array in inputs.items()})["scores"].numpy()
    ours = decoder.search_all(inputs, Plan(2, hard=True, keep=2))
    np.testing.assert_allclose(found, [[one.score for one in row] for row in ours], rtol=1e-4)


def test_an_export_lists_the_context_words(run: Path) -> None:
    told = describe(Generator.load(run).preprocessor, 10)["context_words"]
    assert {"eating", "somewhere"} <= set(told)


def test_evaluation_and_tuning_use_the_context(run: Path) -> None:
    found = evaluate(run, presets=["single"], metrics=["BLEU-4"])
    assert found.results[0].scores["BLEU-4"].value == pytest.approx(1.0)
    # The scores of tuning, too.
    assert tune(run, acts=24, metric="BLEU-4", write=False).before.score == pytest.approx(1.0)


def test_the_generate_command_takes_contexts(run: Path) -> None:
    act, row = "inform(name='Red Door';food=Thai)", rows()[1]
    assert row["act"] == act
    command = [sys.executable, "-m", "dactnlg", "generate", "--model", str(run)]
    lines = [act, json.dumps({"act": act, "context": row["context"]})]
    done = subprocess.run(
        [*command, "--context", "how about eating thai things"],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    # The context of a line takes precedence over the option.
    assert done.stdout.splitlines() == [rows()[2]["text"], row["text"]]
    wrong = subprocess.run(
        command, input=json.dumps({"act": act, "context": 3}), capture_output=True, text=True, check=False
    )
    assert wrong.returncode == 2
    assert "line 1: 'context' is a text or null, not 3" in wrong.stderr


def test_the_service_takes_contexts(run: Path, neural_run: Path) -> None:
    act, texts = "inform(name='Red Door';food=Thai)", [row["text"] for row in rows()[:3]]
    with TestClient(application(Models({"own": run, "neural": neural_run}), ServiceSettings())) as client:
        body = {"acts": [act] * 3, "context": [row["context"] for row in rows()[:3]]}
        answer = client.post("/v1/generate", json=body).json()
        assert [one["text"] for one in answer["results"]] == texts
        wrong = client.post("/v1/generate", json={**body, "context": ["a", "b"]})
        assert wrong.status_code == 422
        long = client.post("/v1/generate", json={**body, "context": "word " * 100_000})
        assert long.status_code in (413, 422)
        # A model without context ignores it.
        plain = client.post("/v1/generate", json={"acts": "goodbye()", "context": "bye", "model": "neural"})
        assert plain.status_code == 200


def test_the_sentences_at_the_end_of_training_use_the_context(run: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "dactnlg")
    examples = load_corpus(load_config(run / "config.yaml").corpus.name).split("valid")[1::3]
    tell_end(Run(run), {"best_epoch": 1, "epochs": 1, "best_valid_loss": 1.0, "seconds": 1.0}, examples)
    said = [line.strip() for line in caplog.text.splitlines() if "You could go to" in line]
    assert len(said) == 3


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("model.context=true", "does not have what users have said before"),
        ("corpus.targets=handcrafted", "has no handcrafted sentences"),
    ],
)
def test_a_corpus_without_what_is_to_be_learned_is_refused(override: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=message):
        train("trails-sclstm", tmp_path / "run", overrides=[override], progress=False)
    assert not (tmp_path / "run").exists()


def test_contexts_of_dstc2_are_the_transcriptions() -> None:
    notes: Counter[str] = Counter()
    examples = dstc2.read(RAW / "scripts" / "config" / "dstc2_train.flist", notes)
    labels = {path.parent.name: json.loads(path.read_text(encoding="utf-8")) for path in RAW.rglob("label.json")}
    assert labels
    first, *others = examples
    assert first.context == ""
    assert any(example.context for example in others)
    said = {turn["transcription"] for call in labels.values() for turn in call["turns"]}
    assert {example.context for example in others} <= said | {""}


@pytest.mark.parametrize("value", ["3", '["a"]', "{}"])
def test_a_context_that_is_no_text_is_reported_with_its_line(value: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    lines = [f'{{"act": "a()", "text": "x", "context": {each}}}\n' for each in ("null", value)]
    path.write_text("".join(lines), encoding="utf-8")
    with pytest.raises(CorpusError, match="line 2: 'context' is a text or null"):
        load_corpus(path)
