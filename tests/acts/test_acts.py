"""Dialogue acts: every notation is read, one is written, and anything else is one kind of error."""

from __future__ import annotations

import copy
import csv
import importlib
import json
import os
import pickle
import random
import subprocess
import sys
import time
import timeit
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dactnlg import DialogueAct, Slot, Turn, parse
from dactnlg.acts import SPECIAL_VALUES, turn_from_json
from dactnlg.acts.notation import _Reader
from dactnlg.errors import ActError, ActSyntaxError, DactnlgError, UnknownNameError

DELIMITERS = "()[]{}=;,&'\"\\?"
values = st.text() | st.text(alphabet=DELIMITERS + "ab \n\r\t") | st.sampled_from(sorted(SPECIAL_VALUES))
values = values.filter(str.strip)
letters = st.characters(exclude_characters=DELIMITERS + "\n\r")
words = st.text(alphabet=letters, min_size=1).filter(lambda word: not any(map(str.isspace, word)))
# A slot name may hold spaces and question marks, but not at its ends.
names = words | st.text(letters, min_size=1).map(str.strip).filter(bool)
# A slot called `slot`, which DSTC2's notation uses otherwise.
slots = st.builds(Slot, st.just("slot") | names, st.none() | values | names)
acts = st.builds(DialogueAct, words | words.map("?{}".format), st.lists(slots, max_size=4).map(tuple))
turns = st.builds(Turn, st.lists(acts, min_size=1, max_size=4).map(tuple))


@pytest.mark.parametrize("given", [None, 3, b"goodbye()", ["goodbye()"]])
def test_an_act_is_parsed_from_a_string_only(given: object) -> None:
    with pytest.raises(ActError, match=f"^this is no act: give a string, not {type(given).__name__}$"):
        parse(given)  # type: ignore[arg-type]


@given(turns)
def test_parsing_what_was_printed_gives_it_back(turn: Turn) -> None:
    assert parse(str(turn)) == turn


@given(turns)
def test_the_canonical_notation_is_one_line(turn: Turn) -> None:
    assert "\n" not in str(turn)
    assert "\r" not in str(turn)


@pytest.mark.parametrize("name", ["", " a", "a ", "a\nb", "a\rb", "a=b", "?a", "a?b(", "'a'", "a\\"])
def test_odd_names_are_refused(name: str) -> None:
    with pytest.raises(ActError):
        Slot(name)
    with pytest.raises(ActError):
        DialogueAct(name if name != "?a" else "??a")


@given(turns)
def test_json_gives_it_back(turn: Turn) -> None:
    assert turn_from_json(json.loads(json.dumps(turn.to_json()))) == turn
    assert parse(json.dumps(turn.to_json())) == turn


@given(turns)
def test_bracket_notation_gives_it_back_or_refuses(turn: Turn) -> None:
    try:
        text = turn.to_bracket()
    except ActError:
        return
    assert parse(text) == turn


@given(st.text())
def test_any_text_is_an_act_or_an_act_error(text: str) -> None:
    check(text)


@given(st.text(alphabet=DELIMITERS + "aé\u2028 \n0"))
def test_any_string_of_delimiters_is_an_act_or_an_act_error(text: str) -> None:
    check(text)


def check(text: str) -> bool:
    """Parse; return whether it was an act. Exceptions other than act errors are raised."""
    try:
        turn = parse(text)
    except ActSyntaxError as error:
        assert 0 <= error.position <= len(text)
        return False
    except ActError:
        return False
    assert parse(str(turn)) == turn
    return True


