"""The table of runs: one block for each test set and protocol, ranked only where the hashes of scores agree.

Within a block, a column is one score with one hash; a score with another hash gets a separate column. A run that
repeats another one is shown below it, whoever repeated it and wherever, and is never marked as the best.
"""

from __future__ import annotations

import glob
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dactnlg._utils.hashing import SHORT
from dactnlg.errors import RunError
from dactnlg.evaluation.scores import LOWER_IS_BETTER
from dactnlg.experiments import published
from dactnlg.metrics.registry import CORPUS_NAMES, NEITHER_IS_BETTER
from dactnlg.models.dialogue_sections import DIALOGUE
from dactnlg.runs.manifest import read_manifest
from dactnlg.runs.run import Run, flat, identity

Column = tuple[str, str]
"""A score's name and hash."""
_NO_SETTINGS = frozenset({"corpus.data_dir", "model.name"})
"""The location of the data is not a setting, and the model has its own column."""


@dataclass(slots=True)
class Row:
    """One run in one block.

    Attributes:
        run: its name; the path of its folder if another one has that name.
        model: the model's name.
        identity: of the run, wherever its folder is, with the options of the evaluation.
        repeats: the identity of the run that it repeats, with the same options; empty if it repeats none.
        original: that run's name.
        config: its configuration, flattened.
        scores: value by column, None if undefined.
    """

    run: str
    model: str
    identity: str
    repeats: str
    original: str
    config: dict[str, str]
    scores: dict[Column, float | None]


@dataclass(slots=True)
class Block:
    """The runs scored on one test set under one protocol."""

    corpus: str
    split: str
    preset: str
    data: str
    rows: list[Row] = field(default_factory=list)

    @property
    def title(self) -> str:
        """Corpus, split and protocol, with the hash of the test set, which distinguishes versions of a corpus."""
        return f"{self.corpus}, {self.split}, {self.preset} (data {self.data[:SHORT]})"

    def columns(self) -> list[Column]:
        """Return the columns in the order in which scores first occur; those with the same name are adjacent."""
        found = dict.fromkeys(column for row in self.rows for column in row.scores)
        names = list(dict.fromkeys(name for name, _ in found))
        return sorted(found, key=lambda column: names.index(column[0]))

    def best(self, column: Column) -> float | None:
        """Return the best value of a column among runs that repeat no other run; None for fewer than two of them.

        Also None for mean length and vocabulary, of which no value is best.
        """
        values = [row.scores[column] for row in self.rows if not row.repeats and column in row.scores]
        defined = [value for value in values if value is not None]
        if len(defined) < 2 or column[0] in NEITHER_IS_BETTER:
            return None
        return min(defined) if column[0] in LOWER_IS_BETTER else max(defined)

    def settings(self) -> list[str]:
        """Return the configuration keys in which the block's runs differ; the random baseline only has a seed."""
        values: dict[str, set[str]] = {}
        for row in self.rows:
            for key, value in _of_use(row).items():
                values.setdefault(key, set()).add(value)
        return [key for key, found in values.items() if len(found) > 1]

    def differing(self, row: Row) -> str:
        """Return a row's values of `settings`, `seed=2 hidden_size=80`; with section names only if ambiguous."""
        keys = self.settings()
        last = [key.rpartition(".")[2] for key in keys]
        shown = {key: name if last.count(name) == 1 else key for key, name in zip(keys, last, strict=True)}
        used = _of_use(row)
        return " ".join(f"{shown[key]}={used[key]}" for key in keys if key in used)

    def ordered(self) -> list[tuple[Row, bool]]:
        """Return the rows, best first, each with whether it is shown below the run that it repeats.

        Rows are ordered by the last quality score; without one, by an error rate or a score of whole corpora
        (diversity). If that score has several hashes, its columns are ordered separately.
        """
        columns = self._leading()
        sign = 1.0 if columns and columns[0][0] in LOWER_IS_BETTER else -1.0

        def place(row: Row) -> tuple[int, bool, float, str]:
            found = next((i for i, column in enumerate(columns) if column in row.scores), len(columns))
            value = row.scores[columns[found]] if found < len(columns) else None
            return found, value is None, sign * (value or 0.0), row.run

        below: dict[int, list[Row]] = {}
        for row in self.rows:
            if (first := self._original(row)) is not row:
                below.setdefault(id(first), []).append(row)
        firsts = sorted((row for row in self.rows if self._original(row) is row), key=place)
        return [pair for row in firsts for pair in ((row, False), *((other, True) for other in below.get(id(row), ())))]

    def _leading(self) -> list[Column]:
        """Return the columns of the score by which rows are ordered."""
        columns = [column for column in self.columns() if column[0] not in NEITHER_IS_BETTER]
        behind = LOWER_IS_BETTER.union(CORPUS_NAMES)
        good = [column for column in columns if column[0] not in behind]
        name = good[-1][0] if good else columns[0][0] if columns else ""
        return [column for column in columns if column[0] == name]

    def _original(self, row: Row) -> Row:
        """Return the run of this block that a row repeats, directly or indirectly; the row itself if there is none."""
        seen = [row]
        while found := next((o for o in self.rows if seen[-1].repeats and o.identity == seen[-1].repeats), None):
            if any(found is other for other in seen):
                break
            seen.append(found)
        return seen[-1]


