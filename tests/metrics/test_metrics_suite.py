"""ROUGE-L, CIDEr, NIST, chrF and TER against nlg-eval, the E2E challenge's scripts and sacreBLEU."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dactnlg.data.corpus import load_corpus
from dactnlg.errors import UnknownNameError
from dactnlg.evaluation.scoring import TextPair, score, score_pairs
from dactnlg.metrics.base import Segment
from dactnlg.metrics.cider import Cider
from dactnlg.metrics.nist import Nist
from dactnlg.metrics.presets import PRESETS
from dactnlg.metrics.registry import SEGMENT_NAMES, select
from dactnlg.metrics.rouge import RougeL, common_length, positions
from dactnlg.metrics.sacre import Chrf, Ter
from dactnlg.metrics.tokenizers.ptb import split_ptb

# METEOR and what follows the embedding metrics need data or an encoder.
NAMES = [name for name in SEGMENT_NAMES[: SEGMENT_NAMES.index("embedding-average")] if name != "METEOR-1.5"]
SENTENCE = st.lists(st.sampled_from(["a", "b", "c", "dog", "the"]), max_size=8).map(" ".join)
ROWS = st.lists(st.tuples(SENTENCE, st.lists(SENTENCE, min_size=1, max_size=3)), min_size=1, max_size=5)


def test_scores_of_sfres_are_nlg_evals(oracle_dir: Path) -> None:
    """Each of 1,181 system outputs and the whole, to 1e-6 (oracles/sfres_nlgeval.json)."""
    oracle = json.loads((oracle_dir / "sfres_nlgeval.json").read_text())
    names = ["BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "ROUGE-L", "CIDEr"]
    pairs = [TextPair(s["hypothesis"], tuple(s["references"])) for s in oracle["segments"]]
    result = score_pairs(pairs, names, "nlg-eval")
    expected = np.array([[s["scores"][name] for name in names] for s in oracle["segments"]])
    assert result.segments == pytest.approx(expected, abs=1e-6)
    for name in names:
        assert result.scores[name].value == pytest.approx(oracle["corpus"]["nlg-eval"][name], abs=1e-6)


def test_scores_of_the_e2e_baseline_are_the_challenges(oracle_dir: Path, data_dir: Path) -> None:
    """Those of the challenge's own scripts, to the last digit that they print (oracles/calibration.json)."""
    expected = json.loads((oracle_dir / "calibration.json").read_text())["e2e"]
    hypotheses = (oracle_dir / "e2e_tgen_outputs.txt").read_text().splitlines()
    examples = load_corpus("e2e", data_dir).split("test")
    pairs = [TextPair(text, e.references, e.turn) for text, e in zip(hypotheses, examples, strict=True)]
    scores = score_pairs(pairs, ["BLEU-4", "NIST", "ROUGE-L", "CIDEr"], "e2e").scores
    assert round(scores["BLEU-4"].value or 0, 4) == expected["BLEU"]
    assert round(scores["NIST"].value or 0, 4) == expected["NIST (python mteval)"]
    assert round(scores["ROUGE-L"].value or 0, 4) == expected["ROUGE-L"]
    assert round(scores["CIDEr"].value or 0, 4) == expected["CIDEr"]


def test_rouge_l_takes_best_precision_and_recall_apart_or_the_best_reference() -> None:
    """By hand, with beta 1.2: precision 2/4 and 1/4, recall 2/6 and 1."""
    segment = Segment("a b c d", ("a b x y z w", "c"))
    assert RougeL("nlg-eval").score_segment(segment) == pytest.approx(0.7093, abs=5e-5)
    assert RougeL("best-reference").score_segment(segment) == pytest.approx(0.4485, abs=5e-5)
    with pytest.raises(UnknownNameError, match="ROUGE-L variant"):
        RougeL("rouge")


@settings(deadline=None)
@given(SENTENCE.map(str.split), SENTENCE.map(str.split))
def test_common_subsequence_equals_the_table(first: list[str], second: list[str]) -> None:
    table = np.zeros((len(first) + 1, len(second) + 1), int)
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            table[i + 1, j + 1] = table[i, j] + 1 if a == b else max(table[i, j + 1], table[i + 1, j])
    assert common_length(positions(first), len(first), second) == table[-1, -1]


def test_cider_of_one_segment_is_zero_and_says_so() -> None:
    result = score_pairs([TextPair("a b", ("a b",))], ["CIDEr"])
    assert result.scores["CIDEr"].value == 0
    assert "CIDEr of a single segment is 0 by definition" in result.table()


