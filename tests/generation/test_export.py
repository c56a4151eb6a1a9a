"""Exports compute what the model computes: the search as a SavedModel, a step as ONNX."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dactnlg._utils.files import made_folder
from dactnlg.cli.main import main
from dactnlg.data.corpus import load_corpus
from dactnlg.generation.decoders.decoder import Decoder, Plan
from dactnlg.generation.decoders.keras_decoder import KerasDecoder
from dactnlg.generation.decoders.numpy_decoder import NumpyDecoder
from dactnlg.generation.generator import Generator
from dactnlg.models.backend import to_numpy
from dactnlg.search.numpy_step import log_softmax
from dactnlg.text.vocabulary import BOS_ID, EOS, EOS_ID, PAD_ID, UNK_ID

PoorRun = Callable[[str], Path]
# Only TensorFlow: serving the search does not need dactnlg.
SERVE = """
import json, sys
import numpy as np, tensorflow as tf
for folder in json.loads(sys.argv[1]):
    serve = tf.saved_model.load(folder + "/model").signatures["serving_default"]
    inputs = dict(np.load(folder + "/inputs.npz"))
    found = {name: part.numpy() for name, part in serve(**{k: tf.constant(v) for k, v in inputs.items()}).items()}
    few = serve(**{name: tf.constant(part[:3]) for name, part in inputs.items()})
    np.savez(folder + "/outputs.npz", **found, few=few["tokens"].numpy())
assert "dactnlg" not in sys.modules
"""


def decoder_of(run: Path) -> Decoder:
    decoder = Generator.load(run).decoder
    assert decoder is not None
    return decoder


def turns_of(decoder: Decoder) -> list[Any]:
    return [
        decoder.preprocessor.delexicalizer.prepared(example.turn)
        for example in load_corpus("trails").split("test")[::9]
    ]


@pytest.mark.needs("tensorflow", "dactnlg")
def test_a_saved_model_finds_the_hypotheses_of_the_decoder(poor_run: PoorRun, tmp_path: Path) -> None:
    # The hierarchical model contains the sc-LSTM.
    exports = [("hierarchical", "hard"), ("lstm", "none"), ("transformer", "hard")]
    for model, constraint in exports:
        folder, decoder = tmp_path / model, decoder_of(poor_run(model))
        folder.mkdir()
        settings = ["--beam-width", "3", "--constraint", constraint]
        where = ["--format", "saved-model", "--output", str(folder / "model")]
        assert main(["export", str(poor_run(model)), *where, *settings]) == 0
        inputs = decoder.inputs(turns_of(decoder))
        if constraint == "none":
            del inputs["required"]
        np.savez(folder / "inputs.npz", **inputs)
    folders = json.dumps([str(tmp_path / model) for model, _ in exports])
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    command = [sys.executable, "-c", SERVE, folders]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for model, constraint in exports:
        decoder = decoder_of(poor_run(model))
        hard = constraint == "hard"
        ours = decoder.search(turns_of(decoder), Plan(3, hard, 3 if hard else 1))
        theirs = np.load(tmp_path / model / "outputs.npz")
        description = json.loads((tmp_path / model / "model" / "assets.extra" / "dactnlg.json").read_text())
        assert (description["beam_width"], description["constraint"]) == (3, constraint)
        assert description["tokens"][description["eos"]] == EOS
        # A search that may stop at its best sentence leaves the others as far as the rest of the batch took them.
        sure = 3 if hard else 1
        assert (theirs["few"][:, :sure] == theirs["tokens"][:3, :sure]).all()
        compared = 0
        for row, hypotheses in enumerate(ours):
            scores = theirs["scores"][row]
            possible = scores > -5e8
            assert len(hypotheses[:sure]) == min(possible.sum(), sure)
            count = min(len(hypotheses), sure)
            np.testing.assert_allclose([h.score for h in hypotheses][:count], scores[:count], rtol=1e-4)
            apart = np.diff(scores, prepend=np.inf, append=-np.inf) < -1e-3
            for place in range(count):
                if apart[place] and apart[place + 1]:
                    tokens = theirs["tokens"][row, place].tolist()
                    end = tokens.index(EOS_ID) if EOS_ID in tokens else len(tokens)
                    assert tuple(tokens[:end]) == hypotheses[place].tokens
                    assert bool(theirs["finished"][row, place]) == hypotheses[place].finished
                    compared += 1
        assert compared >= len(ours) / 2


PARTS = {
    "lstm": (["h", "c"], ["gates"]),
    "sclstm": (["h", "c", "d"], []),
    "hierarchical": (["h", "c", "d"], ["gates"]),
    "seq2seq": (["h", "c"], ["gates", "keys", "memory", "bias", "copies", "copy_keys"]),
    "cvae": (["h", "c"], ["gates"]),
    "transformer": (["past0", "time"], ["act0", "bias"]),
    "gpt2": (["past0", "time"], ["act0", "real"]),
}
"""The parts of each model's state and of its context."""


