"""A file of a teacher's emotions and embeddings for the turns of a corpus.

The file is an `.npz` with `name` (of the teacher, with its version), `texts` (N), `emotions` (N, K) and `vectors`
(N, D). Any teacher may have written it, such as DeepMoji and InferSent; none is called here. `texts` may also be the
bytes of a JSON list in UTF-8, as written here, since in an array of strings each takes as much space as the longest.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dactnlg._utils.files import replace_file
from dactnlg._utils.hashing import digest
from dactnlg._utils.reading import parse_json
from dactnlg.errors import UserError

Array = NDArray[np.float32]


@dataclass(frozen=True)
class TeacherArrays:
    """A teacher's arrays.

    Attributes:
        name: the teacher's name.
        texts: N distinct texts.
        emotions: distributions, (N, K).
        vectors: embeddings, (N, D).
    """

    name: str
    texts: Sequence[str]
    emotions: Array
    vectors: Array

    @property
    def id(self) -> str:
        """The name with a hash of the texts and arrays, for hashes of runs."""
        content = [array.tobytes().hex() for array in (self.emotions, self.vectors)]
        return f"{self.name}@{digest([list(self.texts), *content])[:12]}"

    @cached_property
    def _places(self) -> dict[str, int]:
        return {text: place for place, text in enumerate(self.texts)}

    def of(self, contexts: Sequence[Sequence[str]], turns: int) -> dict[str, Array]:
        """Return the arrays of the last U = `turns` turns of contexts: `emotions` (B, U, K) and `vectors` (B, U, D).

        Raises:
            UserError: a turn is not among the texts.
        """
        found: dict[str, Array] = {}
        for name, array in (("emotions", self.emotions), ("vectors", self.vectors)):
            rows = np.zeros((len(contexts), turns, array.shape[1]), np.float32)
            for row, context in enumerate(contexts):
                for place, text in enumerate(context[-turns:]):
                    if text not in self._places:
                        raise UserError(f"the arrays of {self.name} have nothing for the text {text[:60]!r}")
                    rows[row, place] = array[self._places[text]]
            found[name] = rows
        return found

    def save(self, path: Path) -> None:
        """Write the arrays to a file, atomically."""
        texts = np.frombuffer(json.dumps(list(self.texts)).encode(), np.uint8)
        content: dict[str, Any] = {"name": self.name, "texts": texts}
        with replace_file(path) as partial, partial.open("wb") as file:
            np.savez(file, **content, emotions=self.emotions, vectors=self.vectors)


def load_teacher_arrays(path: str | Path) -> TeacherArrays:
    """Read a teacher's arrays.

    Raises:
        UserError: the file is missing or damaged, or its arrays are of different lengths.
    """
    try:
        with np.load(path, allow_pickle=False) as data:
            emotions, vectors = (np.asarray(data[name], np.float32) for name in ("emotions", "vectors"))
            name, texts = str(data["name"]), _texts(data["texts"])
    except (OSError, ValueError, LookupError, EOFError, zipfile.BadZipFile) as error:
        raise UserError(f"{path} holds no arrays of a teacher: {error}") from None
    shapes = (emotions.shape, vectors.shape)
    if any(len(shape) != 2 or shape[0] != len(texts) for shape in shapes):
        raise UserError(f"{path}: emotions and vectors are a row for each of {len(texts)} texts, not {shapes}")
    if not all(np.isfinite(array).all() for array in (emotions, vectors)):
        raise UserError(f"{path}: the arrays hold numbers that are not finite")
    return TeacherArrays(name, texts, emotions, vectors)


def _texts(array: NDArray[Any]) -> list[str]:
    """Return the texts of a file.

    Raises:
        ValueError: they are not a list.
    """
    texts = parse_json(array.tobytes().decode("utf-8")) if array.dtype == np.uint8 else array.tolist()
    if not isinstance(texts, list):
        raise ValueError("the texts are no list")
    return [str(text) for text in texts]
