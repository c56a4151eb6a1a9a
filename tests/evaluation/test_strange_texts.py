"""Texts of runs and files on pages, in Markdown and on a terminal: no markup or control character takes effect."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from helpers import Page

from dactnlg._utils.markdown import code, escape, fenced
from dactnlg._utils.tables import aligned
from dactnlg._utils.terminal import printable
from dactnlg.acts import parse
from dactnlg.evaluation.comparison import Change, Difference, SystemComparison
from dactnlg.evaluation.pairs import TextPair
from dactnlg.evaluation.report import compared, gather
from dactnlg.evaluation.report.markdown import markdown
from dactnlg.evaluation.report.page import page
from dactnlg.evaluation.scoring import score_pairs
from dactnlg.experiments.leaderboard import Block, Row
from dactnlg.experiments.leaderboard_page import render
from dactnlg.experiments.verdicts import Reproduction, Verdict

EVIL = (
    "<script>alert('x')</script><img src=x onerror=y> | [a](http://b.c) ![i](j) `c` ```d *e* _f_ \n# g\r\n"
    "\x1b[2J\x1b]0;title\x07\x9b31m\u202eback\u2066\u2069\x00\x08"
)
ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def check_harmless(html: str) -> None:
    """Check that a page fetches and runs nothing, and that its policy allows nothing."""
    found = Page(html)
    assert not found.tags & {"script", "img", "a", "link", "iframe", "object", "form", "base"}
    handlers = {name for name in found.attributes if name.startswith("on")}
    assert not handlers | {"src", "href", "style"} & found.attributes
    assert found.policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in found.policy and "*" not in found.policy
    assert not ACTING.search(html)
    assert "alert('x')" in found.text


def board() -> list[Block]:
    column, other = (EVIL, EVIL), ("BLEU-4", EVIL[::-1])
    rows = [
        Row(f"{EVIL}{n}", EVIL, f"{n}", "", EVIL, {EVIL: f"{EVIL}{n}"}, {column: 0.5 + n, other: None}) for n in (1, 2)
    ]
    rows.append(Row(EVIL, EVIL, "3", "1", EVIL, {}, {column: 0.5}))
    return [Block(EVIL, EVIL, EVIL, EVIL, rows)]


def test_a_leaderboard_escapes_names_and_scores() -> None:
    check_harmless(render(board(), "html"))
    text, plain = render(board()), render(board(), "markdown")
    assert not ACTING.search(text + plain)
    # A title, two lines of heads and one for each run: no name adds a line.
    assert len(text.splitlines()) == 6
    lines = plain.splitlines()
    assert lines[0].startswith("## ") and lines[-1].startswith("Hashes: ") and len(lines) == 9
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines[2:7]} == {6}
    assert not re.search(r"(?<!\\)(?:[<`\[]|!\[)", plain)


def test_a_report_escapes_texts_and_warnings() -> None:
    turn = parse("inform(name='" + EVIL.replace("'", "").replace("\n", " ").replace("\r", " ") + "')")
    result = score_pairs([TextPair(EVIL, (EVIL[:-3],), turn), TextPair("b", (EVIL,), turn)], None, "nlg-eval")
    result.warnings.append(EVIL)
    content = replace(gather(EVIL, [result]), notes=[EVIL], facts=[(EVIL, EVIL)], lead=EVIL)
    check_harmless(page(content))
    text = markdown(content)
    assert not ACTING.search(text)
    # Outside the block of the table nothing begins markup, and the block ends where it should.
    (fence,) = set(re.findall(r"^`{3,}", text, re.MULTILINE))
    before, block, after = re.split(rf"^{fence}$", text, flags=re.MULTILINE)
    assert not re.search(r"(?<!\\)[<\[]", before + re.sub(r"^- `+.*`+$", "", after, flags=re.MULTILINE))
    assert "```d" in block


def test_markdown_of_code_ends_where_the_text_does() -> None:
    assert code("a") == "`a`"
    assert code("a`b``c") == "```a`b``c```"
    assert code("`a") == "`` `a ``"
    assert fenced("a\n```b")[0] == "````"
    assert escape("a|b\n<c>") == r"a\|b \<c\>"


def test_comparisons_and_verdicts_escape_names() -> None:
    change = Change(EVIL, 0.1, 0.2, 0.1, 1, 1, EVIL, (EVIL, EVIL))
    found = SystemComparison((EVIL, EVIL), [Difference(EVIL, EVIL, 0.1, 0.2, None)], [EVIL], EVIL, [change], [change])
    text = compared.text(found)
    assert not ACTING.search(text)
    assert not any(line.startswith("# g") for line in text.splitlines())
    verdict = Verdict(EVIL, EVIL, EVIL, EVIL, 0.1, 0.2, EVIL, EVIL)
    assert not ACTING.search(aligned([[EVIL, "b"]]))
    assert not ACTING.search(Reproduction([replace(verdict, verdict="equal")], [EVIL]).table())


def test_control_characters_are_printed_as_escapes() -> None:
    assert printable("\x1b[2J\u202e\ud800é漢\t") == r"\u001b[2J\u202e\ud800é漢\u0009"
    assert printable("a\tb\nc", "\n\t") == "a\tb\nc"
    assert printable(printable(EVIL)) == printable(EVIL)


END = "=== end of a command ==="
COMMANDS = f"""
import json, sys
from dactnlg.cli.main import main
for words in json.loads(sys.argv[1]):
    main(words)
    print({END!r}, flush=True)
