"""The whole analysis of a study's ratings, question by question."""

from __future__ import annotations

from pathlib import Path

from dactnlg.studies.ratings import Ratings
from dactnlg.studies.study import FILE


def read_study_ratings(path: Path, database: str | None = None) -> Ratings:
    """Return the ratings of a study's folder, or of a CSV file.

    Args:
        path: the folder, or the file.
        database: the address of the database that a study's ratings are in, if not in its folder.

    Raises:
        StudyError: the folder is no study, or has no ratings yet.
        RatingsError: the file holds no ratings.
    """
    if path.is_dir() or path.name == FILE:
        from dactnlg.studies.storage import read_ratings

        return read_ratings(path if path.is_dir() else path.parent, database)
    return Ratings.read(path)
