"""GPT-2: the paper's equations, what a checkpoint gives, and a run that needs the checkpoint no more."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpt2_checkpoints import HEADS, LAYERS, MISTAKES, POSITIONS, Arrays, H, damaged, write_checkpoint
from keras import ops

from dactnlg import models
from dactnlg._utils.hashing import file_digest
from dactnlg.cli.main import main
from dactnlg.data.corpus import load_corpus
from dactnlg.data.pairs import build_preprocessor
from dactnlg.errors import ConfigError
from dactnlg.generation.generator import Generator
from dactnlg.models import build_model
from dactnlg.models.backend import to_numpy
from dactnlg.models.gpt2 import GPT2
from dactnlg.models.gpt2_checkpoint import Checkpoint, text_of, words_of
from dactnlg.models.weights import load_arrays, named_weights
from dactnlg.runs.config import load_config
from dactnlg.runs.run import Run
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.training import messages
from dactnlg.training.initialization import initial_weights
from dactnlg.training.train import train

pytestmark = pytest.mark.needs("tokenizers", "pip install 'dactnlg[gpt2]'")


@pytest.fixture(scope="module")
def preprocessor() -> Preprocessor:
    return build_preprocessor(load_corpus("trails"))[0]


def begun(folder: Path, preprocessor: Preprocessor, **keywords: Any) -> GPT2:
    """Return a model with the weights of a checkpoint."""
    model = build_model("gpt2", preprocessor.sizes, **Checkpoint(folder).sizes, **keywords)
    assert isinstance(model, GPT2)
    fresh = {name: to_numpy(weight) for name, weight in named_weights(model).items()}
    found, _ = Checkpoint(folder).weights(fresh, preprocessor)
    for name, weight in named_weights(model).items():
        weight.assign(found[name])
    return model


def batch_of(preprocessor: Preprocessor) -> Arrays:
    """Return some acts of different lengths, each with a sentence of nine tokens."""
    turns = [example.turn for example in load_corpus("trails").split("valid")[:40:8]]
    batch = preprocessor.arrays(turns, GPT2.inputs)
    tokens = np.random.default_rng(1).integers(4, len(preprocessor.vocabulary), (len(turns), 9)).astype(np.int32)
    tokens[:, 0] = 1
    assert len(set((batch["entries"] > 0).any(axis=2).sum(axis=1))) > 1
    return {**batch, "tokens": tokens}


def tensors_of(batch: Arrays) -> dict[str, Any]:
    return {name: ops.convert_to_tensor(array) for name, array in batch.items()}


def normal(x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * weight + bias


def gpt2(w: Arrays, vectors: np.ndarray) -> np.ndarray:
    """Return the output of GPT-2's last norm for the vectors of one text, (T, H), in double precision.

    Radford et al. 2018 (section 3.1, equation 2), with the changes of Radford et al. 2019 (section 2.3), and GELU as
    Hendrycks and Gimpel 2016 (section 2) approximate it.
    """
    x = vectors.astype(np.float64) + w["wpe.weight"][: len(vectors)]
    for i in range(LAYERS):
        a, m = f"h.{i}.attn", f"h.{i}.mlp"
        made = normal(x, w[f"h.{i}.ln_1.weight"], w[f"h.{i}.ln_1.bias"])
        q, k, v = np.split(made @ w[f"{a}.c_attn.weight"] + w[f"{a}.c_attn.bias"], 3, axis=1)
        seen = np.zeros_like(x)
        for head in range(HEADS):
            part = slice(head * H // HEADS, (head + 1) * H // HEADS)
            for t in range(len(x)):
                scores = np.exp(k[: t + 1, part] @ q[t, part] / math.sqrt(H / HEADS))
                seen[t, part] = scores / scores.sum() @ v[: t + 1, part]
        x = x + seen @ w[f"{a}.c_proj.weight"] + w[f"{a}.c_proj.bias"]
        u = normal(x, w[f"h.{i}.ln_2.weight"], w[f"h.{i}.ln_2.bias"]) @ w[f"{m}.c_fc.weight"] + w[f"{m}.c_fc.bias"]
        u = 0.5 * u * (1 + np.tanh(math.sqrt(2 / math.pi) * (u + 0.044715 * u**3)))
        x = x + u @ w[f"{m}.c_proj.weight"] + w[f"{m}.c_proj.bias"]
    return normal(x, w["ln_f.weight"], w["ln_f.bias"])


@pytest.mark.parametrize("prefix", ["", "transformer."])
def test_the_logits_are_those_of_the_papers_equations(prefix: str, tmp_path: Path, preprocessor: Preprocessor) -> None:
    weights = write_checkpoint(tmp_path / "gpt2", prefix)
    model, batch = begun(tmp_path / "gpt2", preprocessor), batch_of(preprocessor)
    found = to_numpy(model.logits(tensors_of(batch)))
    table = to_numpy(model.embedding)
    entries, real = map(to_numpy, model.entries(*(ops.convert_to_tensor(batch[name]) for name in GPT2.inputs)))
    for row, tokens in enumerate(batch["tokens"]):
        prefixed = np.concatenate([entries[row, real[row]], table[tokens]])
        expected = gpt2(weights, prefixed)[-len(tokens) :] @ table.T.astype(np.float64)
        np.testing.assert_allclose(found[row], expected, atol=1e-4)


def test_steps_from_a_checkpoint_equal_the_whole_sentence(tmp_path: Path, preprocessor: Preprocessor) -> None:
    write_checkpoint(tmp_path / "gpt2")
    model, tensors = begun(tmp_path / "gpt2", preprocessor, window=4), tensors_of(batch_of(preprocessor))
    whole = to_numpy(model.logits(tensors))
    context, state = model.prepare(tensors)
    for t in range(9):
        logits, state = model.step(context, state, tensors["tokens"][:, t])
        np.testing.assert_allclose(to_numpy(logits), whole[:, t], atol=1e-4)


def test_words_begin_as_the_mean_of_their_subwords(tmp_path: Path, preprocessor: Preprocessor) -> None:
    from tokenizers import ByteLevelBPETokenizer

    weights = write_checkpoint(tmp_path / "gpt2")["wte.weight"]
    tokenizer = ByteLevelBPETokenizer.from_file(
        *(str(tmp_path / "gpt2" / name) for name in ("vocab.json", "merges.txt"))
    )

    def mean(text: str) -> np.ndarray:
        return np.mean([weights[id_] for id_ in tokenizer.encode(text).ids], axis=0)

    model = begun(tmp_path / "gpt2", preprocessor)
    rows = dict(zip(preprocessor.vocabulary.tokens, to_numpy(model.embedding), strict=True))
    names = {"strollers": " strollers", "SLOT_REGION#2": " region 2", "￭.": ".", "<bos>": ":", "(￭": " ("}
    for token, text in names.items():
        np.testing.assert_allclose(rows[token], mean(text), atol=1e-6, err_msg=token)
    assert len(tokenizer.encode(" strollers").ids) > 2
    np.testing.assert_array_equal(rows["<eos>"], weights[tokenizer.token_to_id("<|endoftext|>")])
    # An entry is the sum of its two rows and the words of its value.
    turn = load_corpus("trails").split("valid")[0].turn
    batch = preprocessor.arrays([turn], GPT2.inputs)
    words, entries = to_numpy(model.entries.words), to_numpy(model.entries.entries)
    values = dict(zip(preprocessor.encoder.words.tokens, words, strict=True))
    np.testing.assert_allclose(values["valley"], mean(" valley"), atol=1e-6)
    both = dict(zip(preprocessor.encoder.features, entries[1:], strict=True))
    expected = (mean(" inform no match region") + mean(" region")) / 2
    np.testing.assert_allclose(both["inform_no_match|region"] + both["slot:region"], expected, atol=1e-6)
    np.testing.assert_allclose(2 * both["act:?request"], mean(" request"), atol=1e-6)
    first = model.entries(*(ops.convert_to_tensor(batch[name]) for name in GPT2.inputs))[0][0, 0]
    np.testing.assert_array_equal(to_numpy(first), 0.0)


def test_the_tokeniser_may_be_a_single_file(tmp_path: Path, preprocessor: Preprocessor) -> None:
    from tokenizers import ByteLevelBPETokenizer

    folder = tmp_path / "gpt2"
    write_checkpoint(folder)
    before, files = to_numpy(begun(folder, preprocessor).embedding), [folder / "vocab.json", folder / "merges.txt"]
    made = ByteLevelBPETokenizer.from_file(*map(str, files))
    made.add_special_tokens(["<|endoftext|>"])
    made.save(str(folder / "tokenizer.json"))
    for file in files:
        file.unlink()
    unknown = 3
    after = to_numpy(begun(folder, preprocessor).embedding)
    np.testing.assert_array_equal(np.delete(after, [0, unknown], axis=0), np.delete(before, [0, unknown], axis=0))


def test_tokens_and_names_have_plain_words() -> None:
    texts = {"SLOT_PRICE_RANGE": " price range", "-s": "s", "￭-￭": "-", "￭'s": "'s", "café": " café", "<unk>": None}
    assert {token: text_of(token) for token in texts} == texts
    names = {"?inform|priceRange=yes": "inform price range yes", "act:inform_no_match": "inform no match"}
    names |= {"slot:near#2": "near 2", "inform|slot:": "inform slot"}
    assert {name: " ".join(words_of(name)) for name in names} == names


SMALL = ["training.epochs=2", "training.learning_rate=0.003", "model.dropout=0.1"]


def test_a_run_that_began_with_a_checkpoint_no_longer_needs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # The sentences at the end do not matter here, and so poor a model is slow to say them.
    monkeypatch.setattr(messages, "ACTS", 0)
    folder = tmp_path / "gpt2"
    write_checkpoint(folder, layers=1)
    digest = file_digest(folder / "model.safetensors")
    begin = ["train", "trails-gpt2", "--set", f"model.pretrained={folder}"]
    begin += [word for each in SMALL for word in ("--set", each)]
    assert main([*begin, "--output", str(tmp_path / "whole")]) == 0
    assert f"of the weights began as those of {folder}\n" in capsys.readouterr().err
    whole = Run(tmp_path / "whole")
    about = whole.manifest()["training"]["initialized"]
    assert (about["pretrained"], about["weights"]) == (str(folder), digest) and about["share"] > 0.5
    section = load_config(whole.config_path, models=models).model.model_dump()
    assert [section[name] for name in ("hidden_size", "heads", "layers", "positions")] == [H, HEADS, 1, POSITIONS]

    def stop(row: Any) -> bool:
        return False

    config = load_config("trails-gpt2", [*SMALL, f"model.pretrained={folder}"], models)
    callback = type("Stop", (), {"on_epoch_end": staticmethod(stop)})()
    train(config, tmp_path / "broken", callbacks=[callback], progress=False)
    # Training is resumed, and acts are said, without the checkpoint.
    shutil.rmtree(folder)
    assert main([*begin, "--output", str(tmp_path / "broken"), "--resume", "--quiet"]) == 0
    broken = Run(tmp_path / "broken")
    assert broken.weights_path.read_bytes() == whole.weights_path.read_bytes()
    assert broken.manifest()["training"]["initialized"] == about
    turns = [example.turn for example in load_corpus("trails").split("test")[::30]]
    results = Generator.load(broken).generate(turns)
    assert np.mean([result.slots_ok for result in results]) > 0.9
    assert main([*begin, "--output", str(tmp_path / "new")]) == 2
    assert capsys.readouterr().err.endswith(f"model.pretrained: there is no folder {folder}\n")


def test_without_steps_the_weights_are_the_checkpoints(tmp_path: Path, preprocessor: Preprocessor) -> None:
    folder = tmp_path / "gpt2"
    weights = write_checkpoint(folder, "transformer.")
    still = ["training.epochs=1", "training.learning_rate=1e-30", "training.batch_size=256"]
    config = load_config("trails-gpt2", [*still, f"model.pretrained={folder}"], models)
    found = load_arrays(train(config, tmp_path / "run", progress=False).weights_path)
    np.testing.assert_array_equal(found["positions"], weights["wpe.weight"])
    np.testing.assert_array_equal(found["decoder/1/attention/kernel"], weights["h.1.attn.c_attn.weight"])
    np.testing.assert_array_equal(found["norm/beta"], weights["ln_f.bias"])


@pytest.mark.parametrize("layers", [LAYERS - 1, LAYERS + 1])
def test_a_checkpoint_of_another_depth_is_refused(layers: int, tmp_path: Path, preprocessor: Preprocessor) -> None:
    write_checkpoint(tmp_path / "gpt2")
    checkpoint = Checkpoint(tmp_path / "gpt2")
    model = build_model("gpt2", preprocessor.sizes, **{**checkpoint.sizes, "layers": layers})
    fresh = {name: to_numpy(weight) for name, weight in named_weights(model).items()}
    with pytest.raises(ConfigError, match="its sizes are not those that training began with"):
        checkpoint.weights(fresh, preprocessor)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_an_unusable_checkpoint_is_reported_in_one_line(
    mistake: str, tmp_path: Path, preprocessor: Preprocessor
) -> None:
    folder = tmp_path / "gpt2"
    write_checkpoint(folder)
    sizes = Checkpoint(folder).sizes
    harm, message = MISTAKES[mistake]
    harm(folder)
    with pytest.raises(ConfigError) as error:
        found = Checkpoint(folder)
        model = build_model("gpt2", preprocessor.sizes, **sizes)
        found.weights({name: to_numpy(weight) for name, weight in named_weights(model).items()}, preprocessor)
    assert str(error.value).startswith("model.pretrained: ") and message in str(error.value)
    assert "\n" not in str(error.value)


def test_mistakes_with_checkpoints_are_usage_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "gpt2"
    write_checkpoint(folder)
    begin = ["train", "trails-gpt2", "--output", str(tmp_path / "run"), "--set", f"model.pretrained={folder}"]
    assert main([*begin, "--set", "model.hidden_size=64", "--set", "model.layers=2"]) == 2
    assert f"{folder} has other sizes: hidden_size 64 is not its 48; leave them out" in capsys.readouterr().err
    assert main([*begin, "--set", "model.initialize_from=runs/x"]) == 2
    assert "a model begins with one or the other" in capsys.readouterr().err
    damaged(folder)
    assert main(begin) == 2
    assert "cannot be read as weights" in capsys.readouterr().err.splitlines()[-1]
    assert main(["train", "trails-gpt2", "--set", "model.heads=5"]) == 2
    assert "hidden_size 128 is not divisible by heads 5" in capsys.readouterr().err
    assert main(["train", "trails-sclstm", "--set", "model.pretrained=x"]) == 2
    assert "models that have it: gpt2" in capsys.readouterr().err


def test_a_resumed_training_reads_no_checkpoint(preprocessor: Preprocessor) -> None:
    section = load_config("trails-gpt2", ["model.pretrained=nowhere"], models).model
    fresh, origin = {"embedding": np.zeros(1)}, {"initialized": {"share": 1.0}}
    assert initial_weights(section, preprocessor, fresh, origin) == (fresh, origin)
    with pytest.raises(ConfigError, match="there is no folder nowhere"):
        initial_weights(section, preprocessor, fresh)
