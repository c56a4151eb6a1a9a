"""`dactnlg metrics list`, `presets list` and `configs list`: what is available, one per line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from dactnlg.cli import options
from dactnlg.cli.output import show

if TYPE_CHECKING:
    from dactnlg._utils.tables import Format


@click.group("metrics", no_args_is_help=True)
def metrics() -> None:
    """List the metrics.

    \b
    dactnlg metrics list
    """


@click.group("presets", no_args_is_help=True)
def presets() -> None:
    """List the evaluation protocols.

    \b
    dactnlg presets list
    """


@click.group("configs", no_args_is_help=True)
def configs() -> None:
    """List the configurations that come with dactnlg.

    \b
    dactnlg configs list
    """


@metrics.command("list")
@options.table_format
@options.json_of("the list")
def list_metrics(*, output_format: Format, json_file: str | None) -> None:
    """List the scores that --metric accepts, by family, and the groups that select several.

    `perplexity` is for `evaluate` only, because it needs a model.

    \b
    dactnlg metrics list
    dactnlg metrics list --format markdown
    """
    from dactnlg.metrics.descriptions import describe

    found = describe()
    rows = [[", ".join(entry.names), entry.group, entry.about] for entry in found]
    _show(["scores", "group", "what it is"], rows, [entry._asdict() for entry in found], output_format, json_file)


@presets.command("list")
@options.table_format
@options.json_of("the list")
def list_presets(*, output_format: Format, json_file: str | None) -> None:
    """List the evaluation protocols that --preset accepts, with their metrics.

    \b
    dactnlg presets list
    dactnlg presets list --json -
    """
    from dactnlg.metrics.presets import PRESETS

    rows = [[preset.name, preset.about, ", ".join(preset.metrics)] for preset in PRESETS.values()]
    data = [{"name": p.name, "about": p.about, "metrics": list(p.metrics)} for p in PRESETS.values()]
    _show(["preset", "what it is", "scores, SER aside"], rows, data, output_format, json_file)


@configs.command("list")
@options.table_format
@options.json_of("the list")
def list_configs(*, output_format: Format, json_file: str | None) -> None:
    """List the configurations that `train` and `sweep` know by name.

    \b
    dactnlg configs list
    dactnlg configs list --format csv
    """
    from dactnlg.runs.shipped import shipped_configs

    found = shipped_configs()
    rows = [[entry.name, entry.command, entry.about] for entry in found]
    _show(["name", "command", "what it is"], rows, [entry._asdict() for entry in found], output_format, json_file)


def _show(
    header: list[str], rows: list[list[str]], data: Sequence[object], output_format: Format, json_file: str | None
) -> None:
    """Print a list, and write it as JSON."""
    from dactnlg._utils.tables import formatted

    # Cells are long texts: the terminal's own line breaks read better than wrapped columns.
    show(formatted([header, *rows], output_format, len(header), rule=True), data, json_file)
