"""Potato annotations (Pei et al. 2022), as versions 1 and 2 write them.

Version 2 keeps a file for each annotator, `annotation_output/ANNOTATOR/user_state.json`, and can export them as
`annotations.jsonl`, `annotations.csv` or `annotations.tsv`; version 1 wrote an `annotated_instances.jsonl` for each. A
scheme is a criterion; its rating is the point of a `likert` scheme, the value of a `slider` or `multirate`, and A, B or
a tie of a `pairwise` one.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dactnlg._utils.files import made_folder, write_json, written
from dactnlg._utils.paths import inside
from dactnlg._utils.reading import short
from dactnlg.studies.exchange.instances import Instance, parse_instance, read_items
from dactnlg.studies.exchange.names import file_names
from dactnlg.studies.exchange.potato_files import Annotation, read_annotations
from dactnlg.studies.ratings import Ratings, RatingsError, by
from dactnlg.studies.study import Study

ITEMS = "items.jsonl"
LARGEST_LIKERT = 20
_POINT = re.compile(r"(?:scale_)?(-?\d+(?:\.\d+)?)")
_PAIR = {"a": (1.0, 0.0), "b": (0.0, 1.0), "tie": (0.5, 0.5)}
_COMMENTS = frozenset({"free_response", "bad_text", "text_box", "justification"})


def write_potato(ratings: Ratings, folder: Path, study: Study | None = None) -> None:
    """Write ratings as a Potato project: `items.jsonl`, and `annotation_output/RATER/user_state.json` for each rater.

    Args:
        ratings: the judgements. Page names are not kept, only which judgements of an item share a page.
        folder: the folder, which must not exist.
        study: the study, whose design says whether they are pairs, and whose items have the acts.

    Raises:
        RatingsError: the folder exists, a page of a pairwise study does not have two systems, or an answer about a
            pair is not a win, loss or tie.
    """
    if folder.exists():
        raise RatingsError(f"{folder} is there already; name a new folder with --output")
    pairs = study.design == "pairwise" if study else _are_pairs(ratings)
    items: dict[str, dict[str, Any]] = {}
    states: dict[str, dict[str, list[Any]]] = {}
    for rater, instance, rows in _instances(ratings, pairs=pairs):
        said = {row["system"]: row.get("output", "") for row in rows}
        outputs = [said[system] for system in instance.systems]
        known = study.item_by_id.get(instance.item) if study else None
        items.setdefault(
            instance.name,
            {
                "id": instance.name,
                "text": outputs if pairs else outputs[0],
                "item": instance.item,
                "system": list(instance.systems) if pairs else instance.systems[0],
                **({"corpus": instance.corpus} if instance.corpus else {}),
                **({"act": known.act} if known else {}),
            },
        )
        groups = [group for _, group in by(rows, "criterion")]
        labels = [_pair_label(group, instance) if pairs else _label(group[0]) for group in groups]
        states.setdefault(rater, {})[instance.name] = labels
    with made_folder(folder):
        with written(folder / ITEMS) as file:
            file.writelines(json.dumps(item, ensure_ascii=False) + "\n" for item in items.values())
        for rater, place in file_names(states).items():
            (folder / "annotation_output" / place).mkdir(parents=True)
            state = {"user_id": rater, "instance_id_to_label_to_value": states[rater]}
            write_json(folder / "annotation_output" / place / "user_state.json", state)


def _instances(ratings: Ratings, *, pairs: bool) -> Iterator[tuple[str, Instance, Sequence[Mapping[str, Any]]]]:
    """Yield (rater, instance, its ratings) for everything that a rater judged at once."""
    columns = [name for name in ("rater", "item", "corpus", "page") if name in ratings.columns]
    seen: Counter[tuple[str, ...]] = Counter()
    for _, page in by(ratings.rows, *columns):
        first = page[0]
        where = (first["rater"], first["item"], first.get("corpus", ""))
        if not pairs:
            seen[where] += 1
            for (system,), rows in by(page, "system"):
                yield first["rater"], Instance(first["item"], (system,), where[2], seen[where]), rows
            continue
        systems = tuple(dict.fromkeys(row["system"] for row in page))
        if len(systems) != 2:
            raise RatingsError(f"rater {where[0]} compared {len(systems)} systems for item {where[1]}; a pair has two")
        seen[where + systems] += 1
        yield first["rater"], Instance(first["item"], systems, where[2], seen[where + systems]), page


def _are_pairs(ratings: Ratings) -> bool:
    if "page" not in ratings.columns:
        return False
    found = [sorted(row["value"] for row in rows) for _, rows in by(ratings.rows, "page", "rater", "criterion")]
    return all(values in ([0.0, 1.0], [0.5, 0.5]) for values in found)


def _label(row: Mapping[str, Any]) -> list[Any]:
    """Return a rating in Potato's format, as a point of a Likert scale if it can be one, else as a slider's value."""
    shown = f"{row['value']:.12g}"
    point = float(row["value"]).is_integer() and 1 <= row["value"] <= LARGEST_LIKERT
    return [{"schema": row["criterion"], "name": shown if point else "slider"}, shown]


def _pair_label(rows: Sequence[Mapping[str, Any]], instance: Instance) -> list[Any]:
    # Rows of different criteria may list the two systems in different orders.
    given = {row["system"]: row["value"] for row in rows}
    values = tuple(given.get(system) for system in instance.systems)
    chosen = next((name for name, pair in _PAIR.items() if pair == values), None)
    if chosen is None:
        raise RatingsError(f"rater {rows[0]['rater']}'s answer for item {rows[0]['item']} is no win, loss or tie")
    return [{"schema": rows[0]["criterion"], "name": "selection"}, chosen if chosen == "tie" else chosen.upper()]


def read_potato(path: Path, items: Mapping[str, Instance] | None = None) -> Ratings:
    """Read Potato annotations.

    Args:
        path: a project's or its output folder, one annotator's file, or an export.
        items: what instances show, for those whose names are not from `write_potato`; by default read from the folder's
            `items.jsonl`, if there is a valid one.

    Raises:
        RatingsError: it is none of these, or an instance is unknown.
        OSError: it cannot be read.
    """
    if items is None and (path / ITEMS).is_file():
        with contextlib.suppress(RatingsError):
            items = read_items(inside(path, ITEMS))
    found = list(read_annotations(path))
    named: dict[str, set[str]] = defaultdict(set)
    for one in found:
        for scheme, labels in one.labels.items():
            named[scheme] |= {label for label in labels if label and not _POINT.fullmatch(label)} - _COMMENTS
    several = {scheme for scheme, labels in named.items() if len(labels) > 1}
    passed: Counter[str] = Counter()
    rows = [row for one in found for row in _rows(one, items or {}, several, passed)]
    if not rows:
        raise RatingsError(f"{path}: there are no ratings in it")
    return Ratings(rows, tuple(f"{count} {what}" for what, count in passed.items()))


def _rows(
    one: Annotation, items: Mapping[str, Instance], several: set[str], passed: Counter[str]
) -> Iterator[dict[str, Any]]:
    if one.instance.endswith(".html"):
        # Survey pages before and after the task, which version 1 keeps among the instances.
        return
    known, read = items.get(one.instance), parse_instance(one.instance)
    instance = read or known
    if instance is None:
        raise RatingsError(
            f"{one.where}: instance {short(one.instance)} names no system: give the project's data file with --items, "
            'a line each {"id", "system", "item"}'
        )
    page = f"{one.user}-{instance.item}-{instance.number}"
    if len(instance.systems) == 2:
        page = f"{one.user}-{instance.name}"
    same = known is not None and known.systems == instance.systems and known.outputs
    outputs = same or ("",) * len(instance.systems)
    for criterion, values in _answers(one.labels, several, passed, len(instance.systems)):
        for system, value, output in zip(instance.systems, values, outputs, strict=True):
            yield {
                "item": instance.item,
                "system": system,
                "rater": one.user,
                "criterion": criterion,
                "value": value,
                "page": page,
                "corpus": instance.corpus,
                "output": output,
            }


def _answers(
    labels: Mapping[str, Mapping[str, Any]], several: set[str], passed: Counter[str], systems: int
) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Yield criterion and values; answers that are not ratings are skipped, and counted in `passed`."""
    read = _compared if systems == 2 else _rated
    for scheme, chosen in labels.items():
        points = [label for label in chosen if not label or _POINT.fullmatch(label)]
        if len(points) > 1:
            passed["answers that chose several points of a scale were passed over"] += 1
            continue
        for label, value in chosen.items():
            values = read(label, value)
            if values is None:
                passed["answers that are no ratings, such as comments, were passed over"] += 1
            else:
                yield f"{scheme}.{label}" if scheme in several and label not in points else scheme, values


def _rated(label: str, value: Any) -> tuple[float, ...] | None:
    # For a point, its label counts: the value that version 1 stored is the key that was pressed.
    found = _POINT.fullmatch(label)
    number = None if label in _COMMENTS else _number(found[1] if found else value)
    return None if number is None else (number,)


def _compared(label: str, value: Any) -> tuple[float, ...] | None:
    if isinstance(value, str) and value.lower() in _PAIR:
        return _PAIR[value.lower()]
    # A slider between the two: below 0, the first is better.
    number = _number(value) if label not in _COMMENTS else None
    return None if number is None else _PAIR["tie" if number == 0 else "a" if number < 0 else "b"]


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
