"""YAML as files are read: words and numbers of YAML 1.2, lines of keys, keys given twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

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
    ],
)
def test_words_and_numbers(text: str, value: Any) -> None:
    assert yamlfile.parse(text) == value


@pytest.mark.parametrize("text", ["[", "a: b: c", "!!python/object:os.system x", "[" * 2000])
def test_what_is_not_yaml(text: str) -> None:
    with pytest.raises(ValueError):
        yamlfile.parse(text)


def test_lines_of_all_keys(tmp_path: Path) -> None:
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


def test_an_alias_of_itself_is_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("a: &a\n  b: *a\n")
    with pytest.raises(ConfigError, match="not YAML"):
        yamlfile.read(file)
