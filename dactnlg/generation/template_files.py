"""Template files: one sentence for every delexicalised act of a corpus, for programs that work without a model."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tqdm import tqdm

from dactnlg._utils.files import written
from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.data.corpus import Corpus
from dactnlg.errors import UserError
from dactnlg.generation.generation import Generation
from dactnlg.generation.generator import Generator
from dactnlg.generation.unseen.parts import renamed
from dactnlg.text.surface import detokenize
from dactnlg.text.values.delexicalization import lexicalize

COLUMNS = ("act", "delexicalized_act", "template", "slots_ok", "origin")
CHUNK = 256


def frames(corpus: Corpus, generator: Generator) -> list[Turn]:
    """Return one turn for each delexicalised act in the splits of a corpus: the first one, in file order."""
    found: dict[Any, Turn] = {}
    for split in corpus.splits:
        for example in corpus.split(split):
            found.setdefault(generator.preprocessor.request(example.turn).act, example.turn)
    return list(found.values())


def template_rows(generator: Generator, turns: list[Turn], *, progress: bool = False) -> Iterator[dict[str, Any]]:
    """Yield a row for each turn: the act, the act without values, and its sentence with `{slot}` instead of values.

    A second value of a slot is `{slot_2}`. Words that depend on a value ("a" or "an") agree with the act's own value.

    Args:
        generator: generates the sentences.
        turns: acts with values.
        progress: show a progress bar on standard error.
    """
    hidden = None if progress else True
    with tqdm(desc="saying", total=len(turns), unit=" acts", delay=2, leave=False, disable=hidden) as bar:
        for first in range(0, len(turns), CHUNK):
            part = turns[first : first + CHUNK]
            for turn, said in zip(part, generator.generate(part, strict=False), strict=True):
                act = _without_values(generator, turn)
                row = (str(turn), act, _template(generator, turn, said), said.slots_ok, said.origin)
                yield dict(zip(COLUMNS, row, strict=True))
            bar.update(len(part))


def write_templates(generator: Generator, corpus: Corpus, output: Path, *, progress: bool = False) -> int:
    """Write a template for every delexicalised act of a corpus, as CSV if the file's name ends in .csv, else as JSONL.

    Returns:
        The number of templates.

    Raises:
        CorpusError: the corpus cannot be read.
        UserError: the output file exists already.
    """
    if output.exists():
        raise UserError(f"{output} exists already: name another file with --output")
    rows = template_rows(generator, frames(corpus, generator), progress=progress)
    count = 0
    with written(output) as file:
        if output.suffix == ".csv":
            file.write(_line(COLUMNS))
        for row in rows:
            file.write(_line(row.values()) if output.suffix == ".csv" else json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
    return count


def _line(cells: Any) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow([str(c).lower() if isinstance(c, bool) else c for c in cells])
    return text.getvalue()


def _template(generator: Generator, turn: Turn, said: Generation) -> str:
    delexicalizer = generator.preprocessor.delexicalizer
    names = {item.placeholder: _name(item.placeholder, item.slot) for item in delexicalizer.required(turn)}
    done = delexicalizer.delexicalize(turn, said.text)
    if done.missing:
        # A value is inflected or joined in the sentence; the model's own tokens contain all placeholders.
        return detokenize([renamed(token, names) for token in said.delexicalized.split()])
    return lexicalize(done.tokens, {placeholder: (name,) for placeholder, name in names.items()})


def _name(placeholder: str, slot: Slot) -> str:
    number = placeholder.partition("#")[2]
    return "{" + slot.name + (f"_{number}" if number else "") + "}"


def _without_values(generator: Generator, turn: Turn) -> str:
    """Return a turn as text, without the values that have placeholders: `inform(name;dogsallowed=no)`.

    Values that a run lexicalises stay, and a value that combines two ("A or B") is split into two slots.
    """
    prepared = generator.preprocessor.delexicalizer.prepared(turn)
    acts = [
        DialogueAct(act.act_type, tuple(Slot(slot.name) if slot.delexicalizable else slot for slot in act.slots))
        for act in prepared
    ]
    return str(Turn(tuple(acts)))
