"""Evaluation: generate a split of a corpus with a run, and score it under one or more presets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from dactnlg.acts import Turn
from dactnlg.data.corpus import Corpus, hash_examples, load_corpus
from dactnlg.errors import CorpusError, MetricError
from dactnlg.evaluation.likelihood import add_perplexity, is_perplexity
from dactnlg.evaluation.report import Content, gather, write_report
from dactnlg.evaluation.report.markdown import markdown
from dactnlg.evaluation.scoring import DEFAULT_PRESET, Scores, check_metrics, score_segments, table, without_ser
from dactnlg.generation.generator import Generation, Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.metrics.base import Segment
from dactnlg.metrics.presets import references_for
from dactnlg.metrics.registry import NOTHING, Materials, resolve
from dactnlg.runs import provenance
from dactnlg.runs.config import CorpusConfig, load_config
from dactnlg.runs.run import Run
from dactnlg.text.example import Example
from dactnlg.text.slots import SlotChecker, Tally

CHUNK = 1024
"""Acts said in one go: many enough to fill batches, few enough for a bar that moves."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a run said for a split, and its scores under every preset asked for.

    Attributes:
        corpus: the corpus's name.
        split: the split's name.
        generations: one for each row of the split, in order.
        results: the scores, one for each preset.
        cues: sentences whose special values (yes, no, dontcare) could be checked, and how many failed.
        source: the corpus itself; a report reads the references and the training data in it.
        recorded: whether the run's manifest has the scores.
    """

    corpus: str
    split: str
    generations: list[Generation]
    results: list[Scores]
    cues: tuple[int, int]
    source: Corpus | None = None
    recorded: bool = False

    def table(self) -> str:
        """Return the scores as text."""
        faults = sum(bool(generation.missing or generation.extra) for generation in self.generations)
        required, wrong = self.cues
        lines = [
            f"{self.corpus}, {self.split}: {len(self.generations)} acts",
            "",
            table(self.results),
            "",
            f"special values worded wrongly, by the data card's cues: {wrong} of {required}",
            f"sentences with any slot fault: {faults} of {len(self.generations)}",
        ]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return the first preset's scores in the form of `dactnlg score --json`, and all presets by name."""
        presets = {result.preset: result.to_json() for result in self.results}
        return {
            **self.results[0].to_json(),
            "corpus": self.corpus,
            "split": self.split,
            "presets": presets,
            "generations": [generation.to_json() for generation in self.generations],
        }

    def report(self) -> str:
        """Return a Markdown report."""
        return markdown(self.content())

    def write_report(self, path: str | Path) -> None:
        """Write a report: a page where the name ends in `.html`, Markdown otherwise."""
        write_report(path, self.content())

    def content(self) -> Content:
        """Return what a report says; the scores get their intervals if they have none."""
        for result in self.results:
            if result.confidence is None:
                result.add_confidence()
        checker = gold = train = None
        if self.source is not None:
            checker = self.source.card.style().checker()
            gold = [example.references for example in self.source.split(self.split)]
            if self.split != "train" and "train" in self.source.splits:
                train = ((str(e.turn), e.references) for e in self.source.split("train"))
        required, wrong = self.cues
        note = f"Special values worded wrongly, by the data card's cues: {wrong} of {required}; SER counts values only."
        title = f"{self.corpus}, {self.split}"
        return gather(title, self.results, checker, gold, train, [note] if required else [])


