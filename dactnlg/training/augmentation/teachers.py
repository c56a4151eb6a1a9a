"""Teachers: models with other seeds, trained before a model, whose sentences it learns beside the corpus's.

What several models say together for an act is what people say of it most often, and says all of it: sentences with a
fault are not learned. A model that has learned these needs less of a search for them than its teachers did
(sequence-level distillation: Kim and Rush 2016, section 3.2; from an ensemble, beside the corpus: Freitag et al. 2017;
of minimum Bayes risk: Finkelstein et al. 2023).

They may be asked for acts that the corpus lacks, too (see `training.invention`). What they cannot say is composed of
training's own texts then, as always where acts are unseen; of these sentences those are learned that read like training
in every run of words. A model says in one go, and more naturally, what took its teachers a search among compositions.

The teachers stand in the run's folder, `.teachers`, with what they have said so far, until all of it is written to
`taught.jsonl`. Who is interrupted goes on there.
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
"""Acts that are generated at a time, and as many as are kept at a time: what comes depends on nothing before."""
WIDTH, MBR_WIDTH = 10, 20
"""Beam width of the teachers, at least, and the same where its sentences are compared with each other."""
APART = 1000
"""Between the seeds of a model and of its teachers."""
Asked = tuple[DelexicalizedAct, str]
"""An act, and what the user has said before."""


def teacher_configs(config: Config) -> list[Config]:
    """Return the configurations of a model's teachers: its own, with other seeds."""
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
    """Return each pair of the model's own corpus once more, with what its teachers say, where that has no fault.

    Behind them stand invented acts with what the teachers say of them.

    Args:
        config: the experiment.
        run: the folder of the model; teachers that it holds, and what they have said, are not made again.
        preprocessor: of the pairs.
        pairs: to learn from.
        train: trains a teacher into a folder, or goes on with that.
        progress: show a progress bar on standard error.

    Raises:
        RunError: what teachers have said is damaged.
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
    """Train the teachers that are not trained yet, and yield the folders of all."""
    configs = teacher_configs(config)
    for number, each in enumerate(configs, 1):
        teacher = Run(run.teachers_path / str(number))
        # One that was interrupted has a manifest, too.
        if is_unfinished(teacher):
            LOG.info("teacher %d of %d", number, len(configs))
            train(each, teacher)
        yield teacher.path


def _say(teachers: Teachers, pairs: Sequence[Pair], invented: Sequence[Pair], run: Run) -> None:
    """Write what teachers say, beside them as long as it is not all."""
    place = run.teachers_path / "said.jsonl"
    with place.open("a+", encoding="utf-8") as file:
        file.seek(0)
        # A kill may have torn the last line.
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
    """Trained models that say sentences together, for another one to learn.

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
        """Yield the sentence for the turn of each pair, as tokens; nothing where it has a fault.

        Args:
            pairs: of the corpus.
            invented: whose turns are invented, behind these; what does not read like training is not said of them.
            first: where to begin, a multiple of `KEPT`.
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
        # What was put together of parts may do the acts of these alone.
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
        RunError: it is damaged.
    """
    try:
        return [tuple(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    except (ValueError, TypeError):
        raise RunError(f"{path} is damaged; train the model anew, without --resume") from None
