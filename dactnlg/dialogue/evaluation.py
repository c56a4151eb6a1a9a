"""Scores for a dialogue model on a split: perplexity, KL, BLEU, forward and backward BLEU, distinct n-grams."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from dactnlg._utils.tables import Format, formatted
from dactnlg._utils.terminal import say_once
from dactnlg.data.dialogues import context_pairs, load_dialogues
from dactnlg.data.readers.dialogue_formats import Dialogue
from dactnlg.dialogue.likelihood import SAMPLES, likelihood
from dactnlg.dialogue.responder import Responder
from dactnlg.errors import UserError
from dactnlg.metrics.sample_sets import ReferenceSet
from dactnlg.runs.run import Run
from dactnlg.text.dialogue_preprocessor import words

SET_SIZE = 1000
"""Maximum number of answers and references for forward and backward BLEU."""
BLOCK = 64


def evaluate_dialogue(
    run: str | Path,
    *,
    corpus: str | None = None,
    split: str = "test",
    data_dir: Path | None = None,
    most: int | None = None,
    samples: int = SAMPLES,
    progress: bool = False,
) -> dict[str, Any]:
    """Answer every context of a split and score the answers.

    Args:
        run: the run folder of a dialogue model.
        corpus: by default the corpus that the run was trained on.
        split: the split of the corpus.
        data_dir: a folder to search first for the corpus.
        most: use only this many pairs, from the start; None for all.
        samples: draws of the latent variables for the perplexity.
        progress: show a progress bar on standard error.

    Returns:
        `model`, `corpus`, `split`, `pairs`, `samples` and `scores`: `perplexity` (fair: p(`<unk>`) is spread over the
        words of all splits that are not in the run's vocabulary), `own-perplexity` (`<unk>` is one token), `KL` (nats
        per token), `BLEU` (percent; mean sentence BLEU of answer against reference), `forward-BLEU` and
        `backward-BLEU` (percent; between sets; Shi et al. 2018), `distinct-1` and `distinct-2` (shares). For the
        perplexities and KL, targets are cut to the run's `longest`.

    Raises:
        CorpusError: the corpus is missing or damaged.
        RunError: the folder is not a run of a dialogue model.
        UserError: the split is unknown or has no pairs, or `most` or `samples` is below 1.
    """
    if samples < 1 or (most is not None and most < 1):
        raise UserError("most and samples are 1 or more")
    responder = Responder(run)
    config = Run(Path(run)).check()
    name = corpus or config.corpus.name
    splits = load_dialogues(name, data_dir or config.corpus.data_dir).splits
    if split not in splits:
        raise UserError(f"unknown split '{split}'; choose one of {', '.join(splits)}")
    known = {token for each in splits.values() for one in each for turn in one.turns for token in words(turn)}
    rare, found = len(known - set(responder.preprocessor.vocabulary.tokens)), splits[split]
    pairs = context_pairs(found, responder.preprocessor.turns)[:most]
    if not pairs:
        raise UserError(f"the split '{split}' of {name} has no dialogue of two turns")
    learned = splits["train"][: config.model.model_dump().get("dialogues")] if name == config.corpus.name else []
    if split != "train" and (twice := _known(found, learned)):
        say_once(
            f"leakage: {twice:,} of {len(found):,} dialogues of the split '{split}' stand in the training split, too"
        )
    probable = likelihood(responder, pairs, samples=samples)
    answers: list[str] = []
    with tqdm(total=len(pairs), desc="answering", unit=" turns", disable=not progress, delay=2) as bar:
        for start in range(0, len(pairs), BLOCK):
            block = pairs[start : start + BLOCK]
            acts = [responder.preprocessor.known_acts(pair.acts) for pair in block]
            answers += responder.reply([pair.context for pair in block], acts=acts)
            bar.update(len(block))
    scores = {"perplexity": probable.fair(rare), "own-perplexity": probable.perplexity, "KL": probable.divergence}
    scores |= answer_scores(answers, [pair.target for pair in pairs])
    about = {"model": config.model.name, "corpus": name, "split": split, "pairs": len(pairs), "samples": samples}
    return {**about, "scores": scores}


def _known(dialogues: Iterable[Dialogue], learned: Iterable[Dialogue]) -> int:
    """Return how many of the dialogues also occur, word for word, in `learned`."""
    known = {each.turns for each in learned}
    return sum(each.turns in known for each in dialogues)


def evaluate_dialogues(
    runs: Sequence[Path], refused: Mapping[str, object], *, corpus: str | None, split: str, data_dir: Path | None
) -> list[dict[str, Any]]:
    """Return the result of `evaluate_dialogue` for each run.

    Args:
        runs: run folders.
        refused: option -> value given, for options that do not apply to dialogue models.
        corpus, split, data_dir: see `evaluate_dialogue`.

    Raises:
        UserError: one of the refused options is set.
    """
    if wrong := [name for name, value in refused.items() if value]:
        raise UserError(f"{', '.join(wrong)}: not for runs of dialogue models; their scores are always the same ones")
    shown = sys.stderr.isatty()
    return [evaluate_dialogue(run, corpus=corpus, split=split, data_dir=data_dir, progress=shown) for run in runs]


def answer_scores(answers: Sequence[str], references: Sequence[str]) -> dict[str, float]:
    """Return BLEU, forward and backward BLEU (percent) and the shares of distinct n-grams, on lower-cased tokens.

    Args:
        answers: N texts.
        references: N texts, the actual turns.
    """
    said, wanted = [words(text) for text in answers], [words(text) for text in references]
    each = [ReferenceSet.of([reference]).bleu(answer) for answer, reference in zip(said, wanted, strict=True)]
    forward, backward = ReferenceSet.of(wanted[:SET_SIZE]), ReferenceSet.of(said[:SET_SIZE])
    return {
        "BLEU": 100 * float(np.mean(each)),
        "forward-BLEU": 100 * float(np.mean([forward.bleu(tokens) for tokens in said[:SET_SIZE]])),
        "backward-BLEU": 100 * float(np.mean([backward.bleu(tokens) for tokens in wanted[:SET_SIZE]])),
        "distinct-1": distinct(said, 1),
        "distinct-2": distinct(said, 2),
    }


def distinct(answers: Sequence[Sequence[str]], n: int) -> float:
    """Return distinct n-grams / all n-grams of tokenised answers (Li et al. 2016); 0 without any."""
    grams = [tuple(tokens[i : i + n]) for tokens in answers for i in range(len(tokens) - n + 1)]
    return len(set(grams)) / max(1, len(grams))


def scores_table(results: Sequence[Mapping[str, Any]], output_format: Format = "text", width: int | None = None) -> str:
    """Return the scores of runs as a table, one row per run; text is wrapped at `width`."""
    names = list(results[0]["scores"])
    rows = [(each["model"], *(f"{each['scores'][name]:.3f}" for name in names)) for each in results]
    return formatted([("model", *names), *rows], output_format, width=width)
