"""Reading the files to which Potato writes annotations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from dactnlg._utils.paths import refuse_links
from dactnlg._utils.reading import parse_json, regular_file, short
from dactnlg.studies.ratings import RatingsError, open_table

STATE, OLD = "user_state.json", "annotated_instances.jsonl"
_FILES = f"{STATE} or {OLD} for each annotator, or an export as .jsonl, .csv or .tsv"


class Annotation(NamedTuple):
    """One annotator's labels for one instance, scheme -> label -> value, and their place in the files."""

    user: str
    instance: str
    labels: Mapping[str, Mapping[str, Any]]
    where: str


def read_annotations(path: Path) -> Iterator[Annotation]:
    """Yield the annotations in a folder or a file.

    Raises:
        RatingsError: there are no Potato files, a link leads out of the folder, or a file is damaged.
        OSError: it cannot be read.
    """
    if not path.is_dir():
        yield from _of_file(path)
        return
    refuse_links(path, RatingsError)
    files = sorted(found for name in (STATE, OLD) for found in path.rglob(name))
    if not files:
        raise RatingsError(f"{path}: there are no annotations of Potato in it: {_FILES}")
    for file in files:
        yield from _of_file(file)


def _of_file(path: Path) -> Iterator[Annotation]:
    ending = path.suffix.lower()
    try:
        if ending == ".json":
            yield from _of_state(path, parse_json(regular_file(path).read_text(encoding="utf-8")))
        elif ending == ".jsonl":
            yield from _of_lines(path)
        elif ending in (".csv", ".tsv"):
            yield from _of_table(path, "," if ending == ".csv" else "\t")
        else:
            raise RatingsError(f"{path}: Potato writes {_FILES}")
    except UnicodeDecodeError:
        raise RatingsError(f"{path}: it is not text in UTF-8") from None
    except ValueError as error:
        raise RatingsError(f"{path}: it is not JSON: {error}") from None


def _of_state(path: Path, state: Any) -> Iterator[Annotation]:
    found = state.get("instance_id_to_label_to_value") if isinstance(state, Mapping) else None
    if not isinstance(found, Mapping):
        raise RatingsError(f"{path}: there is no instance_id_to_label_to_value in it, where Potato keeps annotations")
    user = str(state.get("user_id") or path.parent.name)
    for instance, labels in found.items():
        yield Annotation(user, str(instance), _labels(labels, str(path)), str(path))


def _of_lines(path: Path) -> Iterator[Annotation]:
    with regular_file(path).open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            where = f"{path}, line {number}"
            row = parse_json(line)
            known = isinstance(row, Mapping) and row.keys() & {"label_annotations", "labels"}
            if not known:
                raise RatingsError(f"{where}: it has no labels, as lines of Potato's files have")
            old = "label_annotations" in row
            user = row.get("user_id") or (path.resolve().parent.name if old else "")
            instance = row.get("id" if old else "instance_id")
            if not user or instance is None:
                raise RatingsError(f"{where}: it names no annotator, or no instance")
            yield Annotation(
                str(user), str(instance), _labels(row["label_annotations" if old else "labels"], where), where
            )


def _of_table(path: Path, delimiter: str) -> Iterator[Annotation]:
    with open_table(path, delimiter) as (header, table):
        if not {"instance_id", "user_id"} <= set(header):
            raise RatingsError(f"{path}: there are no columns instance_id and user_id, as tables of Potato have")
        for where, cells in table:
            labels: dict[str, dict[str, Any]] = {}
            for column, cell in cells.items():
                scheme, dot, label = column.rpartition(".")
                if column in ("instance_id", "user_id") or not cell or label.startswith("_"):
                    continue
                labels.setdefault(scheme if dot else column, {})[label if dot else ""] = cell
            # A column named after the scheme alone holds the last choice, and takes precedence.
            settled = {name: {"": found[""]} if "" in found else found for name, found in labels.items()}
            yield Annotation(cells["user_id"], cells["instance_id"], settled, where)


def _labels(found: Any, where: str) -> dict[str, dict[str, Any]]:
    """Return scheme -> label -> value, also from version 2's lists of [{"schema", "name"}, value]."""
    if isinstance(found, Mapping):
        return {
            str(scheme): {str(label): value for label, value in chosen.items()}
            if isinstance(chosen, Mapping)
            else {"": chosen}
            for scheme, chosen in found.items()
        }
    labels: dict[str, dict[str, Any]] = {}
    for entry in found if isinstance(found, list) else [found]:
        match entry:
            case [{"schema": scheme, "name": label}, value]:
                labels.setdefault(str(scheme), {})[str(label)] = value
            case _:
                raise RatingsError(f"{where}: {short(entry)} is no label of Potato's")
    return labels
