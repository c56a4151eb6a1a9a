"""Reports: what they show, that they are well-formed, and that no text from outside is taken for markup."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from helpers import Page
from hypothesis import given
from hypothesis import strategies as st

from dactnlg.acts import parse
from dactnlg.cli.main import main
from dactnlg.data.card import load_card
from dactnlg.evaluation.evaluate import evaluate
from dactnlg.evaluation.report import Content, gather, write_report
from dactnlg.evaluation.report.differences import marked, nearest
from dactnlg.evaluation.report.faults import SentenceFaults, find_faults
from dactnlg.evaluation.report.html import breakable
from dactnlg.evaluation.report.markdown import markdown
from dactnlg.evaluation.report.page import page
from dactnlg.evaluation.scoring import TextPair, score_pairs
from dactnlg.metrics.registry import Materials
from dactnlg.text.slots import SlotChecker

TURNS = [
    parse("inform(name='Ivy Cutting';difficulty=easy)"),
    parse("inform(name='Red Kite';difficulty=strenuous;dogsallowed=no)"),
    parse("goodbye()"),
]
NASTY = "<script>alert('x')</script> & <b>\"bold\"</b> | `code` *stars*"


@pytest.fixture(scope="module")
def checker() -> SlotChecker:
    return load_card("trails").style().checker()


def report(pairs: list[TextPair], checker: SlotChecker | None = None, **options: object) -> Content:
    result = score_pairs(pairs, None, "nlg-eval", Materials(checker=checker))
    result.add_confidence(50)
    return gather("a title", [result], checker, **options)


def test_faults_are_counted_by_act_slot_and_kind(checker: SlotChecker) -> None:
    said = [
        "Ivy Cutting is strenuous, and Ivy Cutting is long.",
        "Red Kite is a strenuous one, and dogs are welcome.",
        "Goodbye.",
    ]
    gold = [["Ivy Cutting is easy."], ["Red Kite is strenuous; no dogs.", "Red Kite is open to dogs."], []]
    found = find_faults(checker, TURNS, said, gold)
    first, second, third = found.sentences
    assert (first.missing, first.extra) == (("difficulty=easy",), ("name='Ivy Cutting'",))
    assert first.wrong == {"difficulty=easy": "strenuous"}
    assert second.missing == ("dogsallowed=no",) and second.wrong == {"dogsallowed=no": "yes"}
    assert third is None
    slots, acts = found.system.slots, found.system.acts
    assert (slots["difficulty"].required, slots["difficulty"].missing, slots["difficulty"].wrong) == (2, 1, 1)
    assert (slots["name"].required, slots["name"].extra, slots["name"].missing) == (2, 1, 0)
    assert (slots["dogsallowed"].required, slots["dogsallowed"].wrong) == (1, 1)
    assert (acts["inform"].required, acts["inform"].sentences, acts["goodbye"].rate) == (5, 2, None)
    # References are checked alike: three with 2 + 3 + 3 slots, of which the last contradicts one and lacks another.
    assert (found.gold.total.required, found.gold.total.missing, found.gold.total.wrong) == (8, 2, 1)
    assert sum(count.required for count in slots.values()) == found.system.total.required


@given(st.text(max_size=40), st.text(max_size=40))
def test_marked_texts_are_the_texts(first: str, second: str) -> None:
    ours, theirs = marked(first, second)
    assert "".join(text for text, _ in ours) == first
    assert "".join(text for text, _ in theirs) == second
    assert not any(flag for _, flag in marked(first, first)[0])


def test_a_hypothesis_is_marked_against_its_nearest_reference() -> None:
    references = ["no such thing", "red door serves thai food", "red door is open"]
    assert nearest("Red door serves food", references) == "red door serves thai food"
    assert nearest("x", []) is None
    ours, theirs = marked("Red door serves cheap food.", "red door serves thai food")
    assert [text for text, flag in ours if flag] == ["cheap", "."]
    assert [text for text, flag in theirs if flag] == ["thai"]


def test_a_page_is_well_formed_and_fetches_nothing(checker: SlotChecker) -> None:
    pairs = [
        TextPair(NASTY, (NASTY.replace("alert", "alarm"), "Ivy Cutting is easy."), TURNS[0]),
        TextPair("", ("Red Kite is strenuous.",), TURNS[1]),
        TextPair("Red Kite and Red Kite", (), TURNS[1]),
        TextPair("Goodbye.", ("Goodbye.",), TURNS[2]),
    ]
    found = report(pairs, checker)
    html = page(found)
    shown = Page(html)
    assert not shown.tags & {"script", "link", "img", "iframe"}
    assert not {name for name in shown.attributes if name.startswith("on")} | {"src", "href"} & shown.attributes
    assert not re.search(r"https?:|url\(|@import", html)
    for expected in (
        NASTY,
        "Only 4 segments",
        "Few references",
        "1 of 4 hypotheses are empty",
        "Short hypotheses",
        "1 of 4 segments have no reference",
        "missing difficulty=strenuous",
        "redundant name='Red Kite'",
        "preset:nlg-eval",
        "(nothing)",
    ):
        assert expected in shown.text, expected
    assert html.count("<svg") == len(found.histograms) == 5
    # Which faults a bar shows is a matter of colours; a title alone is for the mouse.
    bars = re.findall(r'<div class="track stack" role="img" title="([^"]*)" aria-label="([^"]*)">', html)
    assert ("2 missing, 1 redundant", "sentences: 2 missing, 1 redundant") in bars
    plain = markdown(found)
    assert "\\<script\\>" in plain and "<script>" not in plain
    assert "missing: difficulty=strenuous" in plain
    rows = [line for line in plain.splitlines() if line.startswith("|")]
    assert len({line.replace("\\|", "").count("|") for line in rows if "inform" in line}) <= 2


def test_the_policy_of_a_page_allows_its_style_sheet_and_nothing_else(checker: SlotChecker) -> None:
    html = page(report([TextPair(NASTY, ("Ivy Cutting is easy.",), TURNS[0])], checker))
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert Page(html).policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert html.index("Content-Security-Policy") < html.index("<style>")
    # The policy holds for attributes too: bars have classes for their widths, and each class its rule.
    assert "style" not in Page(html).attributes
    used = set(re.findall(r"\b(?:width|left)-\d+-\d\d\b", html.partition("</style>")[2]))
    assert used and used == set(re.findall(r"^\.(\S+) \{ (?:width|left): [\d.]+%; \}$", style, re.MULTILINE))


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_words_in_colour_can_be_read(scheme: int, checker: SlotChecker) -> None:
    style = page(report([TextPair("Ivy Cutting.", ("Ivy Cutting is easy.",), TURNS[0])], checker))
    colours = dict(re.findall(r"--([\w-]+): (#\w+);", re.findall(r":root \{[^}]*\}", style)[scheme]))
    on = {name: f"{name}-back" for name in ("missing", "wrong", "extra")} | {"good": "card", "ink": "warn"}
    pairs = [*on.items(), *((ink, back) for ink in ("ink", "soft") for back in ("paper", "card"))]
    pairs += [("ink", back) for back in ("missing-back", "wrong-back", "extra-back")]
    # Level AA of the Web Content Accessibility Guidelines.
    assert {pair: ratio for pair in pairs if (ratio := contrast(*(colours[name] for name in pair))) < 4.5} == {}


def contrast(*colours: str) -> float:
    """Return the contrast ratio of two colours, as `#rrggbb` or `#rgb`."""
    lights = []
    for colour in colours:
        channels = [
            int(part, 16) / (15 if len(part) == 1 else 255) for part in re.findall(r"\w" * (len(colour) // 3), colour)
        ]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in channels]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(lights) + 0.05) / (min(lights) + 0.05)


@pytest.mark.parametrize("field", ["title", "lead", "notes", "facts", "faulty"])
def test_every_text_of_a_report_is_escaped(field: str, checker: SlotChecker) -> None:
    found = report([TextPair("Ivy Cutting is steep.", ("Ivy Cutting is easy.",), TURNS[0])], checker)
    faults = SentenceFaults((NASTY,), (NASTY,), {NASTY: NASTY})
    values = {"notes": [NASTY], "facts": [(NASTY, NASTY)], "faulty": [(NASTY, NASTY, faults)]}
    shown = Page(page(replace(found, **{field: values.get(field, NASTY)})))
    assert "script" not in shown.tags
    assert "alert('x')" in shown.text


def test_long_names_may_break_and_are_escaped() -> None:
    assert breakable("a_b&<c>") == "a_<wbr>b&amp;<wbr>&lt;c&gt;"


def test_pairs_without_acts_or_references_are_reported() -> None:
    for pairs in ([TextPair("a b", ("a c",))], [TextPair("", ())]):
        found = report(pairs)
        assert found.faults is None and not found.acts
        assert Page(page(found)).text
        assert markdown(found).startswith("# a title\n")


@pytest.mark.parametrize("metrics", [None, ["BLEU"], ["TER"]])
def test_an_act_without_references_has_no_score(metrics: list[str] | None) -> None:
    pairs = [TextPair("Ivy Cutting is easy", ("Ivy Cutting is easy",), TURNS[0])] * 2
    pairs += [TextPair("Bye", (), TURNS[2])] * 3
    content = gather("t", [score_pairs(pairs, metrics)])
    assert [(row.act, row.value is None) for row in content.acts] == [("goodbye", True), ("inform", False)]
    assert "| goodbye | 3 | undefined |" in markdown(content)
    assert not re.search(r"\bnan\b", markdown(content) + page(content))


def test_leakage_and_copies_are_warned_of() -> None:
    pairs = [
        TextPair("Ivy Cutting is easy.", ("Ivy Cutting is easy.",), TURNS[0]),
        TextPair("bye", ("bye",), TURNS[2]),
    ]
    found = report(pairs, train=[(str(TURNS[0]), ["ivy cutting  is easy.", "x"]), ("other()", [])])
    warnings = " ".join(found.warnings)
    assert "Leakage: 1 of 2 acts of this split also occur in the training data, 1 of them with a reference" in warnings
    assert "Every hypothesis is one of its own references" in warnings
    assert "Leakage" not in " ".join(report(pairs, train=[]).warnings)


def test_the_worst_are_the_worst_and_each_is_shown_once() -> None:
    pairs = [TextPair(f"a b c {'d' * (i % 4)} {i % 30}", ("a b c d e",)) for i in range(60)]
    pairs += [TextPair("z z", ("a b c d e",))] * 5
    found = report(pairs)
    assert len(found.worst) == 20
    assert (found.worst[0].hypothesis, found.worst[0].times) == ("z z", 5)
    values = [sentence.scores[found.lead] for sentence in found.worst]
    assert values == sorted(values)
    assert len({sentence.hypothesis for sentence in found.worst}) == 20
    assert sum(found.histograms[0].counts) == 65


def test_the_suffix_of_a_file_decides_its_format(tmp_path: Path) -> None:
    found = report([TextPair("a b", ("a c",))])
    for name, start in (("r.html", "<!doctype html>"), ("r.HTM", "<!doctype html>"), ("r.md", "# a"), ("r", "# a")):
        write_report(tmp_path / name, found)
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)


def test_score_and_evaluate_write_reports(random_run: Path, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.jsonl"
    rows = [{"hypothesis": "Ivy Cutting \ud800", "references": ["Ivy Cutting is easy."], "act": str(TURNS[0])}]
    pairs.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    score, run = tmp_path / "score.html", tmp_path / "run.html"
    command = ["score", "--input", str(pairs), "--corpus", "trails", "--report", str(score)]
    assert main([*command, "--json", str(tmp_path / "s.json")]) == 0
    assert json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))["confidence"]["resamples"] == 1000
    assert "Ivy Cutting is easy." in Page(score.read_text(encoding="utf-8")).text
    assert main(["evaluate", "--model", str(random_run), "--report", str(run)]) == 0
    text = Page(run.read_text(encoding="utf-8")).text
    assert "trails, test" in text and "Scores under single" in text and "The 20 worst sentences" in text


def test_a_report_leaves_the_evaluation_as_it_was(random_run: Path) -> None:
    found = evaluate(random_run, split="valid", presets="single", metrics="BLEU-4")
    before = found.table(), found.to_dict()
    assert "95% interval" in found.report()
    assert (found.table(), found.to_dict()) == before
