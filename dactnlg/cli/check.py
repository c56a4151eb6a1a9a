"""`dactnlg check`: whether sentences say what their acts say."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from dactnlg.cli import options
from dactnlg.errors import UnknownNameError, UserError

if TYPE_CHECKING:
    from dactnlg.acts import Turn
    from dactnlg.fidelity.checker import FidelityChecker

MOST_TOLD = 20
"""Maximum number of unknown names reported: data of another domain may have hundreds."""


class _Basis(NamedTuple):
    """What to check with, and the names that occur in the acts of its training data."""

    checker: FidelityChecker
    act_types: Collection[str]
    slot_names: Collection[str]


@click.command()
@options.run(required=False, about="Check with this run's reader and cues.")
@click.option(
    "--corpus", type=options.FILE, metavar="NAME", help="Learn from this corpus what sentences say, then check."
)
@click.option(
    "--input",
    "input_file",
    type=options.FILE,
    default="-",
    metavar="PAIRS.jsonl",
    help='Read lines {"act", "hypothesis"}, or a table; or "text" or "references" for "hypothesis", as in corpora; '
    "- is standard input.",
)
@click.option(
    "--json",
    "json_file",
    type=options.FILE,
    default="-",
    metavar="FILE",
    help="Write the lines to FILE; - is standard output.",
)
@options.data_dir
def check(*, run: Path | None, corpus: str | None, input_file: str, json_file: str, data_dir: Path | None) -> None:
    """Check whether sentences from any source say what their acts say; write one JSON object per line, in order.

    `slots_ok` is true if no fault was found: values and special values `missing` or `extra`; `contradicted`, with what
    is said instead; `misplaced`, with the slot that the value is said of; `questions` that are missing; `acts` that the
    sentence does not perform, with the one that it does; if it does none instead, the act is `missing`. `unchecked`
    lists what could not be checked. References beside a hypothesis are ignored. An act type or slot that RUN or NAME
    does not have may be a typo: it is reported on standard error, once, and the sentence is checked as well as
    possible.

    \b
    dactnlg check runs/trails-sclstm --input pairs.jsonl
    dactnlg generate --model runs/trails-sclstm --input acts.txt --format json | dactnlg check --corpus trails
    """
    if (run is None) == (corpus is None):
        raise UserError("name what to check with: RUN (or --model RUN), or --corpus NAME")
    if run is not None and data_dir is not None:
        raise UserError("--data-dir is for the files of --corpus: a run needs none")
    from tqdm import tqdm

    from dactnlg._utils.files import check_folders, written
    from dactnlg.evaluation.lines import shown as shown_name
    from dactnlg.evaluation.pairs import count, read_checked

    check_folders(json_file)
    total = count(input_file)
    pairs = read_checked(input_file)
    basis = _of_run(run) if run is not None else _of_corpus(corpus or "", data_dir)
    names = _UnknownNames(basis, shown_name(input_file))
    hidden = True if json_file == "-" and sys.stdout.isatty() else None
    shown = tqdm(pairs, desc="checking", unit=" sentences", total=total, delay=2, leave=False, disable=hidden)
    number = 0
    with written(json_file) as target:
        for number, (turn, sentence) in enumerate(shown, start=1):
            names.tell(turn, number)
            report = basis.checker.check(turn, sentence)
            line = {"act": str(turn), "hypothesis": sentence, **report.to_json()}
            target.write(json.dumps(line, ensure_ascii=False) + "\n")
    if not number:
        # No error: a filter before this command may leave nothing.
        logging.getLogger("dactnlg").warning(f"{shown_name(input_file)} holds nothing to check")


class _UnknownNames:
    """Warns once of each act type and slot that the training data lack, at the first pair that has it.

    Args:
        basis: has the known names.
        source: the name of the pairs' file in messages.
    """

    def __init__(self, basis: _Basis, source: str) -> None:
        self.basis, self.source, self._told = basis, source, set[tuple[str, str]]()

    def tell(self, turn: Turn, number: int) -> None:
        """Warn of unknown names in the turn of pair `number`, counted from 1."""
        for act in turn:
            self._tell("act type", act.act_type, self.basis.act_types, number)
            for slot in act.slots:
                self._tell("slot", slot.name, self.basis.slot_names, number)

    def _tell(self, kind: str, name: str, known: Collection[str], number: int) -> None:
        if name in known or (kind, name) in self._told or len(self._told) > MOST_TOLD:
            return
        self._told.add((kind, name))
        told = str(UnknownNameError(kind, name, known, f"{self.source}, pair {number}"))
        if len(self._told) > MOST_TOLD:
            told = f"{self.source}, pair {number}: more than {MOST_TOLD} act types and slots are unknown"
        logging.getLogger("dactnlg").warning(told)


def _of_run(path: Path) -> _Basis:
    """Return the checker of a run; a run without a reader is checked by cues alone."""
    from dactnlg.fidelity.checker import FidelityChecker
    from dactnlg.fidelity.reader_file import load_reader
    from dactnlg.models.dialogue_sections import check_says_acts
    from dactnlg.runs.run import Run
    from dactnlg.text.preprocessor import Preprocessor

    run = Run(path)
    check_says_acts(run.check().model.name, path)
    preprocessor = Preprocessor.load(run.preprocessor_path)
    reader = load_reader(run.reader_path) if run.reader_path.exists() else None
    run.check_files()
    encoder = preprocessor.encoder
    return _Basis(
        FidelityChecker(preprocessor.checker, reader, preprocessor.manners), encoder.act_types, encoder.slot_names
    )


def _of_corpus(name: str, data_dir: Path | None) -> _Basis:
    """Return a checker that has learned from a corpus."""
    from dactnlg.data.corpus import load_corpus
    from dactnlg.training.readers import corpus_checker

    corpus = load_corpus(name, data_dir)
    checker = corpus_checker(corpus)
    splits = [split for split in ("train", "valid") if split in corpus.splits]
    acts = {act for split in splits for example in corpus.split(split) for act in example.turn}
    return _Basis(checker, {act.act_type for act in acts}, {slot.name for act in acts for slot in act.slots})
