"""Training arrays: nothing is lost or counted twice on the way from pairs to batches, and padding is only padding."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dactnlg.acts import parse
from dactnlg.data.batching import Batch, Dataset, bucket
from dactnlg.data.pairs import TrainingData
from dactnlg.text.example import Pair
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.style import Style
from dactnlg.text.values.casing import Casing
from dactnlg.text.vocabulary import BOS_ID, EOS_ID, PAD_ID

ACTS = ["inform(name=a)", "inform(name=b)", "inform(food='a b c')", "inform(name=a;food=dontcare)", "goodbye()"]
# Long enough for several buckets.
SENTENCES = ["bye", "SLOT_NAME is good", "SLOT_NAME is good and so is SLOT_FOOD", "good " * 30, "good " * 33, "is " * 3]
PAIRS = st.builds(
    lambda act, sentence, corpus: Pair(parse(act), corpus, tuple(sentence.split())),
    st.sampled_from(ACTS),
    st.sampled_from(SENTENCES),
    st.sampled_from([None, "tv"]),
)
SPLITS = st.lists(PAIRS, min_size=1, max_size=25)
Names = tuple[str, ...]
ACT: Names = ("act",)
ALL: Names = ("act", "entries", "words")


def preprocessor_of(pairs: list[Pair]) -> Preprocessor:
    return Preprocessor.build(pairs, None, Casing(), Style(False, True, {}, {}, ()))


def look(preprocessor: Preprocessor, pair: Pair, names: Names) -> tuple[bytes, ...]:
    """Return what a model with these arrays sees of one pair, encoded alone and stripped of padding."""
    act = preprocessor.encoder.vectors([pair.turn], [pair.corpus]).tobytes()
    tokens = " ".join(pair.tokens).encode()
    if names == ACT:
        return act, tokens
    entries, words = preprocessor.encoder.sequences([pair.turn])
    used = entries[0].any(axis=-1)
    return act, tokens, entries[0][used].tobytes(), b"/".join(row[row > 0].tobytes() for row in words[0][used])


def seen(preprocessor: Preprocessor, batch: Batch, row: int, names: Names) -> tuple[bytes, ...]:
    """Return the same from one row of a batch."""
    words = preprocessor.vocabulary.decode(batch["targets"][row].tolist())
    if names == ACT:
        return batch["act"][row].tobytes(), " ".join(words).encode()
    used = batch["entries"][row].any(axis=-1)
    values = b"/".join(ids[ids > 0].tobytes() for ids in batch["words"][row][used])
    return batch["act"][row].tobytes(), " ".join(words).encode(), batch["entries"][row][used].tobytes(), values


def real_rows(batch: Batch) -> list[int]:
    return np.flatnonzero(batch["lengths"]).tolist()


@given(SPLITS, st.sampled_from([ACT, ALL]), st.sampled_from([1, 2, 4, 7]), st.none() | st.integers(0, 5))
def test_every_pair_is_in_one_batch_of_an_epoch(pairs: list[Pair], names: Names, size: int, seed: int) -> None:
    preprocessor = preprocessor_of(pairs)
    data = Dataset.encode(preprocessor, pairs, names)
    rng = None if seed is None else np.random.default_rng(seed)
    wanted = Counter(look(preprocessor, pair, names) for pair in pairs)
    for _ in range(2):
        found: dict[tuple[bytes, ...], float] = {}
        for batch, _ in data.batches(size, rng):
            for row in real_rows(batch):
                key = seen(preprocessor, batch, row, names)
                assert key not in found, "a pair of pairs that look alike was kept twice"
                found[key] = float(batch["weights"][row])
        # With repetition 1 every pair counts as often as it occurred.
        assert found == wanted


@given(SPLITS, st.sampled_from([ACT, ALL]), st.sampled_from([0.0, 0.5, 1.0]))
def test_weights_are_the_number_of_occurrences_to_a_power(pairs: list[Pair], names: Names, repetition: float) -> None:
    preprocessor = preprocessor_of(pairs)
    data = Dataset.encode(preprocessor, pairs, names, repetition)
    counts = Counter(look(preprocessor, pair, names) for pair in pairs)
    assert len(data) == len(counts)
    np.testing.assert_allclose(sorted(data.weights), sorted(n**repetition for n in counts.values()), rtol=1e-6)
    if repetition == 1.0:
        assert data.weights.sum() == len(pairs)


@given(SPLITS, st.sampled_from([ACT, ALL]), st.sampled_from([1, 3, 8]), st.none() | st.integers(0, 5))
def test_batches_have_the_shape_that_their_rows_need(pairs: list[Pair], names: Names, size: int, seed: int) -> None:
    preprocessor = preprocessor_of(pairs)
    data = Dataset.encode(preprocessor, pairs, names)
    batches = list(data.batches(size, None if seed is None else np.random.default_rng(seed)))
    assert len(batches) == -(-len(data) // size)
    short = [batch for batch, _ in batches if len(real_rows(batch)) < size]
    assert len(short) == (len(data) % size > 0)
    for batch, tokens in batches:
        assert set(batch) == {*names, "tokens", "targets", "lengths", "weights"}
        assert {len(array) for array in batch.values()} == {size}
        lengths, width = batch["lengths"], batch["tokens"].shape[1]
        assert tokens == lengths.sum()
        assert width == bucket(lengths.max()) == batch["targets"].shape[1]
        for row in real_rows(batch):
            length = int(lengths[row])
            line, targets = batch["tokens"][row], batch["targets"][row]
            assert line[0] == BOS_ID and targets[length - 1] == EOS_ID
            # The input is the target of the step before.
            np.testing.assert_array_equal(line[1:length], targets[: length - 1])
            assert (targets[: length - 1] > EOS_ID).all()
            assert (line[length + 1 :] == PAD_ID).all() and (targets[length:] == PAD_ID).all()


@given(st.integers(1, 400))
def test_padded_lengths_are_few(length: int) -> None:
    padded = bucket(length)
    step = 4 if length <= 32 else 16
    assert padded % step == 0 and 0 <= padded - length < step
    assert bucket(padded) == padded <= bucket(length + 1)


def split_of(count: int) -> tuple[Preprocessor, list[Pair]]:
    """Return pairs that differ, of lengths between 1 and 20, and their preprocessor."""
    chance = random.Random(4)
    turn = parse("inform(name=a)")
    pairs = [Pair(turn, None, (f"w{i}", *["x"] * chance.randrange(20))) for i in range(count)]
    return preprocessor_of(pairs), pairs


def order(data: Dataset, rng: np.random.Generator | None) -> list[tuple[int, ...]]:
    """Return the first word of every row in the order of an epoch."""
    return [tuple(batch["targets"][real_rows(batch), 0].tolist()) for batch, _ in data.batches(8, rng)]


def test_only_the_generator_decides_the_order() -> None:
    preprocessor, pairs = split_of(100)
    data = Dataset.encode(preprocessor, pairs, ACT)
    np.random.seed(1)
    random.seed(1)
    one = order(data, np.random.default_rng(3))
    np.random.seed(2)
    random.seed(2)
    assert order(data, np.random.default_rng(3)) == one
    rng = np.random.default_rng(3)
    epochs = [order(data, rng) for _ in range(3)]
    assert epochs[0] == one
    assert epochs[0] != epochs[1] != epochs[2]
    # Not only the batches change places: who shares a batch changes too.
    assert {frozenset(rows) for rows in epochs[0]} != {frozenset(rows) for rows in epochs[1]}


def test_without_a_generator_the_shortest_come_first_always_alike() -> None:
    preprocessor, pairs = split_of(50)
    data = Dataset.encode(preprocessor, pairs, ACT)
    assert order(data, None) == order(data, None)
    lengths = [n for batch, _ in data.batches(8) for n in batch["lengths"][real_rows(batch)]]
    assert lengths == sorted(len(pair.tokens) + 1 for pair in pairs)


def test_sentences_of_like_length_share_a_batch() -> None:
    preprocessor, pairs = split_of(400)
    data = Dataset.encode(preprocessor, pairs, ACT)
    for batch, _ in data.batches(8, np.random.default_rng(1)):
        lengths = batch["lengths"][real_rows(batch)]
        assert lengths.max() - lengths.min() <= 4, "the noise is at most 1.5 on either side, and neighbours are near"


def test_batches_come_in_no_order_of_length() -> None:
    preprocessor, pairs = split_of(400)
    data = Dataset.encode(preprocessor, pairs, ACT)
    longest = [int(batch["lengths"].max()) for batch, _ in data.batches(8, np.random.default_rng(1))]
    steps = np.abs(np.diff(longest))
    assert steps.max() > 10 and (steps > 3).mean() > 0.3


def test_a_batch_may_be_changed_without_harm_to_the_data() -> None:
    preprocessor, pairs = split_of(10)
    data = Dataset.encode(preprocessor, pairs, ALL)
    before = order(data, None)
    for batch, _ in data.batches(8):
        for array in batch.values():
            array[:] = 1
    assert order(data, None) == before
    assert data.lengths.tolist() == [len(pair.tokens) + 1 for pair in pairs]


def test_a_batch_of_padding_has_the_shape_of_a_real_one() -> None:
    preprocessor, pairs = split_of(10)
    data = Dataset.encode(preprocessor, pairs, ALL)
    real, _ = next(iter(data.batches(4)))
    empty = data.empty(4, real["tokens"].shape[1])
    assert {name: (a.shape, a.dtype) for name, a in empty.items()} == {
        name: (a.shape, a.dtype) for name, a in real.items()
    }
    assert not empty["lengths"].any() and not empty["tokens"].any() and not empty["targets"].any()


def test_values_make_a_pair_another_only_for_the_model_that_sees_them() -> None:
    pairs = [Pair(parse(f"inform(name={value})"), None, ("SLOT_NAME", "is", "good")) for value in "abca"]
    preprocessor = preprocessor_of(pairs)
    assert Dataset.encode(preprocessor, pairs, ACT).weights.tolist() == [4.0]
    assert Dataset.encode(preprocessor, pairs, ALL).weights.tolist() == [2.0, 1.0, 1.0]
    assert Dataset.encode(preprocessor, pairs, ALL, 0.5).weights.tolist() == pytest.approx([2**0.5, 1.0, 1.0])


@pytest.mark.parametrize("names", [ACT, ALL])
def test_a_real_corpus_keeps_its_weight_and_its_words(
    names: Names, training_data: Callable[[str], TrainingData]
) -> None:
    preprocessor, pairs = training_data("restaurants")
    data = Dataset.encode(preprocessor, pairs, names)
    assert data.weights.sum() == len(pairs) > 3000
    assert len(data) == len({look(preprocessor, pair, names) for pair in pairs}) < len(pairs)
    words = weighted = 0.0
    for batch, tokens in data.batches(64, np.random.default_rng(1)):
        words += tokens
        weighted += float((batch["lengths"] * batch["weights"]).sum())
    assert words == data.lengths.sum()
    assert weighted == sum(len(pair.tokens) + 1 for pair in pairs)