@pytest.mark.needs("onnx", "dactnlg[export]")
@pytest.mark.needs("tf2onnx", "dactnlg[export]")
@pytest.mark.needs("onnxruntime", "dactnlg[export]")
@pytest.mark.parametrize("model", list(PARTS))
def test_onnx_computes_the_steps_of_the_model(model: str, poor_run: PoorRun, tmp_path: Path) -> None:
    import onnxruntime

    path, decoder = tmp_path / "step.onnx", Generator.load(poor_run(model), backend="keras").decoder
    assert isinstance(decoder, KerasDecoder)
    assert main(["export", str(poor_run(model)), "--format", "onnx", "--output", str(path)]) == 0
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    inputs = decoder.inputs(turns_of(decoder))
    context, state = decoder.model.prepare({name: inputs[name] for name in decoder.model.inputs})
    assert (list(state), list(context)) == PARTS[model]
    assert [put.name for put in session.get_inputs()] == ["tokens", *state, *context]
    assert [put.name for put in session.get_outputs()] == ["log_probs", *(f"new_{name}" for name in state)]
    fixed = {name: to_numpy(part) for name, part in context.items()}
    count = len(inputs["act"])
    rng, tokens = np.random.default_rng(1), np.full(count, BOS_ID)
    for _ in range(8):
        now = {name: to_numpy(part) for name, part in state.items()}
        found = session.run(None, {"tokens": tokens, **now, **fixed})
        logits, state = decoder.model.step(context, state, tokens.astype(np.int32))
        expected = [log_softmax(to_numpy(logits).copy()), *(to_numpy(state[name]) for name in now)]
        for ours, theirs in zip(expected, found, strict=True):
            np.testing.assert_allclose(theirs, ours, rtol=1e-5, atol=1e-5)
        # Each step starts from the original's state, so that rounding errors do not add up.
        tokens = rng.integers(UNK_ID + 1, decoder.model.sizes.vocabulary, count)
    # Any number of sentences, not only that of the example it was traced with.
    few = {"tokens": tokens[:3], **{name: part[:3] for name, part in {**now, **fixed}.items()}}
    assert [part.shape[0] for part in session.run(None, few)] == [3] * (1 + len(now))
    description = json.loads(session.get_modelmeta().custom_metadata_map["dactnlg"])
    assert description["tokens"] == decoder.preprocessor.vocabulary.tokens
    assert len(description["tokens"]) == decoder.model.sizes.vocabulary
    assert description["act"] == decoder.preprocessor.encoder.features
    assert [description[name] for name in ("pad", "bos", "eos", "unk")] == [PAD_ID, BOS_ID, EOS_ID, UNK_ID]


