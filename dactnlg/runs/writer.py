"""Writing a run folder while its model is trained: one order in which files come to be, and none of them half.

First `begun.json`, `preprocessor.json`, `reader.safetensors` and `config.yaml`; then for each epoch the checkpoint,
`state.json`, the weights (where they are the best so far) and the history; last of all `manifest.json`. Each gets its
name when it is whole, so that a kill between any two of them leaves a run that goes on, or one that begins anew.
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
    """What `state.json` holds, and whether the best weights, those of its checkpoint, have to be written again."""

    state: dict[str, Any]
    weights_lost: bool


class RunWriter:
    """Writes a run folder. One process does at a time: it holds the folder meanwhile (`opened`).

    Args:
        run: the folder that the run is meant for.

    Attributes:
        run: the folder that is written.
        target: the folder that the run is meant for.
    """

    def __init__(self, run: Run) -> None:
        self.run = self.target = run
        self._whole = False

    @contextlib.contextmanager
    def opened(self, *, resume: bool = False, overwrite: bool = False) -> Iterator[None]:
        """Hold the folder until the training ends: no other process can train in it.

        A run that is to be overwritten is replaced at the end, if the new one is whole then; until that, `run` is a
        folder beside it.

        Args:
            resume: go on with what the folder holds, if there is anything.
            overwrite: a run that is there may be replaced.

        Raises:
            RunError: another process trains in the folder, it holds a run or something else, or cannot be written.
        """
        with place.opened(self.target, resume=resume, overwrite=overwrite) as self.run:
            yield
        if self._whole and self.run is not self.target:
            place.replace_run(self.target, self.run)
            self.run = self.target

    @property
    def path(self) -> Path:
        """The folder that is written."""
        return self.run.path

    def begin(
        self,
        config: Config,
        save_preprocessor: Callable[[Path], None],
        save_reader: Callable[[Path], None] | None = None,
        *,
        resume: bool,
    ) -> None:
        """Write what is known before training, or check that a training that is to be resumed began with it.

        Args:
            config: the experiment.
            save_preprocessor: writes the preprocessor to a path.
            save_reader: writes the reader to a path, if there is one; it is learned only where the folder has none.
            resume: go on with what the folder holds, if there is anything.

        Raises:
            RunError: the folder holds something else, or what is to be resumed has another configuration, data or
                format, or lacks a file.
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
        # Before anything is written: a run folder inside the checkout is no change of the code.
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
            # The state first: a training of which less is left begins anew.
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
        """Write the preprocessor; with `same` one that is there already has to be the same.

        Raises:
            RunError: it is another one.
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
        """Write the reader, unless it is there already: it is learned from the same data as the preprocessor."""
        if save is None or self.run.reader_path.exists():
            return
        with replace_file(self.run.reader_path) as partial:
            save(partial)

    def finish(self, summary: Mapping[str, Any], corpora: Mapping[str, Mapping[str, str | None]]) -> None:
        """Write the manifest: the run is whole.

        Args:
            summary: of the training.
            corpora: for each corpus the hash of every split; see `data.corpus.split_hashes`.
        """
        manifest = read_manifest(self.run.begun_path)
        files = {path.name: file_digest(path) for path in self.run.model_files()}
        if manifest.get("files", files) != files:
            # Of the weights before the run was resumed.
            manifest.pop("evaluations", None)
        # Only now: listing packages and reading the splits that training has no use for must not delay it.
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
        """Keep the end of an epoch: the checkpoint, the state that names it and, if given, the best weights so far.

        A kill at any moment leaves a state with the checkpoint that it names. What may be left undone behind it,
        `mend` does.

        Args:
            state: `epoch`, `history` (a row for each epoch) and what else is to be kept.
            save_checkpoint: writes the checkpoint to a path.
            save_best: writes the weights to a path; None where those in the folder stay the best.
        """
        run, checkpoint = self.run, self.run.checkpoint_path(state["epoch"])
        with replace_file(checkpoint) as partial:
            save_checkpoint(partial)
        with contextlib.ExitStack() as stack:
            weights = run.weights_path
            if save_best is not None:
                # They get their name after the state, which says what they are.
                weights = stack.enter_context(replace_file(run.weights_path))
                save_best(weights)
            files = {checkpoint.name: file_digest(checkpoint), run.weights_path.name: file_digest(weights)}
            made = (path for path in (run.preprocessor_path, run.reader_path) if path.exists())
            files |= {path.name: file_digest(path) for path in made}
            whole = {**state, "files": files}
            write_json(run.state_path, {**whole, "hash": digest(whole)})
        self._clear_up(state)

    def load_state(self) -> KeptState | None:
        """Return the kept state, or None where no epoch was finished.

        Raises:
            RunError: it is damaged, or a file that it names is not there or another one.
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
        # The best weights that a kill kept from their name are those of the checkpoint.
        for file in same:
            if not same[file] and (file == checkpoint or state["best_epoch"] != state["epoch"]):
                raise RunError(
                    f"{file} is not the file that {path.name} names: is it damaged? Then train the model anew, "
                    "without --resume"
                )
        return KeptState(state, weights_lost=not same[weights])

    def mend(self, kept: KeptState, save_best: Callable[[Path], None]) -> None:
        """Do what a kill behind the state has left undone.

        Args:
            kept: from `load_state`.
            save_best: writes the weights of the checkpoint to a path.
        """
        if kept.weights_lost:
            with replace_file(self.run.weights_path) as partial:
                save_best(partial)
        self._clear_up(kept.state)

    def _clear_up(self, state: Mapping[str, Any]) -> None:
        """Drop older checkpoints, and write the history, a row for each epoch."""
        for path in self.run.checkpoints():
            if path != self.run.checkpoint_path(state["epoch"]):
                path.unlink(missing_ok=True)
        rows: list[dict[str, Any]] = state["history"]
        with replace_file(self.run.history_path) as partial, partial.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)

    def keep_origin(self, about: Mapping[str, Any]) -> None:
        """Keep what the manifest will say of the weights that training begins with, for when it goes on."""
        if "initialized" in about:
            write_json(self.run.begun_path, {**self.run.begun(), "training": {"initialized": about["initialized"]}})

    def _note_resumption(self) -> None:
        """Add the command that goes on to what the manifest will say."""
        data = self.run.begun()
        step = {"command": provenance.command(), "code": provenance.code(), "begun": now()}
        write_json(self.run.begun_path, {**data, "resumed": [*data.get("resumed", []), step]})
        # Until the training has ended again, nothing says that it has.
        self.run.manifest_path.unlink(missing_ok=True)

    def _vocabulary_hash(self) -> str | None:
        """Return the hash of what the model can say, whose order is its own."""
        if not self.run.preprocessor_path.exists():
            return None
        return digest(["vocabulary", read_object(self.run.preprocessor_path)["vocabulary"]])


def setting_hash(config: Config) -> str:
    """Return the hash of a configuration, wherever the data lie."""
    return digest(["config", _comparable(config.model_dump())])


def _comparable(config: Mapping[str, Any]) -> Any:
    """Return a configuration as JSON has it, without what changes no result: where the data lie, what is drawn."""
    training = {name: value for name, value in config["training"].items() if name not in ("plot", "tensorboard")}
    return json.loads(json.dumps({**config, "training": training, "corpus": {**config["corpus"], "data_dir": None}}))
