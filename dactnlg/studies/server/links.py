"""Links for raters, and the owner's token: secrets in files beside the study, that nobody else can read."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable
from pathlib import Path

from dactnlg._utils.files import replace_file
from dactnlg._utils.reading import regular_file
from dactnlg._utils.web.tokens import new_token
from dactnlg.studies.study import StudyError

LINKS = "links.csv"
OWNER = "owner-token.txt"


def rater_tokens(folder: Path, raters: Iterable[str], base_url: str) -> dict[str, str]:
    """Return the token of every rater, made at the first call and kept since; `links.csv` has the links.

    Args:
        folder: the study's.
        raters: the raters.
        base_url: where raters reach the server; links written before are renewed with it.

    Raises:
        StudyError: `links.csv` was changed and is no list of links any more.
    """
    path = folder / LINKS
    known = _read(path) if path.exists() else {}
    tokens = {rater: known.get(rater) or new_token() for rater in raters}
    if len(set(tokens.values())) < len(tokens):
        raise StudyError(f"{path}: two raters have the same token; delete the file for new links, or mend it")
    rows = [["rater", "token", "url"], *([r, token, f"{base_url}/r/{token}"] for r, token in tokens.items())]
    with replace_file(path) as partial, _secret(partial).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    return tokens


def owner_token(folder: Path) -> str:
    """Return the owner's token, made at the first call and kept since."""
    path = folder / OWNER
    if path.exists():
        if token := regular_file(path).read_text(encoding="utf-8", errors="replace").strip():
            return token
        raise StudyError(f"{path} is empty: delete it for a new token")
    token = new_token()
    with replace_file(path) as partial:
        _secret(partial).write_text(token + "\n", encoding="utf-8")
    return token


def _secret(path: Path) -> Path:
    """Make an empty file that its owner alone can read."""
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600))
    return path


def _read(path: Path) -> dict[str, str]:
    with regular_file(path).open(encoding="utf-8", errors="replace", newline="") as file:
        rows = [(row.get("rater"), row.get("token")) for row in csv.DictReader(file)]
    found = {rater: token for rater, token in rows if rater and token}
    if not found or len(found) < len(rows):
        raise StudyError(f"{path} is no list of links (rater,token,url); delete it for new ones, or mend it")
    return found