NOTATIONS = [
    # RNNLG
    ("inform(name='red door cafe';kidsallowed=no)", [("inform", [("name", "red door cafe"), ("kidsallowed", "no")])]),
    ("?request(near)", [("?request", [("near", None)])]),
    ("goodbye()", [("goodbye", [])]),
    ("?select(near='civic center';near=dont_care)", [("?select", [("near", "civic center"), ("near", "dont_care")])]),
    ("inform(name=harry's bar)", [("inform", [("name", "harry's bar")])]),
    ("inform(name='harry's bar';area=soma)", [("inform", [("name", "harry's bar"), ("area", "soma")])]),
    ('inform(name="a; b) c")', [("inform", [("name", "a; b) c")])]),
    ("inform(price=between 10, 20 and 30)", [("inform", [("price", "between 10, 20 and 30")])]),
    ("inform(name=x (the small one);a=b)", [("inform", [("name", "x (the small one)"), ("a", "b")])]),
    # SFRES: a comma separates slots where a name and an equals sign follow.
    ("inform(name=a b,food=c, near=d)", [("inform", [("name", "a b"), ("food", "c"), ("near", "d")])]),
    ("inform(finish=matt , black;kids=no)", [("inform", [("finish", "matt , black"), ("kids", "no")])]),
    ("inform(a=x (b, c=d), e=f)", [("inform", [("a", "x (b, c=d)"), ("e", "f")])]),
    # DSTC2
    (
        "offer(name=taj tandoori;) inform(food=indian;) inform(area=south;)",
        [("offer", [("name", "taj tandoori")]), ("inform", [("food", "indian")]), ("inform", [("area", "south")])],
    ),
    ("request(food;)", [("request", [("food", None)])]),
    (
        "canthelp.exception(name=x;) impl-conf(a=b;)",
        [("canthelp.exception", [("name", "x")]), ("impl-conf", [("a", "b")])],
    ),
    ("hello()&request(food)", [("hello", []), ("request", [("food", None)])]),
    ("hello() & request(food);", [("hello", []), ("request", [("food", None)])]),
    ('[{"act": "request", "slots": [["slot", "food"]]}]', [("request", [("food", None)])]),
    ('{"act": "inform", "slots": [["count", 3], ["name", "x"]]}', [("inform", [("count", "3"), ("name", "x")])]),
    ('{"act": "inform", "slots": [{"name": "slot", "value": "food"}]}', [("inform", [("slot", "food")])]),
    ('{"act": "request", "slots": [{"name": "food"}]}', [("request", [("food", None)])]),
    ('[{"act": "welcomemsg", "slots": []}]', [("welcomemsg", [])]),
    # E2E, ViGGO
    ("name[The Eagle], eatType[coffee shop]", [("inform", [("name", "The Eagle"), ("eatType", "coffee shop")])]),
    ("inform(name[X], genres[a, b])", [("inform", [("name", "X"), ("genres", "a, b")])]),
    ("give_opinion(name[A [b] c], rating[])", [("give_opinion", [("name", "A [b] c"), ("rating", None)])]),
    ("customer rating[5 out of 5]", [("inform", [("customer rating", "5 out of 5")])]),
]


@pytest.mark.parametrize(("text", "expected"), NOTATIONS)
def test_every_notation_is_read(text: str, expected: list[tuple[str, list[tuple[str, str | None]]]]) -> None:
    assert [(act.act_type, [(slot.name, slot.value) for slot in act.slots]) for act in parse(text)] == expected
    assert [(act.act_type, [(slot.name, slot.value) for slot in act.slots]) for act in parse(f"  {text}\n")] == expected


