"""`dactnlg import`: turn templates of other frameworks into training data."""

from __future__ import annotations

from pathlib import Path

import click

from dactnlg.cli import options


@click.command("import")
@click.argument("kind", type=click.Choice(["rasa", "ovos", "home-assistant"]), metavar="rasa|ovos|home-assistant")
@click.argument("source", type=options.PATH, metavar="SOURCE", help="A domain, a locale folder or a responses folder.")
@click.option("--output", type=options.PLACE, required=True, metavar="FOLDER", help="The folder to write to.")
@click.option("--map", "map_file", type=options.PATH, metavar="FILE", help="A slot map, such as FOLDER/slots.yaml.")
@click.option("--language", metavar="NAME", help="ovos, home-assistant: the language's folder. [default: English]")
@click.option("--overwrite", is_flag=True, help="Replace existing files.")
def import_(
    *, kind: str, source: Path, output: Path, map_file: Path | None, language: str | None, overwrite: bool
) -> None:
    """Turn the templates of a bot into acts and training pairs.

    rasa: the responses of domain.yml; ovos: .dialog files; home-assistant: Jinja responses, which are parsed and never
    run. FOLDER gets pairs.jsonl with a card and a configuration, templates.jsonl, acts.txt with one act of each kind,
    slots.yaml with names and values for you to edit, and not-read.jsonl with what could not be read, and why.

    \b
    dactnlg import rasa domain.yml --output mybot
    dactnlg import ovos locale --output skill --map skill/slots.yaml --overwrite
    """
    from dactnlg._utils.terminal import LINES, printable
    from dactnlg.errors import UserError
    from dactnlg.serving.imports import home_assistant, ovos, rasa
    from dactnlg.serving.imports.pairs import write_import
    from dactnlg.serving.imports.slot_map import read_map

    if not source.exists():
        raise UserError(f"there is no {source}")
    if kind == "rasa":
        if language is not None:
            raise UserError("--language is for ovos and home-assistant: a Rasa domain has no folders of languages")
        found = rasa.read(source)
    else:
        found = (ovos if kind == "ovos" else home_assistant).read(source, language)
    given = read_map(map_file) if map_file else None
    print(printable("\n".join(write_import(found, output, given, kind=kind, overwrite=overwrite).lines()), LINES))
