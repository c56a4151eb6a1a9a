"""Teachers: models that give the emotions and the sentence vector of a text.

The paper uses DeepMoji (Felbo et al. 2017) and InferSent (Conneau et al. 2017). Neither comes with this package, which
ships emotions learned from DailyDialog's labels, and MiniLM sentence vectors. `CachedEmotions` and `CachedVectors` take
arrays computed by any other teacher. A teacher's `name` is part of every signature.

Shapes: N texts, K emotions, D dimensions.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from dactnlg._utils.hashing import digest
from dactnlg.errors import UserError
from dactnlg.metrics.sentence_encoder.encoders import Encoder

Array = NDArray[np.float64]
BLOCK = 512
"""Texts encoded between two updates of the progress bar."""


class EmotionTeacher(Protocol):
    """Gives the probability of each emotion in a text."""

    @property
    def name(self) -> str:
        """The name of the teacher, for signatures."""

    @property
    def weights(self) -> Array:
        """The valence of each emotion, (K,)."""

    def probabilities(self, texts: Sequence[str]) -> Array:
        """Return each text's distribution over emotions, (N, K)."""


class CachedEmotions:
    """Emotions computed by another teacher.

    Args:
        name: the name of the teacher with its version.
        texts: N distinct texts.
        probabilities: distribution over emotions of each text, (N, K).
        weights: valence of each emotion, (K,).

    Raises:
        UserError: the shapes do not match.
    """

    def __init__(self, name: str, texts: Sequence[str], probabilities: Array, weights: Array) -> None:
        if probabilities.shape != (len(texts), len(weights)):
            shape = (len(texts), len(weights))
            raise UserError(
                f"{name}: {shape} probabilities are needed for these texts and weights, not {probabilities.shape}"
            )
        self.weights = weights
        self.name = f"{name}@{digest([list(texts), np.round(probabilities, 6).tolist(), weights.tolist()])[:12]}"
        self._rows = dict(zip(texts, probabilities, strict=True))

    def probabilities(self, texts: Sequence[str]) -> Array:
        """Return each text's distribution over emotions, (N, K).

        Raises:
            UserError: there are no values for a text.
        """
        return (
            np.stack([_known(self._rows, text, self.name) for text in texts])
            if texts
            else np.empty((0, len(self.weights)))
        )


class CachedVectors:
    """Sentence vectors computed by another encoder.

    Args:
        name: the name of the encoder with its version.
        texts: N distinct texts.
        vectors: (N, D).

    Raises:
        UserError: the numbers of vectors and texts differ.
    """

    def __init__(self, name: str, texts: Sequence[str], vectors: NDArray[np.floating]) -> None:
        if len(vectors) != len(texts):
            raise UserError(f"{name}: {len(vectors)} vectors for {len(texts)} texts")
        self.name = f"{name}@{digest([list(texts), np.round(vectors, 6).tolist()])[:12]}"
        self._rows = dict(zip(texts, np.asarray(vectors, np.float64), strict=True))

    def encode(self, texts: Sequence[str]) -> NDArray[np.floating]:
        """Return the vector of each text, (N, D).

        Raises:
            UserError: there is no vector for a text.
        """
        return np.stack([_known(self._rows, text, self.name) for text in texts])


def _known(rows: Mapping[str, Array], text: str, name: str) -> Array:
    if text not in rows:
        raise UserError(f"the arrays of {name} have nothing for the text {text[:60]!r}")
    return rows[text]


class KeptEncoder:
    """An encoder that encodes each text once and caches the vectors, optionally in a file.

    Args:
        encoder: computes the vectors.
        file: an `.npz` file; if its vectors are another encoder's, they are dropped. None caches in memory only.
        progress: show a progress bar on standard error.
    """

    def __init__(self, encoder: Encoder, file: Path | None = None, *, progress: bool = True) -> None:
        self.name, self._encoder, self._file, self._hidden = encoder.name, encoder, file, None if progress else True
        self._rows: dict[str, NDArray[np.float32]] = {}
        if file is not None and file.is_file():
            # A file that is damaged or of another version is replaced.
            with contextlib.suppress(ValueError, LookupError, EOFError, zipfile.BadZipFile), np.load(file) as data:
                if str(data["name"]) == self.name:
                    self._rows = dict(zip(data["keys"].tolist(), data["vectors"], strict=True))

    def encode(self, sentences: Sequence[str]) -> NDArray[np.floating]:
        """Return the vectors, (N, D)."""
        keys = [_key(text) for text in sentences]
        new = {key: text for key, text in zip(keys, sentences, strict=True) if key not in self._rows}
        todo = sorted(new.items(), key=lambda item: len(item[1]))
        before = len(self._rows)
        with tqdm(desc="encoding", total=len(todo), unit=" texts", delay=2, leave=False, disable=self._hidden) as bar:
            try:
                for start in range(0, len(todo), BLOCK):
                    block = todo[start : start + BLOCK]
                    vectors = self._encoder.encode([text for _, text in block])
                    for (key, _), row in zip(block, vectors, strict=True):
                        self._rows[key] = np.asarray(row, np.float32)
                    bar.update(len(block))
            finally:
                # Even when interrupted: encoding may have taken minutes.
                if len(self._rows) > before:
                    self._write()
        return np.stack([self._rows[key] for key in keys]) if keys else np.empty((0, 0), np.float32)

    def _write(self) -> None:
        if self._file is None:
            return
        # A temporary name per process: several may write to one cache, and the last one wins.
        partial = self._file.with_name(f"{self._file.stem}-{os.getpid()}.npz")
        try:
            np.savez(partial, name=self.name, keys=list(self._rows), vectors=np.stack(list(self._rows.values())))
            partial.replace(self._file)
        finally:
            partial.unlink(missing_ok=True)


def _key(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:24]
