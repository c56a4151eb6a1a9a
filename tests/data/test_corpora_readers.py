"""Readers on small files: the user's own data, the raw DSTC2 release, and every kind of damage."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dactnlg.acts import Turn, parse
from dactnlg.data.card import load_card
from dactnlg.data.corpus import Corpus, cache_dir, load_corpus
from dactnlg.data.readers import readers
from dactnlg.data.readers.reading import read_csv, read_lines, read_text
from dactnlg.errors import CorpusError, UnknownNameError, UserError

RAW = Path(__file__).parents[1] / "fixtures" / "dstc2_raw"


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


# --- the user's own data


def test_jsonl_with_text_references_and_json_acts(tmp_path: Path) -> None:
    lines = [
        {"act": "inform(food=thai)", "text": "It serves Thai food."},
        {"act": "goodbye()", "references": ["Bye.", "Goodbye."], "id": 7},
        {"act": [{"act": "request", "slots": [["slot", "area"]]}], "text": "Where?"},
    ]
    path = written(tmp_path, "mine.jsonl", "\n\n".join(map(json.dumps, lines)) + "\n")
    corpus = load_corpus(path)
    assert corpus.splits == ("train",)
    assert [str(e.turn) for e in corpus.split("train")] == ["inform(food=thai)", "goodbye()", "request(area)"]
    assert list(corpus.pairs("train"))[1:3] == [(parse("goodbye()"), "Bye."), (parse("goodbye()"), "Goodbye.")]
    assert corpus.split("train")[1].origin == "mine.jsonl, line 3"
    assert corpus.card.cased
    assert not corpus.card.spaced


def test_one_sentence_or_a_list_of_them_under_any_key(tmp_path: Path) -> None:
    rows = [
        {"act": "hello()", "text": ["Hi.", "Hello."], "handcrafted": "Hey."},
        {"act": "bye()", "references": "Bye."},
    ]
    first, second = load_corpus(written(tmp_path, "mine.json", json.dumps(rows))).split("train")
    assert (first.references, first.handcrafted, second.references) == (("Hi.", "Hello."), ("Hey.",), ("Bye.",))


def test_csv_groups_rows_that_follow_each_other(tmp_path: Path) -> None:
    text = 'text,act,note\nhello,greet(),\nhi,greet(),x\n"two\nlines",inform(a=b),\nhey,greet(),\n'
    corpus = load_corpus(written(tmp_path, "mine.csv", text))
    assert [e.references for e in corpus.split("train")] == [("hello", "hi"), ("two\nlines",), ("hey",)]
    assert [e.origin for e in corpus.split("train")] == [f"mine.csv, line {n}" for n in (2, 4, 6)]
    assert not corpus.card.cased
    assert corpus.card.spaced


def test_spaces_may_follow_the_commas_of_a_table(tmp_path: Path) -> None:
    text = '"act", "text"\n"inform(food=thai)", "Thai, and ""hot""."\ngoodbye(),   Bye.\n'
    corpus = load_corpus(written(tmp_path, "mine.csv", text))
    assert [e.references for e in corpus.split("train")] == [('Thai, and "hot".',), ("Bye.",)]


def test_a_folder_has_one_file_per_split(tmp_path: Path) -> None:
    written(tmp_path, "train.jsonl", '{"act": "a()", "text": "x"}\n')
    written(tmp_path, "dev.csv", "act,text\nb(),y\n")
    corpus = load_corpus(tmp_path)
    assert corpus.splits == ("train", "valid")
    assert corpus.split("valid")[0].turn == parse("b()")
    with pytest.raises(CorpusError, match="no split 'test'; it has train, valid"):
        corpus.split("test")


def test_a_folder_is_called_by_its_whole_name(tmp_path: Path) -> None:
    for name in ("v1.0", "v1.1"):
        (tmp_path / name).mkdir()
        written(tmp_path / name, "train.jsonl", '{"act": "a()", "text": "x"}\n')
    assert [load_corpus(tmp_path / name).name for name in ("v1.0", "v1.1")] == ["v1.0", "v1.1"]


def test_a_users_card_is_read(tmp_path: Path) -> None:
    written(tmp_path, "t.jsonl", '{"act": "inform(pets=no)", "text": "No pets."}\n')
    card = "name: mine\nformat: pairs\nfiles: {train: {path: t.jsonl}}\nslots: {pets: {cues: {no: ['no pets']}}}\n"
    corpus = load_corpus(written(tmp_path, "mine.yaml", card))
    assert corpus.card.slots["pets"].cues == {"no": ["no pets"]}
    assert len(corpus.split("train")) == 1


# --- DSTC2's release


@pytest.fixture
def release() -> Corpus:
    return load_corpus(RAW)


def test_the_raw_release_reads_like_the_joined_file(release: Corpus, tmp_path: Path) -> None:
    train = release.split("train")
    assert [str(example.turn) for example in train] == [
        "welcomemsg()",
        "request(pricerange)&inform(count=3)&impl-conf(food=welsh;area=harbour)",
        "offer(name='pickle & plum')&inform(food=welsh)&inform(pricerange=cheap)",
    ]
    assert train[2].references == ("Pickle & Plum cooks welsh food, and it is cheap.",)
    assert train[2].origin == "Jan26_S0A0/voip-sample-0001, turn 2"
    assert release.repairs == Counter({"train: turns without a known act left out": 1})
    joined = "\n".join(json.dumps({"da": str(e.turn), "text": e.references[0]}) for e in train)
    again = readers()["dstc2"](written(tmp_path, "train.jsonl", joined), Counter())
    assert [(e.turn, e.references) for e in again] == [(e.turn, e.references) for e in train]


def test_the_raw_release_is_found_in_a_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DACTNLG_DATA", raising=False)
    (tmp_path / "dstc2").symlink_to(RAW)
    corpus = load_corpus("dstc2", tmp_path)
    assert [len(corpus.split(split)) for split in ("train", "valid", "test")] == [3, 2, 2]
    assert str(corpus.split("valid")[1].turn) == "canthelp(food=welsh)&canthelp.exception(name='pickle & plum')"
    assert corpus.path("test").name == "dstc2_test.flist"


@pytest.mark.parametrize(
    ("log", "message"),
    [
        (None, r"dstc2_train.flist, line 1: the call s/call has no .*log.json"),
        ("{", r"log.json, line 1: not JSON"),
        ("[]", r"log.json, 'turns': a call has a list of turns"),
        ('{"turns": [{"output": {"transcript": 3}}]}', r"turn 0: a turn has output.transcript"),
        ('{"turns": [{"output": {"transcript": "x"}}]}', r"turn 0: a turn has output.dialog-acts"),
        ('{"turns": [{"output": {"transcript": "x", "dialog-acts": [{"act": "a b"}]}}]}', r"turn 0: 'a b' cannot be"),
        (
            '{"turns": [{"output": {"transcript": "x", "dialog-acts": [{"act": "a", "slots": 1}]}}]}',
            "turn 0: the slots",
        ),
    ],
)
def test_damage_in_the_release_names_the_call(tmp_path: Path, log: str | None, message: str) -> None:
    lists, call = tmp_path / "scripts" / "config", tmp_path / "data" / "s" / "call"
    lists.mkdir(parents=True)
    call.mkdir(parents=True)
    written(lists, "dstc2_train.flist", "s/call\n")
    if log is not None:
        written(call, "log.json", log)
    with pytest.raises(CorpusError, match=message):
        load_corpus(tmp_path).split("train")


# --- damage

ROWS = '#\n#\n[\n["inform(a=b)", "x", "y"],\n["goodbye()", "bye", "bye"]\n]\n'


@pytest.mark.parametrize(
    ("kind", "name", "text", "message"),
    [
        ("rnnlg", "train.json", ROWS[:40], "line 5: .*"),
        ("rnnlg", "train.json", ROWS.replace('"x", "y"]', '"x"'), "line 4: a row is"),
        ("rnnlg", "train.json", ROWS.replace('"x"', "3"), "line 4: a row is .act, sentence, handcrafted"),
        ("rnnlg", "train.json", ROWS.replace("a=b)", "a=b"), r"line 4, column 11: expected ';' or '\)'"),
        ("rnnlg", "train.json", ROWS.replace("],\n", "]\n", 1), "line 4: expected ',' or ']' after this row"),
        ("rnnlg", "train.json", ROWS + "[]", "line 6: text after the end"),
        ("rnnlg", "train.json", "#\n{}", "line 2: expected a JSON list"),
        ("rnnlg", "train.json", "", "line 1: expected a JSON list"),
        ("rnnlg", "train.json", "[" + "[" * 100_000, r"line 1: not JSON \(nested too deeply\)"),
        ("dstc2", "train.jsonl", '{"da": "a()", "text": "x"}\n{"da": 1, "text": "x"}', "line 2: 'da' is an act string"),
        ("dstc2", "train.jsonl", '{"da": "a()", "text": "x"}\n\n{"da": "a()"}', "line 3: a row is"),
        ("dstc2", "train.jsonl", '{"da": "a(", "text": "x"}', "line 1, column 3: expected"),
        ("dstc2", "train.jsonl", "{", "line 1: not JSON"),
        ("rnnlg", "train.json", ROWS.replace('"x"', '"\\ud83d"'), r"line 4: U\+D83D is no character"),
        ("rnnlg", "train.json", ROWS.replace('"x"', "1" + "0" * 5000), r"line 4: not JSON \(a number of too many"),
        ("rnnlg", "train.json", ROWS.replace('"x"', "NaN"), r"line 4: not JSON \(NaN is no number"),
        ("rnnlg", "train.json", ROWS.replace('"x"', '"\0"'), "line 4: a NUL"),
        ("rnnlg", "train.json", ROWS.replace("a=b", "a=''"), "line 4, column 10: a value cannot be empty"),
        ("dstc2", "train.jsonl", '{"da": "a()", "text": "\\udc00 \\ud83d"}', r"line 1: U\+DC00 is no character"),
        ("dstc2", "train.jsonl", '\n{"da": "a()", "text": ' + "[" * 100_000, r"line 2: not JSON \(nested too deeply\)"),
        ("pairs", "train.jsonl", '\n{"act": "a(b=\\ud83d)", "text": "x"}', r"line 2: U\+D83D is no character"),
        ("pairs", "train.jsonl", '{"act": "a()", "text": ' + "9" * 5000 + "}", r"line 1: not JSON \(a number of too"),
        ("pairs", "train.jsonl", '{"act": "a()", "text": "x"}\n\ufeff{"act": "a()", "text": "x"}', "line 2: not JSON"),
        ("pairs", "train.csv", "act,text,act\na(),x,b()\n", "line 1: 2 columns are called 'act'"),
        ("pairs", "train.csv", "act,text, text\na(),x,y\n", "line 1: 2 columns are called 'text'"),
        ("pairs", "train.csv", "act,text\na(),x\na(),x\0y\n", "line 3: a NUL"),
        ("bracket", "train.csv", "mr,ref,ref\na[b],c,d\n", "line 1: 2 columns are called 'ref'"),
        ("bracket", "train.csv", "mr,text\na,b\n", "line 1: no column 'ref'; the header is mr, text"),
        ("bracket", "train.csv", "", "line 1: no column 'mr'; the header is empty"),
        ("bracket", "train.csv", "mr,ref\na[b],c,d\n", "line 2: 3 cells where the header has 2"),
        ("bracket", "train.csv", 'mr,ref\na[b],"x\ny"\na[b,c\n', "line 4, column 2: .*never closed"),
        ("bracket", "train.csv", 'mr,ref\na[b],"c\n', "line 2: not CSV"),
        ("pairs", "train.jsonl", '{"act": "a()"}', "line 1: a row is"),
        ("pairs", "train.jsonl", '{"act": "a()", "text": "x", "references": []}', "line 1: a row is"),
        ("pairs", "train.jsonl", '{"act": "a()", "references": []}', "line 1: 'references' is empty"),
        ("pairs", "train.jsonl", '{"act": "a()", "references": 3}', "line 1: 'references' is a sentence, or"),
        ("pairs", "train.jsonl", '{"act": "a()", "text": null}', "line 1: 'text' is a sentence, or a list .* not None"),
        ("pairs", "train.jsonl", '{"act": null, "text": "x"}', "line 1: a JSON act is"),
        (
            "pairs",
            "train.jsonl",
            '{"act": "a()", "text": "x", "handcrafted": 3}',
            "line 1: 'handcrafted' is a sentence, or",
        ),
        ("pairs", "train.csv", "act,text\na(),x\na(), \n", "line 3: the sentence is blank"),
        ("pairs", "train.jsonl", '{"act": "a()", "references": ["x", "\\n"]}', "line 1: the sentence is blank"),
        ("bracket", "train.csv", "mr,ref\na[b],c\na[b],\n", "line 3: the sentence is blank"),
        ("pairs", "train.csv", "act,text\nname,x\n", r"line 2, column 5: expected '\('"),
    ],
)
def test_damage_names_file_and_line(tmp_path: Path, kind: str, name: str, text: str, message: str) -> None:
    with pytest.raises(CorpusError, match=f"{name}, {message}"):
        readers()[kind](written(tmp_path, name, text), Counter())


def test_empty_rows_of_spreadsheets_are_no_rows(tmp_path: Path) -> None:
    path = written(tmp_path, "train.csv", "act,text,\na(),x,\n,,\n , ,\nb(),y,\n,,,,\n")
    assert [example.references for example in readers()["pairs"](path, Counter())] == [("x",), ("y",)]


def test_a_whole_pair_of_surrogates_is_a_character(tmp_path: Path) -> None:
    path = written(tmp_path, "train.jsonl", '{"act": "a()", "text": "\\ud83d\\ude00 \\u00e9"}\n')
    assert readers()["pairs"](path, Counter())[0].references == ("😀 é",)


@pytest.mark.parametrize("kind", ["rnnlg", "dstc2", "bracket", "pairs"])
def test_a_pipe_is_no_corpus_file(tmp_path: Path, kind: str) -> None:
    os.mkfifo(tmp_path / "train.jsonl")
    with pytest.raises(CorpusError, match=r"cannot read .*train.jsonl: it is a pipe"):
        readers()[kind](tmp_path / "train.jsonl", Counter())
    with pytest.raises(CorpusError, match=r"there is no corpus file|has no train\.jsonl"):
        load_corpus(tmp_path / "train.jsonl")


def test_utf16_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    path.write_bytes('{"act": "a()", "text": "x"}'.encode("utf-16"))
    with pytest.raises(CorpusError, match=r"train.jsonl, line 1: not UTF-8 .*; is it UTF-16\?"):
        load_corpus(path)
    path.write_bytes('{"act": "a()", "text": "x"}'.encode("utf-16-le"))
    with pytest.raises(CorpusError, match=r"train.jsonl, line 1: a NUL, which is no text; is it UTF-16\?"):
        load_corpus(path)


def test_bytes_that_are_not_utf8_name_their_line(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    path.write_bytes(b'{"act": "a()", "text": "caf\xe9"}')
    with pytest.raises(CorpusError, match=r"train.jsonl, line 1: not UTF-8 \(invalid continuation byte\)"):
        load_corpus(path)


def test_a_byte_order_mark_is_no_part_of_the_data(tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_bytes(b"\xef\xbb\xbfact,text\r\na(),x\r\n")
    assert load_corpus(path).split("train")[0].references == ("x",)


def test_only_the_line_feed_ends_a_line(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes("\ufeffa\rb\u2028c\r\n\n d\x85\r\r\ne".encode())
    assert list(read_lines(path)) == [("line 1", "a\rb\u2028c"), ("line 3", " d\x85"), ("line 4", "e")]
    # Tables come from spreadsheets, and these end lines in three ways.
    for end in ("\n", "\r\n", "\r"):
        for name, rows in (("t.csv", ["a,b", '1,"x', 'y"', "2,z"]), ("t.tsv", ["a\tb", "1\tx", "2\tz"])):
            (tmp_path / name).write_bytes(end.join(rows).encode())
            assert [row for _, row in read_csv(tmp_path / name, ["b"])] == [["x\ny" if name == "t.csv" else "x"], ["z"]]


def test_text_of_a_known_encoding_holds_no_nul_either(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(b"caf\xe9\n\0")
    with pytest.raises(CorpusError, match=r"x\.txt, line 2: a NUL"):
        read_text(path, "cp1252")


@settings(max_examples=300, deadline=None)
@given(kind=st.sampled_from(["rnnlg", "dstc2", "bracket", "pairs"]), cut=st.integers(0, 400), junk=st.text(max_size=8))
def test_any_damage_is_a_user_error(tmp_path_factory: pytest.TempPathFactory, kind: str, cut: int, junk: str) -> None:
    """A file cut anywhere, with junk in the gap, either reads or is a CorpusError."""
    sound = {
        "rnnlg": ROWS,
        "dstc2": '{"da": "a(b=c;)", "text": "x", "n": {"a": [1]}}\n{"da": null, "text": "y"}\n',
        "bracket": 'mr,ref\n"name[The Eagle], food[thai]","Eagle, the ""Thai"""\nname[x],y\n',
        "pairs": '{"act": [{"act": "a", "slots": [["b", "c"]]}], "references": ["x", "y"]}\n',
    }[kind]
    path = tmp_path_factory.mktemp("damage") / "train.jsonl"
    at = cut % (len(sound) + 1)
    path.write_text(sound[:at] + junk + sound[at + len(junk) :], encoding="utf-8", errors="replace")
    try:
        examples = readers()[kind](path, Counter())
    except CorpusError as error:
        assert "train.jsonl" in str(error)
    else:
        assert all(isinstance(example.turn, Turn) and example.references for example in examples)


