"""Talkers: anything that can answer in a conversation, such as a dialogue model, or a generator with a policy.

A history is the turns so far, oldest first; in a chat the person speaks first, and the two alternate.
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
    """Anything that answers in conversations."""

    def reply(self, histories: Sequence[Sequence[str]], *, seeds: Sequence[int] | None = None) -> list[str]:
        """Return the next turn of each conversation.

        Args:
            histories: the turns of each conversation so far, oldest first; given an empty one and a seed, the talker
                samples an opening.
            seeds: one per conversation, the same throughout it; None to sample nothing. Equal seeds and histories give
                equal answers.
        """


class TaskTalker:
    """A generator as a dialogue system: user texts are read as acts, the policy replies, and the generator says it.

    It keeps no state: for every answer the policy is run over the whole history, so that a conversation can continue
    after any interruption.

    Args:
        generator: says the system's acts.
        schema: the schema of the task.
        understanding: turns user texts into acts.
    """

    def __init__(self, generator: Says, schema: Schema, understanding: Understanding) -> None:
        self._generator, self._schema, self._understanding = generator, schema, understanding

    def reply(self, histories: Sequence[Sequence[str]], *, seeds: Sequence[int] | None = None) -> list[str]:
        """Return the next turn of each conversation, which the person starts; nothing is sampled."""
        acts = [self.act(history) for history in histories]
        return [sentence.text for sentence in self._generator.generate(acts)] if acts else []

    def act(self, history: Sequence[str]) -> Turn:
        """Return the system's next acts after a history whose first, third, fifth ... text is the person's."""
        policy = Policy(self._schema)
        said: Turn | None = None
        for text in history[::2]:
            said = policy.reply(self._understanding.read(text, said))
        return said or policy.reply(self._understanding.read("", None))


def load_dialogue(run: Path) -> Talker:
    """Return the talker of a dialogue model's run, which can start a conversation itself.

    Raises:
        RunError: the folder is not a run.
        UserError: the run is a generator, which needs acts, or nobody can talk with it (see `check_talker`).
    """
    if not answers_contexts(run):
        raise UserError(f"{run} is a generator: it says acts, and has nothing to say to itself; leave out --open")
    check_talker(run)
    return Responder(run)


def check_talker(run: Path, data_dir: Path | None = None) -> None:
    """Check that people can talk with a run.

    Raises:
        RunError: the folder is not a run.
        UserError: the model needs teacher arrays, which exist only for the turns of its corpus.
        CorpusError: no tasks can be made from the corpus of a generator.
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
    """Return the talkers of runs by name; generators for the same corpus share its schema and `Understanding`.

    Args:
        runs: name -> run folder.
        data_dir: a folder to search first for corpus files.

    Raises:
        RunError: a folder is not a run.
        UserError: nobody can talk with a run (see `check_talker`).
        CorpusError: no tasks can be made from the corpus of a generator.
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
