"""Presets: named evaluation protocols. A score is meaningless without its protocol.

A preset fixes which sentences are the references of a row, how sentences are normalised (case, tokens, final
punctuation), and which metrics are computed in which variant. Its name is in every signature.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from dactnlg.errors import UnknownNameError
from dactnlg.metrics import rnnlg
from dactnlg.metrics.tokenizers.fair import standardize
from dactnlg.text.example import Example

Normalizer = Callable[[str], str]
Grouping = Literal["own", "identical-act", "delexicalised-act", "first"]
_FINAL_MARK = re.compile(r" [.?!]$")


@dataclass(frozen=True, slots=True)
class Preset:
    """One protocol.

    Attributes:
        name: the name in signatures and on the command line.
        grouping: which sentences are the references of a row. `own`: the row's; `first`: the first of these;
            `identical-act`: those of all rows with the same act and values, handcrafted ones included;
            `delexicalised-act`: the human ones of all rows with the same delexicalised act, with the row's values.
        normalize: applied to hypotheses and references before scoring.
        bleu: the BLEU variant.
        rouge: the ROUGE-L variant.
        tokenizer: the tokeniser of ROUGE-L, CIDEr and METEOR.
        oov: how words without a vector are treated (`embeddings.embedding.POLICIES`); nlg-eval uses the mean vector.
        mteval: whether BLEU and NIST read raw text, lower-cased, with mteval-13a's tokens.
        metrics: the scores computed by default.
        about: a one-line description.
    """

    name: str
    grouping: Grouping
    normalize: Normalizer
    bleu: str
    metrics: tuple[str, ...]
    about: str
    rouge: str = "nlg-eval"
    tokenizer: str = "space"
    mteval: bool = False
    oov: str = "skip"


def _unchanged(sentence: str) -> str:
    return sentence


def _lower(sentence: str) -> str:
    return sentence.lower()


def _lower_without_final_mark(sentence: str) -> str:
    return _FINAL_MARK.sub("", sentence.lower().strip())


_BLEU = ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4")
PRESETS = {
    preset.name: preset
    for preset in (
        Preset(
            "sharma2017",
            "identical-act",
            _lower_without_final_mark,
            "nlg-eval",
            (*_BLEU, "METEOR-1.5", "ROUGE-L"),
            "Sharma et al. 2017, Tables 1 and 2: human and handcrafted sentences of the identical act",
            rouge="best-reference",
            oov="mean",
        ),
        Preset(
            "rnnlg",
            "delexicalised-act",
            rnnlg.normalize,
            "rnnlg",
            _BLEU,
            "the RNNLG toolkit: human sentences of the delexicalised act, with the row's own values",
        ),
        Preset(
            "nlg-eval",
            "own",
            _unchanged,
            "nlg-eval",
            (*_BLEU, "METEOR-1.5", "ROUGE-L", "CIDEr"),
            "nlg-eval 2.3: white-space tokens, the row's own references",
            oov="mean",
        ),
        Preset(
            "e2e",
            "own",
            _unchanged,
            "mteval-13a",
            ("BLEU-4", "NIST", "METEOR-1.5", "ROUGE-L", "CIDEr"),
            "the E2E challenge's scripts, with the Python mteval",
            tokenizer="ptb",
            mteval=True,
        ),
        Preset(
            "fair",
            "own",
            standardize,
            "fair",
            _BLEU,
            "Huang et al. 2020, CoTK: text joined and split again in one way; n-grams with <unk> never match",
        ),
        Preset("single", "first", _unchanged, "sacrebleu", _BLEU, "one reference, lexicalised, sacreBLEU's default"),
    )
}


def get_preset(name: str) -> Preset:
    """Return a preset.

    Raises:
        UnknownNameError: no such preset.
    """
    if name not in PRESETS:
        raise UnknownNameError("preset", name, PRESETS)
    return PRESETS[name]


def default_presets(corpus: str, form: str, examples: Sequence[Example]) -> tuple[str, ...]:
    """Return the protocols that a corpus is usually scored under, the main one first.

    Args:
        corpus: its name.
        form: the format of its files, as given in the data card.
        examples: the examples of the split to be scored.
    """
    if any(example.handcrafted for example in examples):
        return ("sharma2017", "rnnlg", "single")
    if corpus == "dstc2":
        return ("sharma2017", "single")
    # E2E and ViGGO: all references of each distinct act, as in the E2E challenge's scripts.
    return ("e2e", "single") if form == "bracket" else ("nlg-eval", "single")


def leading_preset(corpus: str, form: str, targets: str, examples: Sequence[Example]) -> str:
    """Return the protocol by which a run is tuned and its epochs are compared.

    Args:
        corpus, form, examples: as in `default_presets`.
        targets: the sentences that the run was trained on: `human`, `handcrafted` or `both`.
    """
    presets = default_presets(corpus, form, examples)
    # RNNLG's protocol uses human sentences only.
    return "rnnlg" if targets == "human" and "rnnlg" in presets else presets[0]


def references_for(preset: str, examples: Sequence[Example]) -> tuple[list[tuple[str, ...]], Normalizer]:
    """Return the normalised references of each example of a split, and the normaliser for hypotheses.

    Rows with the same references share one tuple.

    Raises:
        UnknownNameError: no such preset.
    """
    chosen = get_preset(preset)
    normalize = chosen.normalize
    if chosen.grouping == "delexicalised-act":
        return _by_delexicalized_act(examples), normalize
    if chosen.grouping == "identical-act":
        if any(example.handcrafted for example in examples):
            return _by_identical_act(examples, normalize), normalize
        # DSTC2 in the paper: one reference per turn, with its full stop.
        normalize = _lower
    count = 1 if chosen.grouping == "first" else None
    return [tuple(map(normalize, example.references[:count])) for example in examples], normalize


def handcrafted_for(examples: Sequence[Example]) -> list[str]:
    """Return the handcrafted (HDC) baseline's outputs as RNNLG scores them.

    For each row, this is the handcrafted sentence of the first row with the same delexicalised act, with the row's
    values. The toolkit's calibration figures (BLEU .4260 on restaurants, .5406 on hotel) were computed from these.
    """
    found = rnnlg.pools((e.turn, sentence) for e in examples for sentence in e.handcrafted)
    return [rnnlg.lexicalize(found[rnnlg.group_key(e.turn)][0], e.turn) for e in examples]


def _by_identical_act(examples: Sequence[Example], normalize: Normalizer) -> list[tuple[str, ...]]:
    keys = [str(example.turn) for example in examples]
    groups: dict[str, list[str]] = {}
    for key, example in zip(keys, examples, strict=True):
        groups.setdefault(key, []).extend(map(normalize, (*example.references, *example.handcrafted)))
    shared = {key: tuple(sentences) for key, sentences in groups.items()}
    return [shared[key] for key in keys]


def _by_delexicalized_act(examples: Sequence[Example]) -> list[tuple[str, ...]]:
    found = rnnlg.pools((e.turn, sentence) for e in examples for sentence in e.references)
    filled: dict[str, tuple[str, ...]] = {}
    for example in examples:
        act = str(example.turn)
        if act not in filled:
            pool = found[rnnlg.group_key(example.turn)]
            filled[act] = tuple(rnnlg.lexicalize(template, example.turn) for template in pool)
    return [filled[str(example.turn)] for example in examples]
