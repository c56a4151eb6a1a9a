"""Metrics that compare across vocabularies and tokenisers: against the oracle, other implementations, by properties."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dactnlg.acts import parse
from dactnlg.errors import MetricError
from dactnlg.evaluation.scoring import TextPair, score_pairs
from dactnlg.metrics import bleu
from dactnlg.metrics.base import Segment
from dactnlg.metrics.bleu import FairBleu
from dactnlg.metrics.fair_vocabulary import FairVocabulary
from dactnlg.metrics.perplexity import PerplexityMeter, encode, model_targets, spread
from dactnlg.metrics.sample_sets import ReferenceSet, SetBleu, SetPerplexity, sample
from dactnlg.text.vocabulary import EOS_ID, PAD_ID, UNK_ID

# One frequent word, four rare ones: the oracle's vocabulary.
VOCABULARY = FairVocabulary.build([["often", "often", "r1"]], [["r2", "r3"], ["r4"]], min_count=2)
words = st.lists(st.lists(st.sampled_from("abcdefg"), max_size=6), min_size=1, max_size=8)


@given(words, words, st.integers(1, 4))
def test_f_and_r_are_disjoint_and_contain_every_token(
    train: list[list[str]], others: list[list[str]], min_count: int
) -> None:
    found = FairVocabulary.build(train, others, min_count)
    training, total = (Counter(token for row in rows for token in row) for rows in (train, train + others))
    assert set(found.frequent) == {token for token, count in training.items() if count >= min_count}
    assert {*found.frequent, *found.rare} == set(total)
    assert not set(found.frequent) & set(found.rare)
    ordered = sorted(total, key=lambda token: (-training[token], -total[token], token))
    assert [*found.frequent, *found.rare] == ordered
    again = FairVocabulary.build(train[::-1], others[::-1], min_count)
    assert (again.frequent, again.rare, again.digest()) == (found.frequent, found.rare, found.digest())
    model, whole = found.model_vocabulary(), found.whole()
    assert whole.tokens[: len(model)] == model.tokens


def test_tokens_are_ordered_by_count_then_alphabetically() -> None:
    found = FairVocabulary.build([["b", "a", "c", "c"]], [["z", "y", "y"]], min_count=1)
    assert (found.frequent, found.rare) == (("c", "a", "b"), ("y", "z"))


def test_special_tokens_are_not_counted() -> None:
    assert FairVocabulary.build([["a", "<unk>", "<pad>"]]).frequent == ("a",)


def oracle() -> tuple[np.ndarray, np.ndarray]:
    targets = encode([["often", "r3"]], VOCABULARY)
    return np.log([[0.5, 0.2, 0.25]]), targets


def test_perplexity_oracle(oracle_dir: Path) -> None:
    """CoTK's definition, computed by hand (oracles/calibration.json)."""
    expected = json.loads((oracle_dir / "calibration.json").read_text())["perplexity (CoTK)"]
    meter = PerplexityMeter(VOCABULARY)
    meter.add(*oracle())
    found = meter.result()
    assert (round(found.fair, 4), round(found.original, 2)) == (
        expected["perplexity"],
        expected["wrong (unk not spread)"],
    )
    assert (found.tokens, found.rare) == (3, 1)


def test_the_end_of_a_sentence_counts_and_padding_does_not() -> None:
    logs, targets = oracle()
    whole = PerplexityMeter(VOCABULARY)
    whole.add(logs, targets)
    padded = PerplexityMeter(VOCABULARY)
    padded.add(np.pad(logs, ((0, 1), (0, 3)), constant_values=-np.inf), np.pad(targets, ((0, 1), (0, 3))))
    assert padded.result() == whole.result()
    cut = PerplexityMeter(VOCABULARY)
    cut.add(logs[:, :2], targets[:, :2])
    assert cut.result() != whole.result()
    assert targets.tolist()[0][-1] == EOS_ID
    assert encode([[], ["often"]], VOCABULARY).tolist() == [[EOS_ID, PAD_ID], [4, EOS_ID]]


def test_batches_add_up_and_unk_itself_is_not_scored() -> None:
    logs, targets = oracle()
    one, two = PerplexityMeter(VOCABULARY), PerplexityMeter(VOCABULARY)
    one.add(np.repeat(logs, 2, axis=0), np.repeat(targets, 2, axis=0))
    for _ in range(2):
        two.add(logs, targets)
    two.add([[-9.0]], [[UNK_ID]])
    assert one.result().fair == pytest.approx(two.result().fair)
    assert math.isnan(PerplexityMeter(VOCABULARY).result().fair)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 6))
