"""Vocabulary: the numbered tokens that a model knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

PAD, BOS, EOS, UNK = "<pad>", "<bos>", "<eos>", "<unk>"
PAD_ID, BOS_ID, EOS_ID, UNK_ID = range(4)


class Vocabulary:
    """A fixed numbering of tokens; the first four are padding, begin, end and unknown.

    Args:
        tokens: the tokens after the four special ones, in order, each once.
    """

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens = [PAD, BOS, EOS, UNK, *tokens]
        self._ids = {token: index for index, token in enumerate(self.tokens)}

    @classmethod
    def build(cls, sentences: Iterable[Iterable[str]], min_count: int = 1) -> Vocabulary:
        """Return the tokens that occur at least `min_count` times, numbered by falling count, then by token."""
        counts = Counter(token for sentence in sentences for token in sentence)
        kept = [token for token, count in counts.items() if count >= min_count]
        return cls(sorted(kept, key=lambda token: (-counts[token], token)))

    @property
    def ordinary(self) -> list[str]:
        """The tokens after the four special ones."""
        return self.tokens[4:]

    def __len__(self) -> int:
        return len(self.tokens)

    def __contains__(self, token: object) -> bool:
        return token in self._ids

    def id(self, token: str) -> int:
        """Return a token's id, or that of `<unk>` if it has none."""
        return self._ids.get(token, UNK_ID)

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """Return the tokens' ids."""
        return [self.id(token) for token in tokens]

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Return the tokens with these ids, up to the end token."""
        tokens = []
        for index in ids:
            if index == EOS_ID:
                break
            if index not in (PAD_ID, BOS_ID):
                tokens.append(self.tokens[index])
        return tokens
