"""Checkpoints of GPT-2 with random numbers, and mistakes in them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dactnlg.models.weights import load_arrays, save_arrays

H, HEADS, LAYERS, POSITIONS = 48, 4, 2, 64
SENTENCES = ["Red Kite Ridge is an easy hike of 7 km.", "Which region would you like?", "dogs are not allowed"]
Arrays = dict[str, np.ndarray]


def write_checkpoint(folder: Path, prefix: str = "", layers: int = LAYERS) -> Arrays:
    """Write a checkpoint of random numbers and return its weights, named without the prefix."""
    from tokenizers import ByteLevelBPETokenizer

    folder.mkdir()
    tokenizer = ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(SENTENCES, vocab_size=300, min_frequency=1, special_tokens=["<|endoftext|>"])
    tokenizer.save_model(str(folder))
    count, rng = tokenizer.get_vocab_size(), np.random.default_rng(0)
    shapes: dict[str, tuple[int, ...]] = {"wte.weight": (count, H), "wpe.weight": (POSITIONS, H), "ln_f.weight": (H,)}
    shapes["ln_f.bias"] = (H,)
    for i in range(layers):
        sizes = {"attn.c_attn": (H, 3 * H), "attn.c_proj": (H, H), "mlp.c_fc": (H, 4 * H), "mlp.c_proj": (4 * H, H)}
        for part, shape in {"ln_1": (H,), "ln_2": (H,), **sizes}.items():
            shapes |= {f"h.{i}.{part}.weight": shape, f"h.{i}.{part}.bias": shape[-1:]}
    weights = {name: rng.normal(0.0, 0.2, shape).astype(np.float32) for name, shape in shapes.items()}
    weights |= {name: 1 + weight for name, weight in weights.items() if name.endswith(("ln_1.weight", "ln_2.weight"))}
    mask = {"h.0.attn.bias": np.ones((1, 1, POSITIONS, POSITIONS), np.float32)}
    stored = {f"{prefix}{name}": weight for name, weight in {**weights, **mask}.items()}
    save_arrays(folder / "model.safetensors", stored)
    sizes = {"n_embd": H, "n_head": HEADS, "n_layer": layers, "n_positions": POSITIONS, "vocab_size": count}
    (folder / "config.json").write_text(json.dumps({"model_type": "gpt2", **sizes}), encoding="utf-8")
    return weights


def damaged(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"no weights")


def edited(**changes: Any) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        data = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        (folder / "config.json").write_text(json.dumps(data | changes), encoding="utf-8")

    return edit


def without(*names: str) -> Callable[[Path], None]:
    return lambda folder: [(folder / name).unlink() for name in names][0]


def rewritten(**arrays: np.ndarray) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        path = folder / "model.safetensors"
        save_arrays(path, load_arrays(path) | arrays)

    return edit


def text(name: str, content: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text(content, encoding="utf-8") and None


MISTAKES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "folder": (shutil.rmtree, "there is no folder"),
    "config": (without("config.json"), "config.json: No such file or directory"),
    "json": (text("config.json", "{"), "config.json: it cannot be read as JSON"),
    "list": (text("config.json", "[]"), "config.json: it holds no JSON object"),
    "type": (edited(model_type="bert"), "config.json: model_type is 'bert', not 'gpt2'"),
    "activation": (edited(activation_function="relu"), "activation_function is 'relu'; gpt2 computes with 'gelu_new'"),
    "size": (edited(n_layer="2"), "config.json: n_layer is '2', not a size"),
    "heads": (edited(n_head=5), "n_head does not divide n_embd"),
    "weights": (without("model.safetensors"), "model.safetensors: No such file or directory"),
    "damaged": (damaged, "model.safetensors: it cannot be read as weights"),
    "shape": (edited(n_positions=65), "'wpe.weight' is 64x48, not 65x48 as config.json says"),
    "layer": (edited(n_layer=3), "it holds no 'h.2.ln_1.weight'"),
    "finite": (rewritten(**{"ln_f.bias": np.full(H, np.nan, np.float32)}), "numbers that are not finite"),
    "merges": (without("merges.txt"), "merges.txt: No such file or directory"),
    "tokeniser": (text("tokenizer.json", "{}"), "tokenizer.json: no tokeniser"),
}
