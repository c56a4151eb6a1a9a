"""Trigger words: the words that express special values, and searches whose sentences may not end without one."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from keras import ops

from dactnlg.acts import parse
from dactnlg.models.backend import to_numpy
from dactnlg.search import keras_beam, numpy_beam
from dactnlg.search.constraints import RequireWords, Rules
from dactnlg.search.hypotheses import hypotheses
from dactnlg.search.numpy_step import ConstrainedStep
from dactnlg.text.slots import SlotChecker
from dactnlg.text.trigger_words import learn_trigger_words, trigger
from dactnlg.text.values.delexicalization import Delexicalizer

CUES = {"kids": {"yes": [r"(?<!no )kids|child\w*"], "no": ["no kids"], "dontcare": ["any age"]}}
BOS, EOS = 0, 1


def test_yes_and_no_share_their_trigger_words_and_other_values_have_their_own() -> None:
    checker = SlotChecker(Delexicalizer(), CUES)
    rows = [
        ("inform(name=a;kids=yes)", "SLOT_NAME is for kids"),
        ("inform(name=a;kids=no)", "SLOT_NAME has no kids"),
        ("inform(name=a;kids=yes)", "SLOT_NAME is for children"),
        ("inform(name=a;kids=dontcare)", "SLOT_NAME is for any age"),
        ("inform(name=a)", "SLOT_NAME is for any taste"),
        ("inform(name=a)", "this is SLOT_NAME , it has charm"),
    ]
    found = learn_trigger_words([(parse(act), sentence.split()) for act, sentence in rows], checker)
    assert found == {"kids": ("kids", "children"), "kids=dontcare": ("age",)}
    assert trigger("kids=no") == trigger("kids=yes") == "kids" and trigger("kids=dontcare") == "kids=dontcare"
    # There are no trigger words without a distinctive word, and none without cues.
    assert learn_trigger_words([(parse("inform(kids=yes)"), ["so"])], SlotChecker(Delexicalizer(), CUES)) == {}
    assert (
        learn_trigger_words([(parse(act), sentence.split()) for act, sentence in rows], SlotChecker(Delexicalizer()))
        == {}
    )


def toy(seed: int, size: int, length: int) -> tuple[np.ndarray, Any]:
    """Return a table of log probabilities, (T, V, V), and the step of a model that looks them up by place and word."""
    table = np.random.default_rng(seed).normal(size=(length, size, size)).astype(np.float32) * 2
    table -= np.log(np.exp(table).sum(-1, keepdims=True))
    return table, lambda state, last, owner: (table[state[0][:, 0].astype(int), last].copy(), [state[0] + 1])


@pytest.mark.parametrize("seed", range(12))
def test_a_wide_search_finds_the_best_sentences_with_a_word_of_every_set(seed: int) -> None:
    size, length, width = 6, 5, 300
    table, step = toy(seed, size, length)
    # Two sets that share the word 3.
    words = np.zeros((size, 3), bool)
    words[[2, 3], 0] = words[[3, 4], 1] = words[5, 2] = True
    owed = np.array([[1.0, 1.0, 0.0]], np.float32)
    rules = Rules(BOS, EOS, (BOS,), (RequireWords(words),))
    state = [np.zeros((1, 1), np.float32), owed]
    found = numpy_beam.beam_search(
        ConstrainedStep(step, rules), state, rules, width=width, max_length=length, keep=width
    )[0]
    expected = []
    for count in range(length):
        for path in itertools.product(range(2, size), repeat=count):
            if {2, 3} & set(path) and {3, 4} & set(path):
                line = [BOS, *path, EOS]
                expected.append((float(sum(table[t, line[t], line[t + 1]] for t in range(count + 1))), path))
    expected.sort(reverse=True)
    best = [h for h in found if h.finished][:20]
    assert [h.tokens for h in best] == [path for _, path in expected[:20]]
    np.testing.assert_allclose([h.score for h in best], [score for score, _ in expected[:20]], rtol=1e-4)

    def keras_step(state: dict[str, Any], tokens: Any) -> tuple[Any, dict[str, Any]]:
        index = ops.cast(state["place"][:, 0] * size, "int32") + tokens
        return ops.take(ops.reshape(table, (-1, size)), index, axis=0), {"place": state["place"] + 1}

    start = keras_beam.repeated({"place": ops.zeros((1, 1))}, width)
    parts = keras_beam.beam_search(
        keras_step, start, [ops.convert_to_tensor(owed)], rules, width=width, max_length=length, keep=width
    )
    other = [h for h in hypotheses(*[to_numpy(part) for part in parts], eos=EOS)[0] if h.finished][:20]
    assert [h.tokens for h in other] == [h.tokens for h in best]
