"""The embedded corpus: its card is true, its sentences say their acts, and it can be rebuilt."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from dactnlg.acts import Turn, parse
from dactnlg.data.corpus import SPLITS, Corpus
from dactnlg.text.slots import SlotChecker
from dactnlg.text.surface import detokenize, tokenize
from dactnlg.text.values.delexicalization import Delexicalizer
from dactnlg.text.values.realization import realize


@pytest.fixture(scope="module")
def corpus(corpora: Callable[[str], Corpus]) -> Corpus:
    return corpora("trails")


@pytest.fixture(scope="module")
def pairs(corpus: Corpus) -> list[tuple[Turn, str]]:
    return [pair for split in SPLITS for pair in corpus.pairs(split)]


@pytest.fixture(scope="module")
def source(repository: Path) -> dict[str, Any]:
    text = (repository / "datasets/trails/patterns.yaml").read_text(encoding="utf-8")
    data: dict[str, Any] = yaml.load(text, Loader=yaml.BaseLoader)
    return data


def combination(turn: Turn) -> tuple[object, ...]:
    """Return what is left of a turn without its ordinary values."""
    return tuple((act.act_type, tuple(sorted((s.name, s.special or "") for s in act.slots))) for act in turn)


def said(value: str, sentence: str) -> bool:
    """Whether a value stands in a sentence between token boundaries; written without the package's own matcher."""
    orders = [value, *(" or ".join(reversed(value.split(" or "))) for _ in [0] if " or " in value)]
    return any(re.search(rf"(?<!\w){re.escape(order)}(?!\w)", sentence, re.IGNORECASE) for order in orders)


def test_build_reproduces_the_files(repository: Path, tmp_path: Path) -> None:
    folder = repository / "datasets/trails"
    subprocess.run([sys.executable, folder / "build.py", tmp_path], cwd=tmp_path, check=True, env=_path(repository))
    for split in SPLITS:
        assert (tmp_path / f"{split}.jsonl").read_bytes() == (folder / f"{split}.jsonl").read_bytes(), split


def _path(repository: Path) -> dict[str, str]:
    # Hash randomisation on: sets must not decide anything.
    return {"PYTHONPATH": str(repository), "PYTHONHASHSEED": "random", "PYTHONDONTWRITEBYTECODE": "1"}


def test_sizes_and_digests_are_as_the_card_says(corpus: Corpus) -> None:
    pairs = {split: len(list(corpus.pairs(split))) for split in SPLITS}
    assert pairs == corpus.card.splits
    assert 1900 <= pairs["train"] <= 2100
    assert [len(corpus.split(split)) for split in SPLITS] == [1180, 300, 300]
    for split, file in corpus.card.files.items():
        assert hashlib.sha256(corpus.path(split).read_bytes()).hexdigest() == file.sha256, split


def test_acts_slots_and_patterns_are_as_the_card_says(corpus: Corpus, pairs: list[tuple[Turn, str]]) -> None:
    act_types = {act.act_type for turn, _ in pairs for act in turn}
    slots = {slot.name for turn, _ in pairs for _, slot in turn.slots()}
    specials = {(slot.name, slot.special) for turn, _ in pairs for _, slot in turn.slots() if slot.special}
    assert f"{len(act_types)} act types, {len(slots)} slots" in corpus.card.notes
    assert len(act_types) >= 8 and len(slots) >= 10
    assert specials == {(name, value) for name, slot in corpus.card.slots.items() for value in slot.cues}
    assert any(len(turn.acts) == 2 for turn, _ in pairs)


def test_patterns_are_many_and_different(corpus: Corpus, source: dict[str, Any]) -> None:
    patterns = [sentence for sentences in source["patterns"].values() for sentence in sentences]
    assert f"{len(patterns)} whole-sentence patterns in {len(source['patterns'])} shapes" in corpus.card.notes
    assert len(patterns) >= 160 and len(set(patterns)) == len(patterns)
    assert f"over {len(source['trails'])} invented trails" in corpus.card.notes
    shapes = {combination(parse(shape)) for shape in source["patterns"]}
    assert len(shapes) == len(source["patterns"]), "two shapes are the same but for the order of slots"
    for shape, sentences in source["patterns"].items():
        named = {tuple(sorted(re.findall(r"\{(?:a )?(\w+)\}", sentence))) for sentence in sentences}
        assert len(named) == 1, f"{shape}: the sentences name different slots"


def test_every_pattern_is_taught(corpus: Corpus, source: dict[str, Any]) -> None:
    sentences = "\n".join(sentence for _, sentence in corpus.pairs("train"))
    for patterns in source["patterns"].values():
        for pattern in patterns:
            first, *rest = re.split(r"\{[^}]*\}", pattern)
            wording = re.escape(first) + "".join(".+" + re.escape(part) for part in rest)
            assert re.search(wording, sentences, re.IGNORECASE), pattern


