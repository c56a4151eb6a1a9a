"""HRED, VHRED and VHCR on DailyDialog, each with and without emotion and embedding regularisation.

    python benchmarks/dialogue.py --folder runs/dialogue [--dialogues 1000] [--seeds 3]
    python benchmarks/dialogue.py --folder runs/told --models hred --acts

After each training the script prints perplexity (by importance sampling with latent variables), KL per word and
distinct-2, as mean and standard deviation over the seeds, so that there is a table whenever it is stopped. If it is
started again with the same folder, it continues: each run is trained once, in a folder named after model and options.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from table1 import trained

from dactnlg.data.dialogues import context_pairs, load_dialogues
from dactnlg.dialogue.likelihood import likelihood
from dactnlg.dialogue.responder import Responder
from dactnlg.dialogue.teaching import teach_corpus

MODELS = ("hred", "vhred", "vhcr")
SIZES = {"hidden_size": 64, "embedding_size": 64, "utterance_size": 64, "context_size": 64}
LATENT = {"latent_size": 16, "annealing": 200, "free_bits": 0.15}
EPOCHS = 10
MOST_WORDS = 3000
LONGEST = 16


def distinct(answers: Sequence[str], n: int = 2) -> float:
    """Return the number of different n-grams in the answers, divided by that of all n-grams."""
    grams = [tuple(words[i : i + n]) for words in (each.split() for each in answers) for i in range(len(words) - n + 1)]
    return len(set(grams)) / max(1, len(grams))


def config(name: str, ei: str, teacher: Path, dialogues: int, seed: int, *, acts: bool) -> dict[str, dict[str, object]]:
    """Return the configuration of a run."""
    model = {"name": name, "ei": ei, "acts": acts, "dialogues": dialogues, "longest": LONGEST, **SIZES}
    model["most_words"] = MOST_WORDS
    if ei != "none":
        model["teacher"] = str(teacher)
    if name != "hred":
        model |= LATENT
    training = {"epochs": EPOCHS, "batch_size": 32, "learning_rate": 0.002, "clip_norm": 1.0, "seed": seed}
    return {"corpus": {"name": "dailydialog"}, "model": model, "training": training}


def main() -> None:
    """Train and score the models, and print the table after each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="for the runs; finished ones are not trained again")
    parser.add_argument("--dialogues", type=int, default=1000, help="dialogues of each split to train with")
    parser.add_argument("--seeds", type=int, default=3, help="how many seeds")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--test", type=int, default=256, help="test pairs that are scored")
    parser.add_argument("--models", nargs="+", default=MODELS, choices=MODELS)
    parser.add_argument("--acts", action="store_true", help="give the models the dialogue act labels of the next turn")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    teacher = given.folder / f"teacher-{given.dialogues}.npz"
    if not teacher.exists():
        teach_corpus("dailydialog", teacher, dialogues=given.dialogues, progress=False)
    pairs = context_pairs(load_dialogues("dailydialog", splits=["test"]).splits["test"], 5)[: given.test]
    rows: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    # Seed by seed, so that all models have as many seeds, wherever the script is stopped.
    for seed in range(given.first_seed, given.first_seed + given.seeds):
        for name in given.models:
            for ei in ("none", "both"):
                run = given.folder / f"{name}-{ei}{'-acts' if given.acts else ''}-{given.dialogues}-{seed}"
                seconds = trained(config(name, ei, teacher, given.dialogues, seed, acts=given.acts), run)
                started = time.perf_counter()
                responder = Responder(run, max_length=20)
                found = likelihood(responder, pairs)
                acts = [responder.preprocessor.known_acts(pair.acts) for pair in pairs]
                answers = responder.reply([pair.context for pair in pairs], acts=acts)
                rows.setdefault((name, ei), []).append((found.perplexity, found.divergence, distinct(answers)))
                print(f"seed {seed} {name:6}{ei:6}", *(f"{x:8.3f}" for x in rows[name, ei][-1]), end="  ")
                print(f"{seconds:.0f} s, {time.perf_counter() - started:.0f} s", answers[:3], flush=True)
                print(table(rows), flush=True)


def table(rows: dict[tuple[str, str], list[tuple[float, float, float]]]) -> str:
    """Return the table so far."""
    lines = ["| model | EI | perplexity | KL a word | distinct-2 | seeds |", "| --- | --- | --- | --- | --- | --- |"]
    for (name, ei), found in rows.items():
        cells = [f"{statistics.mean(c):.3f} ± {statistics.pstdev(c):.3f}" for c in zip(*found, strict=True)]
        lines.append(f"| {name} | {ei} | {' | '.join(cells)} | {len(found)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
