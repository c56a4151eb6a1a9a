"""What a reader learns from pairs, how it is saved, and the words that it goes by."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from generated import look

from dactnlg.acts import Slot, Turn, parse
from dactnlg.data.corpus import Corpus
from dactnlg.errors import RunError
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.fidelity.facts import atoms, facts
from dactnlg.fidelity.learning import learn_reader
from dactnlg.fidelity.naming import Naming
from dactnlg.fidelity.plainly import any_of, indifferent, matters
from dactnlg.fidelity.reader import Places, Reader
from dactnlg.fidelity.reader_file import load_reader, save_reader
from dactnlg.fidelity.samples import evidence, unfound
from dactnlg.runs.run import Run
from dactnlg.text.style import Style
from dactnlg.text.surface import tokenize


def learn(corpus: Corpus, count: int) -> Reader:
    """Learn from the first training pairs of a corpus."""
    return learn_reader(list(corpus.pairs("train"))[:count], [], corpus.card.style().checker())


def learn_plain(pairs: list[tuple[Turn, str]]) -> tuple[FidelityChecker, Naming]:
    """Return a checker without cues, and the words that name slots, both learned from pairs."""
    checker = Style(False, True, {}, {}, ()).checker()
    reader = learn_reader(pairs, pairs[::5], checker)
    return FidelityChecker(checker, reader), Naming(reader)


@pytest.fixture(scope="module")
def reader(corpus: Corpus) -> Reader:
    return learn(corpus, 250)


def test_learning_twice_gives_the_same_file(corpus: Corpus, reader: Reader, tmp_path: Path) -> None:
    save_reader(reader, tmp_path / "first")
    save_reader(learn(corpus, 250), tmp_path / "second")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


def test_a_reader_reads_the_same_from_its_file(corpus: Corpus, reader: Reader, tmp_path: Path) -> None:
    checker = corpus.card.style().checker()
    save_reader(reader, tmp_path / "reader")
    again = load_reader(tmp_path / "reader")
    for turn, sentence in list(corpus.pairs("test"))[:40]:
        tokens = checker.delexicalizer.delexicalize(turn, sentence).tokens
        seen = evidence(turn, tokens, checker.shown(tokens))
        assert again.logits(seen) == reader.logits(seen)
        for slot in {fact.slot for fact in reader.facts.values() if fact.slot}:
            own = {name: logit for name, logit in reader.logits(seen).items() if reader.facts[name].slot == slot}
            assert own and reader.slot_logits(seen, slot) == own
        assert again.misplaced(seen.words, alone=True) == reader.misplaced(seen.words, alone=True)
    assert again.limits == reader.limits


def test_words_tell_of_slots_that_an_act_lacks() -> None:
    pairs = [(parse(f"inform(name=b{n};power='{n} watt')"), f"b{n} has a power of {n} watt") for n in range(30)]
    pairs += [(parse(f"inform(name=b{n};height=dontcare)"), f"b{n} is for those who do not care") for n in range(30)]
    pairs += [(parse(f"inform(name=b{n};size=small)"), f"b{n} is small in size and has a plug") for n in range(30)]
    # A welcome names what can be asked for.
    pairs += [(parse(f"inform(name=b{n};price=low)"), f"b{n} has a low price") for n in range(60)]
    pairs += [(parse("welcome()"), "you can ask for a price")]
    # Two sentences name a slot that their act lacks.
    pairs += [(parse(f"inform(name=b{n};size=large)"), f"b{n} has a large size and height") for n in range(2)]
    checker, _ = learn_plain(pairs)
    assert checker.reader is not None
    assert checker.reader.parts.telling == {"power": "power", "care": "=dontcare", "who": "=dontcare", "size": "size"}
    named = checker.check(parse("inform(name=b7)"), "b7 has a power")
    assert (named.extra, named.ok) == (("power",), False)
    assert checker.check(parse("inform(name=b7;size=small)"), "b7 is small if you do not care").extra == ("dontcare",)
    # The name of a slot may be said once for several of its values.
    assert checker.check(parse("inform(name=b7;size=small;power=a;power=b)"), "b7 is small in power a or b").extra == ()
    assert checker.check(*pairs[7]).ok and checker.check(*pairs[37]).ok and checker.check(*pairs[67]).ok


def test_words_tell_of_slots_that_most_acts_have() -> None:
    pairs = [(parse(f"inform(name=b{n};rating={n})"), f"the rating of b{n} is {n}") for n in range(450)]
    pairs += [(parse(f"inform(name=b{n};size=small)"), f"b{n} is small") for n in range(449)]
    # One sentence names what its act lacks; by chance half of them would.
    pairs += [(parse("inform(name=b;size=small)"), "b is small and has a rating")]
    checker, _ = learn_plain(pairs)
    assert checker.reader is not None and checker.reader.parts.telling == {"rating": "rating"}
    assert checker.check(parse("inform(name=b7;size=small)"), "b7 is small and has a rating").extra == ("rating",)
    # Fewer than two hundred of them would lack it by chance: that none does shows little.
    checker, _ = learn_plain([*pairs[:450], *pairs[450:650]])
    assert checker.reader is not None and not checker.reader.parts.telling


def test_what_does_not_matter_is_named_or_said_not_to_matter() -> None:
    free = [f"there are {n} inns if you do not care about the family" for n in range(20)]
    # People leave it out as often, so that the reader does not miss it.
    pairs = [(parse(f"inform_count(count={n};family=dontcare)"), text) for n, text in enumerate(free)]
    pairs += [(parse(f"inform_count(count={n};family=dontcare)"), f"there are {n} inns") for n in range(20)]
    pairs += [(parse(f"inform_count(count={n};near=b)"), f"there are {n} inns near b") for n in range(20)]
    _, naming = learn_plain(pairs)
    turn = parse("inform_count(count=3;family=dontcare)")
    for text in ("there are 3 inns", "there are 3 cheap inns near b"):
        assert naming.faults(turn, text.split())[0] == ["family=dontcare"]
    for text in ("there are 3 inns of any kind", "there are 3 family inns", "there are 3 inns whatever it is"):
        assert naming.faults(turn, text.split())[0] == []
    # What training hardly ever has must be named, together with words for what does not matter.
    turn = parse("?confirm(near=dontcare)")
    for text in ("you do not care about the price", "would you like it to be near to", "it is near b"):
        assert naming.faults(turn, text.split())[0]
    assert naming.faults(turn, ["you", "do", "not", "care", "what", "it", "is", "near"])[0] == []
    # Nothing is known of other languages' words for it.
    _, naming = learn_plain([(turn, text.replace("care", "záleží")) for turn, text in pairs])
    assert naming.faults(parse("inform_count(count=3;family=dontcare)"), ["3", "hotely"])[0] == []


def test_what_training_asks_in_few_wordings_need_not_name_its_slot(tmp_path: Path) -> None:
    pairs = [(parse(f"inform(to=b{n};stops={n})"), f"to b{n} it makes {n} stops") for n in range(20)]
    pairs += [(parse("request(to)"), text) for text in ("where do you want to go?", "what is your destination?")] * 9
    checker, _ = learn_plain(pairs)
    assert checker.reader is not None
    save_reader(checker.reader, tmp_path / "reader")
    for reader in (checker.reader, load_reader(tmp_path / "reader")):
        found = FidelityChecker(checker.checker, reader)
        for turn, sentence in pairs:
            assert not look(found, turn, tokenize(sentence)).questions
        assert found.unchecked(parse("request(to)")) == ("request(to)",)
        assert look(found, parse("request(stops)"), tokenize(pairs[-1][1])).questions == ("request(stops)",)


def test_any_of_what_a_slot_names_is_said_plainly() -> None:
    assert [*any_of(["in", "all", "product", "families"])] == ["product", "families"]
    assert [*any_of(["any", "family"])] == ["family"]
    assert [*any_of(["any", "SLOT_NAME", "family"])] == ["SLOT_NAME"]
    assert not [*any_of(["the", "family"])]
    pairs = [(parse(f"inform(name=b{n};size=dontcare)"), f"b{n} has any size of disk") for n in range(20)]
    pairs += [(parse(f"inform(name=b{n};price_range=dontcare)"), f"b{n} has all price ranges") for n in range(20)]
    pairs += [(parse(f"inform(name=b{n};size_range=dontcare)"), f"b{n} has all size ranges") for n in range(20)]
    pairs += [
        (parse(f"inform(name=b{n};pets={value})"), f"b{n} has {n} pets")
        for n in range(20)
        for value in ("yes", "dontcare")
    ]
    _, naming = learn_plain(pairs)
    assert naming.does_not_matter(["in", "any", "price", "range"], "price_range")
    # Words that may belong to other slots, and a yes.
    assert not naming.does_not_matter(["in", "any", "range"], "price_range")
    assert not naming.does_not_matter(["in", "any", "old", "size"], "size")
    assert not naming.does_not_matter(["good", "for", "any", "pets"], "pets")


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_reader_of_next_to_nothing_leaves_it_to_the_cues(corpus: Corpus, tmp_path: Path, count: int) -> None:
    save_reader(learn(corpus, count), tmp_path / "reader")
    found = FidelityChecker(corpus.card.style().checker(), load_reader(tmp_path / "reader"))
    assert found.check(parse("inform(name=x)"), "x is a trail.").ok
    assert found.check(parse("inform(name=x;toilets=yes)"), "x is a trail.").missing == ("toilets=yes",)


def test_damaged_files_are_refused_in_one_line(random_run: Path, tmp_path: Path) -> None:
    content = Run(random_run).reader_path.read_bytes()
    rng = np.random.default_rng(1)
    # Cut off, and whole with some bits flipped in its header.
    files = [content[: rng.integers(1, len(content))] for _ in range(10)]
    for _ in range(40):
        damaged = bytearray(content)
        for at in rng.integers(0, min(len(content), 40_000), 20):
            damaged[at] ^= 1 << rng.integers(0, 8)
        files.append(bytes(damaged))
    path = tmp_path / "reader.safetensors"
    for file in files:
        path.write_bytes(file)
        with pytest.raises(RunError, match=r"cannot read .*reader\.safetensors") as caught:
            load_reader(path)
        assert "\n" not in str(caught.value)


def test_parts_of_a_list_are_values_of_their_own() -> None:
    assert list(atoms(Slot("genres", "shooter, tactical"))) == [Slot("genres", "shooter"), Slot("genres", "tactical")]
    assert list(atoms(Slot("addr", "20 Milton Road"))) == [Slot("addr", "20 Milton Road")]


@pytest.mark.parametrize(
    ("value", "sentence", "said"),
    [
        ("fighting", "It is a fighter.", True),
        ("action-adventure", "An action game with a lot of adventure.", True),
        ("strategy", "It is a strange game.", False),
        ("racing", "It has a race.", False),
        ("first person", "You see the third person first.", False),
        ("large", "It is enlarged.", False),
    ],
)
def test_a_value_is_said_in_another_form_of_its_words(value: str, sentence: str, said: bool) -> None:
    delexicalizer = Style(cased=True, spaced=False, aliases={}, cues={}, silent=()).checker().delexicalizer
    turn = parse(f"inform(genre='{value}')")
    (item,) = delexicalizer.required(turn)
    assert (unfound(delexicalizer, item, tokenize(sentence)) == []) is said


def test_facts_are_what_a_turn_states_beside_its_values() -> None:
    turn = parse("inform(name=x;dogsallowed=false;region=dont_care)&?request(season)")
    assert list(facts(turn)) == ["inform()", "?request()", "dogsallowed=no", "region=dontcare", "?request(season)"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if you do not care about the price , there are pubs with a garden", [["about", "the", "price", ","]]),
        ("there are SLOT_COUNT pubs with a garden , regardless of the price .", [["of", "the", "price", "."]]),
        ("no preference for SLOT_AREA or the price . it has a garden", [["for"]]),
        ("it has a garden .", []),
        # A denial behind it is a statement.
        ("if you do not care about the meal does not allow dogs", [["about", "the", "meal"]]),
        (
            "if you do not care whether it does not allow dogs",
            [["whether", "it", "does", "not", "allow", "dogs"]],
        ),
        (
            "if you do not care about the price and do not mind dogs",
            [[*["about", "the", "price", "and", "do", "not", "mind", "dogs"]]],
        ),
    ],
)
def test_what_does_not_matter_stands_behind_the_words_for_it(text: str, expected: list[list[str]]) -> None:
    assert [list(words) for words in indifferent(text.split())] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if you do not care about the price , there are pubs with a garden", True),
        ("if you do not care about the price or a garden , there are pubs", False),
        ("if you do not care about the price , there are pubs with any garden", False),
        ("there are pubs with a garden", False),
        ("if you do not care about the price , there are pubs", False),
    ],
)
def test_what_is_named_elsewhere_matters(text: str, expected: bool) -> None:
    assert matters(text.split(), {"garden"}) is expected


def test_two_values_side_by_side_are_in_either_order() -> None:
    row = np.zeros(2, np.float32)
    better = [row + [0.0, 5.0], row + [5.0, 0.0]]
    assert list(Places([3, 5], [0, 1], better).swaps()) == [(3, 5, 10.0)]
    assert list(Places([3, 4], [0, 1], better).swaps()) == []


def test_a_value_that_training_never_had_may_stand_in_the_place_of_another() -> None:
    better = [np.array([0.0, 5.0], np.float32), np.array([3.0, 0.0], np.float32)]
    assert list(Places([3, 5], [None, 1], better).swaps()) == [(3, 5, 5.0)]
    assert list(Places([3, 5], [0, None], better).swaps()) == [(3, 5, 3.0)]
    assert list(Places([3, 5], [None, 0], better).moves()) == [(0, 0, 0.0)]


def test_what_there_is_to_choose_from_may_be_named_beside_that_it_does_not_matter(random_run: Path) -> None:
    naming = Naming(load_reader(Run(random_run).reader_path))
    words = ["do", "you", "want", "SLOT_SEASON", "as", "the", "season", ",", "or", "don't", "you", "care", "?"]
    assert naming.faults(parse("?select(season=summer;season=dontcare)"), words) == ([], [])
    assert naming.faults(parse("?confirm(season=dontcare)"), words)[0] == ["season=dontcare"]
