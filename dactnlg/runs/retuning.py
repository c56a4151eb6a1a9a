"""Changing the decoding section of a finished run, in its configuration and its manifest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dactnlg._utils.files import write_json, written
from dactnlg._utils.locks import locked
from dactnlg.errors import RunError
from dactnlg.runs import provenance
from dactnlg.runs.config import Config
from dactnlg.runs.place import held
from dactnlg.runs.run import LOCK_SECONDS, Run, now
from dactnlg.runs.writer import setting_hash


def write_decoding(run: Run, config: Config, facts: Mapping[str, Any]) -> None:
    """Write a new decoding section into a run whose training has ended.

    If the section changes, the scores in the manifest are dropped, since the run no longer generates these sentences by
    default. Each of the two files is replaced atomically; after a kill between them the configuration has the new
    section, but the manifest does not yet record how it was found.

    Args:
        run: the run.
        config: its configuration with the new section.
        facts: how the section was found, for the manifest's `tuned`.

    Raises:
        RunError: the run is being trained, its training has not ended, or the folder cannot be written.
    """
    try:
        with held(run), locked(run.lock_path, LOCK_SECONDS):
            manifest = run.manifest()
            # Teachers and training.select=bleu decode with the section used in training: repeating the run needs it.
            trained = manifest.get("tuned", {}).get("trained_with", manifest["config"].get("decoding"))
            made_by = {"command": provenance.command(), "code": provenance.code(), "ended": now()}
            tuned = {**facts, "trained_with": trained, **made_by}
            if manifest["config"].get("decoding") != config.decoding.model_dump():
                manifest.pop("evaluations", None)
            manifest["config"] = {**manifest["config"], "decoding": config.decoding.model_dump()}
            with written(run.config_path) as file:
                file.write(config.to_yaml())
            write_json(run.manifest_path, {**manifest, "setting": setting_hash(config), "tuned": tuned})
    except OSError as error:
        raise RunError(f"cannot write the run folder {run.path}: {error.strerror}") from None