@pytest.mark.parametrize(
    ("text", "under", "reason"),
    [
        ("inform name=x)", "name", "expected '('"),
        ("inform(name=x", "", "expected ';' or ')'"),
        ("inform(name='x;a=b)", "'x", "never closed"),
        ("inform(name=;a=b)", ";a", "expected a value"),
        ("inform(name='';a=b)", "'';", "a value cannot be empty"),
        ("inform(a=b;name='  ')", "'  '", "a value cannot be empty"),
        ("inform(=x)", "=x", "expected a slot name"),
        ("inform(a=b) & ", "", "another act after '&'"),
        ("inform(a=b))", "))", "act type"),
        ("inform(a='b' c)", "'b' c", "never closed"),
        ("inform(name='The Ritz' area='north')", "area", "expected ';' before another slot"),
        ("inform(name='Harry's'customer rating=5)", "customer", "expected ';' before another slot"),
        ("inform(name=The Ritz area=north)", "area", "may be quoted"),
        ("hello()\n  inform[", "[", "expected '('"),
        ("name[The Eagle", "[The", "never closed"),
        ("name[The Eagle] eatType[x]", "eatType", "expected ','"),
        ("(a=b)", "(a", "act type"),
        ("", "", "found nothing"),
        ("[1, 2", "", "not JSON"),
    ],
)
def test_the_caret_stands_under_the_character(text: str, under: str, reason: str) -> None:
    with pytest.raises(ActSyntaxError, match="column") as caught:
        parse(text)
    error = caught.value
    assert reason in str(error)
    head, line, caret = str(error).split("\n")
    expected = text.rindex(under) if under else len(text)
    if "))" in under:
        expected += 1
    assert error.position == expected
    column = caret.index("^") - 2
    shown = line[2:]
    assert shown == text.split("\n")[text.count("\n", 0, expected)]
    assert shown[column:].startswith(under.lstrip(")") if "))" in under else under)
    assert head.startswith(f"line {1 + text.count(chr(10), 0, expected)}, column {column + 1}: ")


@pytest.mark.parametrize(
    ("value", "written"), [("e=mc", "e=mc"), ("e = mc", "e = mc"), ("a b=c", "'a b=c'"), ("a (b c=d)", "a (b c=d)")]
)
def test_a_value_may_contain_an_equals_sign(value: str, written: str) -> None:
    turn = parse(f"inform(a={written};b=c)")
    assert [slot.value for slot in turn.acts[0].slots] == [value, "c"] and parse(str(turn)) == turn


@pytest.mark.parametrize("junk", ["\t", "\u200b", "\x1b[31m", "\u0301", "日本", "x" * 500])
def test_the_caret_stands_right_behind_strange_characters(junk: str) -> None:
    text = f"inform(a='x{junk}';b=;c=d)"
    with pytest.raises(ActSyntaxError) as caught:
        parse(text, where="acts.txt, line 7")
    head, line, caret = str(caught.value).split("\n")
    assert head.startswith(f"acts.txt, line 7, column {text.index(';c') + 1}: ")
    assert line[caret.index("^")] == ";"
    assert len(line) < 130


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "[1]",
        "{}",
        '[{"act": 3}]',
        '[{"act": ""}]',
        '[{"act": "a b"}]',
        '[{"act": "a", "slots": {}}]',
        '[{"act": "a", "slots": [[]]}]',
        '[{"act": "a", "slots": [["a", "b", "c"]]}]',
        '[{"act": "a", "slots": [["a", []]]}]',
        '[{"act": "a", "slots": [["", "b"]]}]',
        "[" * 100_000,
        '[{"act": "a", "slots": [["n", 1' + "0" * 5000 + "]]}]",
        '[{"act": "a", "slots": [["n", NaN]]}]',
        '[{"act": "a", "slots": [["n", -Infinity]]}]',
        '[{"act": "a", "slots": [["n", 1e999]]}]',
        '[{"act": "a", "slots": [["n", ""]]}]',
        '[{"act": "a", "slots": [["n", " "]]}]',
        '[{"act": "a", "slots": [["slot", ""]]}]',
        '[{"act": "a", "slots": [{}]}]',
        '[{"act": "a", "slots": [{"name": 3}]}]',
        '[{"act": "a", "slots": [{"name": "a", "of": "b"}]}]',
        '[{"act": "a", "slots": [["n", ' + "[" * 500 + "]" * 500 + "]]}]",
        '{"act": "INFORM", "slot": "time", "values": ["11:30"]}',
    ],
)
def test_json_of_another_form_is_an_act_error(text: str) -> None:
    with pytest.raises(ActError, match=r"^acts\.txt, line 7[,:] ") as caught:
        parse(text, where="acts.txt, line 7")
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("value", ["", " ", "\n", "\u3000"])
def test_a_value_that_no_sentence_can_say_is_refused(value: str) -> None:
    with pytest.raises(ActError, match="the value of 'name' is empty; leave out '='"):
        Slot("name", value)


