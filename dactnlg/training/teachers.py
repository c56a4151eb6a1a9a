"""Teachers: models with other seeds, trained before a model, whose sentences it learns beside the corpus's.

What several models say together for an act is what people say of it most often, and says all of it: sentences with a
fault are not learned. A model that has learned these needs less of a search for them than its teachers did
(sequence-level distillation: Kim and Rush 2016, section 3.2; from an ensemble, beside the corpus: Freitag et al. 2017;
of minimum Bayes risk: Finkelstein et al. 2023).

The teachers stand in the run's folder, `.teachers`, until what they say is written to `taught.jsonl`.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tqdm import tqdm

from dactnlg._utils.files import written
from dactnlg.errors import RunError
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.models import numpy as numpy_models
from dactnlg.runs.config import Config
from dactnlg.runs.run import Run
from dactnlg.runs.sections import SEEDS
from dactnlg.text.example import Pair
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.requests import DelexicalizedAct
from dactnlg.training.messages import LOG

BLOCK = 64
"""Acts that are generated at a time."""
WIDTH, MBR_WIDTH = 10, 20
"""Beam width of the teachers, at least, and the same where its sentences are compared with each other."""
APART = 1000
"""Between the seeds of a model and of its teachers."""
Asked = tuple[DelexicalizedAct, str]
"""An act, and what the user has said before."""


def teacher_configs(config: Config) -> list[Config]:
    """Return the configurations of a model's teachers: its own, with other seeds."""
    options = config.training
    alone = {"teachers": 0, "teachers_mbr": False, "plot": False, "tensorboard": False}
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
    if not run.taught_path.exists():
        folders = list(_trained(config, run, train))
        with written(run.taught_path) as file:
            for tokens in _said(config, folders, list(examples.values()), progress=progress):
                file.write(json.dumps(tokens, ensure_ascii=False) + "\n")
    shutil.rmtree(run.teachers_path, ignore_errors=True)
    sentences = _read(run.taught_path)
    if len(sentences) != len(examples):
        raise RunError(f"{run.taught_path} is not of these pairs; train the model anew, without --resume")
    by_act = dict(zip(examples, sentences, strict=True))
    return [
        Pair(pair.turn, pair.corpus, by_act[key], pair.context)
        for key, pair in zip(asked, own, strict=True)
        if by_act[key]
    ]


def _trained(config: Config, run: Run, train: Callable[[Config, Run], object]) -> Iterator[Path]:
    """Train the teachers that are not trained yet, and yield the folders of all."""
    configs = teacher_configs(config)
    for number, each in enumerate(configs, 1):
        teacher = Run(run.teachers_path / str(number))
        if not teacher.manifest_path.exists():
            LOG.info("teacher %d of %d", number, len(configs))
            train(each, teacher)
        yield teacher.path


def _said(config: Config, folders: Sequence[Path], pairs: Sequence[Pair], *, progress: bool) -> Iterator[list[str]]:
    """Yield what the teachers say together for the turn of each pair, as tokens; nothing where that has a fault."""
    generator = Generator.load(folders, "numpy" if numpy_models.supports(config.model.name) else "auto")
    mbr, width = config.training.teachers_mbr, config.decoding.beam_width
    least = MBR_WIDTH if mbr else WIDTH
    options = GenerationOptions(sample=False, constraint="hard", mbr=mbr, beam_width=max(least, width))
    hidden = None if progress else True
    with tqdm(total=len(pairs), desc="teaching", unit=" acts", delay=2, leave=False, disable=hidden) as bar:
        for start in range(0, len(pairs), BLOCK):
            block = pairs[start : start + BLOCK]
            contexts = [pair.context for pair in block]
            for found in generator.generate([pair.turn for pair in block], options, strict=False, context=contexts):
                yield found.delexicalized.split(" ") if found.slots_ok and found.origin == "model" else []
            bar.update(len(block))


def _read(path: Path) -> list[tuple[str, ...]]:
    """Return the sentences of a file.

    Raises:
        RunError: it is damaged.
    """
    try:
        return [tuple(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    except (ValueError, TypeError):
        raise RunError(f"{path} is damaged; train the model anew, without --resume") from None