def evaluate(
    run: str | Path,
    corpus: str | None = None,
    split: str = "test",
    presets: Sequence[str] = (),
    data_dir: str | Path | None = None,
    metrics: Sequence[str] | None = None,
    vectors: str | Path | None = None,
    **options: Any,
) -> Evaluation:
    """Generate a split with a run, score it, and add the scores to the run's manifest.

    Args:
        run: the run folder.
        corpus: another corpus than the one the run was trained on.
        split: `train`, `valid` or `test`.
        presets: evaluation protocols; by default those that fit the corpus.
        data_dir: where to look for corpus files first.
        metrics: names as `metrics.registry.select` takes them, `SER`, and `perplexity`, which the model gives to the
            references; by default those of each preset.
        vectors: a file of word vectors, for the embedding metrics.
        **options: passed to `Generator.generate` (`constraint`, `beam_width`, `seed`, `sample`, `temperature`, ...).

    Raises:
        RunError: no usable run.
        CorpusError: the corpus or its split is missing or empty.
        UnknownNameError: no such preset or metric.
        MetricError: a metric whose data are not installed or not named, or the perplexity of a run without a model.
    """
    given = Materials(vectors)
    read = any(map(is_perplexity, metrics or ()))
    if read:
        # What is said is checked in any case: the slot error rate stands beside the perplexity.
        metrics = [name for name in metrics or () if not is_perplexity(name)] or ["SER"]
    for name in presets or (DEFAULT_PRESET,):
        # Before minutes of generation, not after.
        check_metrics(name, metrics, given)
    section = load_config(Run(run).config_path).corpus if Run(run).config_path.exists() else CorpusConfig(name="trails")
    generator = Generator.load(run)
    if read and generator.decoder is None:
        raise MetricError(f"{run} has no perplexity: the random baseline gives no probabilities")
    chosen = load_corpus(corpus or section.name, data_dir or section.data_dir)
    examples = chosen.split(split)
    if not examples:
        raise CorpusError(f"the split '{split}' of corpus '{chosen.name}' is empty")
    # A gold corpus may need names that training never had: they are said as well as can be, not refused.
    generations = _generate(generator, [example.turn for example in examples], options)
    if any("novelty" in resolve(name) for name in without_ser(metrics) or ()):
        corpora = [load_corpus(name, data_dir or section.data_dir) for name in (section.name, *section.also)]
        given = given._replace(train=training_sentences(corpora))
    protocols = presets or default_presets(chosen, examples)
    results = score_generations(chosen, examples, generations, protocols, metrics, given)
    if read and generator.decoder is not None:
        add_perplexity(results, generator.decoder, chosen, split)
    checker = chosen.card.style().checker()
    tallies = [checker.check_cues(e.turn, g.raw) for e, g in zip(examples, generations, strict=True)]
    cues = (sum(tally.required for tally in tallies), sum(tally.errors for tally in tallies))
    recorded = Run(run).add_evaluation(
        {
            "corpus": chosen.name,
            "source": corpus or section.name,
            "split": split,
            "vectors": None if vectors is None else str(Path(vectors).absolute()),
            "options": {key: value for key, value in sorted(options.items()) if value is not None},
            "data": hash_examples(examples),
            "command": provenance.command(),
            "code": provenance.code(),
            "scores": {result.preset: _recordable(result) for result in results},
        }
    )
    return Evaluation(chosen.name, split, generations, results, cues, chosen, recorded)


def _generate(generator: Generator, turns: Sequence[Turn], options: dict[str, Any]) -> list[Generation]:
    """Say all turns, in parts, with a progress bar for whoever waits at a terminal."""
    generations: list[Generation] = []
    with tqdm(total=len(turns), desc="generating", unit=" acts", delay=2, leave=False, disable=None) as bar:
        for start in range(0, len(turns), CHUNK):
            part = turns[start : start + CHUNK]
            generations += generator.generate(part, GenerationOptions(**options), strict=False, first=start)
            bar.update(len(part))
    return generations


def score_generations(
    corpus: Corpus,
    examples: Sequence[Example],
    generations: Sequence[Generation],
    presets: Sequence[str],
    metrics: Sequence[str] | None = None,
    given: Materials = NOTHING,
) -> list[Scores]:
    """Score one generation for each example of a split, in raw form, under each preset."""
    results = []
    for preset in presets:
        references, normalize = references_for(preset, examples)
        segments = [
            Segment(normalize(generation.raw), refs, example.turn, generation.raw)
            for example, generation, refs in zip(examples, generations, references, strict=True)
        ]
        checker = ValueChecker(corpus.card.style().checker())
        train = None if given.train is None else map(normalize, given.train)
        results.append(score_segments(segments, preset, metrics, checker, corpus.name, given._replace(train=train)))
    return results


def training_sentences(corpora: Sequence[Corpus]) -> list[str]:
    """Return all sentences that a run may have been trained on, handcrafted ones included; once each."""
    examples = [example for corpus in corpora for example in corpus.split("train")]
    return list(dict.fromkeys(text for e in examples for text in (*e.references, *e.handcrafted)))


def default_presets(corpus: Corpus, examples: Sequence[Example]) -> tuple[str, ...]:
    """Return the protocols that a corpus is usually scored under."""
    if any(example.handcrafted for example in examples):
        return ("sharma2017", "rnnlg", "single")
    if corpus.name == "dstc2":
        return ("sharma2017", "single")
    return ("nlg-eval", "single")


def _recordable(scores: Scores) -> dict[str, Any]:
    """Return corpus scores with hashes, and for each that segments have the standard error of its mean over them."""
    found: dict[str, Any] = {name: {**score, "error": None} for name, score in scores.corpus_json().items()}
    for name, column in zip(scores.scores, scores.segments.T, strict=True):
        defined = column[np.isfinite(column)]
        found[name]["error"] = float(defined.std() / len(defined) ** 0.5) if len(defined) else None
    return found


class ValueChecker:
    """Counts delexicalisable slots only: SER is about values; cues are wordings, and counted beside it."""

    def __init__(self, checker: SlotChecker) -> None:
        self._checker = checker

    def check(self, turn: Turn, sentence: str) -> Tally:
        """Return the tally of the values of a turn found in a finished sentence."""
        return self._checker.check(turn, sentence).values
