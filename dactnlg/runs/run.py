"""The run folder: what training writes and everything else reads.

config.yaml     the configuration as used, defaults spelt out
preprocessor.json      vocabulary, DA vector entries, casing, templates, the card's cues
reader.safetensors     the reader, which checks whether a sentence realises its act; older runs have none
weights.safetensors   the best weights, by name
history.csv     one line per epoch
history.png     plot of the losses; with `training.plot`
tensorboard/    logs for TensorBoard; with `training.tensorboard`
taught.jsonl    sentences of the model's teachers, one line per training act; with `training.teachers`
checkpoint-N.safetensors, state.json   the last finished epoch with the optimizer's state, for --resume
begun.json      the part of the manifest that is known while training goes on
manifest.json   command, code, configuration, data, vocabulary and file hashes, packages, machine, summary; written
                last; scores with their hashes are added when the run is evaluated
.training, .lock   locked by the process that trains, and by a process that writes the manifest
.teachers/      runs of the teachers, until they are no longer needed
"""

from __future__ import annotations

import csv
import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dactnlg import __version__
from dactnlg._utils.files import final_name, write_json
from dactnlg._utils.hashing import digest, file_digest
from dactnlg._utils.locks import locked
from dactnlg._utils.paths import refuse_links
from dactnlg.errors import ConfigError, RunError
from dactnlg.runs.config import Config, load_config
from dactnlg.runs.manifest import read_manifest, read_object

LOCK_SECONDS = 30
"""How long a process waits for another that writes the manifest."""
_OLDER = ("codec.json", "model.keras")
"""Files that only runs of dactnlg 0.1.0 have, besides their checkpoints."""


_NAMED = re.compile(r"([^=/\\]+)=(.+)")


def named_run(text: str) -> tuple[str, Path]:
    """Parse `RUN` or `NAME=RUN`, and return name and folder; by default the name is that of the folder.

    >>> named_run("new=runs/1")[0], named_run("runs/lr=0.1")[0]
    ('new', 'lr=0.1')
    """
    named = _NAMED.fullmatch(text)
    path = Path(named[2] if named else text)
    return (named[1] if named else path.resolve().name), path


