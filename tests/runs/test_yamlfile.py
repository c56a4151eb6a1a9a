"""YAML as files are read: words and numbers of YAML 1.2, lines of keys, keys given twice."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dactnlg.cli.main import main
from dactnlg.errors import ConfigError
from dactnlg.runs import yamlfile


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # https://yaml.org/spec/1.2.2, 10.3.2: the core schema
        ("true", True),
        ("False", False),
        ("yes", "yes"),
        ("no", "no"),
        ("off", "off"),
        ("2e-3", 0.002),
        ("-1.5E+2", -150.0),
        (".inf", float("inf")),
        ("12", 12),
        ("~", None),
        ("", None),
        ("'true'", "true"),
        ("{no: [no, yes]}", {"no": ["no", "yes"]}),
        ("{1: {2: x}}", {"1": {"2": "x"}}),
        ("2020-12-13", "2020-12-13"),
        ("2020-13-45", "2020-13-45"),
    ],
)
def test_words_and_numbers_are_read_as_yaml_1_2(text: str, value: Any) -> None:
    assert yamlfile.parse(text) == value


@pytest.mark.parametrize("text", ["[", "a: b: c", "!!python/object:os.system x", "[" * 2000, "9" * 5000, "&a [*a]"])
def test_text_that_is_not_yaml_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        yamlfile.parse(text)


def test_every_key_has_a_line_and_duplicates_are_named(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("a:\n  b: 1\n  c:\n  - x: 1\n  - {x: 2,\n     y: 3}\nd: 1\na: 2\n")
    found = yamlfile.read(file)
    lines = {"a": 1, "a.b": 2, "a.c": 3, "a.c.0.x": 4, "a.c.1.x": 5, "a.c.1.y": 6, "d": 7}
    assert found.lines == lines
    assert found.mistakes == [f"{file}, line 8: a: given twice, first on line 1"]
    assert yamlfile.place(file, lines, ("a", "c", 1, "z")) == f"{file}, line 3"
    assert yamlfile.place(file, lines, ("e",)) == str(file)


def test_merged_keys_are_not_given_twice(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("a: &base\n  x: 1\nb:\n  <<: *base\n  x: 2\n")
    assert yamlfile.read(file).data["b"] == {"x": 2}
    assert yamlfile.read(file).mistakes == []


# Each line twice the one before: 25 lines are 300 million values.
BOMB = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 26))
MERGED = "a0: &a0 {k: 1, l: 2}\n" + "".join(f"a{i}: &a{i} {{<<: [*a{i - 1}, *a{i - 1}]}}\n" for i in range(1, 40))
CHAIN = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 3000))

HOSTILE = [
    (BOMB, "line 13, column 6", "more than 65,536 values, aliases written out"),
    (MERGED, "line 14, column 6", "more than 65,536 values, aliases written out"),
    (CHAIN, "line 38, column 6", "nested too deeply, aliases written out"),
    ("a: &a\n  b: *a\n", "line 1, column 4", "an alias of itself"),
    ("a: &a [x, *a]\n", "line 1, column 4", "an alias of itself"),
    ("a: &a\n  <<: *a\n", "line 1, column 4", "an alias of itself"),
    ("a:\n  b: " + "9" * 5000, "line 2, column 6", "a number of 5000 digits"),
    ("a:\n  b: 0x" + "f" * 5000, "line 2, column 6", "a number of 5002 digits"),
    ("a:\n  b: " + "[" * 5000, "line 2, column 44", "nested too deeply"),
    ("{a: " * 5000, "line 1, column 158", "nested too deeply"),
    ("- " * 5000, "line 1, column 81", "nested too deeply"),
    ("? " * 5000, "line 1, column 81", "nested too deeply"),
    ("a: 1\n? [b, c]\n: 2\n", "line 2, column 3", "a key must be one word or number"),
    ("a: 1\nb: !!timestamp 2020-13-45\n", "line 2, column 4", "timestamp"),
    ("a: 1\nb: !!bool maybe\n", "line 2, column 4", "'maybe' is not of the type"),
    ("a: 1\nb: !!int ''\n", "line 2, column 4", "'' is not of the type"),
    ("a: 1\nb: !!python/name:os.system\n", "line 2, column 4", "python/name"),
    ("a: 1\nb: \0\n", "line 2", "the character U\\+0000 is not allowed"),
    ('a: 1\nb: "\\ud800"\n', "line 2, column 4", "half of a surrogate pair"),
    ('a: 1\nb: "\\UFFFFFFFF"\n', "line 2", "an escape for no character"),
    ("a: 1\n--- b\n", "line 2, column 1", "another document"),
]


@pytest.mark.parametrize(("text", "place", "reason"), HOSTILE)
def test_hostile_files_are_refused_in_one_line(tmp_path: Path, text: str, place: str, reason: str) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=f"{file}, {place}: not YAML: .*{reason}") as caught:
        yamlfile.read(file)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_files_that_are_no_text_too_long_or_no_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(b"a: 1\nb: '\xff'\n")
    with pytest.raises(ConfigError, match=r"a\.yaml, line 2: not UTF-8"):
        yamlfile.read(file)
    file.write_text("a: " + "é" * (1 << 17))
    with pytest.raises(ConfigError, match="longer than 262,144 bytes"):
        yamlfile.read(file)
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(ConfigError, match=r"cannot read .*pipe\.yaml: it is a pipe"):
        yamlfile.read(tmp_path / "pipe.yaml")
    with pytest.raises(ConfigError, match="cannot read .*: it is a folder"):
        yamlfile.read(tmp_path)
    with pytest.raises(ConfigError, match="cannot read /dev/zero: it is a pipe, a device"):
        yamlfile.read(Path("/dev/zero"))


@given(st.text("ab01-:?!&*<[]{},'\"\\|>#%@ \n\t\0.x~", max_size=60))
def test_any_text_is_yaml_or_a_value_error(text: str) -> None:
    with contextlib.suppress(ValueError):
        yamlfile.parse(text)


# Among them text that one of YAML 1.1 and 1.2 takes for another type: 1e5, 0x1a, 1_0, 12:30, 2020-12-13, no.
WRITTEN = st.text("0123e+-.x_: 'ay", max_size=8) | st.from_regex(r"[-+]?[0-9]{1,4}[eE][0-9]{1,2}", fullmatch=True)
NAMES = WRITTEN | st.sampled_from(["no", "On", "~", "null", "TRUE", "2020-12-13", "é\u2028", "<<", "="])
VALUES = NAMES | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False) | st.booleans() | st.none()


@given(st.dictionaries(NAMES, st.recursive(VALUES, lambda v: st.lists(v) | st.dictionaries(NAMES, v), max_leaves=8)))
@example({"data_dir": "1234e56"})
@settings(max_examples=30)
def test_what_is_written_is_read_back_with_its_types(data: dict[str, Any]) -> None:
    for style in ({}, {"width": 120, "default_flow_style": None}):
        found = yamlfile.parse(yamlfile.dump(data, **style))
        assert repr(found) == repr(data)


@pytest.mark.parametrize("command", [("train",), ("corpora", "inspect"), ("sweep",)])
def test_commands_refuse_an_alias_bomb_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    file = tmp_path / "bomb.yaml"
    file.write_text(BOMB)
    assert main([*command, str(file)]) == 2
    told = f"dactnlg: {file}, line 13, column 6: not YAML: more than 65,536 values, aliases written out\n"
    assert capsys.readouterr() == ("", told)
