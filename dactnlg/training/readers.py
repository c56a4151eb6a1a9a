"""Learning the reader of a run, or of a corpus, with a progress bar."""

from __future__ import annotations

from pathlib import Path

from tqdm import tqdm

from dactnlg.data.corpus import Corpus
from dactnlg.data.pairs import sentence_pairs
from dactnlg.fidelity.learning import learn_reader
from dactnlg.fidelity.reader import Reader
from dactnlg.fidelity.reader_file import save_reader
from dactnlg.runs.config import Config
from dactnlg.text.slots import SlotChecker


def learn_from(
    corpus: Corpus, checker: SlotChecker, *, targets: str = "human", seed: int = 1, progress: bool = True
) -> Reader:
    """Return the reader of a corpus's train and valid splits.

    Args:
        corpus: the corpus.
        checker: of its style.
        targets: sentences to learn from: `human`, `handcrafted` or `both`.
        seed: see `learn_reader`.
        progress: show a progress bar on standard error.
    """
    train, valid = (sentence_pairs(corpus, split, targets) for split in ("train", "valid"))
    hidden = None if progress else True
    with tqdm(desc="learning to check", unit=" facts", delay=2, leave=False, disable=hidden) as bar:
        return learn_reader(train, valid, checker, seed=seed, progress=bar)


def write_reader(path: Path, config: Config, corpus: Corpus, checker: SlotChecker, *, progress: bool) -> None:
    """Learn the reader of a run and write it to a path."""
    seed, targets = config.training.seed, config.corpus.targets
    save_reader(learn_from(corpus, checker, targets=targets, seed=seed, progress=progress), path)
