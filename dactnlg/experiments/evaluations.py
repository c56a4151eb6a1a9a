"""Checks the evaluations of a manifest, which may be anyone's, before they are repeated by `evaluate`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from dactnlg.data.corpus import SPLITS
from dactnlg.errors import RunError
from dactnlg.generation.options import GenerationOptions

_NAME = re.compile(r"\w[\w.-]{0,60}")
_OPTIONS = frozenset(field.name for field in fields(GenerationOptions))


def checked_evaluation(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of an evaluation to repeat: `source`, `split`, `options`, names of `scores`, and `vectors`.

    The names of presets and scores are looked up by the run's own code, which may know others than this version.

    Args:
        entry: the evaluation, as in the manifest.

    Raises:
        RunError: a name, an option or its value in the manifest is invalid.
    """
    split, options, scores, vectors = (entry.get(key) for key in ("split", "options", "scores", "vectors"))
    source = entry.get("source")
    if split not in SPLITS or not isinstance(source, str | None):
        raise RunError(f"the run's manifest has an evaluation on no split of a corpus: {source!r:.60}, {split!r:.60}")
    if not isinstance(options, Mapping) or not isinstance(scores, Mapping):
        raise RunError("the run's manifest has an evaluation without options and scores")
    for key, value in options.items():
        if key not in _OPTIONS or not isinstance(value, str | int | float | bool):
            raise RunError(f"the run's manifest has an evaluation with an option that there is not: {key!r:.60}")
    names = {preset: list(found) for preset, found in scores.items()}
    for name in (*names, *(name for found in names.values() for name in found)):
        if not _NAME.fullmatch(name):
            raise RunError(f"the run's manifest has a score that is no name: {name!r:.60}")
    if not any(names.values()):
        raise RunError("the run's manifest has an evaluation without scores")
    # Another machine uses its own vectors; their hash shows whether they are the same.
    kept = vectors if isinstance(vectors, str) and Path(vectors).is_file() else None
    return {"source": source, "split": split, "options": dict(options), "scores": names, "vectors": kept}
