"""The benchmark of rules: it finds the rules of English, and switches them off wherever they are used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from helpers import table_rows

from benchmarks import rules as benchmark
from benchmarks.rules import rules, without
from dactnlg.generation.unseen import mender as using
from dactnlg.text.corrections import mending
from dactnlg.text.grammar.copulas import Copulas
from dactnlg.text.grammar.lexicon import Lexicon


def test_rules_change_sentences_or_find_faults() -> None:
    found = rules()
    assert {"mending.mended", "phrasing.rephrased", "joints.splices", "copulas.Copulas.faults"} <= found.keys()
    # These return something else.
    assert not {"verbs.finite", "lexicon.Lexicon", "mending.listed"} & found.keys()


def test_a_rule_is_off_wherever_it_is_used() -> None:
    text, lexicon, rule = ("it", "has", "SLOT_A", "and", "is", "here"), Lexicon(verbs=frozenset({"is"})), mending.mended
    with without(*rules()["mending.mended"]):
        assert using.mended is mending.mended is not rule
        assert mending.mended(text, lexicon, asks=True) == text
    assert using.mended is mending.mended is rule
    copulas = Copulas([["it", "is", "a", "pub", "."]] * 30)
    strange = ["it", "is", "a", "SLOT_A", "."]
    with without(*rules()["copulas.Copulas.faults"]):
        assert copulas.faults(strange) == 0
    assert copulas.faults(strange) == 1


@pytest.mark.parametrize("together", [(), ("--together",)])
def test_sentences_are_compared(run_benchmark: Callable[..., str], random_run: Path, together: tuple[str, ...]) -> None:
    few = ("--away", "3", "--subsets", "3", "--test", "0", "--new", "0", "--more", "0", "--several", "0")
    names = ["denials.denies", "lists.mislisted"]
    chosen = [word for name in names for word in ("--rule", name)]
    out = run_benchmark(benchmark, random_run, *few, *chosen, *together)
    assert out.startswith("6 sentences\n")
    _, *rows = table_rows(out)
    assert [name for name, *_ in rows] == ([", ".join(names)] if together else names)
    assert all(0 <= int(other) <= 6 for _, other, *_ in rows)