def strings(node: object) -> Iterator[str]:
    """Yield every string among the values of nested lists and mappings."""
    if isinstance(node, str):
        yield node
    else:
        for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            yield from strings(child)


def test_no_pattern_uses_a_word_of_the_database(source: dict[str, Any]) -> None:
    """A value in the fixed wording would be taken for a slot that the act does not have."""
    values = {value for trail in source["trails"] for value in trail if not value[0].isdigit()} - {"yes", "no", "none"}
    fixed = [source[part] for part in ("patterns", "clauses", "relative", "indifferent", "frames", "nouns")]
    for sentence in strings(fixed):
        wording = re.sub(r"\{[^}]*\}", "{}", sentence)
        assert not [value for value in values if said(value, wording)], sentence


def test_references_of_an_act_differ(corpus: Corpus) -> None:
    for split in SPLITS:
        examples = corpus.split(split)
        assert len({str(example.turn) for example in examples}) == len(examples)
        assert all(1 <= len(set(e.references)) == len(e.references) <= 4 for e in examples)


def test_test_acts_are_new_and_a_few_combinations_too(corpus: Corpus) -> None:
    acts = {split: {str(example.turn) for example in corpus.split(split)} for split in SPLITS}
    assert not acts["train"] & acts["test"] and not acts["train"] & acts["valid"] and not acts["valid"] & acts["test"]
    known = {combination(example.turn) for example in corpus.split("train")}
    unseen = sum(combination(example.turn) not in known for example in corpus.split("test"))
    assert f"{unseen} test acts combine slots" in corpus.card.notes
    assert 0.05 <= unseen / 300 <= 0.1


def test_every_entry_of_a_test_act_was_taught(corpus: Corpus) -> None:
    def entries(split: str) -> Counter[tuple[str, str, str]]:
        turns = [example.turn for example in corpus.split(split)]
        return Counter((a.act_type, s.name, s.special or "") for turn in turns for a, s in turn.slots())

    train = entries("train")
    assert not [entry for split in ("valid", "test") for entry in entries(split) if not train[entry]]


def test_every_value_is_said_at_token_boundaries(pairs: list[tuple[Turn, str]]) -> None:
    for turn, sentence in pairs:
        for _, slot in turn.slots():
            if slot.delexicalizable:
                assert said(slot.value or "", sentence), f"{turn}: {sentence}"


def test_delexicalisation_finds_every_value_once_and_gives_the_sentence_back(pairs: list[tuple[Turn, str]]) -> None:
    delexicalizer = Delexicalizer()
    for turn, sentence in pairs:
        result = delexicalizer.delexicalize(turn, sentence)
        assert not result.missing and not result.ambiguous, f"{turn}: {sentence}"
        assert len(result.mentions) == len(delexicalizer.required(turn)), f"{turn}: {sentence}"
        assert result.raw == sentence


def test_cues_show_the_value_and_nothing_else(corpus: Corpus, pairs: list[tuple[Turn, str]]) -> None:
    cues = {
        (name, value): [re.compile(pattern) for pattern in patterns]
        for name, slot in corpus.card.slots.items()
        for value, patterns in slot.cues.items()
    }
    assert {(name, value) for name in ("dogsallowed", "stroller", "toilets") for value in ("yes", "no")} <= set(cues)
    used = set()
    for turn, sentence in pairs:
        meant = {(slot.name, slot.special) for _, slot in turn.slots()}
        for key, patterns in cues.items():
            found = {pattern.pattern for pattern in patterns if pattern.search(sentence.lower())}
            assert bool(found) == (key in meant), f"{key}: {turn}: {sentence}"
            used |= {(*key, pattern) for pattern in found}
    # A cue that no sentence needs could only do harm.
    assert {(*key, pattern.pattern) for key, patterns in cues.items() for pattern in patterns} == used


def test_the_slot_checker_accepts_every_sentence(corpus: Corpus, pairs: list[tuple[Turn, str]]) -> None:
    checker = SlotChecker(Delexicalizer(), {name: slot.cues for name, slot in corpus.card.slots.items()})
    for turn, sentence in pairs:
        report = checker.check(turn, sentence)
        assert report.ok, f"{turn}: {sentence}: missing {report.missing}, extra {report.extra}"


def test_sentences_look_like_sentences(pairs: list[tuple[Turn, str]]) -> None:
    for turn, sentence in pairs:
        assert sentence == sentence.strip() and sentence[-1] in ".?!", sentence
        assert sentence[0] == sentence[0].upper(), sentence
        assert not re.search(r"[{}\[\]|]|\s{2}|\s[.,;:?!]|[,;:][.,;:?!]|\b(\w+) \1\b", sentence), sentence
        assert detokenize(tokenize(sentence)) == sentence
        # Casing, spacing and articles are right already, so that the realiser has nothing to mend.
        assert realize(sentence) == sentence, f"{turn}: {sentence}"
