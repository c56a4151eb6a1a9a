"""Teachers: models with other seeds, trained first, whose sentences a student learns in addition to the corpus's.

An ensemble generates what people say most often for an act; only sentences without a fault are used. A student trained
on these needs less search to find them than its teachers did (sequence-level distillation: Kim and Rush 2016, section
3.2; from an ensemble, in addition to the corpus: Freitag et al. 2017; with minimum Bayes risk: Finkelstein et al.
2023).

Teachers can also generate acts that the corpus lacks (see `training.invention`). What they cannot generate is composed
from training texts, as always for unseen acts; of these sentences those are used that read like training data in every
n-gram. The student generates directly, and more naturally, what took its teachers a search among compositions.

The teachers and what they have generated so far are kept in the run's folder `.teachers` until all of it is written to
`taught.jsonl`; an interrupted training resumes from there.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from tqdm import tqdm

from dactnlg._utils.files import written
from dactnlg.errors import RunError
from dactnlg.generation.generation import Generation
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.generation.unseen.unseen_acts import UnseenActs
from dactnlg.models import numpy as numpy_models
from dactnlg.runs.config import Config
from dactnlg.runs.place import is_unfinished
from dactnlg.runs.run import Run
from dactnlg.runs.sections import SEEDS
from dactnlg.text.example import Pair
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.requests import DelexicalizedAct
from dactnlg.text.segments import faults
from dactnlg.training.augmentation.invention import invent
from dactnlg.training.messages import LOG

BLOCK, KEPT = 64, 256
"""Acts per batch, and per block whose sentences do not depend on preceding blocks, so that generation can resume."""
WIDTH, MBR_WIDTH = 10, 20
"""The smallest beam width of teachers, without and with minimum Bayes risk decoding."""
APART = 1000
"""The distance between the seeds of a model and of its teachers."""
Asked = tuple[DelexicalizedAct, str]
"""An act, and the user's preceding words."""


def teacher_configs(config: Config) -> list[Config]:
    """Return the configurations of a model's teachers: its own, with other seeds and no teachers."""
    options = config.training
    alone = {"teachers": 0, "teachers_mbr": False, "invention": 0.0, "plot": False, "tensorboard": False}
    seeds = [(options.seed + APART * number) % SEEDS for number in range(1, options.teachers + 1)]
    return [
        config.model_copy(update={"training": options.model_copy(update={**alone, "seed": seed})}) for seed in seeds
    ]


def taught(
    config: Config,
    run: Run,
    preprocessor: Preprocessor,
    pairs: Sequence[Pair],
    train: Callable[[Config, Run], object],
    *,
    progress: bool,
) -> list[Pair]:
    """Return the pairs of the model's own corpus with the teachers' sentences, except faulty ones.

    They are followed by invented acts with the teachers' sentences.

    Args:
        config: the experiment.
        run: the student's run; teachers in its folder, and what they have generated, are reused.
        preprocessor: of the pairs.
        pairs: the training pairs.
        train: trains a teacher in a folder, or resumes its training.
        progress: show a progress bar on standard error.

    Raises:
        RunError: the file of the teachers' sentences is damaged.
    """
    if not config.training.teachers:
        return []
    own = [pair for pair in pairs if pair.corpus == preprocessor.encoder.corpus]
    asked = [(preprocessor.request(pair.turn, pair.context).act, pair.context) for pair in own]
    examples: dict[Asked, Pair] = {}
    for key, pair in zip(asked, own, strict=True):
        examples.setdefault(key, pair)
    invented = invent(own, round(config.training.invention * len(own)), config.training.seed)
    if not run.taught_path.exists():
        teachers = Teachers(config, list(_trained(config, run, train)), progress=progress)
        _say(teachers, list(examples.values()), invented, run)
    shutil.rmtree(run.teachers_path, ignore_errors=True)
    sentences = _read(run.taught_path)
    if len(sentences) != len(examples) + len(invented):
        raise RunError(f"{run.taught_path} is not of these pairs; train the model anew, without --resume")
    by_act = dict(zip(examples, sentences, strict=False))
    pairs = [replace(pair, tokens=by_act[key]) for key, pair in zip(asked, own, strict=True)]
    pairs += [replace(pair, tokens=tokens) for pair, tokens in zip(invented, sentences[len(examples) :], strict=True)]
    return [pair for pair in pairs if pair.tokens]


