"""Self-play of runs; all runs of a corpus, unless their data differ, play the same goals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
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
    """The result of one run.

    Attributes:
        name: the name of the run, also used for its file.
        corpus: the name of its corpus.
        conversations: in the order of the goals.
        scores: the scores of the conversations.
        signature: everything but the run that determines the conversations: corpus, goals, reader, settings.
        difference: the comparison with the first run of the same corpus and goals; None for that one.
    """

    name: str
    corpus: str
    conversations: list[Conversation]
    scores: TaskScores
    signature: dict[str, Any]
    difference: Paired | None = None

    def to_json(self) -> dict[str, Any]:
        """Return everything but the conversations as JSON data."""
        data = {"corpus": self.corpus, **self.scores.to_json(), "signature": self.signature}
        data["hash"] = digest(self.signature)
        if self.difference is not None:
            other = self.difference
            data["difference"] = {"lost": other.lost, "won": other.won, "p": other.p_value, "method": "McNemar, exact"}
        return data


@dataclass
class OptionedGenerator:
    """A generator with fixed options, for which the acts of all calls are one sequence.

    Attributes:
        generator: the generator.
        options: how sentences are generated.
        said: the number of acts so far. Random choices depend on an act's position in the sequence: if every call began
            a new one, a user who asks again would hear the same sample again.
    """

    generator: Generator
    options: GenerationOptions
    said: int = 0

    def generate(self, acts: list[Turn], /) -> list[Generation]:
        """Return one sentence per turn, in order."""
        found = self.generator.generate(acts, self.options, first=self.said)
        self.said += len(acts)
        return found


@dataclass(frozen=True)
class Task:
    """What the runs of one corpus share."""

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
    """Let runs talk with simulated users, and yield the result of each run as it finishes.

    Args:
        runs: run folders.
        conversations: per run.
        turns: maximum number of utterances of user and system together, per conversation.
        seed: determines the goals.
        options: how sentences are generated.
        data_dir: a folder to search first for corpus files.

    Raises:
        UserError: two runs have the same name, or there are too few distinct goals.
        RunError: a folder is not a run.
        CorpusError: no tasks can be made from the corpus of a run.
    """
    names = run_names(runs)

    @cache
    def task(corpus_name: str, where: str | Path | None) -> Task:
        corpus = load_corpus(corpus_name, where)
        schema = read_schema(corpus)
        return Task(schema, draw_goals(schema, conversations, turns, seed), corpus_listener(corpus))

    # Report runs that cannot be played before spending minutes on the others.
    configs = [Run(path).check() for path in runs]
    for config, path in zip(configs, runs, strict=True):
        check_says_acts(config.model.name, path)
    sections = [config.corpus for config in configs]
    tasks = [task(section.name, data_dir or section.data_dir) for section in sections]
    found: list[Played] = []
    for path, name, given in zip(runs, names, tasks, strict=True):
        generator = Generator.load(path)
        talks = play(OptionedGenerator(generator, options), given.schema, given.goals, given.listener, turns)
        said = [replace(talk, bot=name) for talk in talks]
        signature = {
            "corpus": given.schema.corpus,
            "goals": digest([goal.to_json() for goal in given.goals]),
            "seed": seed,
            "turns": turns,
            "reader": given.listener.name,
            "options": repr(options),
            "version": dactnlg.__version__,
        }
        # Data of another version may give the same corpus other goals.
        same = [other for other in found if all(other.signature[key] == signature[key] for key in ("corpus", "goals"))]
        difference = paired(same[0].conversations, said) if same else None
        found.append(Played(name, given.schema.corpus, said, task_scores(said), signature, difference))
        yield found[-1]


def table(played: Sequence[Played], output_format: Format = "text", width: int | None = None) -> str:
    """Return the scores as a table, one row per run."""
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