@pytest.mark.needs("onnx", "dactnlg[export]")
@pytest.mark.needs("tf2onnx", "dactnlg[export]")
@pytest.mark.needs("onnxruntime", "dactnlg[export]")
def test_greedy_search_over_onnx_finds_what_the_decoder_finds(poor_run: PoorRun, tmp_path: Path) -> None:
    import onnxruntime

    path, decoder = tmp_path / "step.onnx", decoder_of(poor_run("sclstm"))
    assert isinstance(decoder, NumpyDecoder)
    assert main(["export", str(poor_run("sclstm")), "--format", "onnx", "--output", str(path)]) == 0
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    turns = turns_of(decoder)
    vectors = decoder.preprocessor.encoder.vectors(turns)
    zeros = np.zeros((len(turns), decoder.model.hidden_size), np.float32)
    state, tokens, columns = [zeros, zeros, vectors], np.full(len(turns), BOS_ID), []
    for _ in range(decoder.max_length):
        log_probs, *state = session.run(None, {"tokens": tokens, "h": state[0], "c": state[1], "d": state[2]})
        log_probs[:, [PAD_ID, BOS_ID, UNK_ID]] = -np.inf
        tokens = log_probs.argmax(axis=1)
        columns.append(tokens)
    rows = [row.tolist() for row in np.array(columns).T]
    ours = [tuple(row[: row.index(EOS_ID)]) if EOS_ID in row else tuple(row) for row in rows]
    found = decoder.search(turns, Plan(1, False))
    same = sum(a == b[0].tokens for a, b in zip(ours, found, strict=True))
    # Between words with nearly equal scores rounding decides.
    assert same >= 0.9 * len(turns)


@pytest.mark.needs("onnx", "pip install 'dactnlg[export]'")
def test_parent_folders_of_the_output_are_created(poor_run: PoorRun, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name, code in (("a/b/x.onnx", 0), ("a/y.onnx", 0), ("file/z.onnx", 2)):
        words = ["export", "--model", str(poor_run("lstm")), "--format", "onnx", "--output", str(tmp_path / name)]
        assert main(words) == code
        assert (tmp_path / name).is_file() is not bool(code)


def test_created_folders_are_removed_after_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(ValueError, match="oh"), made_folder(tmp_path / "a" / "b" / "c"):
        assert (tmp_path / "a" / "b" / "c").is_dir()
        raise ValueError("oh")
    assert [path.name for path in tmp_path.rglob("*")] == ["a"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["RUN", "--format", "onnx", "--output", "DIR/x.onnx", "--beam-width", "3"], "leave out beam width"),
        (["RUN", "--format", "onnx", "--output", "DIR"], "exists already"),
        (["RUN", "--format", "onnx", "--output", "DIR/no/x.onnx", "--constraint", "hard"], "leave out beam width"),
        (["RUN", "--format", "onnx", "--output", "DIR/x.onnx", "--corpus", "trails"], "go with --format templates"),
        (["RUN", "--format", "saved-model", "--output", "DIR/x", "--data-dir", "DIR"], "go with --format templates"),
        (["RUN", "--format", "tflite", "--output", "DIR/x"], "'saved-model', 'onnx'"),
        (["RANDOM", "--format", "onnx", "--output", "DIR/x.onnx"], "no weights to export"),
        (["nowhere", "--format", "onnx", "--output", "DIR/x.onnx"], "does not exist"),
    ],
)
def test_user_errors_of_export_leave_no_files(
    arguments: list[str],
    message: str,
    random_run: Path,
    poor_run: PoorRun,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    names = {"RUN": poor_run("lstm"), "RANDOM": random_run}
    words = [str(names.get(word, word)).replace("DIR", str(tmp_path)) for word in arguments]
    assert main(["export", *words]) == 2
    assert message in capfd.readouterr().err
    assert not list(tmp_path.iterdir())


def test_export_with_another_backend_asks_for_tensorflow(poor_run: PoorRun, tmp_path: Path) -> None:
    export = ["export", str(poor_run("lstm")), "--output", str(tmp_path / "model"), "--format"]
    program = f"from dactnlg.cli.main import main; print([main([*{export}, form]) for form in ('saved-model', 'onnx')])"
    environment = {**os.environ, "KERAS_BACKEND": "numpy"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.stdout == "[2, 2]\n" and done.stderr.count("set KERAS_BACKEND to tensorflow") == 2
    assert not list(tmp_path.iterdir())