class Run:
    """A run folder; nothing is read or written before a method is called."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.config_path = self.path / "config.yaml"
        self.preprocessor_path = self.path / "preprocessor.json"
        self.reader_path = self.path / "reader.safetensors"
        self.weights_path = self.path / "weights.safetensors"
        self.state_path = self.path / "state.json"
        self.history_path = self.path / "history.csv"
        self.manifest_path = self.path / "manifest.json"
        self.lock_path = self.path / ".lock"
        self.begun_path = self.path / "begun.json"
        self.training_lock_path = self.path / ".training"
        self.plot_path = self.path / "history.png"
        self.tensorboard_path = self.path / "tensorboard"
        self.taught_path = self.path / "taught.jsonl"
        self.teachers_path = self.path / ".teachers"

    def __fspath__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r})"

    def note(self, **facts: Any) -> None:
        """Add facts to the manifest, such as the run that this one repeats."""
        with locked(self.lock_path, LOCK_SECONDS):
            write_json(self.manifest_path, {**self.manifest(), **facts})

    def state(self) -> str | None:
        """Return a hash of what determines a finished run's sentences; None if training has not ended."""
        if not self.manifest_path.exists():
            return None
        manifest = self.manifest()
        return digest([identity(manifest), manifest.get("files")])

    def add_evaluation(self, evaluation: Mapping[str, Any], of: str | None) -> bool:
        """Add scores to the manifest, replacing older ones of the same split with the same options.

        Several processes may do so at once. Returns False, without writing, if the training has not ended, the folder
        cannot be written, or it meanwhile holds another run or other weights.

        Args:
            evaluation: at least `corpus`, `split`, `options` and `scores` (preset -> name -> score).
            of: the value of `state` before the run was loaded.
        """
        try:
            with locked(self.lock_path, LOCK_SECONDS):
                if of is None or self.state() != of:
                    return False
                manifest = self.manifest()
                manifest["evaluations"] = _with_evaluation(manifest.get("evaluations", []), evaluation)
                write_json(self.manifest_path, manifest)
        except OSError:
            return False
        return True

    def manifest(self) -> dict[str, Any]:
        """Return the manifest of a finished run.

        Raises:
            RunError: there is none, or it is damaged; or later, when a missing key is accessed.
        """
        return read_manifest(self.manifest_path)

    def begun(self) -> dict[str, Any]:
        """Return the manifest of a training so far: `begun.json`, or the manifest itself if it has ended."""
        return read_manifest(self.manifest_path if self.manifest_path.exists() else self.begun_path)

    def origin(self) -> dict[str, Any] | None:
        """Return what is known of the weights that training began with; None before the end of the first epoch."""
        known = self.begun().get("training") if self.state_path.exists() else None
        return None if known is None else {name: value for name, value in known.items() if name == "initialized"}

    def check(self) -> Config:
        """Check that the run can be used, and return its configuration.

        Raises:
            RunError: there is no such folder, or it is not a run, has links that lead out of it, or has no weights yet.
        """
        own = (self.preprocessor_path, self.path / "codec.json")
        # Only the links of a run are checked, those of other folders do no harm. `lexists` also finds broken links.
        if os.path.lexists(self.config_path) and any(map(os.path.lexists, own)):
            self.check_format()
        if not self.config_path.exists() or not self.preprocessor_path.exists():
            what = "is not a run folder" if self.path.exists() else "does not exist"
            raise RunError(f"{self.path} {what}; make one with: dactnlg train CONFIG --output {self.path}")
        try:
            config = load_config(self.config_path)
        except ConfigError as error:
            raise RunError(f"{self.path} cannot be read by dactnlg {__version__}: {error}") from None
        if config.model.neural and not self.weights_path.exists():
            raise RunError(f"{self.path} has no weights yet; finish it with: dactnlg train CONFIG --resume")
        return config

    def check_format(self) -> None:
        """Refuse links out of the folder, and a run of dactnlg 0.1.0, which keeps its model in other files."""
        refuse_links(self.path, RunError)
        if self.config_path.exists() and (self.path / "codec.json").exists():
            raise RunError(f"{self.path} was trained by an older version of dactnlg; train the model anew")

    def older_files(self) -> list[Path]:
        """Return the files that only runs of dactnlg 0.1.0 have, existing or not."""
        return [*(self.path / name for name in _OLDER), *self.path.glob("checkpoint-*.keras")]

    def owns(self, name: str) -> bool:
        """Return whether a file or folder of this name is part of a run."""
        own = (value for key, value in vars(self).items() if key.endswith("_path"))
        name = final_name(name)
        checkpoint = name.startswith("checkpoint-") and name.endswith((".safetensors", ".keras"))
        return name in _OLDER or checkpoint or any(path.name == name for path in own)

    def checkpoint_path(self, epoch: int) -> Path:
        """Return the path of the checkpoint of an epoch."""
        return self.path / f"checkpoint-{epoch}.safetensors"

    def checkpoints(self) -> list[Path]:
        """Return the checkpoints in the folder."""
        return list(self.path.glob("checkpoint-*.safetensors"))

    def model_files(self) -> list[Path]:
        """Return the existing files that sentences depend on, except the configuration, which may be edited."""
        return [path for path in (self.preprocessor_path, self.reader_path, self.weights_path) if path.exists()]

    def check_files(self) -> None:
        """Refuse a model that is not the one that training wrote: damaged, or assembled from two runs.

        Raises:
            RunError: the hash of a file differs from the manifest or, if training has not ended, the hash of the
                preprocessor or reader from the state; a file is missing; or the configuration has another model.
        """
        known: Mapping[str, str] = {}
        if self.manifest_path.exists():
            manifest = self.manifest()
            known = manifest.get("files", {})
            section = manifest.get("config", {}).get("model", {})
            read = load_config(self.config_path).model.model_dump()
            # A later version may have additional keys.
            if known and any(read.get(key) != value for key, value in section.items()):
                # Learned weights are useless with, say, another `alpha`; the decoding section may be changed.
                raise RunError(f"{self.config_path} has another section `model` than training wrote; put that back")
        elif self.state_path.exists():
            # The weights are not checked: a kill may have left those that were best before.
            name, files = self.preprocessor_path.name, read_object(self.state_path)["files"]
            known = {name: files[name], **{name: files[name] for name in files if name == self.reader_path.name}}
        for path in (self.preprocessor_path, self.reader_path, self.weights_path):
            if path.name not in known:
                continue
            if not path.exists():
                raise RunError(f"{path}, which training wrote, is not there; train the model anew")
            if known[path.name] != file_digest(path):
                raise RunError(
                    f"{path} is not the file that training wrote: it is damaged, or of another run; train the model "
                    "anew"
                )

    def history(self) -> list[dict[str, float]]:
        """Return a row for each epoch: `epoch`, `loss`, `valid_loss`, `learning_rate` and other recorded values.

        If there is no file, there are no rows.

        Raises:
            RunError: the file is damaged.
        """
        if not self.history_path.exists():
            return []
        try:
            with self.history_path.open(newline="", encoding="utf-8") as file:
                rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
            for row in rows:
                int(row["epoch"])
        except (ValueError, TypeError, KeyError, OverflowError, csv.Error):
            raise RunError(f"{self.history_path} is damaged") from None
        return rows


def identity(manifest: Mapping[str, Any]) -> str:
    """Return a hash that identifies the run of a manifest, independent of its folder and of later evaluations."""
    facts = (manifest.get(name) for name in ("begun", "command", "config"))
    return digest(["run", *facts, manifest.get("code", {}).get("commit")])


def flat(config: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Return a configuration flattened to strings: `{"model": {"name": "lstm"}}` gives `{"model.name": "lstm"}`."""
    found: dict[str, str] = {}
    for key, value in config.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{prefix}{key}.")
        else:
            found[prefix + key] = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return found


def _with_evaluation(older: Sequence[Mapping[str, Any]], new: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return evaluations with a new one last, which keeps earlier scores of the same code on the same data."""
    same = [entry for entry in older if all(entry[name] == new[name] for name in ("corpus", "split", "options"))]
    scores: dict[str, dict[str, Any]] = {}
    vectors = None
    for entry in (*same, new):
        if all(entry.get(name) == new.get(name) for name in ("code", "data")):
            for preset, found in entry["scores"].items():
                # Diversity scores computed later are added to the preset's own scores.
                scores[preset] = {**scores.get(preset, {}), **found}
            vectors = entry.get("vectors") or vectors
    return [*(entry for entry in older if entry not in same), {**new, "vectors": vectors, "scores": scores}]


def now() -> str:
    """Return the current UTC time in the format of manifests."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