def collect(
    runs: Iterable[str | Path] | None = None, *, with_published: bool = False, warn: Callable[[str], None] | None = None
) -> list[Block]:
    """Return the blocks of some runs, or of all runs in `runs/`.

    Args:
        runs: run folders, patterns of them (`runs/*`, which not every shell expands), and ids of published runs.
        with_published: include published runs; without `runs`, only these.
        warn: called with a message for each of several paths that is not a run, and is skipped; without it that is an
            error.

    Raises:
        RunError: a folder has no manifest (only one path is given, or no `warn`), or there are no scores at all.
        StoreError: the store of published runs cannot be reached, or has no such run.
    """
    given = [] if runs is None else list(runs)
    if runs is None and not with_published:
        given = sorted(path.parent for path in Path("runs").glob("*/manifest.json"))
    # `runs/* runs/a` names a run twice.
    given = list({Path(each).absolute(): each for run in given for each in _expanded(run)}.values())
    found = list(_manifests(_named(given), warn if len(given) > 1 else None))
    rows = [pair for name, manifest in found for pair in _rows(name, manifest)]
    if with_published:
        here = {identity(manifest) for _, manifest in found}
        for name, manifest in published.manifests():
            if identity(manifest) in here:
                continue
            try:
                rows += list(_rows(name, manifest))
            except RunError as error:
                # Others write to the store, too; one damaged run must not hide all others.
                published.left_out(name, error)
    blocks: dict[tuple[str, ...], Block] = {}
    for key, row in rows:
        blocks.setdefault(key, Block(*key)).rows.append(row)
    if not blocks:
        names = {manifest.get("config", {}).get("model", {}).get("name") for _, manifest in found}
        if names and names <= DIALOGUE.keys():
            raise RunError("these runs answer contexts (models of dialogue); no scores of such runs are recorded")
        where = "the store has" if with_published else "these runs have" if given else "runs/ has"
        raise RunError(f"{where} no scores; make them with: dactnlg evaluate --model RUN")
    return sorted(blocks.values(), key=lambda block: block.title)


def _expanded(run: str | Path) -> list[str | Path]:
    """Return the paths that match a pattern, sorted; anything else unchanged."""
    # Windows' shell does not expand patterns. A folder's name may contain such characters.
    if not glob.has_magic(str(run)) or Path(run).exists():
        return [run]
    found: list[str | Path] = [*sorted(glob.glob(str(run)))]  # noqa: PTH207 - Path.glob takes no absolute ones
    if not found:
        raise RunError(f"there is nothing that matches {run}")
    return found


def _named(runs: Sequence[str | Path]) -> dict[str | Path, str]:
    """Return each run's name: that of its folder, or, where several folders have that name, the path as given."""
    # A path such as `.` has a name only if it is absolute.
    names = {run: Path(run).absolute().name for run in runs}
    count = Counter(names.values())
    return {run: name if count[name] == 1 else str(run) for run, name in names.items()}


def _manifests(
    runs: Mapping[str | Path, str], warn: Callable[[str], None] | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and manifest of each run; with `warn`, paths that are not runs only cause a warning."""
    for run, name in runs.items():
        known = published.is_published_id(run) or Run(run).manifest_path.is_file()
        if known or warn is None:
            yield _manifest(run, name)
        else:
            warn(f"{run} is passed over: it {_fault(run)}")


def _manifest(run: str | Path, name: str) -> tuple[str, dict[str, Any]]:
    if published.is_published_id(run):
        return published.manifest(str(run))
    if not Run(run).manifest_path.is_file():
        raise RunError(f"{run} {_fault(run)}")
    return name, read_manifest(Run(run).manifest_path)


def _fault(run: str | Path) -> str:
    """Return why a path without a manifest is no run."""
    if not Path(run).exists():
        return "does not exist"
    return "has no manifest; it is no run, or its training has not ended"


def _rows(name: str, manifest: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str, str, str], Row]]:
    """Yield the key of the block and the row of each evaluation under each protocol."""
    config = flat(manifest.get("config", {}))
    repeats = manifest.get("repeats", {})
    for entry in manifest.get("evaluations", []):
        options = "".join(f" {key}={value}" for key, value in entry["options"].items())
        which, again = (
            json.dumps([code, entry["options"]], sort_keys=True) if code else ""
            for code in (identity(manifest), repeats.get("identity"))
        )
        for preset, scores in entry["scores"].items():
            columns = {(score_name, score["hash"]): score["value"] for score_name, score in scores.items()}
            row = Row(
                name + options, config.get("model.name", ""), which, again, repeats.get("run", ""), config, columns
            )
            yield (entry["corpus"], entry["split"], preset, entry["data"]), row


def _of_use(row: Row) -> dict[str, str]:
    """Return the settings that affect a row's model."""
    if row.model == "random":
        return {key: value for key, value in row.config.items() if key == "training.seed"}
    return {key: value for key, value in row.config.items() if key not in _NO_SETTINGS}
