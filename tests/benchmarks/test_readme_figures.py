"""The figures in README are those that the benchmarks printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from helpers import table_rows

REPOSITORY = Path(__file__).resolve().parents[2]
README, RESULTS = (REPOSITORY / name for name in ("README.md", "benchmarks/RESULTS.md"))
READ = ("seed67", "test", "new")


def section(page: Path, begin: str) -> list[list[str]]:
    """Return the rows of the first table after a text, its header first."""
    _, _, after = page.read_text(encoding="utf-8").partition(begin)
    found = re.search(r"(?:^\|.*\n)+", after, re.MULTILINE)
    assert found
    return table_rows(found[0])


def rounded(figure: str) -> str:
    """Return a score as README has it: `.977` of `0.977 [0.976, 0.977]`."""
    return figure.split()[0].removeprefix("0") if figure else ""


def test_the_paper_and_its_models() -> None:
    header, *measured = section(RESULTS, "## Table 1 of Sharma et al. (2017)")
    column = header.index("BLEU-4")
    found = {(row[0], row[1]): rounded(row[column]) for row in measured}
    (_, *models), *rows = section(README, "beside Table 1 of Sharma et al. (2017)")
    assert len(rows) == 6
    for label, *figures in rows:
        corpus, kind = label.lower().split(", ")
        for model, figure in zip(models, figures, strict=True):
            constraint = {"paper": "paper", "hard": "hard"}.get(kind, "none" if model == "random" else "rerank")
            assert figure == found.get((f"{corpus}-{model}", constraint), ""), (label, model)


def test_every_corpus_beside_the_best_published() -> None:
    header, *measured = section(RESULTS, "## Corpora under the field's protocols")
    columns = [header.index(name) for name in ("ours", "best known")]
    found = {row[0]: [row[column] for column in columns] for row in measured if row[header.index("score")] == "BLEU-4"}
    # A corpus is named in the first row of its scores alone.
    names = [row[0] for row in measured]
    for at, row in enumerate(measured):
        if row[header.index("score")] == "BLEU-4" and not row[0]:
            found[next(name for name in reversed(names[:at]) if name)] = [row[column] for column in columns]
    (_, *corpora), (_, *published), (_, *ours) = section(README, "the best published without pre-training:")
    assert len(corpora) == 8
    for corpus, best, score in zip(corpora, published, ours, strict=True):
        measured_here, known = found[corpus.lower().replace(", ", "-")]
        assert rounded(measured_here) == score, corpus
        assert known.startswith(best.split()[0]), corpus


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("one slot away from a seen act", "one slot away"),
        ("random sets of slots", "subset"),
        ("of the test splits", "of the test split"),
        ("with another value of a slot, nearly all new", "new value"),
        ("with one more value of a slot than any training act", "one more value"),
        ("two acts that no turn has together", "several acts"),
    ],
)
def test_sentences_that_were_read(label: str, kind: str) -> None:
    found = {}
    for name in READ:
        _, *rows = section(REPOSITORY / f"benchmarks/reading_{name}.md", "other verdicts name")
        found |= {row[0]: [row[1], *(re.findall(r"[\d.]+%", row[at])[0] for at in (2, 6))] for row in rows}
    _, *rows = section(README, "`benchmarks/reading*.md` list them all")
    assert len(rows) == 6 and {row[0]: row[1:] for row in rows}[label] == found[kind]


def test_sentences_that_nobody_had_seen() -> None:
    kinds: dict[str, list[str]] = {}
    for seed in (202, 808, 909):
        _, *rows = section(REPOSITORY / f"benchmarks/reading_seed{seed}.md", "other verdicts name")
        for kind, count, right, *_ in rows:
            if kind in ("one slot away", "subset"):
                assert count == "200"
                kinds.setdefault(kind, []).append(re.findall(r"[\d.]+%", right)[0])
    text = " ".join(README.read_text(encoding="utf-8").split())
    for first, second, third in kinds.values():
        assert f"{first}, {second} and {third}" in text