# --- names and cards


def test_unknown_corpus_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'restaurants'"):
        load_corpus("restaurant")


def test_a_missing_corpus_names_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DACTNLG_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(CorpusError, match="dactnlg corpora fetch hotel"):
        load_corpus("hotel").split("train")


def test_what_has_no_address_is_not_to_be_fetched(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("name: own\nformat: pairs\nfiles: {train: {path: own.csv}}\n")
    with pytest.raises(CorpusError, match="name its folder with --data-dir") as caught:
        load_corpus(tmp_path / "own.yaml").split("train")
    assert "corpora fetch" not in str(caught.value)


def test_folders_are_searched_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("DACTNLG_DATA", str(tmp_path / "data"))
    for root in (cache_dir(), tmp_path / "data", tmp_path / "given"):
        (root / "tv").mkdir(parents=True)
        written(root / "tv", "train.json", "[]")
        assert load_corpus("tv", tmp_path / "given").path("train") == root / "tv" / "train.json"


def test_data_beside_a_card_are_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files called train.csv are many."""
    monkeypatch.setenv("DACTNLG_DATA", str(tmp_path / "data"))
    for root in (tmp_path / "data", tmp_path / "own", tmp_path / "given"):
        root.mkdir()
        written(root, "train.csv", "act,text\n")
    card = written(tmp_path / "own", "x.yaml", "name: x\nformat: pairs\nfiles: {train: {path: train.csv}}\n")
    assert load_corpus(card).path("train") == tmp_path / "own" / "train.csv"
    assert load_corpus(card, tmp_path / "given").path("train") == tmp_path / "given" / "train.csv"
    (tmp_path / "own" / "train.csv").unlink()
    assert load_corpus(card).path("train") == tmp_path / "data" / "train.csv"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: [", "not YAML"),
        ("- a", "a data card is a mapping with name, format and files, not list"),
        ("name: x\nformat: pairs\nname: y\nfiles: {}", r"line 3: name: given twice, first on line 1"),
        ("name: x\nformat: pairs\nfiles: {}\nslots: {a: {}}\narchives:\n- {url: x, ul: y}", r"line 6: archives.0.ul: "),
        ("name: x\nformat: xml\nfiles: {}\nsplitz: {}", r"(?s)line 2: format.*line 4: splitz"),
        ("name: x\nformat: pairs\nfiles: {exam: {path: a}}", "files.exam"),
        ("name: x\nformat: pairs\nfiles: {train: {path: a, sha256: 12}}", "files.train.sha256"),
        ("name: x\nformat: pairs\nfiles: {}\nslots: {a: {cues: {yes: ['(']}}}", "not a regular expression"),
        ("name: x\nformat: pairs\nfiles: {}\nslots: {a: {cues: {yes: ['(?&no)']}}}", "refers to 'no'"),
        ("name: x\nformat: pairs\nfiles: {}\nslots: {a: {cues: {yes: []}}}", "'yes' has an empty cue, or none"),
        ("name: x\nformat: pairs\nfiles: {}\nslots: 3\nphrases: {a: b}", "slots"),
        ("name: x\nformat: pairs\nfiles: {valid: {path: a}}\ndivide: {}", "divide: .* train, which is not under files"),
    ],
)
def test_mistakes_in_a_card_are_all_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        load_card(written(tmp_path, "x.yaml", text))


def test_references_in_cues_are_written_out(tmp_path: Path) -> None:
    text = """
name: x
format: pairs
files: {}
phrases: {dog: 'dogs?'}
slots: {dogs: {cues: {yes: ['^(?!.*(?&no)).*(?&dog)'], no: ['no (?&dog)']}}}
"""
    cues = load_card(written(tmp_path, "x.yaml", text)).slots["dogs"].cues
    assert cues == {"yes": ["^(?!.*(?:no (?:dogs?))).*(?:dogs?)"], "no": ["no (?:dogs?)"]}


@pytest.mark.parametrize("name", ["nowhere.jsonl", "nowhere.yaml", "empty.jsonl", "folder"])
def test_paths_without_a_corpus_are_user_errors(tmp_path: Path, name: str) -> None:
    written(tmp_path, "empty.jsonl", "\n")
    (tmp_path / "folder").mkdir()
    with pytest.raises(UserError):
        load_corpus(tmp_path / name)
