"""Recombined pairs: each says its act, in sentences of the corpus, and none is a pair that it has already."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dactnlg import models
from dactnlg.acts import parse
from dactnlg.data.corpus import load_corpus
from dactnlg.data.pairs import TrainingData, build_preprocessor
from dactnlg.errors import WorkerError
from dactnlg.models.weights import load_arrays
from dactnlg.runs.config import load_config
from dactnlg.text.example import Pair
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.segments import faults
from dactnlg.text.sentences import split_sentences
from dactnlg.text.style import Style
from dactnlg.text.values.casing import Casing
from dactnlg.training.augmentation.recombination import recombine
from dactnlg.training.devices.workers import Cluster
from dactnlg.training.train import train

SMALL = ["training.epochs=1", "training.batch_size=128", "model.hidden_size=24", "model.embedding_size=16"]


@pytest.fixture(scope="module")
def data() -> TrainingData:
    """Return the pairs of the embedded corpus, with their preprocessor."""
    return build_preprocessor(load_corpus("trails"))


def test_recombined_pairs_say_their_acts_in_words_of_the_corpus(data: TrainingData) -> None:
    found = recombine(data.preprocessor, data.pairs, 500, seed=1)
    assert len(found) == 500
    known = {part for pair in data.pairs for part in split_sentences(pair.tokens)}
    slots = {(act.act_type, slot.name) for pair in data.pairs for act, slot in pair.turn.slots()}
    new = {pair.tokens for pair in found} - {pair.tokens for pair in data.pairs}
    assert len(new) > 400
    for pair in found:
        assert faults(data.preprocessor, pair.turn, pair.tokens) == ()
        assert all((act.act_type, slot.name) in slots for act, slot in pair.turn.slots())
        parts = split_sentences(pair.tokens)
        assert all(part in known for part in parts[:-1]) and (parts[-1] in known or parts[-1][0] == "it")


def test_combinations_are_new_and_shorter_and_longer(data: TrainingData) -> None:
    seen = {frozenset(slot.name for _, slot in pair.turn.slots()) for pair in data.pairs}
    found = [
        frozenset(slot.name for _, slot in pair.turn.slots())
        for pair in recombine(data.preprocessor, data.pairs, 300, 2)
    ]
    assert sum(names not in seen for names in found) > 100
    assert min(map(len, found)) == 1 and max(map(len, found)) > max(map(len, seen))


def test_the_context_stays_with_the_first_sentence(data: TrainingData) -> None:
    said = [replace(pair, context=f"call {number}") for number, pair in enumerate(data.pairs)]
    found = recombine(data.preprocessor, said, 200, 1)
    assert [replace(pair, context="") for pair in found] == recombine(data.preprocessor, data.pairs, 200, 1)
    begins = {pair.context: split_sentences(pair.tokens) for pair in said}
    kept = [set(split_sentences(pair.tokens)) & set(begins[pair.context]) for pair in found]
    assert sum(map(bool, kept)) > 150


def test_recombination_depends_on_the_seed(data: TrainingData) -> None:
    one, same, other = (recombine(data.preprocessor, data.pairs, 50, seed) for seed in (3, 3, 4))
    assert one == same and one != other


def test_without_statements_nothing_is_recombined(data: TrainingData) -> None:
    questions = [pair for pair in data.pairs if pair.turn.acts[0].act_type.startswith("?")]
    assert questions and recombine(data.preprocessor, questions, 5, 1) == []
    assert recombine(data.preprocessor, [], 5, 1) == []


def test_training_with_recombination_is_different_and_reproducible(few_pairs: Path, tmp_path: Path) -> None:
    few, weights = [*SMALL, f"corpus.name={few_pairs}"], []
    for place, share in enumerate(["0", "0.5", "0.5"]):
        config = load_config("trails-sclstm", [*few, f"training.recombination={share}"], models)
        run = train(config, tmp_path / str(place), progress=False)
        weights.append({name: array.tolist() for name, array in load_arrays(run.weights_path).items()})
    assert weights[0] != weights[1] == weights[2]


def test_recombination_is_refused_with_several_processes(tmp_path: Path) -> None:
    config = load_config("trails-sclstm", ["training.recombination=1", "training.backend=keras"], models)
    with pytest.raises(WorkerError, match=r"training\.recombination"):
        train(config, tmp_path / "run", cluster=Cluster(addresses=("localhost:8701", "localhost:8702")))


def test_questions_and_turns_of_several_acts_are_recombined() -> None:
    said = [
        ("inform(count=3)&request(food)", "there are 3 . what food would you like ?"),
        (
            "inform(count=4)&impl-conf(area=north)&request(food)",
            "there are 4 in the north . what food would you like ?",
        ),
        ("request(pricerange)", "which price range do you want ?"),
        ("request(area)", "which area do you want ?"),
        ("offer(name=aba)&inform(phone=12)", "the phone number of aba is 12 ."),
        ("offer(name=aba)&inform(area=north)", "aba is in the north ."),
        (
            "offer(name=aba)&inform(phone=12)&inform(food=thai)",
            "aba serves thai and it is in demand . the phone number is 12 .",
        ),
    ]
    style = Style(cased=False, spaced=True, aliases={}, cues={}, silent=())
    pairs = [
        Pair(turn, None, style.delexicalizer().delexicalize(turn, text).tokens)
        for turn, text in ((parse(act), text) for act, text in said)
    ]
    preprocessor = Preprocessor.build(pairs, None, Casing(), style)
    found = {(str(pair.turn), " ".join(pair.tokens)) for pair in recombine(preprocessor, pairs, 200, 1)}
    assert ("inform(count=3)&request(area)", "there are SLOT_COUNT . which area do you want ?") in found
    # It does not ask for what it has just said.
    assert not any("impl-conf(area" in act and "request(area)" in act for act, _ in found)
    both = "offer(name=aba)&inform(phone=12)&inform(area=north)"
    assert (both, "the phone number of SLOT_NAME is SLOT_PHONE . it is in the SLOT_AREA .") in found
