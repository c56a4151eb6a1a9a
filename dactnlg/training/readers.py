"""The reader and checker of a run or a corpus: trained once for the same pairs, and kept in the user's cache."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from threadpoolctl import threadpool_limits
from tqdm import tqdm

import dactnlg
from dactnlg._utils.files import replace_file
from dactnlg._utils.hashing import digest
from dactnlg.acts import Turn
from dactnlg.data.corpus import Corpus, cache_dir
from dactnlg.data.pairs import build_preprocessor, sentence_pairs
from dactnlg.errors import RunError
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.fidelity.learning import learn_reader
from dactnlg.fidelity.reader import Reader
from dactnlg.fidelity.reader_file import load_reader, save_reader
from dactnlg.text.style import Style

KEPT = 20
"""How many readers stay in the cache, the most recently used ones."""
Pairs = list[tuple[Turn, str]]


def learn_from(corpus: Corpus, style: Style, *, targets: str = "human", progress: bool = True) -> Reader:
    """Return the reader of a corpus's train and valid splits, from the user's cache if it was trained before.

    Args:
        corpus: the corpus.
        style: how values are found in its sentences.
        targets: the sentences to train on: `human`, `handcrafted` or `both`.
        progress: show a progress bar on standard error.
    """
    train, valid = (sentence_pairs(corpus, split, targets) for split in ("train", "valid"))
    path = cache_dir() / "readers" / f"{_key(train, valid, style)}.safetensors"
    if path.is_file():
        try:
            reader = load_reader(path)
            path.touch()
            return reader
        except (RunError, OSError):
            # Damaged, or deleted in the meantime: train it again.
            pass
    hidden = None if progress else True
    # Its many small matrix products take seven times as long if several threads wait for each other; and the result
    # would depend on the number of threads.
    with (
        threadpool_limits(limits=1, user_api="blas"),
        tqdm(desc="learning to check", unit=" facts", delay=2, leave=False, disable=hidden) as bar,
    ):
        reader = learn_reader(train, valid, style.checker(), progress=bar)
    _keep(reader, path)
    return reader


def corpus_checker(corpus: Corpus) -> FidelityChecker:
    """Return a checker that has learned from a corpus's train and valid splits.

    Raises:
        CorpusError: there is no training pair.
    """
    style, manners = corpus.style(), build_preprocessor(corpus)[0].manners
    return FidelityChecker(style.checker(), learn_from(corpus, style), manners)


def write_reader(path: Path, corpus: Corpus, style: Style, *, targets: str, progress: bool) -> None:
    """Write the reader of a run to a path; see `learn_from`."""
    save_reader(learn_from(corpus, style, targets=targets, progress=progress), path)


def _key(train: Pairs, valid: Pairs, style: Style) -> str:
    """Return a hash of everything that determines a reader, including the code that trains it."""
    return digest(
        [_code(), style.to_json(), *([[str(turn), text] for turn, text in pairs] for pairs in (train, valid))]
    )


@cache
def _code() -> str:
    root = Path(dactnlg.__file__).parent
    files = sorted(file for room in ("acts", "fidelity", "text") for file in (root / room).rglob("*.py"))
    return digest([[file.relative_to(root).as_posix(), file.read_text(encoding="utf-8")] for file in files])


def _keep(reader: Reader, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(path) as partial:
            save_reader(reader, partial)
        for old in sorted(path.parent.glob("*.safetensors"), key=lambda file: -file.stat().st_mtime)[KEPT:]:
            old.unlink(missing_ok=True)
    except OSError:
        # No cache without a writable home: the next training trains the reader again.
        pass
