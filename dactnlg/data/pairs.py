"""Training pairs of a corpus, acts with delexicalised sentences, and the preprocessor built from them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.data.corpus import Corpus
from dactnlg.data.counterfeits import counterfeit
from dactnlg.data.division import FEWEST
from dactnlg.errors import ConfigError, CorpusError, suggest
from dactnlg.text.encoding import features
from dactnlg.text.example import Example, Pair
from dactnlg.text.placeholders import Required
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.style import Style
from dactnlg.text.surface import detokenize, strip_joiner
from dactnlg.text.values.casing import Casing
from dactnlg.text.values.delexicalization import Delexicalized
from dactnlg.text.values.inflection import Inflection, Observation
from dactnlg.text.values.realization import realize

# RNNLG's sentences have two consecutive spaces where a value was lost.
_HOLE = re.compile(r"(?<=\S)  (?=\S)")
_LOST_VALUE = "lostvalue"


class TrainingData(NamedTuple):
    """The pairs that a model is trained on, and the preprocessor that turns them into arrays."""

    preprocessor: Preprocessor
    pairs: list[Pair]


class Target(NamedTuple):
    """A turn, the delexicalised lower-case tokens to generate for it, and the preceding user utterance."""

    turn: Turn
    tokens: tuple[str, ...]
    context: str


class _Row(NamedTuple):
    """A turn, its values that a sentence must express, a delexicalised sentence, whether it expresses exactly them.

    The last field is the preceding user utterance.
    """

    turn: Turn
    required: Sequence[Required]
    sentence: Delexicalized
    complete: bool
    context: str


def build_preprocessor(
    corpus: Corpus,
    others: Sequence[Corpus] = (),
    *,
    counterfeited: bool = False,
    targets: str = "human",
    min_count: int = 1,
    complete_only: bool = True,
    lexicalized: Sequence[str] = (),
    context: bool = False,
) -> TrainingData:
    """Delexicalise the training split, and those of further corpora, and build the preprocessor from them.

    Args:
        corpus: the corpus whose style the model learns.
        others: further corpora whose human sentences are learned.
        counterfeited: replace their slots by slots of `corpus` (see `counterfeits`).
        targets: sentences of `corpus` to learn: `human`, `handcrafted` or `both`.
        min_count: words that are rarer in training become `<unk>`.
        complete_only: leave out sentences that do not express all their slots (see `_complete`).
        lexicalized: slots of a closed class, whose values stay in the sentences as words.
        context: whether the model sees the preceding user utterance.

    Raises:
        CorpusError: there is no training pair.
        ConfigError: `corpus` lacks the sentences of `targets`, or with `context` the user utterances; a lexicalised
            slot has no values; or no pair of another corpus can be counterfeited.
    """
    if targets == "handcrafted" and not any(example.handcrafted for example in corpus.split("train")):
        raise ConfigError(
            f"corpus.targets: the training split of {corpus.name} has no handcrafted sentences; choose human"
        )
    style = corpus.style()
    # With a single corpus, its name is not an input of the model.
    name = corpus.name if others else None
    if lexicalized:
        style = replace(style, lexicalized=_values(corpus, lexicalized))
    rows = list(_delexicalized(corpus, "train", targets, style))
    if context and not any(row.context.strip() for row in rows):
        raise ConfigError(
            f"model.context: the training split of {corpus.name} does not have what users have said before; give its "
            "rows a 'context', or choose false"
        )
    if complete_only:
        pairs = _complete(rows, name)
    else:
        pairs = [Pair(row.turn, name, _lower(row.sentence), row.context) for row in rows if row.sentence.tokens]
    if not pairs:
        raise CorpusError(f"corpus '{corpus.name}' has no training pairs")
    casing = Casing.learn((row.required, row.sentence) for row in rows)
    inflection = Inflection.learn(style.forms, _observations(rows)) if style.forms else None
    own = tuple(pairs)
    for other in others:
        other_style = other.style()
        # If the main corpus is plain text, split morphemes ("kid -s") of another corpus are joined.
        join_morphemes = other_style.spaced and not style.spaced
        found = _delexicalized(other, "train", "human", other_style, join_morphemes=join_morphemes)
        more = _complete(list(found), other.name)
        if counterfeited and not (more := counterfeit(more, own)):
            raise ConfigError(
                f"corpus.counterfeit: no pair of {other.name} has acts and slots like those of {corpus.name}"
            )
        pairs += more
    if not context:
        # Pairs that differ only in their context become equal.
        pairs = [replace(pair, context="") for pair in pairs]
    return TrainingData(Preprocessor.build(pairs, name, casing, style, min_count, inflection), pairs)


def validation_pairs(corpus: Corpus, preprocessor: Preprocessor, *, targets: str = "human") -> list[Pair]:
    """Return the pairs of the validation split, which decide when training stops.

    Args:
        corpus: the corpus.
        preprocessor: the preprocessor from `build_preprocessor` for this corpus.
        targets: `human`, `handcrafted` or `both`.

    Raises:
        CorpusError: there is no validation split, or it has no pairs.
    """
    rows = sentences(corpus, "valid", targets, preprocessor.style) if "valid" in corpus.splits else []
    if not rows:
        count = sum(1 for _ in corpus.pairs("train"))
        few = f"; its {count} pairs are too few to take one from" if count < FEWEST else ""
        lacks = "pairs" if "valid" in corpus.splits else "split"
        raise CorpusError(
            f"corpus '{corpus.name}' has no validation {lacks}, to decide when training stops{few}. Give it a file "
            f"(valid.jsonl or valid.csv beside train), or at least {FEWEST} pairs in one file; on a card: divide: {{}}"
        )
    seen = preprocessor.context is not None
    return [Pair(row.turn, preprocessor.encoder.corpus, row.tokens, row.context if seen else "") for row in rows]


def sentences(corpus: Corpus, split: str, targets: str, style: Style) -> list[Target]:
    """Return the turns of a split, each with the tokens that a model should generate.

    Args:
        corpus: the corpus.
        split: `train`, `valid` or `test`.
        targets: `human`, `handcrafted` or `both`.
        style: determines how values are found in the sentences.
    """
    rows = _delexicalized(corpus, split, targets, style)
    return [Target(row.turn, _lower(row.sentence), row.context) for row in rows]


def _values(corpus: Corpus, slots: Sequence[str]) -> dict[str, list[str]]:
    """Return slot -> its case-folded values in the training split.

    Raises:
        ConfigError: a slot has no values there.
    """
    found: dict[str, set[str]] = {name: set() for name in slots}
    for example in corpus.split("train"):
        for _, slot in example.turn.slots():
            if slot.name in found and slot.delexicalizable and slot.value is not None:
                found[slot.name].add(slot.value.casefold())
    if unknown := sorted(name for name, values in found.items() if not values):
        names = {slot.name for example in corpus.split("train") for _, slot in example.turn.slots()}
        where = f"corpus.lexicalized: the training split of {corpus.name} has no values for '{unknown[0]}'"
        raise ConfigError(f"{where}; {suggest(unknown[0], sorted(names))}")
    return {name: sorted(values) for name, values in found.items()}


def sentence_pairs(corpus: Corpus, split: str, targets: str) -> list[tuple[Turn, str]]:
    """Return the turns of a split with the raw sentences that a model should learn; empty if there is no such split.

    Args:
        corpus: the corpus.
        split: `train`, `valid` or `test`.
        targets: `human`, `handcrafted` or `both`.
    """
    examples = corpus.split(split) if split in corpus.splits else []
    return [(example.turn, sentence) for example in examples for sentence in _targets(example, targets)]


def _delexicalized(
    corpus: Corpus, split: str, targets: str, style: Style, *, join_morphemes: bool = False
) -> Iterator[_Row]:
    checker = style.checker()
    delexicalizer = checker.delexicalizer
    for example in corpus.split(split):
        for sentence in _targets(example, targets):
            turn, text = example.turn, sentence
            if corpus.card.hole and split == "train":
                turn, text = _fill_hole(turn, text, corpus.card.hole)
            text = realize(text) if join_morphemes else text
            turn = delexicalizer.prepared(turn)
            found = delexicalizer.delexicalize(turn, text)
            # Whether a sentence has its lexicalised values is checked by cues and spellings, not by placeholders.
            faults = style.lexicalized and checker.look(checker.expected(turn), found.tokens).errors
            complete = not (found.missing or faults)
            yield _Row(turn, delexicalizer.required(turn), found, complete, example.context)


def _fill_hole(turn: Turn, sentence: str, hole: str) -> tuple[Turn, str]:
    """Insert a dummy for a lost value into act and sentence, so that the position of the placeholder is learned."""
    act_type, _, name = hole.rpartition(".")
    if not _HOLE.search(sentence) or any(slot.name == name for _, slot in turn.slots()):
        return turn, sentence
    act = DialogueAct(act_type, (Slot(name, _LOST_VALUE),))
    return Turn((*turn.acts, act)), _HOLE.sub(f" {_LOST_VALUE} ", sentence, count=1)


def _targets(example: Example, targets: str) -> tuple[str, ...]:
    if targets == "human":
        return example.references
    if targets == "handcrafted":
        return example.handcrafted or example.references
    return (*example.references, *example.handcrafted)


def _observations(rows: Sequence[_Row]) -> Iterator[Observation]:
    """Yield the inflected forms of values in sentences, with their contexts."""
    for row in rows:
        tokens = _lower(row.sentence)
        slots = {item.placeholder: item.slot for item in row.required}
        for at, token in enumerate(tokens):
            placeholder = strip_joiner(token)
            if placeholder in slots and placeholder in row.sentence.fillers:
                slot, form = slots[placeholder], detokenize(row.sentence.fillers[placeholder])
                yield Observation(slot.name, slot.value or "", form, tokens[:at], tokens[at + 1 :])


def _complete(rows: Sequence[_Row], corpus: str | None) -> list[Pair]:
    """Leave out sentences that do not express all their slots, unless turns with the same features have no other.

    Such a sentence ("a low-cost pub" for pricerange=cheap) would teach a delexicalised model to invent values.
    """
    covered = {frozenset(features(row.turn)) for row in rows if row.complete}
    return [
        Pair(row.turn, corpus, _lower(row.sentence), row.context)
        for row in rows
        if row.sentence.tokens and (row.complete or frozenset(features(row.turn)) not in covered)
    ]


def _lower(sentence: Delexicalized) -> tuple[str, ...]:
    # Placeholders are the only tokens with capitals.
    return tuple(token if "SLOT_" in token else token.lower() for token in sentence.tokens)
