"""`dactnlg corpora`: list, fetch, inspect and hash corpora."""

from __future__ import annotations

import json
from pathlib import Path

import click

from dactnlg.cli import options
from dactnlg.cli.options import Split
from dactnlg.cli.output import show


@click.group("corpora", no_args_is_help=True)
def corpora() -> None:
    """List, fetch, inspect and hash corpora.

    \b
    dactnlg corpora list
    dactnlg corpora fetch restaurants
    dactnlg corpora inspect restaurants
    """


@corpora.command("list")
@options.data_dir
def list_(data_dir: Path | None) -> None:
    """List the corpora, and whether their files are available locally.

    \b
    dactnlg corpora list
    dactnlg corpora list --data-dir data
    """
    from dactnlg.data.catalogue import overview

    print(overview(data_dir))


@corpora.command("fetch")
@click.argument("name", metavar="NAME", help="A corpus that `corpora list` shows, or the path of a card.")
@click.option("--data-dir", type=options.PLACE, metavar="DIR", help="Put the files here. [default: the user's cache]")
def fetch(name: str, data_dir: Path | None) -> None:
    """Download a corpus from its publisher, check its SHA-256, and print the paths of its files.

    \b
    dactnlg corpora fetch restaurants
    """
    from dactnlg.data import fetching

    for path in fetching.fetch(name, data_dir):
        print(path)


@corpora.command("inspect")
@click.argument("name", metavar="NAME", help="A corpus, or the path of a card, file or folder.")
@options.json_of("the audit")
@options.data_dir
def inspect(name: str, json_file: str | None, data_dir: Path | None) -> None:
    """Audit a corpus: counts, acts, values not found, overlap between its splits.

    \b
    dactnlg corpora inspect trails
    dactnlg corpora inspect trails --json audit.json
    """
    from dactnlg._utils.files import check_folders
    from dactnlg._utils.terminal import printable
    from dactnlg.data.corpus import load_corpus
    from dactnlg.data.inspection import audit

    check_folders(json_file)
    found = audit(load_corpus(name, data_dir))
    show(printable(str(found), "\n"), found.to_json(), json_file)


@corpora.command("hash")
@click.argument("name", metavar="NAME", help="A corpus, or the path of a card, file or folder.")
@click.option(
    "--tokenizer",
    default="treebank",
    metavar="NAME",
    help="Tokenise sentences this way: 13a, punkt, subword, treebank or whitespace.",
)
@click.option(
    "--min-count",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="Leave training tokens that occur fewer than N times out of the frequent vocabulary.",
)
@click.option(
    "--preset",
    multiple=True,
    metavar="NAME",
    help="Hash the scores of this protocol; may be repeated. [default: all that fit]",
)
@click.option("--split", type=options.SPLIT, help="The split that is scored. [default: test, or the corpus's last one]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with hashes in full.")
@options.data_dir
def hash_(
    *,
    name: str,
    tokenizer: str,
    min_count: int,
    preset: tuple[str, ...],
    split: Split | None,
    as_json: bool,
    data_dir: Path | None,
) -> None:
    """Print the hash codes of a corpus and of each score on it: scores with equal codes are comparable.

    \b
    dactnlg corpora hash trails
    dactnlg corpora hash trails --min-count 4 --json
    """
    from dactnlg.data.corpus import load_corpus
    from dactnlg.evaluation.hash_codes import corpus_codes

    codes = corpus_codes(load_corpus(name, data_dir), tokenizer, min_count, preset or None, split)
    print(json.dumps(codes.to_json(), indent=1) if as_json else codes.table())