def test_fair_perplexity_is_that_of_a_distribution_over_f_with_r(seed: int, min_count: int) -> None:
    """The shortcut (log |R| for each rare word) against the spread distribution itself, which still sums to 1."""
    draw = np.random.default_rng(seed)
    sentences = [[str(word) for word in draw.integers(0, 9, size=draw.integers(0, 7))] for _ in range(5)]
    vocabulary = FairVocabulary.build(sentences[:3], sentences[3:], min_count)
    targets = encode(sentences[3:], vocabulary)
    given = draw.dirichlet(np.ones(len(vocabulary.model_vocabulary())), size=targets.shape)
    meter = PerplexityMeter(vocabulary)
    seen = model_targets(targets, vocabulary)
    meter.add(np.log(np.take_along_axis(given, seen[..., None], -1)[..., 0]), targets)
    whole = spread(given, vocabulary)
    assert whole.sum(-1) == pytest.approx(1)
    logs = np.log(np.take_along_axis(whole, targets[..., None], -1)[..., 0])[targets != PAD_ID]
    assert meter.result().fair == pytest.approx(np.exp(-logs.mean()))


def test_a_model_that_predicts_unk_everywhere_has_a_high_fair_perplexity() -> None:
    """T_min larger than any count: the original figure is that of a perfect model (Huang et al. 2020, 3.2)."""
    sentences = [["a", "b", "c", "d"]] * 3
    vocabulary = FairVocabulary.build(sentences, min_count=100)
    meter = PerplexityMeter(vocabulary)
    targets = encode(sentences, vocabulary)
    meter.add(np.log(np.full(targets.shape, 0.99)), targets)
    assert meter.result().original == pytest.approx(1 / 0.99)
    assert meter.result().fair == pytest.approx(4**0.8 / 0.99)


@pytest.mark.parametrize(
    ("logs", "targets", "message"),
    [
        ([[-1.0]], [[4, 5]], "do not fit"),
        ([[-1.0]], [[4.0]], "do not fit"),
        ([[-1.0]], [[99]], "end at 8"),
        ([[math.nan]], [[4]], "never NaN"),
        ([[0.5]], [[4]], "at most 0"),
    ],
)
def test_values_that_are_not_log_probabilities_are_refused(logs: list, targets: list, message: str) -> None:
    with pytest.raises(MetricError, match=message):
        PerplexityMeter(VOCABULARY).add(logs, targets)


# After Huang et al. 2020, Fig. 1b: F lacks the names, so the reference that the original BLEU sees has <unk> for them.
SEEN = "<unk> <unk> was a <unk> born in <unk>"
TRUE = "Albert Einstein was a physicist born in Ulm"
WORSE, BETTER = "<unk> <unk> was a <unk> <unk> in <unk>", "Albert Einstein was a scientist in Ulm"


def test_fair_bleu_prefers_names_to_unk() -> None:
    def values(reference: str, preset: str) -> list[float]:
        pairs = ([TextPair(text, (reference,))] for text in (WORSE, BETTER))
        return [score_pairs(pair, ["BLEU-3"], preset).scores["BLEU-3"].value or 0.0 for pair in pairs]

    worse, better = values(SEEN, "nlg-eval")
    assert worse > better, "the original BLEU prefers <unk>"
    for reference in (SEEN, TRUE):
        worse, better = values(reference, "fair")
        assert better > worse


@given(st.lists(st.sampled_from(["<unk>", "a", "b", "c"]), min_size=1, max_size=8))
def test_unk_counts_as_a_wrong_word(tokens: list[str]) -> None:
    metric = FairBleu()
    wrong = " ".join("wrong" if token == "<unk>" else token for token in tokens)
    references = ("a b c <unk> a", "<unk> b")
    rows = metric.statistics([Segment(" ".join(tokens), references), Segment(wrong, references)])
    assert rows[0].tolist() == rows[1].tolist()


def test_without_unk_fair_bleu_is_bleu() -> None:
    rows = [("a b c d e", ("a b c d f", "a b")), ("x y", ("x z",))]
    segments = [Segment(*row) for row in rows]
    fair, plain = FairBleu(), bleu.create("nlg-eval")
    assert fair.statistics(segments).tolist() == plain.statistics(segments).tolist()
    assert fair.signature("BLEU-4") != plain.signature("BLEU-4")
    assert isinstance(bleu.create("fair"), FairBleu)


