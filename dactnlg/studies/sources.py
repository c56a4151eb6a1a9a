"""Sources of a study's sentences: the corpus itself, runs, and files of sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dactnlg.acts import parse
from dactnlg.errors import ActError
from dactnlg.evaluation.lines import LINES, read_lines, seen_format
from dactnlg.studies.sampling import PickedAct
from dactnlg.studies.study import CHECKS, StudyError

GOLD = "gold"
CORPUS_ITSELF = "the corpus's own sentences"
"""The origin of sentences from the corpus, as a study describes it."""


@dataclass(frozen=True)
class SystemSource:
    """A system of a study.

    Attributes:
        name: its name in the ratings; sources with the same name are one system, each for different corpora.
        path: a run folder or a file of sentences; None for the corpus's own sentences.
    """

    name: str
    path: Path | None

    @property
    def origin(self) -> str:
        """The source as described in the study: the last component of its path, or that it is the corpus."""
        return CORPUS_ITSELF if self.path is None else self.path.resolve().name


class Wanted(NamedTuple):
    """Acts of a corpus that need a sentence from every system.

    `rows` is the number of rows of the split, and `several` whether the study has other corpora too.
    """

    corpus: str
    split: str
    acts: Sequence[PickedAct]
    rows: int
    several: bool


def parse_source(text: str) -> SystemSource:
    """Parse `gold`, `PATH` or `NAME=PATH`; without a name, the system is named after its folder or file.

    >>> parse_source("people=gold")
    SystemSource(name='people', path=None)

    Raises:
        StudyError: the name is empty, too long, reserved or not printable, or there is nothing at the path.
    """
    name, equals, place = text.partition("=")
    # Folders of sweeps have "=" in their names.
    if not equals or Path(text).exists():
        name, place = "", text
    path = None if place == GOLD else Path(place)
    if path and not (place and path.exists()):
        raise StudyError(f"--systems {text}: there is no run folder and no file {place!r}; gold is the corpus itself")
    if not name:
        name = (
            re.sub(r"[^\w.-]+", "-", path.resolve().stem if path.is_file() else path.resolve().name) if path else GOLD
        )
    if name in CHECKS or not name.strip() or len(name) > 200 or not name.isprintable():
        raise StudyError(f"--systems {text}: a system cannot be called {name[:40]!r}; name it with NAME={place}")
    return SystemSource(name, path)


def sentences(wanted: Wanted, sources: Sequence[SystemSource], seed: int) -> dict[str, list[str]]:
    """Return the sentences of every system for the acts: system -> sentences, in the order of the acts.

    Raises:
        StudyError: a system has no sentence or an empty one for an act, or two sources for the corpus.
        DactnlgError: a run cannot be read.
    """
    found: dict[str, list[str]] = {}
    for source in sources:
        said = _said(source, wanted, seed)
        if said is None:
            continue
        if source.name in found:
            raise StudyError(
                f"two systems are called {source.name} for corpus {wanted.corpus}: name them with NAME=PATH"
            )
        for act, sentence in zip(wanted.acts, said, strict=True):
            if not sentence.strip():
                raise StudyError(f"{source.name} has an empty sentence for {act.turn}")
        found[source.name] = said
    for name in dict.fromkeys(source.name for source in sources):
        if name not in found:
            raise StudyError(f"no source of system {name} is for corpus {wanted.corpus}")
    return found


def _said(source: SystemSource, wanted: Wanted, seed: int) -> list[str] | None:
    """Return the sentences of one source, or None if it is for another corpus of the study."""
    if source.path is None:
        generator = np.random.default_rng(seed)
        return [act.references[int(generator.integers(len(act.references)))] for act in wanted.acts]
    if source.path.is_dir():
        return _of_run(source.path, wanted)
    if seen_format(source.path) == LINES:
        return _of_json_lines(source.path, wanted)
    return _of_lines(source.path, wanted)


def _of_run(path: Path, wanted: Wanted) -> list[str] | None:
    from dactnlg.generation.generator import Generator
    from dactnlg.runs.run import Run

    known = Run(path).check().corpus.name
    # A user's own corpus is named by its path.
    if wanted.several and wanted.corpus not in (known, Path(known).stem):
        return None
    return [said.text for said in Generator.load(path).generate([act.turn for act in wanted.acts])]


def _of_json_lines(path: Path, wanted: Wanted) -> list[str] | None:
    """Read lines {"act", "text"} (or "hypothesis"), as `dactnlg generate --format json` writes them."""
    import json

    from dactnlg._utils.reading import parse_json

    said: dict[str, str] = {}
    for number, line in read_lines(path):
        if not line.strip():
            continue
        try:
            row = parse_json(line)
            text = row.get("text", row.get("hypothesis"))
            if not isinstance(text, str):
                raise StudyError(f'{path}, line {number}: it has no "text" beside its "act"')
            said.setdefault(str(parse(row["act"])), text)
        except (json.JSONDecodeError, AttributeError, KeyError, TypeError, ActError) as error:
            raise StudyError(f'{path}, line {number}: it is not {{"act", "text"}}: {error}') from None
    missing = [act for act in wanted.acts if str(act.turn) not in said]
    if wanted.several and len(missing) == len(wanted.acts):
        return None
    if missing:
        raise StudyError(f"{path} has no sentence for {missing[0].turn} ({len(missing)} acts are without one)")
    return [said[str(act.turn)] for act in wanted.acts]


def _of_lines(path: Path, wanted: Wanted) -> list[str] | None:
    lines = [line for _, line in read_lines(path)]
    if len(lines) != wanted.rows:
        if wanted.several:
            return None
        raise StudyError(
            f"{path} has {len(lines)} lines, and the {wanted.split} split of {wanted.corpus} has {wanted.rows} rows: a "
            'file of sentences has one line a row, or is JSON Lines with "act" and "text"'
        )
    return [lines[act.rows[0]].strip() for act in wanted.acts]
