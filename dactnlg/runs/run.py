"""The run folder: what training writes and everything else reads.

config.yaml     the configuration as used, defaults spelt out
preprocessor.json      vocabulary, DA vector entries, casing, templates, the card's cues
weights.safetensors   the best weights, by name
history.csv     one line an epoch
checkpoint-N.safetensors, state.json   the last finished epoch with the optimizer's state, for --resume
manifest.json   command, code, configuration, data and vocabulary hashes, packages, machine, summary; written last;
                scores with their hashes are added when the run is evaluated
"""

from __future__ import annotations

import csv
import json
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dactnlg import __version__
from dactnlg._utils.files import replace_file
from dactnlg._utils.hashing import digest
from dactnlg._utils.paths import refuse_links
from dactnlg.errors import ConfigError, RunError
from dactnlg.runs import provenance
from dactnlg.runs.config import Config, load_config

LOCK_SECONDS = 30
"""How long one process waits for another that writes the manifest."""


class Run:
    """A run folder; nothing is read or written before a method is called."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.config_path = self.path / "config.yaml"
        self.preprocessor_path = self.path / "preprocessor.json"
        self.weights_path = self.path / "weights.safetensors"
        self.state_path = self.path / "state.json"
        self.history_path = self.path / "history.csv"
        self.manifest_path = self.path / "manifest.json"
        self.lock_path = self.path / ".lock"
        self._begun_path = self.path / "begun.json"

    def __fspath__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r})"

    def begin(self, config: Config, *, resume: bool) -> None:
        """Make the folder and write the configuration.

        Raises:
            RunError: the folder holds something else, or what is to be resumed has another configuration or format.
        """
        if resume and self.config_path.exists():
            self._check_format()
            if _comparable(load_config(self.config_path)) != _comparable(config):
                raise RunError(f"{self.path} was begun with another configuration; resume it with its own config.yaml")
            self._note_resumption()
            return
        if self.path.exists() and not self.path.is_dir():
            raise RunError(f"{self.path} is a file; a run is a folder")
        if self.path.exists() and any(self.path.iterdir()) and not self.config_path.exists():
            raise RunError(f"{self.path} holds other files; name an empty or a new folder with --output")
        # Before anything is written: a run folder inside the checkout is no change of the code.
        code = provenance.code()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            kept = (self.manifest_path, self.state_path, self.weights_path, self.history_path)
            for old in (*kept, *self._checkpoints(), *self._older_files()):
                old.unlink(missing_ok=True)
            self.config_path.write_text(config.to_yaml(), encoding="utf-8")
        except OSError as error:
            raise RunError(f"cannot write the run folder {self.path}: {error.strerror}") from None
        manifest = {
            "dactnlg": __version__,
            "command": provenance.command(),
            "code": code,
            "begun": _now(),
            "seed": config.training.seed,
            "config": config.model_dump(),
            "python": platform.python_version(),
            "environment": provenance.environment(),
        }
        self._write_json(self._begun_path, manifest)

    def finish(self, summary: Mapping[str, Any], corpora: Mapping[str, Mapping[str, str | None]]) -> None:
        """Write the manifest: the run is whole.

        Args:
            summary: of the training.
            corpora: for each corpus the hash of every split; see `data.corpus.split_hashes`.
        """
        begun = self._begun_path
        manifest = json.loads(begun.read_text(encoding="utf-8")) if begun.exists() else self.manifest()
        # Only now: listing packages and reading the splits that training has no use for must not delay it.
        ended = {
            "ended": _now(),
            "corpora": corpora,
            "vocabulary": self._vocabulary_hash(),
            "setting": digest(["config", _comparable(load_config(self.config_path))]),
            "packages": provenance.packages(),
            "hardware": provenance.hardware(),
            "training": dict(summary),
        }
        self._write_json(self.manifest_path, {**manifest, **ended})
        begun.unlink(missing_ok=True)

    def note(self, **facts: Any) -> None:
        """Add facts to the manifest, such as the run that this one repeats."""
        import portalocker

        with portalocker.Lock(self.lock_path, timeout=LOCK_SECONDS):
            self._write_json(self.manifest_path, {**self.manifest(), **facts})

    def add_evaluation(self, evaluation: Mapping[str, Any]) -> bool:
        """Add scores to the manifest; those of the same split with the same options take the place of older ones.

        Several processes may do so at once. Returns whether it was done: not for a run whose training has not ended,
        nor where the folder cannot be written.

        Args:
            evaluation: at least `corpus`, `split`, `options` and `scores` (preset -> name -> score).
        """
        import portalocker

        try:
            with portalocker.Lock(self.lock_path, timeout=LOCK_SECONDS):
                manifest = self.manifest()
                manifest["evaluations"] = _with_evaluation(manifest.get("evaluations", []), evaluation)
                self._write_json(self.manifest_path, manifest)
        except (OSError, portalocker.LockException):
            return False
        return True

    def manifest(self) -> dict[str, Any]:
        """Return the manifest of a finished run."""
        data: dict[str, Any] = json.loads(self.manifest_path.read_text(encoding="utf-8"))
        return data

    def check(self) -> Config:
        """Return the configuration of a run that can be used.

        Raises:
            RunError: no such folder, not a run, or a run whose training has not kept any weights yet.
        """
        self._check_format()
        if not self.config_path.exists() or not self.preprocessor_path.exists():
            what = "is not a run folder" if self.path.is_dir() else "does not exist"
            raise RunError(f"{self.path} {what}; make one with: dactnlg train CONFIG --output {self.path}")
        try:
            config = load_config(self.config_path)
        except ConfigError as error:
            raise RunError(f"{self.path} cannot be read by dactnlg {__version__}: {error}") from None
        if config.model.neural and not self.weights_path.exists():
            raise RunError(f"{self.path} has no weights yet; finish it with: dactnlg train CONFIG --resume")
        return config

    def _check_format(self) -> None:
        """Refuse links out of the folder, and a run of dactnlg 0.1.0, whose model stands in other files."""
        refuse_links(self.path, RunError)
        if self.config_path.exists() and (self.path / "codec.json").exists():
            raise RunError(f"{self.path} was trained by an older version of dactnlg; train the model anew")

    def _older_files(self) -> list[Path]:
        """Return the files that a run of dactnlg 0.1.0 has and this version's has not."""
        names = ("codec.json", "model.keras")
        return [*(self.path / name for name in names), *self.path.glob("checkpoint-*.keras")]

    def checkpoint_path(self, epoch: int) -> Path:
        """Return where the checkpoint of an epoch is kept."""
        return self.path / f"checkpoint-{epoch}.safetensors"

    def save_state(self, state: Mapping[str, Any]) -> None:
        """Keep the state of training at the end of an epoch, whose checkpoint has been written; drop older ones.

        A kill at any moment leaves a state with the checkpoint that it names.
        """
        self._write_json(self.state_path, state)
        for path in self._checkpoints():
            if path != self.checkpoint_path(state["epoch"]):
                path.unlink(missing_ok=True)

    def load_state(self) -> dict[str, Any] | None:
        """Return the kept state, or None where no epoch was finished."""
        if not self.state_path.exists():
            return None
        state: dict[str, Any] = json.loads(self.state_path.read_text(encoding="utf-8"))
        return state if self.checkpoint_path(state["epoch"]).exists() else None

    def replace(self, path: Path, write: Callable[[Path], None]) -> None:
        """Write a file of the run, which gets its name when it is whole and on the disk."""
        with replace_file(path) as partial:
            write(partial)

    def _note_resumption(self) -> None:
        """Add the command that goes on to what the manifest will say."""
        path = self._begun_path if self._begun_path.exists() else self.manifest_path
        if path.exists():
            data = json.loads(path.read_text(encoding="utf-8"))
            step = {"command": provenance.command(), "code": provenance.code(), "begun": _now()}
            self._write_json(path, {**data, "resumed": [*data.get("resumed", []), step]})

    def _vocabulary_hash(self) -> str | None:
        """Return the hash of what the model can say, whose order is its own."""
        if not self.preprocessor_path.exists():
            return None
        return digest(["vocabulary", json.loads(self.preprocessor_path.read_text(encoding="utf-8"))["vocabulary"]])

    def _checkpoints(self) -> list[Path]:
        return list(self.path.glob("checkpoint-*.safetensors"))

    def write_history(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write the history of all epochs so far."""
        with replace_file(self.history_path) as partial, partial.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)

    def _write_json(self, path: Path, data: Mapping[str, Any]) -> None:
        with replace_file(path) as partial:
            partial.write_text(json.dumps(data, ensure_ascii=False, indent=1), encoding="utf-8")


def identity(manifest: Mapping[str, Any]) -> str:
    """Return the code of the run that a manifest is of, wherever its folder lies and whatever was scored since."""
    facts = (manifest.get(name) for name in ("begun", "command", "config"))
    return digest(["run", *facts, manifest.get("code", {}).get("commit")])


def flat(config: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Return a configuration in one level, as text: `{"model": {"name": "lstm"}}` gives `{"model.name": "lstm"}`."""
    found: dict[str, str] = {}
    for key, value in config.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{prefix}{key}.")
        else:
            found[prefix + key] = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return found


def _comparable(config: Config) -> dict[str, Any]:
    # Where the data lie may differ between machines, what they are may not.
    data = config.model_dump()
    return {**data, "corpus": {**data["corpus"], "data_dir": None}}


def _with_evaluation(older: Sequence[Mapping[str, Any]], new: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return evaluations with a new one last; what the same code scored before on the same data stays with it."""
    same = [entry for entry in older if all(entry[name] == new[name] for name in ("corpus", "split", "options"))]
    scores: dict[str, dict[str, Any]] = {}
    vectors = None
    for entry in (*same, new):
        if all(entry.get(name) == new.get(name) for name in ("code", "data")):
            for preset, found in entry["scores"].items():
                # Diversity asked for later stands beside the preset's own scores.
                scores[preset] = {**scores.get(preset, {}), **found}
            vectors = entry.get("vectors") or vectors
    return [*(entry for entry in older if entry not in same), {**new, "vectors": vectors, "scores": scores}]


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