def test_sentence_bleu_of_a_set_is_nltks() -> None:
    """NLTK's sentence BLEU with smoothing method 1, which CoTK calls."""
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    draw = random.Random(3)
    for _ in range(200):
        hypothesis, *references = (draw.choices("abcdef", k=draw.randint(1, 9)) for _ in range(4))
        expected = sentence_bleu(references, hypothesis, smoothing_function=SmoothingFunction().method1)
        assert ReferenceSet.of(references).bleu(hypothesis) == pytest.approx(expected)
    assert ReferenceSet.of([["a"]]).bleu([]) == 0


def segments(hypotheses: list[str], references: list[str]) -> list[Segment]:
    turn = parse("inform(name=x)")
    return [Segment(text, (reference,), turn) for text, reference in zip(hypotheses, references, strict=True)]


REFERENCES = [f"{name} is a {size} place in the {area}" for name in "ABCD" for size in ("small", "big", "quiet")
              for area in ("north", "south", "old town")]  # fmt: skip


def all_scores(hypotheses: list[str], references: list[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for metric in (SetBleu(), SetPerplexity()):
        for part in segments(hypotheses, references):
            metric.update([part])
        found |= dict(zip(metric.names, metric.scores(), strict=True))
    return found


def test_forward_scores_measure_fluency_and_backward_scores_diversity() -> None:
    draw = random.Random(5)
    gold = all_scores(REFERENCES, REFERENCES)
    collapsed = all_scores([REFERENCES[0]] * len(REFERENCES), REFERENCES)
    scrambled = all_scores([" ".join(draw.sample(r.split(), len(r.split()))) for r in REFERENCES], REFERENCES)
    assert gold["forward-BLEU"] == gold["backward-BLEU"] == gold["harmonic-BLEU"] == pytest.approx(1)
    assert collapsed["forward-BLEU"] == pytest.approx(1)
    assert collapsed["backward-BLEU"] < 0.7
    assert collapsed["forward-perplexity"] < 1.5 * gold["forward-perplexity"]
    assert collapsed["reverse-perplexity"] > 2 * gold["reverse-perplexity"]
    assert scrambled["forward-perplexity"] > 2 * gold["forward-perplexity"]
    assert scrambled["forward-BLEU"] < 0.8
    one, two = collapsed["forward-BLEU"], collapsed["backward-BLEU"]
    assert collapsed["harmonic-BLEU"] == pytest.approx(2 / (1 / one + 1 / two))


def test_scores_of_sets_do_not_depend_on_order() -> None:
    draw = random.Random(7)
    order = draw.sample(range(len(REFERENCES)), len(REFERENCES))
    hypotheses = [text.replace("small", "tiny") for text in REFERENCES]
    shuffled = [hypotheses[i] for i in order], [REFERENCES[i] for i in order]
    assert all_scores(*shuffled) == pytest.approx(all_scores(hypotheses, REFERENCES), rel=1e-12)


def test_samples_depend_on_content_and_seed_not_on_order() -> None:
    texts = [str(number % 40) for number in range(100)]
    drawn = sample(texts, 30, seed=1)
    assert drawn == sample(texts[::-1], 30, seed=1)
    assert drawn != sample(texts, 30, seed=2)
    assert sorted(sample(texts, 1000, seed=1)) == sorted(texts)


def test_empty_sides_are_undefined_not_an_error() -> None:
    for metric in (SetBleu(), SetPerplexity()):
        assert all(math.isnan(value) for value in metric.scores())
        metric.update([Segment("", ()), Segment("a", ())])
        assert all(math.isnan(value) for value in metric.scores())
    assert all_scores(["", "<unk>"], ["a b", "c"])["forward-perplexity"] > 0


def test_forward_and_backward_scores_have_names_and_signatures() -> None:
    pairs = [TextPair("a b c d e", ("a b c d e", "f g")), TextPair("a b", ("c d",))]
    found = score_pairs(pairs, ["set-BLEU", "set-perplexity"], "single").corpus_only
    assert list(found) == [*SetBleu.names, *SetPerplexity.names]
    assert all(score.value is not None for score in found.values())
    assert found["forward-BLEU"].signature.startswith("forward-BLEU|tok:standard-13a|")
    assert SetBleu(size=5).signature("forward-BLEU", "fair") != SetBleu().signature("forward-BLEU", "fair")
    assert list(score_pairs(pairs, ["reverse-perplexity"]).corpus_only) == ["reverse-perplexity"]
