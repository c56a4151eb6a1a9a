"""The corpora: `corpora list`, `fetch`, `inspect` and `hash`."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from dactnlg.commands.options import DataDir, Split

app = typer.Typer(help="List, fetch and inspect the corpora.", no_args_is_help=True, rich_markup_mode=None)


@app.command("list")
def list_(data_dir: DataDir = None) -> None:
    """List the corpora, and whether their files are here.

    \b
    dactnlg corpora list
    dactnlg corpora list --data-dir data
    """
    from dactnlg import corpora

    print(corpora.overview(data_dir))


@app.command("fetch")
def fetch(name: Annotated[str, typer.Argument(metavar="NAME")], data_dir: DataDir = None) -> None:
    """Download a corpus from its publisher and check it.

    \b
    dactnlg corpora fetch restaurants
    """
    from dactnlg import corpora

    for path in corpora.fetch(name, data_dir):
        print(path)


@app.command("inspect")
def inspect(name: Annotated[str, typer.Argument(metavar="NAME")], data_dir: DataDir = None) -> None:
    """Audit a corpus: counts, acts, values not found, overlap between its splits.

    \b
    dactnlg corpora inspect trails
    """
    from dactnlg import corpora

    print(corpora.audit(corpora.load_corpus(name, data_dir)))


@app.command("hash")
def hash_(
    name: Annotated[str, typer.Argument(metavar="NAME")],
    tokenizer: Annotated[str, typer.Option(metavar="NAME", help="How sentences become tokens.")] = "treebank",
    min_count: Annotated[int, typer.Option(min=1, help="Rarer training tokens are no part of F.")] = 1,
    preset: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Hash these protocols' scores. [default: all that fit]")
    ] = None,
    split: Annotated[Split, typer.Option(help="The split that is scored.")] = "test",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with hashes in full.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Print the hash codes of a corpus, and of each score on it: equal codes, comparable scores.

    \b
    dactnlg corpora hash trails
    dactnlg corpora hash trails --min-count 4 --json
    """
    from dactnlg.corpora import load_corpus
    from dactnlg.fairness.codes import corpus_codes

    codes = corpus_codes(load_corpus(name, data_dir), tokenizer, min_count, preset or None, split)
    print(json.dumps(codes.to_json(), indent=1) if as_json else codes.table())
