"""Ratings read from files of other tools and checked against a study; and a study with its ratings as JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from dactnlg._utils.reading import short
from dactnlg.studies.exchange.e2e import read_e2e
from dactnlg.studies.exchange.instances import Instance
from dactnlg.studies.exchange.potato import read_potato
from dactnlg.studies.ratings import CONTEXT, Ratings, RatingsError, check_repetition
from dactnlg.studies.study import Scale, Study

ImportFormat = Literal["csv", "potato", "e2e"]
_OURS = re.compile(r"r\d{3,}")


def import_ratings(
    paths: Sequence[Path],
    form: ImportFormat,
    study: Study | None = None,
    items: Mapping[str, Instance] | None = None,
    *,
    keep_raters: bool = False,
) -> Ratings:
    """Read ratings from files of one format.

    In other tools, raters' names are often those of people or accounts, so in all formats but CSV raters are
    renumbered, in the order of the files, unless all their names are in the study or look like ours (r001).

    Args:
        paths: the files; one rater may be in several.
        form: their format.
        study: the study that was rated: names and values must be the study's, which adds corpora and sentences.
        items: what Potato's instances show, see `read_potato`.
        keep_raters: whether to keep all raters' names.

    Raises:
        RatingsError: a file has another format or does not fit the study, or a rating is in the files twice.
        OSError: a file cannot be read.
    """
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    for path in paths:
        if form == "csv":
            found = Ratings.read(path)
        else:
            found = read_e2e(path, study) if form == "e2e" else read_potato(path, items)
        notes += [f"{path}: {note}" for note in found.notes]
        rows += map(dict, found.rows)
    where = ", ".join(map(str, paths[:3])) + (", ..." if len(paths) > 3 else "")
    if not rows:
        raise RatingsError(f"{where}: there are no ratings in it")
    if study is not None:
        rows = [_fitted(row, study, where) for row in rows]
    if form != "csv" and not keep_raters and (said := _number(rows, study)):
        notes.append(said)
    # Columns may be missing from some files; those that are empty in all rows are dropped.
    there = [name for name in CONTEXT if any(row.get(name) for row in rows)]
    for row in rows:
        for name in CONTEXT:
            row[name] = row.get(name, "")
            if name not in there:
                del row[name]
    check_repetition(rows, where)
    return Ratings(rows, tuple(notes))


def _fitted(row: dict[str, Any], study: Study, where: str) -> dict[str, Any]:
    """Check a row against the study, and return it with the corpus and the sentence."""
    item = study.item_by_id.get(row["item"])
    if item is None or item.check is not None:
        raise RatingsError(f"{where}: the study has no item {short(row['item'])}")
    if row["system"] not in item.sentences:
        raise RatingsError(f"{where}: item {item.id} has no sentence of system {short(row['system'])} in the study")
    if row["criterion"] not in (names := [criterion.name for criterion in study.criteria]):
        raise RatingsError(f"{where}: the study asks for {', '.join(names)}, not {short(row['criterion'])}")
    allowed = Scale(low=0, high=1, step=0.5) if study.scale is None else study.scale
    if not allowed.has(row["value"]):
        raise RatingsError(
            f"{where}: {row['value']:g} for item {item.id} is not on the study's scale, {allowed.low:g} to "
            f"{allowed.high:g} in steps of {allowed.step:g}"
        )
    return {**row, "corpus": item.corpus, "output": item.sentences[row["system"]]}


def _number(rows: Sequence[dict[str, Any]], study: Study | None) -> str:
    """Renumber raters in place unless their names are ours; return a note about it, or an empty string."""
    names = list(dict.fromkeys(row["rater"] for row in rows))
    if study is not None and all(name in study.rater_by_id for name in names):
        return ""
    if all(_OURS.fullmatch(name) for name in names):
        return ""
    width = max(3, len(str(len(names))))
    new = {name: f"r{number:0{width}}" for number, name in enumerate(names, 1)}
    for row in rows:
        old, row["rater"] = row["rater"], new[row["rater"]]
        # Page names from Potato's instances begin with the rater's name.
        if (page := row.get("page", "")).startswith(f"{old}-"):
            row["page"] = row["rater"] + page[len(old) :]
    return f"{len(names)} raters were numbered anew; --keep-raters keeps their names"


def as_json(study: Study, ratings: Ratings) -> dict[str, Any]:
    """Return a study without its raters' pages, and its ratings, as JSON."""
    about = study.model_dump(mode="json", exclude={"raters"})
    return {"study": about, "ratings": [dict(row) for row in ratings.rows], "notes": list(ratings.notes)}
