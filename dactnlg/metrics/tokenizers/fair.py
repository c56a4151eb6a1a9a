"""Tokenisers of models in fair evaluation, by their names in settings.

`detokenize` undoes `tokenize` except for spacing, so that metrics can tokenise the text of all systems alike. A literal
`<unk>` is one token for all of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from dactnlg._utils.hashing import SHORT, digest
from dactnlg.errors import MetricError, UnknownNameError
from dactnlg.metrics.tokenizers.words import split_13a, split_space
from dactnlg.text.vocabulary import UNK

SUBWORD = "subword"
_STAND_IN = "\ue000"
"""Replaces `<unk>` while a tokeniser runs that would split it."""
_CLITIC = re.compile(r"(?<=\w) (?=(?:n['’]t|['’](?:s|m|d|ll|re|ve))(?:\W|$))", re.IGNORECASE)
_FUSED = re.compile(r"\b(can) (?=not\b)|\b(gim|lem) (?=me\b)|\b(gon|wan) (?=na\b)|\b(got) (?=ta\b)", re.IGNORECASE)
_EDGE = re.compile(r"(?<!\w)['’](?=\w)|(?<=\w)['’](?!\w)")
_QUOTE = re.compile(r"``|''")


class TextTokenizer(Protocol):
    """Maps a sentence to tokens and back, under a name."""

    name: str

    def tokenize(self, sentence: str) -> list[str]:
        """Return the tokens of a sentence."""

    def detokenize(self, tokens: Sequence[str]) -> str:
        """Return the sentence of tokens, except for its spacing."""

    def settings(self) -> dict[str, Any]:
        """Return what identifies the tokeniser, for the setting hash."""


class WordTokenizer:
    """A tokeniser with fixed rules that yields words.

    Args:
        name: the name in settings.
        split: sentence -> words.
    """

    def __init__(self, name: str, split: Callable[[str], list[str]]) -> None:
        self.name = name
        self._split = split

    def tokenize(self, sentence: str) -> list[str]:
        """Return the tokens of a sentence."""
        return guarded(self._split, sentence)

    def detokenize(self, tokens: Sequence[str]) -> str:
        """Return the tokens as one line, contractions joined."""
        return detokenize(tokens)

    def settings(self) -> dict[str, Any]:
        """Return the name: the rules are fixed."""
        return {"name": self.name}


class SubwordTokenizer:
    """Byte-level byte-pair encoding, learned from training sentences by the `tokenizers` library.

    Args:
        sentences: training sentences.
        size: the largest number of subwords; at least 256, one for each byte.

    Raises:
        MetricError: the library is not installed, or `size` is below 256.
    """

    def __init__(self, sentences: Iterable[str], size: int = 2000) -> None:
        if size < 256:
            raise MetricError(f"a subword vocabulary needs one token for each of 256 bytes; got a size of {size}")
        try:
            from tokenizers import ByteLevelBPETokenizer
        except ImportError:
            raise MetricError("the tokeniser 'subword' needs a library: pip install 'dactnlg[subword]'") from None
        self._library: Any = ByteLevelBPETokenizer()
        self._library.train_from_iterator(
            sorted(sentences), vocab_size=size, min_frequency=2, show_progress=False, special_tokens=[UNK]
        )
        self._ids: dict[str, int] = self._library.get_vocab()
        self.size = size
        self.name = f"{SUBWORD}-{size}"

    def tokenize(self, sentence: str) -> list[str]:
        """Return the subwords of a sentence."""
        tokens: list[str] = self._library.encode(sentence).tokens
        return tokens

    def detokenize(self, tokens: Sequence[str]) -> str:
        """Return the sentence of subwords, exactly."""
        ids = [self._ids.get(token, self._ids[UNK]) for token in tokens]
        text: str = self._library.decode(ids, skip_special_tokens=False)
        return text

    def settings(self) -> dict[str, Any]:
        """Return the name, the size and a hash of what was learned."""
        return {"name": self.name, "size": self.size, "learned": digest(self._ids)[:SHORT]}


def tokenizer_names() -> tuple[str, ...]:
    """Return the names that `text_tokenizer` takes."""
    return (*_WORDS, SUBWORD)


def text_tokenizer(name: str, training: Iterable[str] = ()) -> TextTokenizer:
    """Return a tokeniser by name.

    Args:
        name: whitespace, 13a, treebank, punkt, subword.
        training: sentences that `subword` learns from.

    Raises:
        UnknownNameError: no such tokeniser.
        MetricError: `punkt` without NLTK's data, `subword` without its library.
    """
    if name == SUBWORD:
        return SubwordTokenizer(training)
    if name not in _WORDS:
        raise UnknownNameError("tokeniser", name, tokenizer_names())
    return WordTokenizer(name, _WORDS[name]())


def detokenize(tokens: Iterable[str]) -> str:
    """Return word tokens as one line: contractions joined ("do n't" becomes "don't"), Treebank's quotes made plain."""
    text = _QUOTE.sub('"', " ".join(tokens))
    return _FUSED.sub(lambda match: match.group().rstrip(), _CLITIC.sub("", text))


def standard_tokens(sentence: str) -> list[str]:
    """Return the tokens that fair metrics count, whatever the system's own tokens: those of mteval-13a.

    Unlike in 13a, single quotes are separate tokens, as in Treebank. Of two adjacent marks ("..1") 13a splits off only
    one at a time, so tokens are split again until nothing changes.
    """
    tokens = guarded(_split_once, sentence)
    while len(more := guarded(_split_once, " ".join(tokens))) > len(tokens):
        tokens = more
    return tokens


def _split_once(text: str) -> list[str]:
    return split_13a(_EDGE.sub(" ' ", detokenize(text.split())))


def standardize(sentence: str) -> str:
    """Return `standard_tokens` as one line; text that is already standard is unchanged."""
    return " ".join(standard_tokens(sentence))


def guarded(split: Callable[[str], list[str]], sentence: str) -> list[str]:
    """Split a sentence so that `<unk>` stays whole; a token that contains one (`<unk>-based`) becomes `<unk>`."""
    if UNK not in sentence:
        return split(sentence)
    return [UNK if _STAND_IN in token else token for token in split(sentence.replace(UNK, _STAND_IN))]


def _treebank() -> Callable[[str], list[str]]:
    from nltk.tokenize import TreebankWordTokenizer

    split: Callable[[str], list[str]] = TreebankWordTokenizer().tokenize
    return split


def _punkt() -> Callable[[str], list[str]]:
    """Return a splitter: Punkt's sentences (Kiss and Strunk 2006), each in Treebank tokens, as `word_tokenize` has."""
    from nltk.tokenize import NLTKWordTokenizer
    from nltk.tokenize.punkt import PunktTokenizer

    try:
        sentences = PunktTokenizer("english")
    except LookupError:
        raise MetricError(
            "the tokeniser 'punkt' needs NLTK's data, in a folder that NLTK_DATA names; "
            "get them with: python -m nltk.downloader punkt_tab"
        ) from None
    words = NLTKWordTokenizer()
    return lambda text: [token for sentence in sentences.tokenize(text) for token in words.tokenize(sentence)]


_WORDS: dict[str, Callable[[], Callable[[str], list[str]]]] = {
    "whitespace": lambda: split_space,
    "13a": lambda: split_13a,
    "treebank": _treebank,
    "punkt": _punkt,
}
