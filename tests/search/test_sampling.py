"""Sampling from scripted models, whose exact probabilities are computed by hand, and from poor models."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toys import BOS, EOS, HARD, KINDS, PLAIN, exact_log_softmax, numpy_step_of, random_table, required_slots, start

from dactnlg.cli.main import main
from dactnlg.data.corpus import load_corpus
from dactnlg.errors import UserError
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.search import numpy_step
from dactnlg.search.constraints import Rules
from dactnlg.search.numpy_beam import beam_search
from dactnlg.search.numpy_step import Step
from dactnlg.search.sampling import Sampling, chances, draw, sample


def drawn(step: Step, state: list[Any], sampling: Sampling, count: int, length: int, seed: int = 7) -> Any:
    """Draw `count` sentences for every row of the state; return a list for each row."""
    batch = len(state[0])
    owner = np.repeat(np.arange(batch), count)
    numbers = chances(seed, range(batch), range(count), length)
    found = sample(step, state, numbers, sampling, owner=owner, rules=PLAIN)
    return [found[row * count : (row + 1) * count] for row in range(batch)]


def filtered(probabilities: list[float], sampling: Sampling) -> list[float]:
    """Return the distribution to draw a token from, computed token by token from the definitions."""
    heated = [p ** (1 / sampling.temperature) for p in probabilities]
    ranked = sorted(range(len(heated)), key=lambda word: (-heated[word], word))
    ranked = ranked[: sampling.top_k or None]
    mass, nucleus = sum(heated[word] for word in ranked), []
    for word in ranked:
        nucleus.append(word)
        if sum(heated[word] for word in nucleus) >= sampling.top_p * mass:
            break
    total = sum(heated[word] for word in nucleus)
    return [heated[word] / total if word in nucleus else 0.0 for word in range(len(heated))]


def sentence_probability(table: np.ndarray, words: tuple[int, ...], sampling: Sampling) -> float:
    """Return the probability of a sentence under one row's table; it may be cut off at the table's end."""
    length, path = len(table), [BOS, *words, EOS]
    steps = min(len(path) - 1, length)
    return math.prod(filtered(np.exp(table[t, path[t]]).tolist(), sampling)[path[t + 1]] for t in range(steps))


@pytest.mark.parametrize(
    "sampling",
    [Sampling(), Sampling(0.5), Sampling(2.0), Sampling(top_k=2), Sampling(top_p=0.7), Sampling(1.5, 3, 0.8)],
)
def test_frequencies_are_the_exact_probabilities(sampling: Sampling) -> None:
    size, length, count = 5, 3, 20_000
    table = random_table(3, 1, size, length, certainty=1.5)
    found = drawn(numpy_step_of(table), start(1), sampling, count, length)[0]
    seen = Counter(h.tokens for h in found)
    sentences = [words for n in range(length + 1) for words in itertools.product(range(2, size), repeat=n)]
    expected = {words: count * sentence_probability(table[0], words, sampling) for words in sentences}
    assert sum(expected.values()) == pytest.approx(count)
    assert all(expected[words] > 0 for words in seen)
    # Chi-square (Pearson 1900); sentences expected less than five times are one class. Mean d, variance 2 d.
    often = [words for words in sentences if expected[words] >= 5]
    rest = count - sum(expected[words] for words in often)
    chi = sum((seen[words] - expected[words]) ** 2 / expected[words] for words in often)
    if rest > 1:
        chi += (count - sum(seen[words] for words in often) - rest) ** 2 / rest
    assert len(often) >= 4
    assert chi < len(often) + 4 * math.sqrt(2 * len(often))


@pytest.mark.parametrize("seed", range(8))
def test_sampling_without_temperature_is_greedy(seed: int) -> None:
    step, state = numpy_step_of(random_table(seed, 4, 8, 9, certainty=1.5)), start(4)
    greedy = beam_search(step, state, PLAIN, width=1, max_length=9)
    for sampling in (Sampling(0.0), Sampling(1e-5), Sampling(1e-300), Sampling(top_k=1), Sampling(3.0, top_p=1e-9)):
        with np.errstate(over="ignore"):
            found = drawn(step, state, sampling, 2, 9)
        for ours, best in zip(found, greedy, strict=True):
            assert [h.tokens for h in ours] == [best[0].tokens] * 2
            assert [h.finished for h in ours] == [best[0].finished] * 2
            # The score is the model's own, whatever the temperature.
            assert ours[0].score == pytest.approx(best[0].score, rel=1e-5)


probabilities = st.lists(st.sampled_from([0.0, 0.01, 0.1, 0.25, 1.0, 3.0]), min_size=2, max_size=9)


@given(
    probabilities.filter(any),
    st.floats(0, 1, exclude_max=True),
    st.floats(0.01, 100),
    st.integers(0, 12),
    st.floats(0.01, 1.0),
)
def test_draws_stay_within_top_k_and_top_p(
    weights: list[float], chance: float, temperature: float, top_k: int, top_p: float
) -> None:
    sampling = Sampling(temperature, top_k, top_p)
    with np.errstate(divide="ignore"):
        row = np.maximum(np.log(np.array([weights]) / sum(weights)), -1e9).astype(np.float32)
    (word,) = draw(row, np.array([chance]), sampling)
    assert weights[word] > 0
    if top_k:
        assert sum(other > weights[word] for other in weights) < top_k
    # The more probable words alone must not have reached the mass.
    left = sorted((w ** (1 / temperature) for w in weights), reverse=True)[: top_k or None]
    before = sum(w for w in left if w > weights[word] ** (1 / temperature))
    assert before < top_p * sum(left) * (1 + 1e-6)


def test_the_largest_number_draws_the_last_possible_token() -> None:
    row = np.log(np.array([[0.5, 0.5, 0.0]]) + 1e-300).astype(np.float32)
    row[0, 2] = -1e9
    for sampling in (Sampling(), Sampling(top_p=0.999999), Sampling(top_k=2)):
        assert draw(row, np.array([np.nextafter(1.0, 0)]), sampling) == [1]
        assert draw(row, np.array([0.0]), sampling) == [0]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("temperature", [1e-320, 1e-300])
def test_a_temperature_next_to_nothing_takes_the_best_word_without_a_warning(temperature: float) -> None:
    row = np.log(np.array([[0.2, 0.7, 0.1]], np.float32))
    assert draw(row, np.array([0.999]), Sampling(temperature)) == [1]


@pytest.mark.parametrize("sampling", [Sampling(), Sampling(1e12), Sampling(top_k=2), Sampling(0.8, top_p=0.5)])
def test_the_hard_constraint_holds_at_any_temperature(sampling: Sampling) -> None:
    required = required_slots(5, 12)
    step = numpy_step_of(random_table(5, 12, 9, 40, certainty=1.5), Rules(BOS, EOS, (BOS, 8), HARD.constraints))
    found = drawn(step, [*start(12), required], sampling, 20, 40)
    finished = 0
    for row, sentences in zip(required, found, strict=True):
        for sentence in sentences:
            generated = Counter(KINDS[word] for word in sentence.tokens if KINDS[word] >= 0)
            assert 8 not in sentence.tokens
            assert all(generated[kind] <= row[kind] for kind in range(3))
            if sentence.finished:
                finished += 1
                assert [generated[kind] for kind in range(3)] == row.tolist()
    assert finished > 200


def test_a_sentence_depends_on_its_seed_and_place_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numpy_step, "log_softmax", exact_log_softmax)
    table = random_table(9, 6, 7, 9, certainty=1.5)
    step = numpy_step_of(table)
    together = drawn(step, start(6), Sampling(), 3, 9)
    assert len({h.tokens for row in together for h in row}) > 10
    for row in range(6):
        numbers = chances(7, [row], range(1, 3), 9)
        alone = numpy_step_of(table[row : row + 1])
        found = sample(alone, start(1), numbers, Sampling(), owner=np.zeros(2, np.intp), rules=PLAIN)
        assert found == together[row][1:]
    assert drawn(step, start(6), Sampling(), 3, 9, seed=8) != together
    nothing = chances(1, [], range(1), 9)
    assert sample(step, start(6), nothing, Sampling(), owner=np.zeros(0, np.intp), rules=PLAIN) == []


@pytest.mark.parametrize("wrong", [{"temperature": -1.0}, {"temperature": math.nan}, {"top_k": -1}, {"top_p": 0.0}])
def test_impossible_options_are_refused(wrong: dict[str, float]) -> None:
    given = {"temperature": None, "top_k": None, "top_p": None, **wrong}
    with pytest.raises(UserError, match=next(iter(wrong))):
        Sampling().changed(**given)  # type: ignore[arg-type]


@pytest.fixture(scope="module", params=["sclstm", "hierarchical"])
def run(request: pytest.FixtureRequest, poor_run: Callable[[str], Path]) -> Path:
    return poor_run(request.param)


@pytest.fixture(scope="module")
def generator(run: Path) -> Generator:
    return Generator.load(run)


@pytest.mark.parametrize(("model", "every"), [("sclstm", 1), ("hierarchical", 1), ("transformer", 4)])
def test_a_model_samples_what_it_must_under_the_hard_constraint(
    poor_run: Callable[[str], Path], model: str, every: int
) -> None:
    # Steps of the Transformer, which run in Keras, take longer.
    generator, corpus = Generator.load(poor_run(model)), load_corpus("trails")
    turns = [example.turn for example in corpus.split("test")[::every]]
    checker = corpus.card.style().checker()
    results = generator.generate(turns, GenerationOptions(constraint="hard", sample=True, temperature=1.3))
    assert Counter(result.origin for result in results)["model"] > len(turns) / 3
    for turn, result in zip(turns, results, strict=True):
        # A draw may put "am" after a count, which makes it a clock time, so that the count is not found.
        if not re.search(r"\d [ap]m\b", result.raw):
            assert not checker.check(turn, result.raw).values.missing, result
        assert "SLOT_" not in result.text + result.raw


def test_samples_depend_on_place_and_seed_alone(generator: Generator) -> None:
    turns = [example.turn for example in load_corpus("trails").split("valid")][:40]
    sampled = GenerationOptions(sample=True, seed=3)
    texts = [result.text for result in generator.generate(turns, sampled)]
    parts = [generator.generate([turn], sampled, first=place)[0] for place, turn in enumerate(turns)]
    assert [result.text for result in parts] == texts
    free = GenerationOptions(sample=True, constraint="none", seed=3)
    one, five = (generator.generate(turns, replace(free, n_best=n)) for n in (1, 5))
    assert [result.text for result in one] == [result.text for result in five]
    assert [r.text for r in generator.generate(turns, GenerationOptions(sample=True, seed=4))] != texts
    assert [r.text for r in generator.generate(turns, GenerationOptions(seed=3))] != texts
    # The same act gets different sentences in different places.
    assert len({result.text for result in generator.generate(["goodbye()"] * 20, GenerationOptions(sample=True))}) > 3


def test_samples_are_in_the_order_drawn_unless_reranked(generator: Generator) -> None:
    act = "inform(name='Red Kite Ridge';difficulty=easy)"
    plain = generator.generate([act], GenerationOptions(sample=True, constraint="none", n_best=12))[0].n_best
    scores = [best.score or 0.0 for best in plain]
    assert scores != sorted(scores, reverse=True), "in the order drawn"
    reranked = GenerationOptions(sample=True, constraint="rerank", beam_width=12, n_best=12)
    ranked = generator.generate([act], reranked)[0].n_best
    assert Counter(best.delexicalized for best in ranked) == Counter(best.delexicalized for best in plain)
    assert ranked[0].slots_ok or not any(best.slots_ok for best in plain)
    assert all(generator.generate([act], GenerationOptions(sample=True, constraint="hard", n_best=3))[0].n_best)


def test_options_override_the_sampling_of_a_run(run: Path) -> None:
    generator = Generator.load(run)
    acts = ["goodbye()", "?request(region)"] * 5
    searched, drawn = generator.generate(acts), generator.generate(acts, GenerationOptions(top_k=5, seed=2))
    generator.defaults = generator.defaults.model_copy(update={"sample": True, "top_k": 5})
    assert generator.generate(acts, GenerationOptions(seed=2)) == drawn
    assert generator.generate(acts, GenerationOptions(sample=False)) == searched != drawn
    greedy = generator.generate(acts, GenerationOptions(temperature=0.0, constraint="none"))
    assert [r.text for r in greedy] == [
        r.text for r in generator.generate(acts, GenerationOptions(sample=False, beam_width=1, constraint="none"))
    ]
    with pytest.raises(UserError, match="turned off"):
        generator.generate(acts, GenerationOptions(sample=False, temperature=0.5))


def test_numpy_and_keras_draw_the_same(run: Path, generator: Generator) -> None:
    keras = Generator.load(run, backend="keras")
    turns = [example.turn for example in load_corpus("trails").split("valid")][:20]
    ours, theirs = (g.generate(turns, GenerationOptions(sample=True, n_best=2, top_p=0.9)) for g in (generator, keras))
    same = sum(a.text == b.text for a, b in zip(ours, theirs, strict=True))
    # A number on the border between two words may select either.
    assert same >= len(turns) - 1


WRONG = [
    (["--top-p", "0"], "0.0 is not in the range 0.0<x<=1.0"),
    (["--top-p", "1.5"], "1.5 is not in the range 0.0<x<=1.0"),
    (["--temperature", "-1"], "--temperature"),
    (["--top-k", "many"], "--top-k"),
    (["--no-sample", "--temperature", "0.5"], "turned off"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_bad_sampling_options_are_usage_errors(
    options: list[str], message: str, random_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["generate", "--model", str(random_run), "goodbye()", *options]) == 2
    told = capsys.readouterr()
    assert told.out == "" and message in told.err


def test_the_command_draws_by_line(neural_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--sample", "--temperature=0.8", "--top-k=50", "--seed=4", "--n-best=3", "--constraint=none"]

    def lines(*acts: str) -> list[str]:
        assert main(["generate", "--model", str(neural_run), *options, *acts]) == 0
        return capsys.readouterr().out.splitlines()

    found = lines(*["goodbye()"] * 4, "?request(region)")
    assert [len(line.split("\t")) for line in found] == [3] * 5
    assert len(set(found[:4])) > 1
    assert lines(*["goodbye()"] * 2) == found[:2]
