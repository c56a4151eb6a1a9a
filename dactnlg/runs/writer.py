"""Writing a run folder while its model is trained, in a fixed order and each file atomically.

First `begun.json`, `preprocessor.json`, `reader.safetensors` and `config.yaml`; then for each epoch the checkpoint,
`state.json`, the weights (if they are the best so far) and the history; finally `manifest.json`. Each file gets its
name when it is complete, so after a kill at any moment the run can be resumed, or it starts afresh.
"""

from __future__ import annotations

import contextlib
import csv
import json
import platform
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from dactnlg import __version__
from dactnlg._utils.files import replace_file, write_json, written
from dactnlg._utils.hashing import digest, file_digest
from dactnlg.errors import RunError
from dactnlg.runs import place, provenance
from dactnlg.runs.config import Config, load_config
from dactnlg.runs.manifest import read_manifest, read_object
from dactnlg.runs.run import Run, now


class KeptState(NamedTuple):
    """The contents of `state.json`, and whether the best weights must be written again from its checkpoint."""

    state: dict[str, Any]
    weights_lost: bool


class RunWriter:
    """Writes a run folder, which it locks meanwhile so that only one process at a time does (`opened`).

    Args:
        run: the folder that the run is meant for.

    Attributes:
        run: the folder being written.
        target: the folder that the run is meant for.
    """

    def __init__(self, run: Run) -> None:
        self.run = self.target = run
        self._whole = False

    @contextlib.contextmanager
    def opened(self, *, resume: bool = False, overwrite: bool = False) -> Iterator[None]:
        """Lock the folder until the training ends, so that no other process can train in it.

        An existing run to be overwritten is replaced at the end, if the new one is then complete; until then `run` is a
        folder beside it.

        Args:
            resume: resume what the folder holds, if anything.
            overwrite: an existing run may be replaced.

        Raises:
            RunError: another process trains in the folder, or it holds a run or other files, or cannot be written.
        """
        with place.opened(self.target, resume=resume, overwrite=overwrite) as self.run:
            yield
        if self._whole and self.run is not self.target:
            place.replace_run(self.target, self.run)
            self.run = self.target

    @property
    def path(self) -> Path:
        """The folder being written."""
        return self.run.path

    def begin(
        self,
        config: Config,
        save_preprocessor: Callable[[Path], None],
        save_reader: Callable[[Path], None] | None = None,
        *,
        resume: bool,
    ) -> None:
        """Write what is known before training, or check that it agrees with the training to be resumed.

        Args:
            config: the experiment.
            save_preprocessor: writes the preprocessor to a path.
            save_reader: writes the reader to a path, if there is one; called only if the folder has none.
            resume: resume what the folder holds, if anything.

        Raises:
            RunError: the folder holds other files, or the training to be resumed has another configuration, other data
                or another format, or lacks a file.
        """
        place.check_place(self.run)
        run = self.run
        if resume and run.config_path.exists():
            run.check_format()
            begun = run.begun_path.exists() or run.manifest_path.exists()
            before = [_comparable(load_config(run.config_path).model_dump())]
            before += [_comparable(self.run.begun()["config"])] if begun else []
            if any(each != _comparable(config.model_dump()) for each in before):
                raise RunError(f"{self.path} was begun with another configuration; resume it with its own config.yaml")
            if begun:
                self._write_preprocessor(save_preprocessor, same=True)
                self._write_reader(save_reader)
                self._note_resumption()
                return
            if run.state_path.exists():
                raise RunError(f"{self.path} lacks {run.begun_path.name}: train the model anew, without --resume")
        # Before anything is written, so that a run folder inside the checkout does not count as a change of the code.
        manifest = {
            "dactnlg": __version__,
            "command": provenance.command(),
            "code": provenance.code(),
            "begun": now(),
            "seed": config.training.seed,
            "config": config.model_dump(),
            "python": platform.python_version(),
            "environment": provenance.environment(),
        }
        try:
            # The state first: without it, an interrupted deletion cannot be mistaken for a training to resume.
            trained = (run.state_path, *run.checkpoints(), run.history_path, run.weights_path, run.manifest_path)
            first = (run.config_path, run.preprocessor_path, run.reader_path, run.begun_path)
            for old in (*trained, *run.older_files(), run.plot_path, run.taught_path, *first):
                old.unlink(missing_ok=True)
            for folder in (run.tensorboard_path, run.teachers_path):
                if folder.is_dir():
                    shutil.rmtree(folder)
            write_json(run.begun_path, manifest)
            self._write_preprocessor(save_preprocessor, same=False)
            self._write_reader(save_reader)
            with written(run.config_path) as file:
                file.write(config.to_yaml())
        except OSError as error:
            raise RunError(f"cannot write the run folder {self.path}: {error.strerror}") from None

    def _write_preprocessor(self, save: Callable[[Path], None], *, same: bool) -> None:
        """Write the preprocessor; with `same`, an existing one must be identical.

        Raises:
            RunError: it differs.
        """
        path = self.run.preprocessor_path
        with replace_file(path) as partial:
            save(partial)
            if same and path.exists() and path.read_bytes() != partial.read_bytes():
                raise RunError(
                    f"{path} is not what the corpus gives now: the corpus or the version of dactnlg has changed, or "
                    "the file is damaged; train the model anew, without --resume"
                )

    def _write_reader(self, save: Callable[[Path], None] | None) -> None:
        """Write the reader unless it exists; an existing one is valid, as it comes from the preprocessor's data."""
        if save is None or self.run.reader_path.exists():
            return
        with replace_file(self.run.reader_path) as partial:
            save(partial)

    def finish(self, summary: Mapping[str, Any], corpora: Mapping[str, Mapping[str, str | None]]) -> None:
        """Write the manifest, which completes the run.

        Args:
            summary: summary of the training.
            corpora: for each corpus, the hash of every split; see `training.splits.split_hashes`.
        """
        manifest = read_manifest(self.run.begun_path)
        files = {path.name: file_digest(path) for path in self.run.model_files()}
        if manifest.get("files", files) != files:
            # They belong to the weights before the run was resumed.
            manifest.pop("evaluations", None)
        # Only now, since listing packages must not delay training.
        ended = {
            "ended": now(),
            "corpora": corpora,
            "vocabulary": self._vocabulary_hash(),
            "setting": setting_hash(load_config(self.run.config_path)),
            "packages": provenance.packages(),
            "hardware": provenance.hardware(),
            "files": files,
            "training": dict(summary),
        }
        write_json(self.run.manifest_path, {**manifest, **ended})
        self.run.begun_path.unlink(missing_ok=True)
        self._whole = not summary.get("interrupted", False)

    def save_epoch(
        self,
        state: Mapping[str, Any],
        save_checkpoint: Callable[[Path], None],
        save_best: Callable[[Path], None] | None,
    ) -> None:
        """Save the end of an epoch: the checkpoint, the state that names it and, if given, the best weights so far.

        A kill at any moment leaves a state together with the checkpoint that it names; `mend` completes the rest.

        Args:
            state: `epoch`, `history` (a row for each epoch) and other values to keep.
            save_checkpoint: writes the checkpoint to a path.
            save_best: writes the weights to a path; None if those in the folder are still the best.
        """
        run, checkpoint = self.run, self.run.checkpoint_path(state["epoch"])
        with replace_file(checkpoint) as partial:
            save_checkpoint(partial)
        with contextlib.ExitStack() as stack:
            weights = run.weights_path
            if save_best is not None:
                # They are renamed only after the state, which records their hash, is written.
                weights = stack.enter_context(replace_file(run.weights_path))
                save_best(weights)
            files = {checkpoint.name: file_digest(checkpoint), run.weights_path.name: file_digest(weights)}
            made = (path for path in (run.preprocessor_path, run.reader_path) if path.exists())
            files |= {path.name: file_digest(path) for path in made}
            whole = {**state, "files": files}
            write_json(run.state_path, {**whole, "hash": digest(whole)})
        self._clear_up(state)

    def load_state(self) -> KeptState | None:
        """Return the saved state, or None if no epoch was finished.

        Raises:
            RunError: it is damaged, or a file that it names is missing or differs.
        """
        path, weights = self.run.state_path, self.run.weights_path
        if not path.exists():
            return None
        kept = read_object(path)
        known, files = kept["hash"], kept["files"]
        state = {name: value for name, value in kept.items() if name not in ("hash", "files")}
        if known != digest({**state, "files": files}):
            raise RunError(f"{path} is damaged; train the model anew, without --resume")
        checkpoint = self.run.checkpoint_path(state["epoch"])
        same = {file: file.is_file() and files[file.name] == file_digest(file) for file in (checkpoint, weights)}
        # If a kill prevented the renaming of the best weights, they are those of the checkpoint.
        for file in same:
            if not same[file] and (file == checkpoint or state["best_epoch"] != state["epoch"]):
                raise RunError(
                    f"{file} is not the file that {path.name} names: is it damaged? Then train the model anew, "
                    "without --resume"
                )
        return KeptState(state, weights_lost=not same[weights])

    def mend(self, kept: KeptState, save_best: Callable[[Path], None]) -> None:
        """Complete what a kill after the writing of the state has left undone.

        Args:
            kept: from `load_state`.
            save_best: writes the weights of the checkpoint to a path.
        """
        if kept.weights_lost:
            with replace_file(self.run.weights_path) as partial:
                save_best(partial)
        self._clear_up(kept.state)

    def _clear_up(self, state: Mapping[str, Any]) -> None:
        """Delete older checkpoints and write the history, a row for each epoch."""
        for path in self.run.checkpoints():
            if path != self.run.checkpoint_path(state["epoch"]):
                path.unlink(missing_ok=True)
        rows: list[dict[str, Any]] = state["history"]
        with replace_file(self.run.history_path) as partial, partial.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)

    def keep_origin(self, about: Mapping[str, Any]) -> None:
        """Record for the manifest, and for a resumed training, which weights training begins with."""
        if "initialized" in about:
            write_json(self.run.begun_path, {**self.run.begun(), "training": {"initialized": about["initialized"]}})

    def _note_resumption(self) -> None:
        """Record the command that resumes the training for the manifest."""
        data = self.run.begun()
        step = {"command": provenance.command(), "code": provenance.code(), "begun": now()}
        write_json(self.run.begun_path, {**data, "resumed": [*data.get("resumed", []), step]})
        # A manifest would say that the training has ended.
        self.run.manifest_path.unlink(missing_ok=True)

    def _vocabulary_hash(self) -> str | None:
        """Return the hash of the vocabulary, whose order counts; None if there is no preprocessor."""
        if not self.run.preprocessor_path.exists():
            return None
        return digest(["vocabulary", read_object(self.run.preprocessor_path)["vocabulary"]])


def setting_hash(config: Config) -> str:
    """Return the hash of a configuration, ignoring keys that change no result; see `_comparable`."""
    return digest(["config", _comparable(config.model_dump())])


def _comparable(config: Mapping[str, Any]) -> Any:
    """Return a configuration as JSON data without keys that change no result: `data_dir`, `plot`, `tensorboard`."""
    training = {name: value for name, value in config["training"].items() if name not in ("plot", "tensorboard")}
    return json.loads(json.dumps({**config, "training": training, "corpus": {**config["corpus"], "data_dir": None}}))