"""


def on_a_terminal(*commands: Sequence[str | Path]) -> list[str]:
    """Return what each command writes to a terminal; one process runs them all."""
    master, slave = pty.openpty()
    command = [sys.executable, "-c", COMMANDS, json.dumps([list(map(str, words)) for words in commands])]
    text = b""
    with subprocess.Popen(command, stdout=slave, stderr=slave, stdin=subprocess.DEVNULL):
        os.close(slave)
        # Reading fails at the end of a terminal to which nobody writes.
        with contextlib.suppress(OSError):
            while part := os.read(master, 65536):
                text += part
    os.close(master)
    *texts, rest = text.decode("utf-8").split(f"{END}\r\n")
    assert rest == ""
    return texts


def test_a_terminal_gets_no_control_characters_from_files(tmp_path: Path) -> None:
    rows = [{"act": f"inform(name='x{EVIL[-40:]}')", "text": f"The x{EVIL[-40:]} is here."}] * 2
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
    card = tmp_path / "card\x1b[2J.yaml"
    card.write_text("name: 5\n")
    data = {"scores": {"BLEU": {"value": 1, "signature": "BLEU", "hash": EVIL}}, "segments": [], "preset": EVIL}
    (tmp_path / "scores.json").write_text(json.dumps(data))
    scores = tmp_path / "scores.json"
    commands = (
        ("corpora", "inspect", tmp_path / "corpus.jsonl"),
        ("corpora", "inspect", card),
        ("compare", scores, scores),
        ("compare", scores, scores, "--json", "-"),
        ("generate", "--model", tmp_path / "\x1b[2J", "goodbye()"),
    )
    for words, text in zip(commands, on_a_terminal(*commands), strict=True):
        assert text and "Traceback" not in text, words
        assert not ACTING.search(text.replace("\r\n", "\n")), repr(text)


def test_json_for_a_pipe_is_not_escaped(tmp_path: Path) -> None:
    data = {"scores": {"BLEU": {"value": 1, "signature": "BLEU", "hash": "\u202e"}}, "segments": [], "preset": "\u202e"}
    scores = tmp_path / "scores.json"
    scores.write_text(json.dumps(data))
    command = [sys.executable, "-m", "dactnlg", "compare", str(scores), str(scores), "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert json.loads(done.stdout)["differences"][0]["preset"] == "\u202e"
