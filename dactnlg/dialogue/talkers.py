"""Talkers: whatever can answer in a conversation, a model of dialogue or a generator behind a policy.

A history is what was said so far, the oldest first; in a chat the person speaks first, and the two take turns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Protocol

from tqdm import tqdm

from dactnlg.acts import Turn
from dactnlg.data.corpus import load_corpus
from dactnlg.dialogue.responder import Responder, answers_contexts
from dactnlg.dialogue.task.play import Says
from dactnlg.dialogue.task.policy import Policy
from dactnlg.dialogue.task.reading import corpus_listener
from dactnlg.dialogue.task.schema import Schema, read_schema
from dactnlg.dialogue.task.understanding import Understanding
from dactnlg.errors import UserError
from dactnlg.generation.generator import Generator
from dactnlg.runs.run import Run


class Talker(Protocol):
    """Answers."""

    def reply(self, histories: Sequence[Sequence[str]], *, seeds: Sequence[int] | None = None) -> list[str]:
        """Return what is said next in each conversation.

        Args:
            histories: what was said so far in each, the oldest first; to an empty one it says how it begins, drawn.
            seeds: of what is drawn in each, the same throughout a conversation; None where nothing is to be drawn.
                Equal seeds and histories give equal answers.
        """


class TaskTalker:
    """A generator in the loop: it says the acts of the finite-state policy, which hears what is read of a text.

    It remembers nothing: the policy is led through the whole history for every answer, so that a conversation can go on
    after any interruption.

    Args:
        generator: says the acts.
        schema: what can be talked about.
        understanding: reads what people type.
    """

    def __init__(self, generator: Says, schema: Schema, understanding: Understanding) -> None:
        self._generator, self._schema, self._understanding = generator, schema, understanding

    def reply(self, histories: Sequence[Sequence[str]], *, seeds: Sequence[int] | None = None) -> list[str]:
        """Return what is said next in each conversation, which a person has begun; nothing is drawn."""
        acts = [self.act(history) for history in histories]
        return [sentence.text for sentence in self._generator.generate(acts)] if acts else []

    def act(self, history: Sequence[str]) -> Turn:
        """Return the system's next turn, after a history whose first, third, fifth text is the person's."""
        policy = Policy(self._schema)
        said: Turn | None = None
        for text in history[::2]:
            said = policy.reply(self._understanding.read(text, said))
        return said or policy.reply(self._understanding.read("", None))


def load_dialogue(run: Path) -> Talker:
    """Return the talker of a run of a model of dialogue, which can begin from nothing.

    Raises:
        RunError: the folder is no run.
        UserError: it is a run of a generator, which needs acts, or one that nobody can talk with.
    """
    if not answers_contexts(run):
        raise UserError(f"{run} is a generator: it says acts, and has nothing to say to itself; leave out --open")
    check_talker(run)
    return Responder(run)


def check_talker(run: Path, data_dir: Path | None = None) -> None:
    """Refuse a run that nobody can talk with.

    Raises:
        RunError: the folder is no run.
        UserError: it hears nothing but what its teacher has seen.
        CorpusError: tasks cannot be made of the corpus of a generator.
    """
    if answers_contexts(run):
        if getattr(Run(run).check().model, "ei", "none") == "input":
            raise UserError(
                f"{run} takes its teacher's arrays as inputs (model.ei: input), and there are none of what is still to "
                "be said: nobody can talk with it, but it can be evaluated"
            )
        return
    section = Run(run).check().corpus
    read_schema(load_corpus(section.name, data_dir or section.data_dir))


def load_talkers(runs: Mapping[str, Path], data_dir: Path | None = None) -> dict[str, Talker]:
    """Return the talkers of runs, by the names given; generators of one corpus share what reads it.

    Args:
        runs: name -> run folder.
        data_dir: a folder to look for corpus files in first.

    Raises:
        RunError: a folder is no run.
        CorpusError: tasks cannot be made of the corpus of a generator.
    """

    @cache
    def task(name: str, where: str | Path | None) -> tuple[Schema, Understanding]:
        corpus = load_corpus(name, where)
        schema = read_schema(corpus)
        return schema, Understanding(schema, corpus_listener(corpus).checker)

    found: dict[str, Talker] = {}
    for name, path in tqdm(runs.items(), desc="reading runs", unit=" runs", delay=2, leave=False, disable=None):
        if answers_contexts(path):
            found[name] = load_dialogue(path)
            continue
        section = Run(path).check().corpus
        found[name] = TaskTalker(Generator.load(path), *task(section.name, data_dir or section.data_dir))
    return found