def test_cider_of_perfect_segments_is_ten() -> None:
    sentences = ["a b c d e", "f g h i j", "k l m n o"]
    metric = Cider()
    metric.prepare([[s] for s in sentences])
    rows = metric.statistics([Segment(s, (s,)) for s in sentences])
    assert metric.segment_scores(rows) == pytest.approx(np.full((3, 1), 10.0))


def test_nist_weighs_words_by_their_information() -> None:
    """Doddington 2002, equation 2, by hand: `a` is 2 of 4 words (1 bit), `b` 1 of 4 (2 bits), `a b` 1 of 2 (1 bit)."""
    references = [("a b",), ("a c",)]
    metric = Nist()
    metric.prepare(references)
    rows = metric.statistics([Segment("a b", references[0]), Segment("a c", references[1])])
    assert metric.score(rows[0])[0] == pytest.approx((1 + 2) / 2 + 1)
    assert metric.score(rows.sum(axis=0))[0] == pytest.approx((1 + 2 + 1 + 2) / 4 + 2 / 2)


@settings(deadline=None, max_examples=50)
@given(ROWS)
def test_chrf_and_ter_are_sacrebleus(rows: list[tuple[str, list[str]]]) -> None:
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.metrics.ter import TER

    # sacreBLEU's chrF takes the first of equally good references, ours the first in alphabetical order.
    rows = [(hypothesis, sorted(refs)) for hypothesis, refs in rows]
    width = max(len(refs) for _, refs in rows)
    streams = [[refs[i] if i < len(refs) else None for _, refs in rows] for i in range(width)]
    hypotheses = [h for h, _ in rows]
    for ours, theirs in ((Chrf(), CHRF()), (Ter(), TER())):
        value = ours.score(ours.statistics([Segment(h, r) for h, r in rows]).sum(axis=0))[0]
        if not np.isnan(value):
            assert value == pytest.approx(theirs.corpus_score(hypotheses, streams).score / 100, abs=1e-9)


@settings(deadline=None, max_examples=50)
@given(ROWS)
def test_scores_with_the_same_hash_do_not_depend_on_the_order_of_references(rows: list[tuple[str, list[str]]]) -> None:
    hypotheses, references = zip(*rows, strict=True)
    for preset in ("e2e", "nlg-eval"):
        found = score(hypotheses, references, metrics=NAMES, preset=preset).scores
        turned = score(hypotheses, [refs[::-1] for refs in references], metrics=NAMES, preset=preset).scores
        assert {name: one.hash for name, one in found.items()} == {name: one.hash for name, one in turned.items()}
        for name, one in found.items():
            assert turned[name].value == pytest.approx(one.value, abs=1e-9), name


@pytest.mark.parametrize(
    ("sentence", "tokens"),
    [
        # What Stanford CoreNLP 3.4.1's PTBTokenizer -lowerCase gives, less coco-caption's punctuation.
        ("Cheap (£20-25), kid-friendly.", "cheap -lrb- # 20-25 -rrb- kid-friendly"),
        ("It's near The Mill. You can't miss Fitzbillies'.", "it 's near the mill you ca n't miss fitzbillies"),
        ("a 5-star pub, 4.5 out of 5.", "a 5-star pub 4.5 out of 5"),
        ("I cannot see a bird's-eye view at 9 a.m. ...", "i can not see a bird 's eye view at 9 a.m."),
        ("naïve — “quotes” … 茶", "naïve quotes 茶"),
        (
            "It’s a ‘nice’ 5–6 stars – can’t miss the “Eagle’s” nest…",
            "it 's a nice 5 6 stars ca n't miss the eagle 's nest",
        ),
    ],
)
def test_ptb_tokens_are_corenlps(sentence: str, tokens: str) -> None:
    assert " ".join(split_ptb(sentence)) == tokens


def test_every_signature_names_score_preset_and_tokeniser() -> None:
    for preset in PRESETS:
        for item in select(preset, NAMES):
            for name in item.names:
                signature = item.metric.signature(name, preset)
                assert signature.startswith(f"{name}|") and signature.endswith(f"|preset:{preset}")
                assert "tok:" in signature or "nc:" in signature


def test_names_in_registry_and_scores_are_those_of_the_classes() -> None:
    """They are written out there, because the classes are imported late."""
    from dactnlg.evaluation.scores import LOWER_IS_BETTER
    from dactnlg.metrics import perplexity
    from dactnlg.metrics.diversity import SelfBleu
    from dactnlg.metrics.registry import GROUPS
    from dactnlg.metrics.sample_sets import SetBleu, SetPerplexity

    assert (GROUPS["set-BLEU"], GROUPS["set-perplexity"]) == (SetBleu.names, SetPerplexity.names)
    assert {"SER", "TER", *perplexity.NAMES, *SetPerplexity.names, *SelfBleu.names} == LOWER_IS_BETTER
