"""Names that callers give: one, or several."""

from __future__ import annotations

from collections.abc import Iterable


def as_names(given: str | Iterable[str] | None) -> list[str]:
    """Return names as a list; a string is a single one, not one a letter."""
    return [given] if isinstance(given, str) else list(given or ())
