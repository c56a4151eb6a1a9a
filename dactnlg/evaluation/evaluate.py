"""Evaluation: generate a split of a corpus with a run, and score it under one or more presets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from dactnlg._utils.names import as_names
from dactnlg.data.corpus import Corpus, load_corpus
from dactnlg.data.hashes import hash_examples
from dactnlg.errors import CorpusError, MetricError
from dactnlg.evaluation.checks import count_checks
from dactnlg.evaluation.likelihood import add_perplexity, is_perplexity
from dactnlg.evaluation.result import Evaluation
from dactnlg.evaluation.scores import Scores
from dactnlg.evaluation.scoring import DEFAULT_PRESET, check_metrics, score_segments, without_ser
from dactnlg.generation.decoders.loading import Folder, listed
from dactnlg.generation.generation import Generation
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.metrics.base import Segment
from dactnlg.metrics.presets import default_presets, get_preset, references_for
from dactnlg.metrics.registry import NOTHING, Materials, check_used, not_installed, resolve
from dactnlg.metrics.resampling import bootstrap
from dactnlg.runs import provenance
from dactnlg.runs.config import CorpusConfig, is_corpus, load_config
from dactnlg.runs.run import Run
from dactnlg.text.example import Example
from dactnlg.text.slots import ValueChecker

ERRORS = 200
"""Resamples from which standard errors are estimated, to a twentieth of their size."""
CHUNK = 1024
"""Acts generated at a time: enough to fill batches, and few enough for the progress bar to move."""


def evaluate(  # noqa: PLR0913  (what to generate, how, and how to score it meet here and nowhere else)
    run: Folder | Sequence[Folder],
    *,
    corpus: str | Path | None = None,
    split: str = "test",
    presets: str | Sequence[str] = (),
    metrics: str | Sequence[str] | None = None,
    more: str | Sequence[str] = (),
    data_dir: str | Path | None = None,
    vectors: str | Path | None = None,
    options: GenerationOptions = GenerationOptions(),  # noqa: B008  (it is frozen)
    backend: str = "auto",
) -> Evaluation:
    """Generate a split with a run, score it, and record the scores in the run's manifest.

    >>> run = dactnlg.train({"corpus": {"name": "trails"}, "model": {"name": "random"}}, "runs/doctest")
    >>> evaluation = dactnlg.evaluate(run, split="valid", presets=["single"])
    >>> evaluation.results[0].scores["SER"].value  # a share: 0 is no error, 1 as many errors as slots
    0.0
    >>> evaluation.checks.slot_faults, evaluation.checks.sentences
    (0, 300)

    Args:
        run: the run or its folder; or several, which search together, and whose scores are not recorded.
        corpus: the name or the JSONL or CSV file of a corpus; by default the one that the run was trained on.
        split: `train`, `valid` or `test`.
        presets: one or more evaluation protocols; by default those that fit the corpus.
        metrics: names of scores as on the command line, `perplexity` included; by default those of each preset.
        more: names of further scores.
        data_dir: where to look for corpus files first.
        vectors: a file of word vectors, for the embedding metrics.
        options: how sentences are generated; by default as configured in the run.
        backend: what runs the model, as for `Generator.load`.

    Returns:
        The generated sentences, the scores under each preset and the results of the checks; `table()`, `to_dict()`,
        `to_frame()` and `write_report(path)` show them. Scores are in 0..1, except for CIDEr (0..10), NIST, perplexity,
        TER and SER.

    Raises:
        RunError, CorpusError: no usable run; the corpus or its split is missing or empty.
        UnknownNameError: no such preset, metric or constraint.
        MetricError: the data of a metric are missing, no metric reads the vectors, or a run without a model has no
            perplexity.
    """
    folders = listed(run)
    folder = Run(folders[0])
    given = Materials(vectors)
    presets, more = list(dict.fromkeys(as_names(presets))), as_names(more)
    metrics = None if metrics is None else as_names(metrics)
    wants_perplexity = any(map(is_perplexity, (*(metrics or ()), *more)))
    metrics, more = _without_perplexity(metrics), [name for name in more if not is_perplexity(name)]
    check_used(without_ser([*(metrics or ()), *more]) or (), given)
    for name in presets or (DEFAULT_PRESET,):  # before minutes of generation, not after
        check_metrics(name, metrics, given)
        check_metrics(name, [*more, "SER"], given)
    section = load_config(folder.config_path).corpus if folder.config_path.exists() else CorpusConfig(name="trails")
    if corpus is None and not is_corpus(section.name):
        raise CorpusError(
            f"{folder.path} was trained on {section.name}, which is not there, seen from the current folder; "
            "name a corpus or the path of its card: --corpus"
        )
    # Before loading, since training may replace the run while it is scored.
    state = folder.state()
    generator = Generator.load(folders, backend)
    if wants_perplexity and generator.decoder is None:
        raise MetricError(f"{folder.path} has no perplexity: the random baseline gives no probabilities")
    source, where = str(corpus or section.name), data_dir or section.data_dir
    chosen = load_corpus(source, where)
    examples = _examples(chosen, split)
    generations = _generate(generator, examples, options)
    if any("novelty" in resolve(name) for name in (*(without_ser(metrics) or ()), *(without_ser(more) or ()))):
        corpora = (load_corpus(name, where) for name in (section.name, *section.also))
        given = given._replace(train=training_sentences(corpora))
    protocols = presets or default_presets(chosen.name, chosen.card.format, examples)
    results = score_generations(chosen, examples, generations, protocols, metrics, given, more)
    if wants_perplexity and generator.decoder is not None:
        add_perplexity(results, generator.decoder, chosen, split)
    about = {"corpus": chosen.name, "source": source, "split": split, "data": hash_examples(examples)}
    recorded = len(folders) == 1 and _record(folder, state, {**about, **_settings(vectors, options)}, results)
    checks = count_checks(chosen.style().checker(), [example.turn for example in examples], generations)
    return Evaluation(chosen.name, split, generations, results, checks, chosen, recorded)


def _without_perplexity(metrics: Sequence[str] | None) -> Sequence[str] | None:
    """Return the metrics that are computed from sentences; SER if only perplexity was requested."""
    return metrics and ([name for name in metrics if not is_perplexity(name)] or ["SER"])


def _examples(corpus: Corpus, split: str) -> list[Example]:
    examples = corpus.split(split)
    if not examples:
        raise CorpusError(f"the split '{split}' of corpus '{corpus.name}' is empty")
    return examples


def _generate(generator: Generator, examples: Sequence[Example], options: GenerationOptions) -> list[Generation]:
    """Generate sentences for all examples, in chunks, with a progress bar at a terminal."""
    generations: list[Generation] = []
    with tqdm(total=len(examples), desc="generating", unit=" acts", delay=2, leave=False, disable=None) as bar:
        for start in range(0, len(examples), CHUNK):
            part = examples[start : start + CHUNK]
            turns, contexts = [example.turn for example in part], [example.context for example in part]
            # The corpus may have slots or act types that are not in the training data: do not refuse them.
            generations += generator.generate(turns, options, strict=False, first=start, context=contexts)
            bar.update(len(part))
    return generations


def score_generations(
    corpus: Corpus,
    examples: Sequence[Example],
    generations: Sequence[Generation],
    presets: Sequence[str],
    metrics: Sequence[str] | None = None,
    given: Materials = NOTHING,
    more: Sequence[str] = (),
) -> list[Scores]:
    """Score one generation per example of a split, in raw form, under each preset; `more` adds to its metrics."""
    results = []
    for preset in presets:
        references, normalize = references_for(preset, examples)
        segments = [
            Segment(normalize(generation.raw), refs, example.turn, generation.raw)
            for example, generation, refs in zip(examples, generations, references, strict=True)
        ]
        train = None if given.train is None else map(normalize, given.train)
        checker = ValueChecker(corpus.style().checker())
        read = given._replace(train=train, checker=checker, checker_name=corpus.checker_name())
        results.append(score_segments(segments, preset, _with_more(preset, metrics, more), read))
    return results


def _with_more(preset: str, metrics: Sequence[str] | None, more: Sequence[str]) -> Sequence[str] | None:
    """Return the names of the scores and further ones; None if only the preset's own are wanted."""
    # A metric that is not installed is an error only if requested by name.
    missing = {name for item in not_installed(preset) for name in item.names}
    own = [*(n for n in get_preset(preset).metrics if n not in missing), "SER"] if metrics is None else metrics
    others = [name for name in more if name not in own]
    return [*own, *others] if others else metrics


