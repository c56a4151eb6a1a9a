"""The files of a proposal: a card and a configuration, with comments that explain each key."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from dactnlg._utils.files import written
from dactnlg._utils.terminal import printable
from dactnlg.data.card import DivisionCard
from dactnlg.data.columns import choose_columns
from dactnlg.data.corpus import corpus_of_file
from dactnlg.data.denial_cues import PHRASES
from dactnlg.data.division import FEWEST
from dactnlg.data.proposals import Proposal, SlotProposal, propose
from dactnlg.errors import UserError

SMALL = 5_000
"""Training sentences below which the SC-LSTM generates better than a larger model."""


class Initialized(NamedTuple):
    """The results of `initialize`.

    Attributes:
        card: the card's file.
        configuration: the configuration's file.
        summary: lines that describe the data, what is uncertain, and the next commands.
    """

    card: Path
    configuration: Path
    summary: tuple[str, ...]


def initialize(
    data: Path, act: str | None = None, text: str | None = None, output: Path | None = None, *, overwrite: bool = False
) -> Initialized:
    """Analyse a data file and write a card and a configuration for it.

    Args:
        data: a CSV, TSV, JSON or JSONL file.
        act: its column of acts; None to find it.
        text: its column of sentences; None to find it.
        output: the folder to write to; None for the folder of the data file.
        overwrite: replace existing files.

    Raises:
        CorpusError: the data file cannot be read, or holds no pairs.
        UserError: a file to write exists.
        OSError: a file cannot be written.
    """
    columns = choose_columns(data, act, text)
    folder = output or data.parent
    name = re.sub(r"[^\w.-]", "-", data.stem) or "corpus"
    card, configuration = folder / f"{name}.card.yaml", folder / f"{name}.yaml"
    if not overwrite and (there := [path for path in (card, configuration) if path.exists() or path.is_symlink()]):
        raise UserError(
            f"{there[0]} is there already; it stays. Give --overwrite to replace it, or --output another folder"
        )
    corpus = corpus_of_file(data, columns)
    found = propose(corpus)
    elsewhere = data.parent if folder.resolve() != data.parent.resolve() else None
    texts = {card: card_text(found), configuration: configuration_text(found, card, elsewhere)}
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in texts.items():
        with written(path) as file:
            file.write(content)
    return Initialized(card, configuration, tuple(_summary(found, card, configuration, elsewhere)))


def card_text(proposal: Proposal) -> str:
    """Return the card as YAML."""
    return "\n".join(_card(proposal)) + "\n"


def configuration_text(proposal: Proposal, card: Path, data_dir: Path | None = None) -> str:
    """Return the configuration as YAML.

    Args:
        proposal: the proposal.
        card: the card's path, to be written as the name of the corpus.
        data_dir: the folder of the data file, if that is not beside the card.
    """
    return "\n".join(_configuration(proposal, card, data_dir)) + "\n"


def _card(proposal: Proposal) -> Iterator[str]:
    card = proposal.corpus.card
    yield f"# The card of {card.name}: what cannot be derived from the data. Made by `dactnlg init`; edit it freely."
    yield "# After a change, `dactnlg corpora inspect` on this file shows its effect."
    yield f"name: {_quoted(card.name)}"
    yield f"format: {card.format}"
    if card.columns:
        yield "# The names of the columns that hold acts and sentences."
        yield f"columns: {{act: {_quoted(card.columns.act)}, text: {_quoted(card.columns.text)}}}"
    yield "files:"
    yield f"  train: {{path: {_quoted(card.files['train'].path)}}}"
    division = card.divide or DivisionCard()
    divide = f"divide: {{valid: {division.valid}, test: {division.test}, seed: {division.seed}}}"
    if card.divide is None:
        yield f"# Too few pairs to be split. With {FEWEST} or more, write `{divide}`."
    else:
        yield "# A single file is split: the percentages for validation and test. Equal acts with values stay together."
        yield "# To use splits of your own, add `valid:` and `test:` under `files`."
        yield divide
    yield "# Whether sentences have capitals, and whether punctuation is set apart by spaces (`it 's good .`)."
    yield f"cased: {str(card.cased).lower()}"
    yield f"spaced: {str(card.spaced).lower()}"
    yield "# Rules of English (a/an, plurals, questions) apply to `en` only; `und` is any other language."
    yield f"language: {card.language}"
    if card.language != "en":
        yield "# If values are inflected (Karlín, but na Karlíně), give their forms: see `forms` in the guide 'Cards'."
    if proposal.silent:
        yield "# Slots that are in acts but never in their sentences; they are not checked."
        yield f"silent: [{', '.join(map(_quoted, proposal.silent))}]"
    said = [slot for slot in proposal.slots if slot.aliases or any(cue.patterns for cue in slot.cues.values())]
    if not said:
        yield "# No slot needs an entry here. The guide 'Cards' in the documentation has all keys."
        return
    if any("(?&denial" in pattern for slot in said for cue in slot.cues.values() for pattern in cue.patterns):
        yield "# Parts of cues, which refer to them by name: words that deny what follows or what precedes."
        yield "phrases:"
        yield from (f"  {name}: {_quoted(phrase)}" for name, phrase in PHRASES.items())
    yield "# For each slot, what cannot be derived from the data:"
    yield "#   aliases: other wordings of a value, which are delexicalised, too;"
    yield "#   cues: regular expressions; a lower-cased sentence says a special value if one of its cues matches."
    yield "#     `slots_ok` requires them; without any, only the reader that a run learns checks the value."
    yield "slots:"
    for slot in said:
        yield f"  {_quoted(slot.name)}:"
        yield from _aliases(slot)
        yield from _cues(slot)


def _aliases(slot: SlotProposal) -> Iterator[str]:
    if slot.aliases:
        yield "    aliases:"
        for value, wordings in slot.aliases.items():
            yield f"      {_quoted(value)}: [{', '.join(map(_quoted, wordings))}]"


def _cues(slot: SlotProposal) -> Iterator[str]:
    cues = {value: cue for value, cue in slot.cues.items() if cue.patterns}
    if cues:
        yield "    cues:"
    for value, cue in cues.items():
        yield f"      {_quoted(value)}:  # {cue.covered} of {cue.out_of} training sentences"
        for pattern in cue.patterns:
            yield f"        - {_quoted(pattern)}"


def _configuration(proposal: Proposal, card: Path, data_dir: Path | None) -> Iterator[str]:
    pairs = sum(1 for _ in proposal.corpus.pairs("train"))
    small = pairs < SMALL
    yield f"# Training on {proposal.corpus.name}: {pairs} training pairs. Proposed by `dactnlg init`."
    yield "# All other keys have their defaults; the length of training follows from the number of pairs."
    yield "corpus:"
    yield f"  name: {_quoted(card.as_posix())}  # the card's path, relative to the folder in which you run dactnlg"
    if data_dir is not None:
        yield f"  data_dir: {_quoted(data_dir.resolve().as_posix())}  # where the data file is"
    if proposal.lexicalized:
        yield "  # Slots with few values, in many wordings or beside yes and no: no placeholder, the model words them."
        yield f"  lexicalized: [{', '.join(map(_quoted, proposal.lexicalized))}]"
    yield "model:"
    yield f"  name: {'sclstm' if small else 'hierarchical'}"
    yield "  # Dropout delays overfitting, which comes early on small data."
    yield f"  dropout: {0.2 if small else 0.3}"
    if small or proposal.recombination:
        yield "training:"
    if small:
        yield "  # First trains two models with other seeds, then also learns what they say, of further acts as well:"
        yield "  # better sentences for several times the training. 0 and 0 are quicker, for trying things."
        yield "  teachers: 2"
        yield "  invention: 1.0"
    if proposal.recombination:
        yield "  # Adds as many pairs, recombined from these, for combinations of slots that the data lack."
        yield "  recombination: 1.0"


def _summary(proposal: Proposal, card: Path, configuration: Path, data_dir: Path | None) -> Iterator[str]:
    corpus = proposal.corpus
    counts = {split: sum(1 for _ in corpus.pairs(split)) for split in corpus.splits}
    yield f"{corpus.name}: {', '.join(f'{split} {count} pairs' for split, count in counts.items())}"
    if columns := corpus.card.columns:
        yield f"columns: acts in '{columns.act}', sentences in '{columns.text}'"
    yield f"act types: {', '.join(f'{act} {count}' for act, count in proposal.acts.most_common())}"
    for slot in proposal.slots:
        line = f"  {slot.name}: {slot.kind or 'no values'}"
        if slot.cases:
            line += f"; {len(slot.values)} values, {slot.found} of {slot.cases} found in their sentences"
        if slot.name in proposal.lexicalized:
            line += "; said in words"
        shown = [f"{value}: {', '.join(cue.shown[:3])}" for value, cue in slot.cues.items() if cue.shown]
        shown += [f"{value} also: {', '.join(map(repr, words[:3]))}" for value, words in slot.aliases.items()]
        yield line + "".join(f"\n      {part}" for part in shown)
    unsure = list(proposal.unsure())
    if unsure:
        yield "not sure about:"
        yield from (f"  {line}" for line in unsure)
    yield f"wrote {card} and {configuration}; next:"
    where = f" --data-dir {shlex.quote(str(data_dir))}" if data_dir is not None else ""
    run = shlex.quote(f"runs/{configuration.stem}")
    yield f"  dactnlg corpora inspect {shlex.quote(str(card))}{where}"
    yield f"  dactnlg train {shlex.quote(str(configuration))} --output {run}"
    yield f"  dactnlg evaluate --model {run} --report report.html"
    turns = [turn for turn, _ in corpus.pairs("test" if "test" in counts else "train")]
    # A turn that is neither trivial nor long.
    example = str(min(turns, key=lambda turn: abs(len(list(turn.slots())) - 3)))
    plain = not set(example) & set('"$`\\!')
    yield f"  dactnlg generate --model {run} " + (f'"{example}"' if plain else shlex.quote(example))


def _quoted(text: str) -> str:
    """Return a text as a YAML scalar that is read as a string."""
    if re.fullmatch(r"[A-Za-z_][\w.-]*", text, re.ASCII) and text.casefold() not in (
        "yes",
        "no",
        "null",
        "true",
        "false",
    ):
        return text
    if printable(text) != text or not text.isprintable():
        # Not JSON's escapes: YAML does not accept surrogate pairs for characters beyond U+FFFF.
        return f'"{"".join(map(_escaped, text))}"'
    return "'" + text.replace("'", "''") + "'"


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    shown = character.isprintable() and printable(character) == character
    return character if shown else f"\\U{ord(character):08x}"