def _trained(config: Config, run: Run, train: Callable[[Config, Run], object]) -> Iterator[Path]:
    """Train the teachers that are not yet trained, and yield the folders of all."""
    configs = teacher_configs(config)
    for number, each in enumerate(configs, 1):
        teacher = Run(run.teachers_path / str(number))
        # A manifest does not suffice: an interrupted run has one, too.
        if is_unfinished(teacher):
            LOG.info("teacher %d of %d", number, len(configs))
            train(each, teacher)
        yield teacher.path


def _say(teachers: Teachers, pairs: Sequence[Pair], invented: Sequence[Pair], run: Run) -> None:
    """Write the teachers' sentences to the run, or to the teachers' folder until they are complete."""
    place = run.teachers_path / "said.jsonl"
    with place.open("a+", encoding="utf-8") as file:
        file.seek(0)
        # If the process was killed, the last line may be incomplete.
        lines = [line for line in file if line.endswith("\n")]
        lines = lines[: len(lines) // KEPT * KEPT]
        file.seek(0)
        file.truncate()
        file.writelines(lines)
        for tokens in teachers.said(pairs, invented, len(lines)):
            file.write(json.dumps(tokens, ensure_ascii=False) + "\n")
    with written(run.taught_path) as whole:
        whole.write(place.read_text(encoding="utf-8"))


class Teachers:
    """An ensemble of trained models that generates training sentences for another model.

    Args:
        config: of the model.
        folders: the runs of its teachers.
        progress: show a progress bar on standard error.
    """

    def __init__(self, config: Config, folders: Sequence[Path], *, progress: bool) -> None:
        self._generator = Generator.load(folders, "numpy" if numpy_models.supports(config.model.name) else "auto")
        mbr, width = config.training.teachers_mbr, config.decoding.beam_width
        self._doubts = UnseenActs(self._generator.preprocessor).doubts
        width = max(MBR_WIDTH if mbr else WIDTH, width)
        self._options = GenerationOptions(sample=False, mbr=mbr, beam_width=width, constraint="hard")
        self._progress = progress

    def said(self, pairs: Sequence[Pair], invented: Sequence[Pair] = (), first: int = 0) -> Iterator[list[str]]:
        """Yield the sentence for the turn of each pair, as tokens; an empty list if it has a fault.

        Args:
            pairs: of the corpus.
            invented: pairs with invented turns, which follow; also empty if the sentence does not read like training.
            first: the index to start from, a multiple of `KEPT`.
        """
        every = [*pairs, *invented]
        for number, found in enumerate(self._generated(every, first), first):
            if number < len(pairs):
                yield _tokens(found) if found.slots_ok and found.origin == "model" else []
            else:
                yield _tokens(found) if self._reads_like_training(every[number], found) else []

    def _reads_like_training(self, pair: Pair, found: Generation) -> bool:
        tokens, preprocessor = _tokens(found), self._generator.preprocessor
        known = all(token in preprocessor.vocabulary for token in tokens)
        # `faults` also checks the acts: a composed sentence may express those of its parts instead.
        right = (
            known
            and found.slots_ok
            and found.origin != "template"
            and not faults(preprocessor, pair.turn, tuple(tokens))
        )
        return right and not self._doubts.of(pair.turn, tokens)

    def _generated(self, pairs: Sequence[Pair], first: int) -> Iterator[Generation]:
        hidden, count = None if self._progress else True, len(pairs)
        with tqdm(
            total=count, initial=first, desc="teaching", unit=" acts", delay=2, leave=False, disable=hidden
        ) as bar:
            for start in range(first, count, BLOCK):
                if not start % KEPT:
                    self._generator.forget()
                block = pairs[start : start + BLOCK]
                turns, contexts = [pair.turn for pair in block], [pair.context for pair in block]
                yield from self._generator.generate(turns, self._options, strict=False, context=contexts)
                bar.update(len(block))


def _tokens(said: Generation) -> list[str]:
    return said.delexicalized.split(" ")


def _read(path: Path) -> list[tuple[str, ...]]:
    """Return the sentences of a file.

    Raises:
        RunError: the file is damaged.
    """
    try:
        return [tuple(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    except (ValueError, TypeError):
        raise RunError(f"{path} is damaged; train the model anew, without --resume") from None