@pytest.mark.parametrize(
    ("make", "name", "reason"),
    [
        (Slot, "?food", "begins with '?'"),
        (Slot, "food ", "begins or ends with white space"),
        (Slot, "fo\nod", "contains a line break"),
        (DialogueAct, "?", "has no name after '?'"),
        (DialogueAct, "??x", "begins with '??'"),
        (DialogueAct, "in\tform", "contains white space"),
    ],
)
def test_a_refused_name_is_told_every_reason(make: Callable[[str], object], name: str, reason: str) -> None:
    with pytest.raises(ActError) as caught:
        make(name)
    message = str(caught.value)
    assert message.startswith(f"{name!r} cannot be ")
    assert reason in message
    assert "\n" not in message


def test_a_turn_may_be_made_of_lists() -> None:
    turn = Turn([DialogueAct("inform", [Slot("name", "Ivy")])])  # type: ignore[list-item, arg-type]
    assert turn == parse("inform(name=Ivy)") and hash(turn) == hash(parse("inform(name=Ivy)"))
    assert Turn(np.array(parse("a()&b()").acts)) == parse("a()&b()")  # type: ignore[arg-type]


def test_a_value_that_is_no_text_is_told_of() -> None:
    with pytest.raises(ActError, match="the value of 'count' must be text, not 12"):
        Slot("count", 12)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Turn(["inform()"]),  # type: ignore[arg-type]
        lambda: Turn("inform()"),  # type: ignore[arg-type]
        lambda: DialogueAct("inform", [("name", "Ivy")]),  # type: ignore[arg-type]
        lambda: DialogueAct("inform", {"name": "Ivy"}),  # type: ignore[arg-type]
        lambda: DialogueAct(3),  # type: ignore[arg-type]
        lambda: DialogueAct("inform", Slot("name")),  # type: ignore[arg-type]
        lambda: DialogueAct("inform", None),  # type: ignore[arg-type]
        lambda: Turn(DialogueAct("inform")),  # type: ignore[arg-type]
        lambda: Turn(None),  # type: ignore[arg-type]
        lambda: Turn(iter(())),  # type: ignore[arg-type]
        lambda: Slot(None),  # type: ignore[arg-type]
    ],
)
def test_a_turn_is_made_of_acts_and_an_act_of_slots(make: Callable[[], object]) -> None:
    with pytest.raises(ActError):
        make()


def test_acts_have_an_order() -> None:
    texts = ["a()", "a(x)", "a(x=u)", "a(x=v)", "a(y)", "b()"]
    assert [str(turn) for turn in sorted(map(parse, reversed(texts)))] == texts
    assert parse("a(x)") < parse("a(x=u)") <= parse("a(x=u)")


@pytest.mark.parametrize(("value", "special"), [("dont_care", "dontcare"), ("YES", "yes"), ("false", "no"), ("?", "?")])
def test_special_values_are_spelt_one_way(value: str, special: str) -> None:
    assert Slot("a", value).special == special
    assert not Slot("a", value).delexicalizable


# (before, repeated, after): inputs that grow by what is repeated.
GROWING = [
    ("inform(a=b", " ", ")"),
    ("inform(a=b", " ", "c;d=e)"),
    ("inform(a=b", " ,", ")"),
    ("inform(a=b", ", ", "c=d)"),
    ("inform(a=b", ",c=d", ")"),
    ("inform(a=b", ",c", "=d)"),
    ("inform(a=b (", ",c=d", "))"),
    ("inform(a=b", " (c,d=e)", ")"),
    ("inform(a=b", "(", ")"),
    ("inform(a='", "' x", "')"),
    ("inform(a='", "'  ", "x')"),
    ("inform(a='", "\\'", "')"),
    ("inform(", "a;", ")"),
    ("inform(", "a ", ")"),
    ("", "a(b='c d')&", "a()"),
    ("", "a(b=c )", " "),
    ("a[b]", ", a[b]", ""),
    ("a[", "[]", "]"),
    ("inform(a=", "[", ")"),
    ("", " ", "a()"),
]


