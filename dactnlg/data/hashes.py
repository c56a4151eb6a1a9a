"""The hash of what a corpus contains, whatever its files look like."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dactnlg._utils.hashing import MultisetHash
from dactnlg.text.example import Example


def hash_examples(examples: Iterable[Example], tokens: Mapping[str, Sequence[str]] | None = None) -> str:
    """Return the SHA-256 of examples as a multiset of (act, kind, sentence), where kind is `human` or `handcrafted`.

    Args:
        examples: their order, and that of their sentences, does not change the hash; a sentence moved to another act,
            or repeated, does.
        tokens: sentence -> tokens; if given, tokens are hashed instead of sentences.
    """
    state = MultisetHash()
    for example in examples:
        act = str(example.turn)
        for kind, sentences in (("human", example.references), ("handcrafted", example.handcrafted)):
            for sentence in sentences:
                state.add([act, kind, sentence if tokens is None else tokens[sentence]])
    return state.hexdigest()
