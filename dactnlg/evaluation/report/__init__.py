"""Reports: scores as an HTML page or Markdown, and a comparison of two systems as text."""

from __future__ import annotations

from pathlib import Path

from dactnlg._utils.files import written
from dactnlg.evaluation.report.content import Content, gather

__all__ = ["Content", "gather", "write_report"]


def write_report(path: str | Path, content: Content) -> None:
    """Write a report: a self-contained HTML page if the name ends in `.html` or `.htm`, Markdown otherwise."""
    if Path(path).suffix.lower() in (".html", ".htm"):
        from dactnlg.evaluation.report.page import page as write
    else:
        from dactnlg.evaluation.report.markdown import markdown as write
    text = write(content)
    with written(path) as file:
        file.write(text)
