"""GPT-2 checkpoints in Hugging Face's format, as initial weights of a `gpt2`.

The layers are used as they are. This package's words, and the entries of acts, start as the mean vector of their
subwords, tokenised with a preceding space, as GPT-2 sees words within a text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dactnlg._utils.hashing import file_digest
from dactnlg._utils.reading import parse_json, regular_file, short
from dactnlg.errors import ConfigError
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.surface import JOINER, MORPHEME, strip_joiner
from dactnlg.text.vocabulary import BOS, EOS, PAD, UNK

Arrays = dict[str, NDArray[Any]]

SIZES = {"hidden_size": "n_embd", "heads": "n_head", "layers": "n_layer", "positions": "n_positions"}
"""The keys of the section that a checkpoint determines, and their names in its `config.json`."""
FIXED: dict[str, tuple[Any, ...]] = {
    "activation_function": ("gelu_new", "gelu_pytorch_tanh"),
    "layer_norm_epsilon": (1e-5,),
    "scale_attn_weights": (True,),
    "scale_attn_by_inverse_layer_idx": (False,),
    "tie_word_embeddings": (True,),
}
"""What our equations fix: the values that `config.json` may have, its default first."""
PARTS = {
    "ln_1": ("attention_norm", "gamma", "beta"),
    "attn.c_attn": ("attention", "kernel", "bias"),
    "attn.c_proj": ("attention_output", "kernel", "bias"),
    "ln_2": ("inner_norm", "gamma", "beta"),
    "mlp.c_fc": ("inner", "kernel", "bias"),
    "mlp.c_proj": ("outer", "kernel", "bias"),
}
"""The parts of a layer by their names in a checkpoint: our names for them and for their two weights."""
SPECIAL = {PAD: None, UNK: None, BOS: ":", EOS: "<|endoftext|>"}
"""The text from which each special token is initialised; the act is treated like a heading that ends in a colon."""
INSTALL = "a checkpoint's subwords need a library: pip install 'dactnlg[gpt2]'"


class Checkpoint:
    """A folder with `config.json`, `model.safetensors`, and `tokenizer.json` or `vocab.json` and `merges.txt`.

    Args:
        folder: the folder; at first only its configuration is read.

    Attributes:
        sizes: the checkpoint's sizes, by key of the section.

    Raises:
        ConfigError: a file is missing, or the folder holds no GPT-2.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        found = self._json("config.json")
        if found.get("model_type") != "gpt2":
            raise self._error("config.json", f"model_type is {short(found.get('model_type'))}, not 'gpt2'")
        for key, choices in FIXED.items():
            if (value := found.get(key, choices[0])) not in choices:
                raise self._error("config.json", f"{key} is {short(value)}; gpt2 computes with {choices[0]!r} alone")
        self.sizes = {name: self._size(found, key) for name, key in SIZES.items()}
        self._subwords, hidden = self._size(found, "vocab_size"), self.sizes["hidden_size"]
        if found.get("n_inner") not in (None, 4 * hidden) or hidden % self.sizes["heads"]:
            raise self._error("config.json", "n_inner is not four times n_embd, or n_head does not divide n_embd")
        for name in ("model.safetensors", *self._tokenizer_files()):
            self._file(name)

    def weights(self, fresh: Mapping[str, NDArray[Any]], preprocessor: Preprocessor) -> tuple[Arrays, dict[str, Any]]:
        """Return the initial weights of a `gpt2`, and what the manifest records about them.

        Args:
            fresh: freshly drawn weights, by name, used where the checkpoint has none.
            preprocessor: of the training pairs.

        Raises:
            ConfigError: a file is damaged, or its weights do not fit `config.json`.
        """
        stored = self._stored()
        vectors, tokenizer = stored.pop("embedding"), self._tokenizer()
        ours = {name: array for name, array in fresh.items() if name in stored or name.startswith("decoder/")}
        if {name: array.shape for name, array in stored.items()} != {name: array.shape for name, array in ours.items()}:
            raise self._error("model.safetensors", "its sizes are not those that training began with")
        found = {name: array.copy() for name, array in fresh.items()} | stored
        count = sum(array.size for array in stored.values())
        # An entry's vector is the sum of two rows, fused with its act and by itself; halving them makes it their mean.
        names = [None, *(f" {' '.join(words_of(name))}" for name in preprocessor.encoder.features)]
        tables = {
            "embedding": (map(text_of, preprocessor.vocabulary.tokens), 1.0),
            "entries/words": (map(text_of, preprocessor.encoder.words.tokens), 1.0),
            "entries/entries": (names, 0.5),
        }
        for table, (texts, share) in tables.items():
            for row, text in enumerate(texts):
                ids = [] if text is None else tokenizer.encode(text, add_special_tokens=False).ids
                if max(ids, default=0) >= len(vectors):
                    raise self._error("model.safetensors", "it holds fewer subwords than the tokeniser")
                if ids:
                    found[table][row] = share * vectors[ids].mean(axis=0)
                    count += vectors.shape[1]
        # The whole act has no words, so its vector starts at zero.
        found["entries/act"][:] = 0.0
        share = round(count / sum(array.size for array in found.values()), 4)
        digest = file_digest(self.folder / "model.safetensors")
        return found, {"pretrained": str(self.folder), "weights": digest, "share": share}

    def _stored(self) -> Arrays:
        """Return the weights of `model.safetensors` by our names, with their shapes checked."""
        from safetensors import SafetensorError, safe_open

        path, found = self._file("model.safetensors"), Arrays()
        try:
            with safe_open(path, framework="numpy") as file:
                known = {name.removeprefix("transformer."): name for name in file.keys()}  # noqa: SIM118
                for (theirs, ours), shape in self._names().items():
                    if theirs not in known:
                        raise self._error(path.name, f"it holds no '{theirs}'")
                    array = file.get_tensor(known[theirs])
                    if array.shape != shape:
                        sizes = ["x".join(map(str, each)) for each in (array.shape, shape)]
                        raise self._error(path.name, f"'{theirs}' is {sizes[0]}, not {sizes[1]} as config.json says")
                    found[ours] = array.astype(np.float32)
                    if not np.isfinite(found[ours]).all():
                        raise self._error(path.name, f"'{theirs}' holds numbers that are not finite")
        except (OSError, SafetensorError, ValueError, KeyError, TypeError, AttributeError) as error:
            reason = (isinstance(error, OSError) and error.strerror) or error
            raise self._error(path.name, f"it cannot be read as weights ({reason}): is it damaged?") from None
        return found

    def _names(self) -> dict[tuple[str, str], tuple[int, ...]]:
        """Return the shapes of all weights by pairs of names, the checkpoint's and ours."""
        hidden = self.sizes["hidden_size"]
        widths = {"attn.c_attn": (hidden, 3 * hidden), "mlp.c_fc": (hidden, 4 * hidden)}
        widths |= {"attn.c_proj": (hidden, hidden), "mlp.c_proj": (4 * hidden, hidden)}
        names: dict[tuple[str, str], tuple[int, ...]] = {
            ("wte.weight", "embedding"): (self._subwords, hidden),
            ("wpe.weight", "positions"): (self.sizes["positions"], hidden),
            ("ln_f.weight", "norm/gamma"): (hidden,),
            ("ln_f.bias", "norm/beta"): (hidden,),
        }
        for i in range(self.sizes["layers"]):
            for theirs, (ours, weight, bias) in PARTS.items():
                shape = widths.get(theirs, (hidden,))
                names[f"h.{i}.{theirs}.weight", f"decoder/{i}/{ours}/{weight}"] = shape
                names[f"h.{i}.{theirs}.bias", f"decoder/{i}/{ours}/{bias}"] = shape[-1:]
        return names

    def _tokenizer_files(self) -> list[str]:
        return ["tokenizer.json"] if (self.folder / "tokenizer.json").is_file() else ["vocab.json", "merges.txt"]

    def _tokenizer(self) -> Any:
        """Return the tokeniser that splits texts into subwords."""
        try:
            from tokenizers import ByteLevelBPETokenizer, Tokenizer
        except ImportError:
            raise ConfigError(f"model.pretrained: {INSTALL}") from None
        files = self._tokenizer_files()
        paths = [str(self._file(name)) for name in files]
        try:
            if len(paths) == 1:
                return Tokenizer.from_file(*paths)
            made = ByteLevelBPETokenizer.from_file(*paths)
        except Exception as error:  # noqa: BLE001 - the library raises nothing more special
            raise self._error(" and ".join(files), f"no tokeniser ({error}): damaged?") from None
        if made.token_to_id(SPECIAL[EOS]) is not None:
            made.add_special_tokens([SPECIAL[EOS]])
        return made

    def _json(self, name: str) -> dict[str, Any]:
        try:
            data = parse_json(self._file(name).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
            raise self._error(name, f"it cannot be read as JSON ({error})") from None
        if not isinstance(data, dict):
            raise self._error(name, "it holds no JSON object")
        return data

    def _size(self, data: Mapping[str, Any], key: str) -> int:
        value = data.get(key)
        if type(value) is not int or not 0 < value <= 1 << 16:
            raise self._error("config.json", f"{key} is {short(value)}, not a size")
        return value

    def _file(self, name: str) -> Path:
        if not self.folder.is_dir():
            raise ConfigError(f"model.pretrained: there is no folder {self.folder}")
        try:
            return regular_file(self.folder / name)
        except OSError as error:
            raise self._error(name, error.strerror or str(error)) from None

    def _error(self, name: str, reason: str) -> ConfigError:
        return ConfigError(f"model.pretrained: {self.folder / name}: {reason}")


def text_of(token: str) -> str | None:
    """Return a token as it appears within a text, with any preceding space; None for a token without text."""
    if token in SPECIAL:
        return SPECIAL[token]
    if is_placeholder(token):
        return f" {' '.join(words_of(strip_joiner(token).removeprefix('SLOT_')))}"
    if MORPHEME.fullmatch(token):
        return token[1:]
    return strip_joiner(token) if token.startswith(JOINER) else f" {strip_joiner(token)}"


def words_of(name: str) -> Iterator[str]:
    """Yield the words in the name of a slot, an act or an entry: `inform|priceRange` gives inform, price, range."""
    name = re.sub(r"^(act|slot|corpus):", "", name)
    for word in re.findall(r"[^\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)):
        yield word.lower()
