"""Training pairs from a corpus: acts with delexicalised sentences, and the preprocessor that is learned from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.data.corpus import Corpus
from dactnlg.errors import CorpusError
from dactnlg.runs.config import CorpusConfig
from dactnlg.text.casing import Casing
from dactnlg.text.delexicalization import Delexicalized
from dactnlg.text.encoding import features
from dactnlg.text.example import Example, Pair
from dactnlg.text.placeholders import Required
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.style import Style
from dactnlg.text.surface import realize

_HOLE = re.compile(r"(?<=\S)  (?=\S)")
_LOST = "lostvalue"


def build_preprocessor(
    config: CorpusConfig, corpus: Corpus, others: Sequence[Corpus] = (), whole: bool = True
) -> tuple[Preprocessor, list[Pair]]:
    """Delexicalise the training split, and those of further corpora, and collect what the models need from it.

    Args:
        config: which sentences are targets.
        corpus: the corpus to speak like.
        others: further corpora to learn from.
        whole: leave out sentences that do not say all their slots (see `_complete`).

    Returns:
        The preprocessor, and the training pairs.

    Raises:
        CorpusError: there is nothing to learn from.
    """
    style = corpus.card.style()
    named = corpus.name if others else None
    found = list(_delexicalized(corpus, "train", config.targets, style))
    pairs = _complete(found, named) if whole else [Pair(turn, named, _lower(s)) for turn, _, s in found if s.tokens]
    if not pairs:
        raise CorpusError(f"corpus '{corpus.name}' has no training pairs")
    casing = Casing.learn((required, sentence) for _, required, sentence in found)
    for other in others:
        theirs = other.card.style()
        rows = _delexicalized(other, "train", "human", theirs, spoken=theirs.spaced and not style.spaced)
        pairs += _complete(list(rows), other.name)
    return Preprocessor.build(pairs, named, casing, style, config.min_count), pairs


def validation_pairs(config: CorpusConfig, corpus: Corpus, preprocessor: Preprocessor) -> list[Pair]:
    """Return the pairs that decide when training stops: the validation split, or the training split without one."""
    split = "valid" if "valid" in corpus.splits else "train"
    rows = sentences(corpus, split, config.targets, preprocessor.style)
    return [Pair(turn, preprocessor.encoder.corpus, tokens) for turn, tokens in rows]


def sentences(corpus: Corpus, split: str, targets: str, style: Style) -> list[tuple[Turn, tuple[str, ...]]]:
    """Return the turns of a split with the tokens that a model should say: delexicalised, in lower case."""
    return [(turn, _lower(sentence)) for turn, _, sentence in _delexicalized(corpus, split, targets, style)]


def _delexicalized(
    corpus: Corpus, split: str, targets: str, style: Style, spoken: bool = False
) -> Iterable[tuple[Turn, Sequence[Required], Delexicalized]]:
    delexicalizer = style.delexicalizer()
    for example in corpus.split(split):
        for sentence in _targets(example, targets):
            turn, text = example.turn, sentence
            if corpus.card.hole and split == "train":
                turn, text = _fill_hole(turn, text, corpus.card.hole)
            # A corpus of split morphemes joins one of plain text in the form that its sentences have when read.
            text = realize(text) if spoken else text
            turn = delexicalizer.split(turn)
            yield turn, delexicalizer.required(turn), delexicalizer.delexicalize(turn, text)


def _fill_hole(turn: Turn, sentence: str, hole: str) -> tuple[Turn, str]:
    """Put a stand-in for a lost value into act and sentence, so that the placeholder's place is learned."""
    act_type, _, name = hole.rpartition(".")
    if not _HOLE.search(sentence) or any(slot.name == name for _, slot in turn.slots()):
        return turn, sentence
    act = DialogueAct(act_type, (Slot(name, _LOST),))
    return Turn((*turn.acts, act)), _HOLE.sub(f" {_LOST} ", sentence, count=1)


def _targets(example: Example, targets: str) -> tuple[str, ...]:
    if targets == "human":
        return example.references
    if targets == "handcrafted":
        return example.handcrafted or example.references
    return (*example.references, *example.handcrafted)


def _complete(rows: Sequence[tuple[Turn, Sequence[Required], Delexicalized]], corpus: str | None) -> list[Pair]:
    """Leave out sentences that do not say all their slots, except where their kind of turn has no other sentence.

    What such a sentence says instead ("a low-cost pub" for pricerange=cheap) would teach a delexicalised model to
    make values up.
    """
    whole = {frozenset(features(turn)) for turn, _, sentence in rows if not sentence.missing}
    return [
        Pair(turn, corpus, _lower(sentence))
        for turn, _, sentence in rows
        if sentence.tokens and (not sentence.missing or frozenset(features(turn)) not in whole)
    ]


def _lower(sentence: Delexicalized) -> tuple[str, ...]:
    # Placeholders are the only tokens with capitals.
    return tuple(token if "SLOT_" in token else token.lower() for token in sentence.tokens)
