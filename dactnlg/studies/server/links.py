"""Raters' links, in `links.csv` in the study's folder, which only the owner can read."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from dactnlg._utils.files import replace_file
from dactnlg._utils.reading import regular_file
from dactnlg._utils.web.tokens import new_token
from dactnlg.studies.study import StudyError

FILE = "links.csv"
_LEAST = 16


def rater_tokens(
    folder: Path,
    raters: Sequence[str],
    base_url: str,
    *,
    renew: bool = False,
    agree: Callable[[Mapping[str, str]], None] | None = None,
) -> dict[str, str]:
    """Return rater -> token from `links.csv`, which is rewritten with new tokens for raters who have none.

    Args:
        folder: the study's folder.
        raters: all raters of the study.
        base_url: the server's public URL, without a trailing slash.
        renew: whether to replace all tokens.
        agree: called with the tokens before `links.csv` is replaced; an error that it raises leaves the file as it was.

    Raises:
        StudyError: `links.csv` is not CSV, or a rater or token in it is invalid.
        OSError: it cannot be read or written.
    """
    path = folder / FILE
    known = _read(path, raters) if path.is_file() and not renew else {}
    found = {rater: known.get(rater) or new_token() for rater in raters}
    with replace_file(path) as partial:
        # Only its owner may read the file, even while it is being written.
        number = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(number, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("rater", "token", "url"))
            writer.writerows((rater, token, link(base_url, token)) for rater, token in found.items())
        if agree is not None:
            agree(found)
    return found


def link(base_url: str, token: str) -> str:
    """Return the link for a token."""
    return f"{base_url}/r/{token}"


def _read(path: Path, raters: Collection[str]) -> dict[str, str]:
    with regular_file(path).open(encoding="utf-8-sig", newline="") as file:
        try:
            rows = list(csv.DictReader(file))
        except (csv.Error, UnicodeDecodeError) as error:
            raise StudyError(f"{path}: it is not CSV: {error}") from None
    found = {row.get("rater") or "": row.get("token") or "" for row in rows}
    for rater, token in found.items():
        if rater not in raters:
            raise StudyError(f"{path}: the study has no rater {rater[:40]!r}")
        if len(token) < _LEAST or not token.isascii() or not token.replace("-", "").replace("_", "").isalnum():
            raise StudyError(
                f"{path}: rater {rater} has no token of {_LEAST} or more letters and digits; make new links with "
                "--new-links (the old ones end)"
            )
    if len(set(found.values())) < len(rows):
        raise StudyError(f"{path}: a rater or a token stands in it twice")
    return found
