"""The hash codes of a corpus under given settings, and of each score on it (Huang et al. 2020, Table 2 and Fig. 4).

raw         acts with their sentences, split by split
data        acts with their tokens
vocabulary  F and R with their counts
setting     tokeniser and T_min
general     all four
metrics     for each preset and score, what its value depends on: equal if two values may be compared

Samples are hashed as a multiset of (act, sentence) pairs: order does not matter, a swap or a repetition does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dactnlg._utils.hashing import SHORT, digest
from dactnlg._utils.tables import aligned
from dactnlg.acts import Turn
from dactnlg.data.corpus import Corpus
from dactnlg.data.hashes import hash_examples
from dactnlg.errors import CorpusError
from dactnlg.metrics import perplexity
from dactnlg.metrics.fair_vocabulary import FairVocabulary
from dactnlg.metrics.presets import PRESETS, get_preset, references_for
from dactnlg.metrics.reference_hash import ReferenceHash
from dactnlg.metrics.registry import not_installed, select
from dactnlg.metrics.slot_error import SlotErrorRate
from dactnlg.metrics.tokenizers.fair import TextTokenizer, text_tokenizer
from dactnlg.text.example import Example
from dactnlg.text.tallies import Tally

Splits = Mapping[str, Sequence[Example]]
CODES = ("raw", "data", "vocabulary", "setting", "general")


@dataclass(frozen=True)
class Codes:
    """Hash codes, unabbreviated; `metrics` is preset -> score -> hash."""

    raw: str
    data: str
    vocabulary: str
    setting: str
    general: str
    metrics: dict[str, dict[str, str]]

    def to_json(self) -> dict[str, Any]:
        """Return all codes, unabbreviated."""
        return {**{name: getattr(self, name) for name in CODES}, "metrics": self.metrics}

    def table(self) -> str:
        """Return all codes in short form, one per row."""
        rows = [(name, getattr(self, name)) for name in CODES]
        rows += [(f"{preset} {name}", code) for preset, found in self.metrics.items() for name, code in found.items()]
        return aligned([(name, code[:SHORT]) for name, code in rows], left=None)


class FairData:
    """A corpus as models and fair metrics see it: tokenised, with F and R.

    Args:
        splits: name -> examples; F comes from `train`.
        tokenizer: the tokeniser, or its name; one that is learned is trained on the training references.
        min_count: T_min.

    Raises:
        UnknownNameError: no such tokeniser.
        MetricError: the tokeniser's data or library are missing, or `min_count` is below 1.
    """

    def __init__(self, splits: Splits, tokenizer: str | TextTokenizer = "treebank", min_count: int = 1) -> None:
        self.splits = splits
        if isinstance(tokenizer, str):
            tokenizer = text_tokenizer(tokenizer, (s for e in splits.get("train", ()) for s in e.references))
        self.tokenizer = tokenizer
        known: dict[str, list[str]] = {}
        for example in (example for examples in splits.values() for example in examples):
            for sentence in (*example.references, *example.handcrafted):
                if sentence not in known:
                    known[sentence] = tokenizer.tokenize(sentence)
        self._tokens = known
        others = [tokens for name in splits if name != "train" for tokens in self.sentences(name)]
        self.vocabulary = FairVocabulary.build(self.sentences("train"), others, min_count)

    def sentences(self, split: str) -> list[list[str]]:
        """Return the tokenised references of a split, in order."""
        return [self._tokens[s] for example in self.splits.get(split, ()) for s in example.references]

    def raw_hash(self) -> str:
        """Return the hash of acts with their sentences."""
        return digest(["raw", {name: hash_examples(rows) for name, rows in self.splits.items()}])

    def data_hash(self) -> str:
        """Return the hash of acts with their tokens."""
        # The tokeniser is included, since two may agree on a whole corpus and still differ on other sentences.
        rows = {name: hash_examples(examples, self._tokens) for name, examples in self.splits.items()}
        return digest(["data", self.tokenizer.settings(), rows])

    def vocabulary_hash(self) -> str:
        """Return the hash of F and R with their counts."""
        return digest(["vocabulary", self.tokenizer.settings(), self.vocabulary.digest()])

    def setting_hash(self) -> str:
        """Return the hash of tokeniser and T_min."""
        # What a tokeniser has learned belongs to the data; the settings are those that were chosen.
        asked = {key: value for key, value in self.tokenizer.settings().items() if key != "learned"}
        return digest(["setting", asked, self.vocabulary.min_count])

    def perplexity_hashes(self, split: str = "test") -> dict[str, str]:
        """Return the hashes of both perplexities over the references of a split."""
        pairs = ((str(example.turn), self._tokens[s]) for example in self.splits[split] for s in example.references)
        return perplexity.hashes(pairs, self.tokenizer.name, self.vocabulary)

    def codes(self, presets: Sequence[str] = ("fair",), split: str = "test", label: str = "") -> Codes:
        """Return all codes.

        Args:
            presets: the protocols whose scores are hashed.
            split: the split that is scored.
            label: the name of the corpus's slot checker, part of the slot error rate's signature.

        Raises:
            CorpusError: there is no such split.
            UnknownNameError: no such preset.
        """
        if not self.splits.get(split):
            raise CorpusError(f"there is no split '{split}' to score; there are: {', '.join(self.splits)}")
        metrics = {preset: metric_hashes(self.splits[split], preset, label) for preset in presets}
        metrics.setdefault("fair", {}).update(self.perplexity_hashes(split))
        raw, data, words, setting = self.raw_hash(), self.data_hash(), self.vocabulary_hash(), self.setting_hash()
        return Codes(raw, data, words, setting, digest(["general", raw, data, words, setting]), metrics)


def metric_hashes(examples: Sequence[Example], preset: str, label: str = "") -> dict[str, str]:
    """Return the hash of each of a preset's scores on a split, as shown by `evaluate` and `score`.

    Raises:
        UnknownNameError: no such preset.
    """
    state = ReferenceHash()
    for example, references in zip(examples, references_for(preset, examples)[0], strict=True):
        state.update(references, example.turn)
    items = [*select(preset), *not_installed(preset)]
    found = {name: state.hexdigest(item.metric.signature(name, preset)) for item in items for name in item.names}
    rate = SlotErrorRate(_Silent(), label)
    return found | {name: state.hexdigest(rate.signature(name, preset)) for name in rate.names}


def corpus_codes(
    corpus: Corpus,
    tokenizer: str = "treebank",
    min_count: int = 1,
    presets: Sequence[str] | None = None,
    split: str | None = None,
) -> Codes:
    """Return the hash codes of a corpus; the split that is scored is by default `test`, or else the corpus's last one.

    Raises:
        CorpusError: a file is missing or damaged, or there is no such split.
        UnknownNameError: no such tokeniser or preset.
        MetricError: the tokeniser's data or library are missing.
    """
    for name in presets or ():
        get_preset(name)
    data = FairData({name: corpus.split(name) for name in corpus.splits}, tokenizer, min_count)
    split = split or ("test" if "test" in corpus.splits else corpus.splits[-1])
    return data.codes(presets or usual_presets(corpus.split(split)), split, corpus.checker_name())


def usual_presets(examples: Sequence[Example]) -> tuple[str, ...]:
    """Return the protocols that fit a split: those that pool sentences need handcrafted ones, as in RNNLG's corpora."""
    pooled = ("identical-act", "delexicalised-act")
    whole = any(example.handcrafted for example in examples)
    return tuple(name for name, preset in PRESETS.items() if whole or preset.grouping not in pooled)


class _Silent:
    """Stands in for a slot checker where only the signature of the slot error rate is needed."""

    def check(self, turn: Turn, sentence: str) -> Tally:
        """Return an empty tally."""
        return Tally(0)
