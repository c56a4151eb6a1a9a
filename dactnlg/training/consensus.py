"""Consensus: of each act's sentences those that are most like the others.

People say an act in many ways, and some leave things out, add some, or are at a loss for words. What one of them says
as others do is what a reader expects, and what references agree with. The sentences of an act are compared as those of
a beam are for minimum Bayes risk (see `generation.bayes_risk`), people in the place of a model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dactnlg.generation.bayes_risk import expected_gains
from dactnlg.text.example import Pair
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.requests import DelexicalizedAct
from dactnlg.text.sentences import Tokens


def agreed(pairs: Sequence[Pair], share: float, preprocessor: Preprocessor) -> list[Pair]:
    """Return the pairs whose sentences are most like the others for the same delexicalised act, in their order.

    Args:
        pairs: to choose from.
        share: of the pairs of each act, how many are kept at least; 1 keeps all.
        preprocessor: of the pairs.
    """
    if share == 1.0:
        return list(pairs)
    keys = [(preprocessor.request(pair.turn).act, pair.corpus) for pair in pairs]
    said: dict[tuple[DelexicalizedAct, str | None], Counter[Tokens]] = {}
    for key, pair in zip(keys, pairs, strict=True):
        said.setdefault(key, Counter())[pair.tokens] += 1
    kept = {key: _most_alike(sentences, share) for key, sentences in said.items()}
    return [pair for key, pair in zip(keys, pairs, strict=True) if pair.tokens in kept[key]]


def _most_alike(sentences: Counter[Tokens], share: float) -> set[Tokens]:
    """Return the sentences that are most like all, until they come to a share of these."""
    texts = list(sentences)
    gains = expected_gains(texts, list(sentences.values()))
    kept: set[Tokens] = set()
    number = 0
    for _, text in sorted(zip(-gains, texts, strict=True)):
        if number >= share * sentences.total():
            break
        kept.add(text)
        number += sentences[text]
    return kept
