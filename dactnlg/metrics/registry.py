"""Metrics by the names that the command line and JSON use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from dactnlg.errors import MetricError, UnknownNameError
from dactnlg.metrics import bleu
from dactnlg.metrics.base import CorpusMetric, Metric, Named
from dactnlg.metrics.cider import Cider
from dactnlg.metrics.diversity import Diversity, Novelty, SelfBleu
from dactnlg.metrics.msttr import Msttr
from dactnlg.metrics.nist import Nist
from dactnlg.metrics.parent import Parent
from dactnlg.metrics.perplexity import NAMES as OF_MODELS
from dactnlg.metrics.presets import Preset, get_preset
from dactnlg.metrics.rouge import RougeL
from dactnlg.metrics.rouge_n import RougeN
from dactnlg.metrics.sacre import Chrf, Ter
from dactnlg.metrics.sentence_encoder.encoders import Encoder, TokenEncoder
from dactnlg.metrics.slot_error import Checker, SlotErrorRate

N = TypeVar("N", bound=Named)


class Materials(NamedTuple):
    """What some metrics need besides the sentences.

    Attributes:
        vectors: a file of word vectors; by default the one named in the environment.
        encoder: encodes sentences; by default the one that `encoders.load_minilm` finds.
        train: the training sentences, normalised like the hypotheses; None if unknown.
        checker: finds slots in sentences, for SER.
        checker_name: what the checker looks for (`Corpus.checker_name`), for the signature.
        token_encoder: encodes tokens; by default the one that `encoders.load_minilm_tokens` finds.
    """

    vectors: str | Path | None = None
    encoder: Encoder | None = None
    train: Iterable[str] | None = None
    checker: Checker | None = None
    checker_name: str = ""
    token_encoder: TokenEncoder | None = None


NOTHING = Materials()


def _meteor(tokenization: str) -> Metric:
    # Imported late, like those below: they are large, need data of their own and are rarely used.
    from dactnlg.metrics.meteor.meteor import Meteor

    return Meteor(tokenization)


def _embedding(vectors: str | Path | None, oov: str) -> Metric:
    from dactnlg.metrics.embeddings.embedding import EmbeddingMetrics
    from dactnlg.metrics.embeddings.vectors import load_vectors

    return EmbeddingMetrics(load_vectors(vectors), oov)


def _cosine(encoder: Encoder | None) -> Metric:
    from dactnlg.metrics.sentence_encoder.cosine import SentenceCosine

    return SentenceCosine(encoder)


def _bert_score(encoder: TokenEncoder | None) -> Metric:
    from dactnlg.metrics.sentence_encoder.bert_score import BertScore

    return BertScore(encoder)


def _set_bleu() -> CorpusMetric:
    from dactnlg.metrics.sample_sets import SetBleu

    return SetBleu()


def _set_perplexity() -> CorpusMetric:
    from dactnlg.metrics.sample_sets import SetPerplexity

    return SetPerplexity()


# A family computes all its scores in one pass; new metrics are registered here.
_SET_BLEU = ("forward-BLEU", "backward-BLEU", "harmonic-BLEU")
_SET_PERPLEXITY = ("forward-perplexity", "reverse-perplexity")
_EMBEDDING = ("embedding-average", "vector-extrema", "greedy-matching")
_FAMILIES: dict[tuple[str, ...], Callable[[Preset, Materials], Metric]] = {
    bleu.Bleu.names: lambda preset, _: bleu.create(preset.bleu, lowercase=preset.mteval),
    Nist.names: lambda preset, _: Nist("13a" if preset.mteval else preset.tokenizer, lowercase=preset.mteval),
    ("METEOR-1.5",): lambda preset, _: _meteor(preset.tokenizer),
    RougeN.names: lambda *_: RougeN(),
    RougeL.names: lambda preset, _: RougeL(preset.rouge, preset.tokenizer),
    Cider.names: lambda preset, _: Cider(preset.tokenizer),
    Chrf.names: lambda preset, _: Chrf(),
    Ter.names: lambda preset, _: Ter(),
    Parent.names: lambda *_: Parent(),
    _EMBEDDING: lambda preset, given: _embedding(given.vectors, preset.oov),
    ("sentence-cosine",): lambda _, given: _cosine(given.encoder),
    ("BERTScore",): lambda _, given: _bert_score(given.token_encoder),
}
_CORPUS_FAMILIES: dict[tuple[str, ...], Callable[[Preset, Materials], CorpusMetric]] = {
    Diversity.names: lambda preset, _: Diversity(preset.tokenizer),
    SelfBleu.names: lambda preset, _: SelfBleu(preset.tokenizer),
    Novelty.names: lambda preset, given: Novelty(given.train, preset.tokenizer),
    Msttr.names: lambda *_: Msttr(),
    _SET_BLEU: lambda *_: _set_bleu(),
    _SET_PERPLEXITY: lambda *_: _set_perplexity(),
}
SEGMENT_NAMES = tuple(name for names in _FAMILIES for name in names)
"""Scores that are also defined for single segments."""
CORPUS_NAMES = tuple(name for names in _CORPUS_FAMILIES for name in names)
"""Scores defined for a whole corpus only."""
NAMES = SEGMENT_NAMES + CORPUS_NAMES
GROUPS = {
    "embedding": _EMBEDDING,
    "diversity": (*Diversity.names, *SelfBleu.names, *Novelty.names, *Msttr.names),
    "set-BLEU": _SET_BLEU,
    "set-perplexity": _SET_PERPLEXITY,
}
"""Names that select several scores at once."""
NEITHER_IS_BETTER = frozenset({"mean-length", "vocabulary"})
"""Scores of which neither a higher nor a lower value is better."""


class Selected(NamedTuple):
    """A metric and the requested ones of its scores."""

    metric: Metric
    names: tuple[str, ...]


class SelectedCorpus(NamedTuple):
    """The same for a metric of whole corpora."""

    metric: CorpusMetric
    names: tuple[str, ...]


def select(preset: str, names: Sequence[str] | None = None, given: Materials = NOTHING) -> list[Selected]:
    """Return metrics of segments in a preset's variants; names of corpus metrics are skipped.

    A metric of the preset that is not installed is left out; see `not_installed`.

    Args:
        preset: the preset's name.
        names: scores (`BLEU-4`, case ignored), families (`BLEU`) or groups (`embedding`); None for the preset's.
        given: what the metrics may read.

    Raises:
        UnknownNameError: no such preset or metric.
        MetricError: the data of a metric requested by name are not installed or not named.
    """
    made = [Selected(*entry) for entry in _made(_FAMILIES, preset, names, given)]
    missing = [item for item in made if item.metric.needs()]
    if names is not None and missing:
        raise MetricError(f"{missing[0].names[0]} is not installed: {missing[0].metric.needs()}")
    return [item for item in made if item not in missing]


def not_installed(preset: str, names: Sequence[str] | None = None) -> list[Selected]:
    """Return a preset's metrics whose extra is not installed; none if metrics are requested by name.

    Raises:
        UnknownNameError: no such preset.
    """
    made = () if names is not None else _made(_FAMILIES, preset, None, NOTHING)
    return [Selected(*entry) for entry in made if entry[0].needs()]


def select_corpus(preset: str, names: Sequence[str] | None = None, given: Materials = NOTHING) -> list[SelectedCorpus]:
    """Return metrics of whole corpora; arguments and errors as `select`."""
    return [SelectedCorpus(*made) for made in _made(_CORPUS_FAMILIES, preset, names, given)]


def check_used(names: Iterable[str], given: Materials) -> None:
    """Refuse word vectors and training data that no metric reads.

    Args:
        names: those requested, without `SER`; no preset has a metric that reads either.
        given: what the metrics may read.

    Raises:
        MetricError: names what could read it.
        UnknownNameError: there is no such metric.
    """
    wanted = {score for name in names for score in resolve(name)}
    for option, value, reader in (("--vectors", given.vectors, "embedding"), ("--train", given.train, "novelty")):
        if value is not None and wanted.isdisjoint(resolve(reader)):
            raise MetricError(f"{option} is for {reader}: request that with --metric {reader}, or leave out {option}")


def _made(
    families: Mapping[tuple[str, ...], Callable[[Preset, Materials], N]],
    preset: str,
    names: Sequence[str] | None,
    given: Materials,
) -> list[tuple[N, tuple[str, ...]]]:
    chosen = get_preset(preset)
    wanted = {found for name in (chosen.metrics if names is None else names) for found in resolve(name)}
    return [
        (make(chosen, given), tuple(name for name in family if name in wanted))
        for family, make in families.items()
        if wanted.intersection(family)
    ]


def resolve(name: str) -> Sequence[str]:
    """Return the scores that a name stands for: a single one, a family (`BLEU`) or a group (`embedding`).

    Raises:
        UnknownNameError: it stands for none.
        MetricError: it needs a model.
    """
    asked = name.casefold()
    if asked in OF_MODELS:
        raise MetricError(f"{asked} is what a model gives to the references: dactnlg evaluate --metric {asked}")
    if not (found := meant(name, NAMES)):
        raise UnknownNameError("metric", name, (*NAMES, *GROUPS))
    return found


def meant(name: str, scores: Iterable[str]) -> list[str]:
    """Return those of some scores that a name stands for: one score, a family (`BLEU`) or a group, case ignored."""
    asked = name.casefold()
    group = next((names for group, names in GROUPS.items() if group.casefold() == asked), ())
    return [score for score in scores if score in group or asked in (score.casefold(), _family(score).casefold())]


def _family(name: str) -> str:
    """Return what precedes the variant of a score: `BLEU` of `BLEU-4`, `ROUGE` of `ROUGE-L`; `mean-length` has none."""
    family, _, variant = name.rpartition("-")
    return family if len(variant) == 1 or not variant.isalpha() else name


def ranking_score(name: str) -> str:
    """Return the one score that a name stands for, SER included, spelt as in tables, if anything can be ranked by it.

    Raises:
        UnknownNameError: it stands for none.
        MetricError: it stands for several, needs a model, or has no best value.
    """
    found = [n for n in SlotErrorRate.names if name.casefold() == n.casefold()] or resolve(name)
    if len(found) > 1:
        raise MetricError(f"{name} is no single score, but {', '.join(found)}: choose one")
    if found[0] in NEITHER_IS_BETTER:
        raise MetricError(f"{found[0]} ranks nothing: neither a higher nor a lower value is better")
    return found[0]