@pytest.mark.parametrize(("before", "repeated", "after"), GROWING)
def test_the_parser_takes_time_in_proportion(before: str, repeated: str, after: str) -> None:
    def seconds(count: int) -> float:
        text = before + repeated * count + after
        return min(timeit.repeat(lambda: check(text), timer=time.process_time, number=1, repeat=3))

    # In proportion: 16 times; in squares: 256 times, 4.5 seconds for 40,000 spaces.
    few, many = seconds(2_500), seconds(40_000)
    assert many < 80 * few + 0.05


def test_long_and_deeply_nested_input_is_read_or_refused() -> None:
    for text in ("(" * 50_000, "a(" * 50_000, "a=" * 50_000, "a('" * 20_000, "a[" * 50_000, "a(b=" + "(" * 50_000):
        check(text)
    assert len(parse("inform(a='" + "x" * 200_000 + "')").acts[0].slots) == 1
    assert len(parse("inform(" + "a='b;)';" * 20_000 + ")").acts[0].slots) == 20_000


@pytest.fixture(scope="module")
def real_acts(data_dir: Path) -> list[str]:
    """The distinct acts of seven corpora, as their files have them."""
    texts = list(read_acts(data_dir))
    # Rows in the files: restaurants 5192, hotel 5373, laptop 13242, tv 7035, dstc2 25501 - 41 without an act,
    # e2e 51426, viggo 6900.
    assert len(texts) > 100_000
    return sorted(set(texts))


def read_acts(data_dir: Path) -> Iterator[str]:
    for corpus in ("restaurants", "hotel", "laptop", "tv"):
        for path in sorted((data_dir / corpus).glob("*.json")):
            lines = path.read_text(encoding="utf-8").split("\n")
            for row in json.loads("\n".join(line for line in lines if not line.startswith("#"))):
                yield row[0]
    for path in sorted((data_dir / "dstc2").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").split("\n"):
            if line and (act := json.loads(line)["da"]) is not None:
                yield act
    for corpus in ("e2e", "viggo"):
        for path in sorted((data_dir / corpus).glob("*.csv")):
            with path.open(encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file):
                    yield row["mr"]


# The one malformed row of these corpora (restaurants, train.json): a value that ends in a quote it never began.
STRAY_QUOTE = "goodformeal=dinner'"


def test_every_act_of_every_corpus_is_read_and_written(real_acts: list[str]) -> None:
    for text in real_acts:
        turn = parse(text)
        assert parse(str(turn)) == turn
        assert turn_from_json(turn.to_json()) == turn
        assert text.count("=") <= sum(slot.value is not None for _, slot in turn.slots()) or STRAY_QUOTE in text


def mutations(texts: list[str], count: int, seed: int) -> Iterator[str]:
    """Yield real acts with a few characters deleted, doubled, swapped, replaced or spliced in from another act."""
    rng = random.Random(seed)
    alphabet = DELIMITERS * 3 + "aZ0.-_ \n\t\x00é\u2028\ud800😀{}"
    for _ in range(count):
        chars = list(rng.choice(texts))
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(chars) + 1)
            kind = rng.randrange(5)
            if kind == 0:
                del chars[at : at + rng.randint(1, 4)]
            elif kind == 1:
                chars[at:at] = chars[at : at + rng.randint(1, 8)]
            elif kind == 2:
                chars[at : at + 1] = rng.choice(alphabet)
            elif kind == 3:
                chars[at:at] = rng.choices(alphabet, k=rng.randint(1, 3))
            else:
                other = rng.choice(texts)
                chars[at:at] = other[rng.randrange(len(other)) :][: rng.randint(1, 12)]
        yield "".join(chars)