def training_sentences(corpora: Iterable[Corpus]) -> list[str]:
    """Return the distinct sentences that a run may have been trained on, handcrafted ones included."""
    examples = [example for corpus in corpora for example in corpus.split("train")]
    return list(dict.fromkeys(text for e in examples for text in (*e.references, *e.handcrafted)))


def _settings(vectors: str | Path | None, options: GenerationOptions) -> dict[str, Any]:
    """Return the settings recorded in the manifest: the word vectors, and options that differ from the defaults."""
    usual = GenerationOptions().chosen()
    chosen = {name: value for name, value in sorted(options.chosen().items()) if value != usual.get(name)}
    return {"vectors": None if vectors is None else str(Path(vectors).absolute()), "options": chosen}


def _record(run: Run, state: str | None, entry: dict[str, Any], results: Sequence[Scores]) -> bool:
    """Add an evaluation to the run's manifest if the run is still in this state; return whether it was written."""
    scores = {result.preset: _recordable(result) for result in results}
    made_by = {"command": provenance.command(), "code": provenance.code()}
    return run.add_evaluation({**entry, **made_by, "scores": scores}, state)


def _recordable(scores: Scores) -> dict[str, Any]:
    """Return corpus scores with hashes and, if computed from statistics of segments, their bootstrap standard errors.

    Those are the deviations of the scores of whole resamples: the values of single segments say little of a score that
    is not their mean, such as perplexity or BLEU. Scores that were not computed, as they are not installed, are left
    out, so that reproducing the run does not need them.
    """
    made = {name: score for name, score in scores.corpus_json().items() if "reason" not in score}
    found: dict[str, Any] = {name: {**score, "error": None} for name, score in made.items()}
    for family, metric in scores.metrics.items():
        for name, column in zip(
            metric.names, bootstrap(metric.score, scores.statistics[family], ERRORS).T, strict=True
        ):
            known = column[np.isfinite(column)]
            if name in found and len(known):
                found[name]["error"] = float(known.std())
    return found
