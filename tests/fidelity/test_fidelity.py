"""What the checker says of sentences of the embedded corpus, with a reader that a run has, and without one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dactnlg.acts import DialogueAct, Slot, Turn, parse
from dactnlg.data.corpus import Corpus, load_corpus
from dactnlg.data.pairs import sentence_pairs
from dactnlg.errors import RunError
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.fidelity.facts import atoms, facts
from dactnlg.fidelity.learning import learn_reader
from dactnlg.fidelity.naming import Naming
from dactnlg.fidelity.plainly import any_of, indifferent, matters
from dactnlg.fidelity.reader import Places
from dactnlg.fidelity.reader_file import load_reader, save_reader
from dactnlg.fidelity.samples import evidence, unfound
from dactnlg.generation.generator import Generator
from dactnlg.runs.run import Run
from dactnlg.text.owners import compared
from dactnlg.text.style import Style
from dactnlg.text.surface import tokenize
from dactnlg.text.tallies import Tally

OPPOSITE = {"yes": "no", "no": "yes"}


def test_human_sentences_are_hardly_ever_flagged(checker: FidelityChecker, corpus: Corpus) -> None:
    reports = [checker.check(turn, sentence) for turn, sentence in corpus.pairs("test")]
    assert np.mean([not report.ok for report in reports]) <= 0.02


def test_what_people_do_is_probable_and_what_another_act_does_is_not(checker: FidelityChecker, corpus: Corpus) -> None:
    pairs = [(turn, sentence) for turn, sentence in corpus.pairs("test") if len(turn.acts) == 1]
    tokens = [checker.delexicalizer.delexicalize(turn, sentence).tokens for turn, sentence in pairs]
    own = [checker.improbable(turn, said) for (turn, _), said in zip(pairs, tokens, strict=True)]
    assert np.mean([not each for each in own]) >= 0.97
    # The only one, or none, or how many: not what the sentences of plain statements say.
    plain = [said for (turn, _), said in zip(pairs, tokens, strict=True) if turn.acts[0].act_type == "inform"]
    for act_type in ("inform_only_match", "inform_no_match", "inform_count"):
        others = [checker.improbable(Turn((DialogueAct(act_type),)), said) for said in plain]
        assert np.mean([each == [f"{act_type}()"] for each in others]) >= 0.97
    assert FidelityChecker(checker.checker).improbable(pairs[0][0], tokens[0]) == []


def test_questions_are_lost_beside_others(checker: FidelityChecker) -> None:
    turn, tokens = (
        parse("?request(toilets;dogsallowed;season)"),
        tokenize("would you need toilets? is there a dog with you?"),
    )
    shown = checker.checker.shown(tokens)
    cues = checker.checker.look(checker.checker.expected(turn), tokens, shown)
    assert checker.look(turn, tokens, cues, shown).questions == ("?request(season)",)
    assert checker.read(turn, tokens, cues, shown).missing == ("season",)


def test_what_nothing_is_known_of_is_lost_where_it_stands_alone(checker: FidelityChecker) -> None:
    turn = parse("inform_no_info(view)")
    assert checker.check(turn, "I don't know.").questions == ("inform_no_info(view)",)
    assert checker.check(turn, "I have no notes on the views.").questions == ()
    # A question by itself is asked, or another one is.
    assert checker.check(parse("?request(region)"), "and where?").questions == ()


@pytest.mark.parametrize(
    ("act", "sentence", "lost"),
    [
        ("?request(phone)", "which region do you have in mind ?", ("?request(phone)",)),
        ("?request(phone)", "what is your phone number ?", ()),
        ("inform_no_info(stroller)", "i don't know how long it is .", ("inform_no_info(stroller)",)),
    ],
)
def test_what_training_never_asked_for_is_named(
    checker: FidelityChecker, act: str, sentence: str, lost: tuple[str, ...]
) -> None:
    turn, tokens = parse(act), tokenize(sentence)
    shown = checker.checker.shown(tokens)
    cues = checker.checker.look(checker.checker.expected(turn), tokens, shown)
    assert checker.look(turn, tokens, cues, shown).questions == lost
    # In people's sentences nothing shows it, and in what is generated no more than that it is named.
    report = checker.check(turn, sentence)
    assert report.questions == () and report.unchecked


def test_what_one_sentence_does_is_done(checker: FidelityChecker) -> None:
    turn = parse("recommend(name='Ivy Cutting';dogsallowed=no;toilets=no)")
    doing, informing = "How about Ivy Cutting?", "Ivy Cutting is nice."
    more = "It does not allow dogs. It has no toilets."
    assert checker.check(turn, f"{doing} {more}").acts == {}
    assert checker.check(turn, f"{informing} {more}").acts == {"recommend()": "inform()"}


def test_every_denied_yes_is_told_from_one_that_is_left_out(checker: FidelityChecker, corpus: Corpus) -> None:
    found = []
    for turn, sentence in corpus.pairs("test"):
        binary = [slot for _, slot in turn.slots() if slot.special in OPPOSITE]
        if len(turn.acts) == 1 and binary and "?" not in str(turn) and "no_" not in str(turn):
            slot = binary[0]
            flipped = tuple(Slot(s.name, OPPOSITE[s.special or ""]) if s is slot else s for s in turn.acts[0].slots)
            report = checker.check(Turn((DialogueAct(turn.acts[0].act_type, flipped),)), sentence)
            found.append(f"{slot.name}={OPPOSITE[slot.special or '']}" in report.contradicted)
    assert len(found) > 100
    assert np.mean(found) >= 0.98


@pytest.mark.parametrize(
    ("act", "sentence", "key", "value"),
    [
        ("inform(name='Ivy Cutting';difficulty=easy)", "Ivy Cutting is easy.", "slots_ok", True),
        ("inform(name='Ivy Cutting';difficulty=easy)", "Ivy Cutting is lovely.", "missing", ["difficulty=easy"]),
        (
            "inform(name='Ivy Cutting';difficulty=easy)",
            "Ivy Cutting is demanding.",
            "contradicted",
            {"difficulty=easy": "difficulty=demanding"},
        ),
        (
            "inform(name='Ivy Cutting';dogsallowed=no)",
            "Dogs are welcome at Ivy Cutting.",
            "contradicted",
            {"dogsallowed=no": "dogsallowed=yes"},
        ),
        ("inform(name='Ivy Cutting')", "Ivy Cutting has no toilets.", "extra", ["toilets=no"]),
        (
            "inform(near='Lake Orrin';region=north)",
            "Unfortunately, we don't have trails near Lake Orrin in the north.",
            "acts",
            {"inform()": "inform_no_match()"},
        ),
        ("?request(region)", "How long should the walk be?", "questions", ["?request(region)"]),
        (
            "inform(name='Ivy Cutting';height='560 m';length='7 km')",
            "Ivy Cutting is 560 m long and reaches 7 km at its highest point.",
            "misplaced",
            {"height": "length", "length": "height"},
        ),
    ],
)
def test_faults_are_named_by_their_kind(
    checker: FidelityChecker, act: str, sentence: str, key: str, value: object
) -> None:
    report = checker.check(parse(act), sentence).to_json()
    assert report[key] == value
    assert report["slots_ok"] is (key == "slots_ok")


def test_misplaced_slots_have_the_names_of_the_turn(checker: FidelityChecker) -> None:
    turn = parse("inform(name='Ivy Cutting';Height='560 m';Length='7 km')")
    report = checker.check(turn, "Ivy Cutting is 560 m long and reaches 7 km at its highest point.")
    assert report.misplaced == {"Height": "Length", "Length": "Height"}


@pytest.mark.parametrize("sentence", ["", " ", ". …"])
def test_without_a_word_no_act_is_done(checker: FidelityChecker, sentence: str) -> None:
    for act in ("goodbye()", "inform()", "inform(name='Ivy Cutting')"):
        assert f"{parse(act).acts[0].act_type}()" in checker.check(parse(act), sentence).missing


def test_what_is_said_twice_is_no_fault(checker: FidelityChecker) -> None:
    turn = parse("inform(name='Ivy Cutting';region=north)")
    assert checker.check(turn, "Ivy Cutting lies in the north. Ivy Cutting is in the north.").ok


def test_without_a_reader_cues_tell_what_they_can(corpus: Corpus) -> None:
    alone = FidelityChecker(corpus.card.style().checker())
    turn = parse("inform(name='Ivy Cutting';dogsallowed=no;phone=dontcare)")
    report = alone.check(turn, "Ivy Cutting welcomes dogs.")
    assert (report.missing, report.unchecked) == (("dogsallowed=no",), ("phone=dontcare",))
    assert not report.acts
    assert not report.misplaced


def test_a_template_that_denies_what_its_act_states_is_not_ok(neural_run: Path) -> None:
    preprocessor = Generator.load(neural_run).preprocessor
    made = preprocessor.request(parse("inform(name='Ivy Cutting';region=north)")).act
    good = preprocessor.template(made, tuple(tokenize("SLOT_NAME lies in the SLOT_REGION.")))
    bad = preprocessor.template(made, tuple(tokenize("sorry, we don't have SLOT_NAME in the SLOT_REGION.")))
    assert good.cues.errors == 0
    assert bad.cues.missing == ("inform()", "name='Ivy Cutting'")
    assert bad.cues.extra == ("inform_no_match()",)


def test_learning_twice_gives_the_same_file(corpus: Corpus, tmp_path: Path) -> None:
    pairs, checker = list(corpus.pairs("train"))[:250], corpus.card.style().checker()
    for name in ("first", "second"):
        save_reader(learn_reader(pairs, [], checker, seed=3), tmp_path / name)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


def test_a_reader_reads_the_same_from_its_file(corpus: Corpus, tmp_path: Path) -> None:
    checker = corpus.card.style().checker()
    reader = learn_reader(list(corpus.pairs("train"))[:250], [], checker)
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
    # A welcome names what can be asked for, and that as a rule.
    pairs += [(parse(f"inform(name=b{n};price=low)"), f"b{n} has a low price") for n in range(60)]
    pairs += [(parse("welcome()"), "you can ask for a price")]
    # Now and then somebody names what is not asked for.
    pairs += [(parse(f"inform(name=b{n};size=large)"), f"b{n} has a large size and height") for n in range(2)]
    own = Style(False, True, {}, {}, ()).checker()
    checker = FidelityChecker(own, learn_reader(pairs, pairs[::5], own))
    assert checker.reader is not None
    assert checker.reader.parts.telling == {"power": "power", "care": "=dontcare", "who": "=dontcare", "size": "size"}
    named = checker.check(parse("inform(name=b7)"), "b7 has a power")
    assert (named.extra, named.ok) == (("power",), False)
    assert checker.check(parse("inform(name=b7;size=small)"), "b7 is small if you do not care").extra == ("dontcare",)
    # Words that name a slot may be those for several of its values.
    assert checker.check(parse("inform(name=b7;size=small;power=a;power=b)"), "b7 is small in power a or b").extra == ()
    assert checker.check(*pairs[7]).ok and checker.check(*pairs[37]).ok and checker.check(*pairs[67]).ok


def test_what_does_not_matter_is_named_or_said_not_to_matter() -> None:
    free = [f"there are {n} inns if you do not care about the family" for n in range(20)]
    # As often people leave it out, so that nothing more is needed for those who learn from them.
    pairs = [(parse(f"inform_count(count={n};family=dontcare)"), text) for n, text in enumerate(free)]
    pairs += [(parse(f"inform_count(count={n};family=dontcare)"), f"there are {n} inns") for n in range(20)]
    pairs += [(parse(f"inform_count(count={n};near=b)"), f"there are {n} inns near b") for n in range(20)]
    own = Style(False, True, {}, {}, ()).checker()
    naming = Naming(learn_reader(pairs, pairs[::5], own))
    turn = parse("inform_count(count=3;family=dontcare)")
    for text in ("there are 3 inns", "there are 3 cheap inns near b"):
        assert naming.faults(turn, text.split())[0] == ["family=dontcare"]
    for text in ("there are 3 inns of any kind", "there are 3 family inns", "there are 3 inns whatever it is"):
        assert naming.faults(turn, text.split())[0] == []
    # What training hardly ever has is named, with words for what does not matter.
    turn = parse("?confirm(near=dontcare)")
    for text in ("you do not care about the price", "would you like it to be near to", "it is near b"):
        assert naming.faults(turn, text.split())[0]
    assert naming.faults(turn, ["you", "do", "not", "care", "what", "it", "is", "near"])[0] == []
    turn = parse("inform_count(count=3;family=dontcare)")
    # Nothing is known of other languages' words for it.
    czech = [(turn, text.replace("care", "záleží")) for turn, text in pairs]
    assert Naming(learn_reader(czech, czech[::5], own)).faults(turn, ["3", "hotely"])[0] == []


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
    own = Style(False, True, {}, {}, ()).checker()
    naming = Naming(learn_reader(pairs, pairs[::5], own))
    assert naming.does_not_matter(["in", "any", "price", "range"], "price_range")
    # What may be meant of others as well, and a yes.
    assert not naming.does_not_matter(["in", "any", "range"], "price_range")
    assert not naming.does_not_matter(["in", "any", "old", "size"], "size")
    assert not naming.does_not_matter(["good", "for", "any", "pets"], "pets")


def test_whether_it_is_so_leaves_a_yes_open(data_dir: Path) -> None:
    corpus = load_corpus("restaurants", data_dir)
    checker = corpus.style().checker()
    own = FidelityChecker(checker, learn_reader(corpus.pairs("train"), corpus.pairs("valid"), checker))

    def missing(act: str, text: str) -> tuple[str, ...]:
        turn, tokens = checker.delexicalizer.prepared(parse(act)), text.split()
        shown = checker.shown(tokens)
        return own.look(turn, tokens, checker.look(checker.expected(turn), tokens, shown), shown).missing

    for kids in ("?select(kidsallowed=yes)", "?confirm(kidsallowed=yes)"):
        assert missing(kids, "what is your preference as to whether it allows child -s")
        assert not missing(kids, "do you want a restaurant that allows child -s")
    both = "?select(kidsallowed=yes;kidsallowed=no)"
    assert not missing(both, "what is your preference as to whether it allows child -s")


def test_nothing_is_unknown_because_none_of_it_is_there(data_dir: Path) -> None:
    corpus = load_corpus("restaurants", data_dir)
    checker = corpus.style().checker()
    own = FidelityChecker(checker, learn_reader(corpus.pairs("train"), corpus.pairs("valid"), checker))
    turn = checker.delexicalizer.prepared(parse("inform(name='red door cafe';food=none)"))

    def missing(text: str) -> tuple[str, ...]:
        tokens = text.split()
        shown = checker.shown(tokens)
        return own.look(turn, tokens, checker.look(checker.expected(turn), tokens, shown), shown).missing

    assert missing("SLOT_NAME is a nice place , it serves none food") == ("food=none",)
    assert not missing("SLOT_NAME is a nice place , the food type is unknown")
    assert not missing("SLOT_NAME is a nice place , i do not know the type of food")


def test_one_opinion_is_said(data_dir: Path) -> None:
    """Of opinions cues show little more than that there is one; the word for another one shows more."""
    corpus = load_corpus("viggo", data_dir)
    values = ["excellent", "good", "average", "poor"]
    checker = replace(corpus.style(), lexicalized={"rating": values}).checker()
    own = FidelityChecker(checker, learn_reader(corpus.pairs("train"), corpus.pairs("valid"), checker))

    def other(rating: str, text: str) -> dict[str, str]:
        return dict(own.check(parse(f"inform(name='Silent Hill 2';rating={rating})"), text).contradicted)

    assert not other("good", "Silent Hill 2 is a good game.")
    assert other("good", "Silent Hill 2 is a good game. It has poor ratings.") == {"rating=good": "rating=poor"}
    assert other("average", "Silent Hill 2 is a good game. It has average ratings.") == {
        "rating=average": "rating=good"
    }
    assert not other("poor", "Silent Hill 2 is not a good game. It has poor ratings.")


def test_slips_of_people_are_none_of_what_is_generated(data_dir: Path) -> None:
    czech = load_corpus("cs_restaurants", data_dir)
    bare = replace(czech.style(), cues={}).checker()
    # In seven of 107 sentences for a no people say yes.
    checker = FidelityChecker(bare, learn_reader(czech.pairs("train"), czech.pairs("valid"), bare))
    turn = parse("inform_only_match(good_for_meal=dinner;kids_allowed=no;name='Café Kampus';near='Prague Castle')")
    said = (
        "Omlouvám se , ale Café Kampus je jediná restaurace poblíž Pražského hradu , "
        "která {} vhodná pro děti a je vhodná pro večeři ."
    )
    assert checker.check(turn, said.format("je")).ok

    def missing(text: str, checker: FidelityChecker = checker) -> tuple[str, ...]:
        tokens = checker.delexicalizer.delexicalize(turn, text).tokens
        shown = checker.checker.shown(tokens)
        return checker.read(turn, tokens, checker.checker.look(checker.checker.expected(turn), tokens), shown).missing

    assert missing(said.format("není")) == ()
    assert missing(said.format("je")) == ("kids_allowed=no",)
    # What one sentence says, no other one unsays.
    assert missing(said.format("je") + " Restaurace není vhodná pro děti .") == ("kids_allowed=no",)
    # Of two things one may have what the other lacks.
    two = parse("inform(kids_allowed=no;name='Café Kampus')&inform(kids_allowed=yes;name='Green Spirit')")
    text = "Café Kampus není vhodná pro děti . Green Spirit je vhodná pro děti ."
    tokens = checker.delexicalizer.delexicalize(two, text).tokens
    cues = bare.look(bare.expected(two), tokens)
    assert "kids_allowed=no" not in checker.read(two, tokens, cues, {}).missing
    # Where cues tell, the reader does not.
    cues = {"kids_allowed": {"yes": ["přístupn"], "no": ["pro děti"]}}
    cued = FidelityChecker(replace(czech.style(), cues=cues).checker(), checker.reader)
    assert missing(said.format("je"), cued) == ()


def test_what_is_wanted_stands_beside_what_does_not_matter(data_dir: Path) -> None:
    hotels = load_corpus("hotel", data_dir)
    own = hotels.style().checker()
    checker = FidelityChecker(own, learn_reader(hotels.pairs("train"), hotels.pairs("valid"), own))
    act = "inform_count(count=169;type=hotel;hasinternet={};dogsallowed={})"
    text = "there are 169 hotel -s with internet if you do not care whether dogs are allowed"
    assert checker.check(parse(act.format("yes", "dontcare")), text).ok
    assert not checker.check(parse(act.format("dontcare", "yes")), text).ok
    both = "there are 169 hotel -s if you do not care whether they have internet and whether dogs are allowed"
    assert checker.check(parse(act.format("dontcare", "dontcare")), both).ok
    assert not checker.check(parse(act.format("yes", "dontcare")), both).ok


def test_a_cue_that_shows_is_overruled_only_where_another_slot_is_named(data_dir: Path) -> None:
    czech = load_corpus("cs_restaurants", data_dir)
    own = czech.style().checker()
    checker = FidelityChecker(own, learn_reader(czech.pairs("train"), czech.pairs("valid"), own))
    # The words by which training names a slot are in other cases and numbers.
    text = "Našla jsem 239 restaurací v různých cenových skupinách ."
    assert checker.check(parse("inform(count=239;price_range=dontcare;type=restaurant)"), text).ok
    assert checker.check(parse("inform(count=239;area=dontcare;type=restaurant)"), text).missing == ("area=dontcare",)
    assert checker.check(parse("inform(count=239;price_range=cheap;type=restaurant)"), text).missing
    flagged = [pair for pair in dict.fromkeys(czech.pairs("test")) if not checker.check(*pair).ok]
    assert len(flagged) < 40


@pytest.mark.parametrize("count", [0, 1, 3])
def test_next_to_nothing_can_be_learned_from(corpus: Corpus, tmp_path: Path, count: int) -> None:
    pairs, checker = list(corpus.pairs("train"))[:count], corpus.card.style().checker()
    save_reader(learn_reader(pairs, [], checker), tmp_path / "reader")
    found = FidelityChecker(checker, load_reader(tmp_path / "reader"))
    assert found.check(parse("inform(name=x)"), "x is a trail.").ok
    assert found.check(parse("inform(name=x;toilets=yes)"), "x is a trail.").missing == ("toilets=yes",)


def test_damaged_files_are_refused_in_one_line(random_run: Path, tmp_path: Path) -> None:
    content = Run(random_run).reader_path.read_bytes()
    rng = np.random.default_rng(1)
    for _ in range(40):
        damaged = bytearray(content)
        for at in rng.integers(0, min(len(content), 40_000), 20):
            damaged[at] ^= 1 << rng.integers(0, 8)
        path = tmp_path / "reader.safetensors"
        path.write_bytes(bytes(damaged[: rng.integers(1, len(damaged))]))
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
    ("act", "sentence", "missing", "extra"),
    [
        ("inform_no_info(phone=none)", "i do not know the phone number .", (), ()),
        ("inform_no_info(phone=none)", "i do not know .", ("phone=none",), ()),
        ("inform_no_info(phone=none)", "i have nothing about the view .", ("phone=none",), ("view=none",)),
        ("inform_no_info(phone=none)", "now the phone number is known .", ("phone=none",), ()),
        ("inform_no_info(phone=none)", "i can't tell you the phone number .", (), ()),
        ("inform_no_info(view=none;phone=none)", "i know of no view and of no phone number .", (), ()),
        ("inform_no_info(view=none;phone=none)", "i know of no view .", ("phone=none",), ()),
        (
            "?confirm(season=dontcare;region=dontcare)",
            "so you do not care about the season ?",
            ("region=dontcare",),
            (),
        ),
    ],
)
def test_what_is_generated_names_what_is_unknown(
    checker: FidelityChecker, act: str, sentence: str, missing: tuple[str, ...], extra: tuple[str, ...]
) -> None:
    turn, tokens = parse(act), sentence.split()
    shown = checker.checker.shown(tokens)
    cues = checker.checker.look(checker.checker.expected(turn), tokens, shown)
    found = checker.look(turn, tokens, cues, shown)
    assert set(missing) <= {*found.missing, *found.contradicted}
    assert set(found.extra) == set(extra)


def test_what_is_unknown_is_not_told_in_another_sentence(data_dir: Path) -> None:
    corpus = load_corpus("restaurants", data_dir)
    own = corpus.style().checker()
    pairs = sentence_pairs(corpus, "train", "human")
    checker = FidelityChecker(own, learn_reader(pairs, pairs[::5], own))
    turn = parse("inform(name=chow;kidsallowed=none)")

    def missing(text: str) -> tuple[str, ...]:
        tokens = checker.delexicalizer.delexicalize(turn, text).tokens
        shown = own.shown(tokens)
        return checker.read(turn, tokens, own.look(own.expected(turn), tokens), shown).missing

    unknown = "i do not know whether they allow kid -s ."
    assert missing(f"chow is a nice place . {unknown}") == ()
    assert missing(f"chow is a nice place where no child -s are allowed . {unknown}") == ("kidsallowed=none",)


def test_people_need_not_name_what_is_unknown(checker: FidelityChecker, corpus: Corpus) -> None:
    unknown = [pair for pair in corpus.pairs("test") if "=none" in str(pair[0]) or "no_info" in str(pair[0])]
    assert len(unknown) > 20
    assert np.mean([checker.check(*pair).ok for pair in unknown]) >= 0.98


def test_people_of_a_test_split_ask_in_words_that_training_never_had(data_dir: Path) -> None:
    corpus = load_corpus("dstc2", data_dir)
    reader = learn_reader(list(corpus.pairs("train")), list(corpus.pairs("valid")), corpus.style().checker())
    checker, pairs = FidelityChecker(corpus.style().checker(), reader), list(dict.fromkeys(corpus.pairs("test")))
    assert np.mean([not checker.check(*pair).ok for pair in pairs]) <= 0.01
    # Where the sentence asks for another slot, the question is lost.
    other = {"area": "food", "food": "pricerange", "pricerange": "area"}
    asked = [(turn, text) for turn, text in pairs if str(turn).startswith("request(") and "impl-conf" in str(turn)]
    lost = []
    for turn, text in asked:
        slot = Slot(other[turn.acts[0].slots[0].name])
        wrong = Turn(
            (replace(turn.acts[0], slots=(slot,)), *(act for act in turn.acts[1:] if slot.name not in str(act)))
        )
        lost.append(f"request({slot.name})" in checker.check(wrong, text).questions)
    assert len(asked) > 100
    assert np.mean(lost) >= 0.95


def test_a_statement_confirms_nothing_though_two_people_of_twenty_wrote_one(data_dir: Path) -> None:
    corpus = load_corpus("restaurants", data_dir)
    pairs = {split: sentence_pairs(corpus, split, "human") for split in corpus.splits}
    reader = learn_reader(pairs["train"], pairs["valid"], corpus.style().checker())
    checker, said = FidelityChecker(corpus.style().checker(), reader), dict.fromkeys(pairs["test"])
    stated = [
        (replace(turn, acts=(replace(turn.acts[0], act_type="?confirm"),)), text)
        for turn, text in said
        if [act.act_type for act in turn] == ["inform"] and checker.check(turn, text).ok
    ]
    assert len(stated) > 300
    assert np.mean([bool(checker.check(*pair).acts) for pair in stated]) >= 0.98
    confirmed = [pair for pair in said if str(pair[0]).startswith("?confirm(")]
    assert len(confirmed) > 10
    assert sum(bool(checker.check(*pair).acts) for pair in confirmed) <= 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if you do not care about the price , there are pubs with a garden", [["about", "the", "price", ","]]),
        ("there are SLOT_COUNT pubs with a garden , regardless of the price .", [["of", "the", "price", "."]]),
        ("no preference for SLOT_AREA or the price . it has a garden", [["for"]]),
        ("it has a garden .", []),
        # What is denied behind it is so.
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
def test_what_is_named_as_if_it_did_matter(text: str, expected: bool) -> None:
    assert matters(text.split(), {"garden"}) is expected


def test_a_word_in_the_place_of_a_number_is_not_misplaced(checker: FidelityChecker) -> None:
    assert checker.reader is not None
    placed = checker.reader.misplaced(["there", "are", "SLOT_DIFFICULTY", "hikes", "."], alone=True)
    assert placed == {}
    assert "SLOT_DIFFICULTY" in checker.reader.misplaced(["it", "climbs", "to", "SLOT_DIFFICULTY", "."], alone=True)


@pytest.mark.parametrize(
    ("act", "text", "misplaced"),
    [
        # A sample may invent slots, which are extra and cannot be missing.
        ("inform(name='Ivy Cutting')", "SLOT_NAME climbs to SLOT_DIFFICULTY .", {}),
        ("inform(name='Ivy Cutting';difficulty=easy)", "it climbs to SLOT_DIFFICULTY .", {"difficulty": "height"}),
        ("inform(Difficulty=easy)", "it climbs to SLOT_DIFFICULTY .", {"Difficulty": "height"}),
    ],
)
def test_only_slots_of_the_turn_are_misplaced(
    checker: FidelityChecker, act: str, text: str, misplaced: dict[str, str]
) -> None:
    assert checker.look(parse(act), text.split(), Tally(), {}).misplaced == misplaced


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


@pytest.mark.parametrize(
    ("sentence", "missing"),
    [
        ("SLOT_NAME allows dogs . SLOT_NAME#2 allows dogs .", []),
        ("SLOT_NAME and SLOT_NAME#2 both allow dogs .", []),
        ("SLOT_NAME allows dogs . SLOT_NAME#2 is near .", ["dogsallowed=yes"]),
    ],
)
def test_a_special_value_of_several_things_is_said_of_each(
    checker: FidelityChecker, sentence: str, missing: list[str]
) -> None:
    turn = parse("compare(name='Raven Scar';dogsallowed=yes;name='Quarry Rim';dogsallowed=yes)")
    tokens = sentence.split()
    shown = checker.checker.shown(tokens)
    found = checker.look(turn, tokens, checker.checker.look(checker.checker.expected(turn), tokens, shown), shown)
    assert list(found.missing) == missing


@pytest.mark.parametrize("name", ["trails", "laptop"])
def test_special_values_of_things_in_each_others_place_are_found(name: str, data_dir: Path) -> None:
    corpus = load_corpus(name, data_dir)
    checker = FidelityChecker(corpus.style().checker())
    flagged, found = [], []
    for turn, sentence in (pair for split in corpus.splits for pair in corpus.pairs(split)):
        turn = checker.delexicalizer.prepared(turn)
        each = [{s.name: s for s in thing.slots if s.special in OPPOSITE} for thing in compared(turn)]
        for slot in set(each[0]) & set(each[1]) if len(each) == 2 else ():
            first, second = (slots[slot] for slots in each)
            if first.special != second.special:
                swap = {id(first): second, id(second): first}
                slots = tuple(swap.get(id(s), s) for s in turn.acts[0].slots)
                flagged.append(bool(checker.check(turn, sentence).misplaced))
                wrong = checker.check(Turn((replace(turn.acts[0], slots=slots),)), sentence)
                found.append(str(first.name) in " ".join(wrong.misplaced))
    assert len(found) >= 20
    # Two of laptop's sentences are people's own mistakes.
    assert sum(flagged) <= 3
    assert np.mean(found) >= 0.9


def test_what_there_is_to_choose_from_may_be_named_beside_that_it_does_not_matter(random_run: Path) -> None:
    naming = Naming(load_reader(Run(random_run).reader_path))
    words = ["do", "you", "want", "SLOT_SEASON", "as", "the", "season", ",", "or", "don't", "you", "care", "?"]
    assert naming.faults(parse("?select(season=summer;season=dontcare)"), words) == ([], [])
    assert naming.faults(parse("?confirm(season=dontcare)"), words)[0] == ["season=dontcare"]


@pytest.mark.parametrize(
    ("sentence", "misplaced"),
    [
        (
            "Orrin Falls allows dogs and Ivy Cutting allows none. Both allow dogs.",
            {"dogsallowed=yes": "name='Ivy Cutting'"},
        ),
        ("Orrin Falls allows dogs. Ivy Cutting does not. Neither has toilets.", {}),
        ("Orrin Falls allows dogs. Both do not allow dogs.", {"dogsallowed=no": "name='Orrin Falls'"}),
        ("Orrin Falls allows dogs and Ivy Cutting does not allow dogs. Both have toilets.", {}),
    ],
)
def test_what_is_said_of_both_holds_for_both(
    checker: FidelityChecker, sentence: str, misplaced: dict[str, str]
) -> None:
    turn = parse("compare(name='Orrin Falls';dogsallowed=yes;name='Ivy Cutting';dogsallowed=no)")
    assert checker.check(turn, sentence).misplaced == misplaced
    # Where they are alike both are.
    turn = parse("compare(name='Orrin Falls';dogsallowed=yes;name='Ivy Cutting';dogsallowed=yes)")
    assert not checker.check(turn, "Orrin Falls and Ivy Cutting both allow dogs. Both allow dogs.").misplaced


@pytest.mark.parametrize(
    ("act", "sentence", "extra"),
    [
        ("inform_count(count=3;season=summer)", "If you do not care about the season, 3 trails suit summer.", "season"),
        ("inform_count(count=3;season=summer)", "Without a preference for the season, 3 trails suit summer.", "season"),
        ("inform_count(count=3;season=summer)", "If you are not picky about the season, 3 suit summer.", "season"),
        ("inform_count(count=3;season=summer)", "3 trails suit summer in particular.", ""),
        ("?confirm(season=summer)", "Do you care about the season? Is summer fine?", ""),
        ("?confirm(season=summer)", "Is summer your preference for the season?", ""),
        ("inform_count(count=3;season=dontcare)", "There are 3 trails if you do not care about the season.", ""),
        # What is asked for is asked for, not confirmed.
        ("?request(season)", "You do not care about the season?", "season"),
        ("?request(season)", "What season would you like, or do you not care about the season?", ""),
        ("?select(season=summer;season=dontcare)", "Would you like summer, or do you not care about the season?", ""),
    ],
)
def test_what_is_wanted_does_matter(checker: FidelityChecker, act: str, sentence: str, extra: str) -> None:
    found = checker.check(parse(act), sentence).extra
    assert [name for name in found if name.endswith("=dontcare")] == ([f"{extra}=dontcare"] if extra else [])


def test_a_yes_is_said_of_nothing_that_does_not_matter(data_dir: Path) -> None:
    televisions = load_corpus("tv", data_dir)
    own, pairs = televisions.style().checker(), [*televisions.pairs("train")]
    checker = FidelityChecker(own, learn_reader(pairs[::2], pairs[1::6], own))
    turn = parse("?confirm(type=television;hasusbport=dontcare;pricerange=cheap)")

    def missing(text: str) -> tuple[str, ...]:
        tokens = checker.delexicalizer.delexicalize(turn, text).tokens
        shown = own.shown(tokens)
        return checker.read(turn, tokens, own.look(own.expected(turn), tokens), shown).missing

    assert missing("let me confirm , a cheap television with a usb port ?") == ("hasusbport=dontcare",)
    assert missing("let me confirm , a cheap television and you don't care about usb ports ?") == ()
    assert missing("let me confirm , a cheap television , whether it has usb ports or not ?") == ()
    # What a longer slot is called is none of a shorter one.
    turn = parse("inform_no_info(price=none)")
    assert missing("there is no information about the price .") == ()
    assert missing("there is no information about the price range .") == ("price=none",)