def test_mutated_acts_and_random_strings_are_acts_or_act_errors(real_acts: list[str]) -> None:
    rng = random.Random(2017)
    json_acts = [str(parse(text).to_json()).replace("'", '"') for text in real_acts[:300]]
    texts = rng.sample(real_acts, 4_000) + json_acts
    read = sum(map(check, mutations(texts, 150_000, seed=1)))
    # A mutation test that never reads or never refuses tests nothing.
    assert 20_000 < read < 140_000
    pool = DELIMITERS * 4 + "ab \n:.-é\u2028\ud800" + "".join(map(chr, range(0x20)))
    for _ in range(50_000):
        check("".join(rng.choices(pool, k=rng.randint(0, 24))))


PLAIN = st.lists(
    st.sampled_from(["a", "?b", ".-", "=", "='", "'", '"', ";", ")", "(", " ", ",", "&", "\\", "é", "[", "]"])
)


@given(st.builds("inform({}".format, PLAIN.map("".join)) | turns.map(str))
@example("inform(a='b;c)d';e=f.g;h)")
@example("inform(a='';b)x")
def test_plain_acts_are_read_as_the_parser_reads_them(text: str) -> None:
    check_plain(text)


def test_plain_acts_of_the_corpora_are_read_as_the_parser_reads_them(real_acts: list[str]) -> None:
    cambridge = [text for text in real_acts if "[" not in text]
    assert sum(map(check_plain, real_acts)) > len(cambridge) / 4
    assert sum(map(check_plain, mutations(real_acts, 30_000, seed=5))) > 1_000


def check_plain(text: str) -> bool:
    """Read the first act in both ways if it is a plain one; return whether it was."""
    quick, slow = _Reader(text, ""), _Reader(text, "")
    act = quick.plain_act()
    if act is not None:
        assert slow.any_act() == act
        assert slow.at == quick.at
    return act is not None


@given(turns)
def test_equal_turns_have_equal_hashes_and_survive_pickling(turn: Turn) -> None:
    again = Turn(tuple(DialogueAct(act.act_type, tuple(act.slots)) for act in turn))
    assert {turn: 1}[again] == 1
    for copied in (pickle.loads(pickle.dumps(turn)), copy.deepcopy(turn)):
        assert copied == turn
        assert hash(copied) == hash(turn)


def test_errors_reach_another_process_as_they_are() -> None:
    for module in ("studies.storage", "studies.ratings", "experiments.tracking", "serving.chat.storage"):
        importlib.import_module(f"dactnlg.{module}")
    found, left = [], [DactnlgError]
    while left:
        left += (kind := left.pop()).__subclasses__()
        # Other tests define errors of their own.
        found += [kind] if kind.__module__.startswith("dactnlg.") else []
    given = {"ActSyntaxError": ("expected a name", "inform(", 7), "UnknownNameError": ("slot", "fod", ["food"], "here")}
    given["TooManyMessages"] = (9, 3)
    for kind in found:
        error = kind(*given.get(kind.__name__, ("cannot read it",)))
        for copied in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
            assert (type(copied), str(copied), vars(copied)) == (kind, str(error), vars(error))
    assert {ActSyntaxError, UnknownNameError} < {*found}


def test_a_pickled_turn_is_found_by_a_process_that_hashes_otherwise() -> None:
    # The hash of text differs between processes, so a turn must not carry its own along.
    code = (
        "import pickle, sys; from dactnlg import parse; print(pickle.load(sys.stdin.buffer) in {parse('inform(a=b)')})"
    )
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", code],
            input=pickle.dumps(parse("inform(a=b)")),
            capture_output=True,
            check=True,
            env=environment,
        )
        assert done.stdout.strip() == b"True"
