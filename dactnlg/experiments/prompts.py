"""Prompts that ask a language model, or people, for sentences for acts; and reading the answers.

Nothing is sent from here. Each prompt is one line with a JSON object `{"id", "act", "prompt"}`; each answer is one with
the same `id`, and the model's text under `answer` (or another of `ANSWERS`), as a string or a list.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dactnlg._utils.hashing import digest
from dactnlg.acts import Slot, Turn
from dactnlg.data.corpus import load_corpus
from dactnlg.data.readers.pairs import SUFFIXES, objects
from dactnlg.data.readers.reading import read_lines, read_turn, row_error

ANSWERS = ("answer", "answers", "text", "texts", "response", "completion", "output")
"""Keys that may hold an answer."""
_EXAMPLES = 3
_SPECIAL = {
    "yes": "yes",
    "no": "no",
    "dontcare": "does not matter; any value will do",
    "none": "there is none, or it is not known",
    "?": "asked for",
}
_BULLET = re.compile(r"^\s*(?:[-*•]|\(?\d{1,3}[.):])\s+")
_FENCE = re.compile(r"```\w*\n(.*)\n```", re.DOTALL)
_QUOTES = (('"', '"'), ("“", "”"), ("'", "'"))


def acts_of(source: str, data_dir: Path | None = None) -> list[tuple[Turn, tuple[str, ...]]]:
    """Return the distinct acts of a file of acts or of pairs, or of a corpus's training split, with known sentences.

    Args:
        source: a `.txt` file with one act per line, or a corpus as `load_corpus` takes it.
        data_dir: a folder to look for corpus files in first.

    Raises:
        CorpusError: the source cannot be read, or a line is not an act.
        UnknownNameError: the source is neither a file nor a corpus.
    """
    path = Path(source)
    if path.suffix.lower() == ".txt":
        return [(turn, ()) for turn in dict.fromkeys(read_turn(line, path, at) for at, line in read_lines(path))]
    found: dict[Turn, list[str]] = {}
    corpus = load_corpus(source, data_dir)
    for turn, text in (corpus.undivided() if path.suffix.lower() in SUFFIXES else corpus).pairs("train"):
        found.setdefault(turn, []).append(text)
    return [(turn, tuple(texts)) for turn, texts in found.items()]


def prompts(acts: Sequence[tuple[Turn, tuple[str, ...]]], per_act: int) -> Iterator[dict[str, Any]]:
    """Yield a prompt for each act.

    Args:
        acts: acts with known sentences, some of which are used as examples.
        per_act: number of sentences to ask for.
    """
    known: dict[str, list[tuple[Turn, str]]] = {}
    for turn, texts in acts:
        known.setdefault(_types(turn), []).extend((turn, text) for text in texts[:1])
    for turn, _ in acts:
        others = [pair for pair in known.get(_types(turn), ()) if pair[0] != turn][:_EXAMPLES]
        key = digest([str(turn), per_act])[:16]
        yield {"id": key, "act": str(turn), "prompt": _prompt(turn, others, per_act)}


def read_answers(path: Path, asked: Path | None = None) -> Iterator[dict[str, str]]:
    """Yield `{"act", "text"}` for every sentence of a file of answers.

    A text of several lines has one sentence per line; numbering, bullets and enclosing quotes are removed.

    Args:
        path: the answers, as JSONL.
        asked: the prompts; needed if answers do not repeat the act.

    Raises:
        CorpusError: a file cannot be read, or an answer has neither an act nor the id of a prompt, or is not text.
    """
    acts = (
        {}
        if asked is None
        else {str(row["id"]): row.get("act") for _, row in objects(asked) if isinstance(row, dict) and "id" in row}
    )
    for place, row in objects(path):
        if not isinstance(row, dict):
            raise row_error(path, place, 'an answer is {"id": ..., "answer": ...}')
        act = row.get("act") or acts.get(str(row.get("id")))
        if not isinstance(act, str):
            raise row_error(path, place, "no act, and no prompt of this id: name the file of prompts with --prompts")
        turn = read_turn(act, path, place)
        answer = next((row[key] for key in ANSWERS if key in row), None)
        if answer is None:
            raise row_error(path, place, f"no answer; it stands under one of {', '.join(ANSWERS)}")
        try:
            texts = sentences(answer)
        except ValueError as error:
            raise row_error(path, place, f"{error}") from None
        yield from ({"act": str(turn), "text": text} for text in dict.fromkeys(texts))


def sentences(answer: object) -> list[str]:
    """Return the sentences of an answer: a list of texts, or a text that is a JSON list or lines, fenced or not.

    Raises:
        ValueError: the answer is neither a text nor a list of texts.
    """
    if isinstance(answer, str):
        text = fenced[1].strip() if (fenced := _FENCE.fullmatch(answer.strip())) else answer.strip()
        answer = text.splitlines()
        if text.startswith(("[", "{")):
            with contextlib.suppress(ValueError):
                answer = json.loads(text)
    if not isinstance(answer, list) or not all(isinstance(part, str) for part in answer):
        raise ValueError("an answer is a text, or a list of texts")
    texts = [_unquoted(_BULLET.sub("", part).strip()) for part in answer]
    # Drop lines that only introduce the list.
    return [text for text in texts if text and not text.endswith(":") and not text.startswith("```")]


def _unquoted(text: str) -> str:
    """Return a text without enclosing quotes; those in `"a" and "b"` do not enclose the whole text."""
    inner, marks = text[1:-1], text[:1] + text[-1:]
    # An apostrophe within a word is not a quote.
    if len(text) < 2 or (marks[0], marks[1]) not in _QUOTES or re.search(rf"\B[{marks}]|[{marks}]\B", inner):
        return text
    return inner.strip()


def _prompt(turn: Turn, examples: Sequence[tuple[Turn, str]], per_act: int) -> str:
    lines = [
        f"Write {per_act} different sentences with which an assistant does all of the following, and nothing else.",
        "Use every value exactly as it is given, once. Add no fact. One sentence, or short text, a line; no numbering.",
        "",
        *_said(turn),
    ]
    for other, text in examples:
        lines += ["", "For example, for", *_said(other), f"one could say: {text}"]
    return "\n".join(lines)


def _said(turn: Turn) -> Iterator[str]:
    for act in turn:
        yield f"- {act.act_type.strip('?').replace('_', ' ')}" + (":" if act.slots else "")
        yield from (f"    {_words(slot)}" for slot in act.slots)


def _words(slot: Slot) -> str:
    name = slot.name.replace("_", " ")
    if slot.value is None:
        return f"{name} (to be asked for, or spoken about, without a value)"
    return f"{name}: {_SPECIAL.get(slot.special or '', slot.value)}"


def _types(turn: Turn) -> str:
    return "&".join(sorted(act.act_type for act in turn))
