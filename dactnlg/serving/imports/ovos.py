"""Dialog files of OVOS and Mycroft skills as templates: one text per line, `{slot}`, `(one|other)`, `[optional]`."""

from __future__ import annotations

import re
from pathlib import Path

from dactnlg._utils.reading import regular_file
from dactnlg.errors import UserError
from dactnlg.serving.imports.templates import ExpansionError, ResponseTemplate, TemplateSource, variants

_LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-zA-Z]+)?")
_FOLDERS = ("locale", "dialog")
"""Names of a skill's folder of languages, today's first."""
_DOUBLE = re.compile(r"\{\{\s*([^{}]+?)\s*\}\}")


def read(folder: Path, language: str | None = None) -> TemplateSource:
    """Read the dialog files of a skill, of its folder of languages (`locale` or `dialog`), or of one language's folder.

    Args:
        folder: the folder; every `.dialog` file below it, or below the folder of the language, is read.
        language: name of the language's folder, such as `en-us`, or its beginning; by default English, or the only one,
            or that of `folder` itself.

    Raises:
        UserError: there are no dialog files, or none in that language.
    """
    found = next(filter(None, map(_languages, (*(folder / name for name in _FOLDERS), folder))), None)
    if found:
        wanted = (language or "en").casefold()
        chosen = next((name for name in sorted(found) if name.casefold().startswith(wanted)), None)
        if chosen is None and language is None and len(found) == 1:
            (chosen,) = found
        if chosen is None:
            raise UserError(f"{folder} has no {language or 'English'}; it has {', '.join(sorted(found))} (--language)")
        folder, language = found[chosen], chosen
    elif language is None and _LANGUAGE.fullmatch(folder.resolve().name):
        language = folder.resolve().name
    files = sorted(folder.rglob("*.dialog"))
    if not files:
        raise UserError(f"there is no .dialog file in {folder}")
    source = TemplateSource(language=(language or "en").split("-")[0].lower())
    for file in files:
        _read(source, file)
    return source


def _languages(folder: Path) -> dict[str, Path]:
    """Return a folder's folders that are named after languages."""
    folders = (each for each in folder.iterdir() if each.is_dir()) if folder.is_dir() else ()
    return {each.name: each for each in folders if _LANGUAGE.fullmatch(each.name)}


def _read(source: TemplateSource, file: Path) -> None:
    try:
        lines = regular_file(file).read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        source.leave_out(file.name, "", f"it cannot be read: {getattr(error, 'strerror', None) or error}")
        return
    for number, line in enumerate(lines, start=1):
        text, origin = line.strip(), f"{file.name}, line {number}"
        if not text or text.startswith("#"):
            continue
        try:
            texts = variants(_DOUBLE.sub(r"{\1}", text))
        except ExpansionError as error:
            source.leave_out(origin, text, str(error))
            continue
        source.templates += [ResponseTemplate(file.stem, each, origin) for each in texts if each]
