"""Self-play of runs: each with the goals of its corpus, which are the same for all runs of the corpus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import dactnlg
from dactnlg._utils.hashing import digest
from dactnlg._utils.tables import Format, formatted
from dactnlg.acts import Turn
from dactnlg.data.corpus import load_corpus
from dactnlg.dialogue.conversations import Conversation
from dactnlg.dialogue.files import run_names
from dactnlg.dialogue.task.goals import draw_goals
from dactnlg.dialogue.task.play import play
from dactnlg.dialogue.task.reading import Listener, corpus_listener
from dactnlg.dialogue.task.result import Paired, TaskScores, paired, task_scores
from dactnlg.dialogue.task.schema import Schema, read_schema
from dactnlg.dialogue.task.user import UserGoal
from dactnlg.generation.generation import Generation
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.models.dialogue_sections import check_says_acts
from dactnlg.runs.run import Run


@dataclass(frozen=True)
class Played:
    """One run's conversations.

    Attributes:
        name: of the run, and of its file.
        corpus: whose task it was.
        conversations: in the order of the goals.
        scores: of them.
        signature: what decides on the conversations beside the run: corpus, goals, reader, numbers.
        difference: from the first run of the same corpus; None for that one.
    """

    name: str
    corpus: str
    conversations: list[Conversation]
    scores: TaskScores
    signature: dict[str, Any]
    difference: Paired | None = None

    def to_json(self) -> dict[str, Any]:
        """Return all but the conversations as JSON data."""
        data = {"corpus": self.corpus, **self.scores.to_json(), "signature": self.signature}
        data["hash"] = digest(self.signature)
        if self.difference is not None:
            other = self.difference
            data["difference"] = {"lost": other.lost, "won": other.won, "p": other.p_value, "method": "McNemar, exact"}
        return data


@dataclass(frozen=True)
class OptionedGenerator:
    """A generator with options of its own."""

    generator: Generator
    options: GenerationOptions

    def generate(self, acts: list[Turn], /) -> list[Generation]:
        """Return a sentence for each act, in order."""
        return self.generator.generate(acts, self.options)


@dataclass(frozen=True)
class Task:
    """What the runs of one corpus have in common."""

    schema: Schema
    goals: list[UserGoal]
    listener: Listener


def self_play(
    runs: Sequence[Path],
    *,
    conversations: int = 100,
    turns: int = 10,
    seed: int = 1,
    options: GenerationOptions = GenerationOptions(),  # noqa: B008  (it is frozen)
    data_dir: Path | None = None,
) -> Iterator[Played]:
    """Let runs speak with simulated users, and yield what each did when it is done.

    Args:
        runs: run folders.
        conversations: for each run.
        turns: utterances of user and system together at most, for each conversation.
        seed: decides on the goals.
        options: how sentences are generated.
        data_dir: a folder to look for corpus files in first.

    Raises:
        UserError: two runs have one name, or there are too few different goals.
        RunError: a folder is no run.
        CorpusError: tasks cannot be made of a run's corpus.
    """
    names = run_names(runs)

    @cache
    def task(corpus_name: str, where: str | Path | None) -> Task:
        corpus = load_corpus(corpus_name, where)
        schema = read_schema(corpus)
        return Task(schema, draw_goals(schema, conversations, turns, seed), corpus_listener(corpus))

    # Whatever cannot be played is said before minutes are spent on what can.
    configs = [Run(path).check() for path in runs]
    for config, path in zip(configs, runs, strict=True):
        check_says_acts(config.model.name, path)
    sections = [config.corpus for config in configs]
    tasks = [task(section.name, data_dir or section.data_dir) for section in sections]
    found: list[Played] = []
    for path, name, given in zip(runs, names, tasks, strict=True):
        generator = Generator.load(path)
        said = play(OptionedGenerator(generator, options), given.schema, given.goals, given.listener, turns)
        signature = {
            "corpus": given.schema.corpus,
            "goals": digest([goal.to_json() for goal in given.goals]),
            "seed": seed,
            "turns": turns,
            "reader": given.listener.name,
            "options": repr(options),
            "version": dactnlg.__version__,
        }
        before = next((other for other in found if other.corpus == given.schema.corpus), None)
        difference = paired(before.conversations, said) if before else None
        found.append(Played(name, given.schema.corpus, said, task_scores(said), signature, difference))
        yield found[-1]


def table(played: Sequence[Played], output_format: Format = "text", width: int | None = None) -> str:
    """Return the scores as a table, a row a run."""
    several = any(each.difference for each in played)
    header = ["run", "corpus", "conversations", "success", "95% interval", "turns", "slot error rate"]
    rows = [[*header, *(["against the first"] if several else [])]]
    for each in played:
        scores, other = each.scores, each.difference
        low, high = scores.interval
        told = f"-{other.lost} +{other.won}, p = {other.p_value:.3g}" if other else ""
        cells = [each.name, each.corpus, str(scores.conversations), f"{scores.success:.3f}", f"[{low:.3f}, {high:.3f}]"]
        cells += [f"{scores.turns:.1f}", f"{scores.slot_error_rate:.4f}"]
        rows.append([*cells, *([told] if several else [])])
    return formatted(rows, output_format, 2, rule=True, width=width)
