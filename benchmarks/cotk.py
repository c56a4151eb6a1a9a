"""The models of CoTK's tables (Huang et al. 2020, Tables 7 and 8) on DailyDialog, at small sizes.

    python benchmarks/cotk.py --folder runs/cotk [--dialogues 800] [--epochs 5] [--test 400] [--models gru_lm ...]

Language models have no input and are sampled; the others see the previous turn (HRED: the last five) and decode with
beam search. After each training the script prints perplexity (fair: every word of the corpus has a probability), BLEU,
forward and backward BLEU and distinct n-grams, and at the end the order of the models by perplexity beside CoTK's. The
corpora of these tables, EMNLP2017 and OpenSubtitles, are not available here, so that orders can be compared but numbers
cannot.
"""

from __future__ import annotations

import argparse
import shutil
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dactnlg._utils.tables import aligned
from dactnlg.data.dialogues import context_pairs, load_dialogues
from dactnlg.dialogue.evaluation import answer_scores, evaluate_dialogue
from dactnlg.dialogue.responder import Responder
from dactnlg.training.train import train

GRU = {"hidden_size": 128, "embedding_size": 64}
LATENT = {"utterance_size": 64, "latent_size": 16, "annealing": 500, "free_bits": 0.05}
TRANSFORMER = {"hidden_size": 96, "heads": 4, "layers": 2, "dropout": 0.2, "window": 32}
LANGUAGE_MODELS: dict[str, dict[str, Any]] = {
    "gru_lm": {"name": "gru_lm", **GRU},
    "transformer_lm": {"name": "transformer_lm", **TRANSFORMER},
    "vae_lm": {"name": "vae_lm", **GRU, **LATENT},
}
DIALOGUE_MODELS: dict[str, dict[str, Any]] = {
    "gru_seq2seq": {"name": "gru_seq2seq", **GRU, "encoder_size": 64},
    "transformer_seq2seq": {"name": "transformer_seq2seq", **TRANSFORMER},
    # A VHRED of one turn: prior from the context, posterior from context and target (Zhao et al. 2017).
    "cvae": {"name": "vhred", **GRU, **LATENT, "context_size": 64, "turns": 1},
    "hred": {"name": "hred", **GRU, "utterance_size": 64, "context_size": 64},
}
PUBLISHED = {
    "without input (Table 7)": (LANGUAGE_MODELS, {"transformer_lm": 37.04, "gru_lm": 47.74}),
    "dialogue (Table 8)": (DIALOGUE_MODELS, {"gru_seq2seq": 37.26, "transformer_seq2seq": 39.36}),
}
MODELS = LANGUAGE_MODELS | DIALOGUE_MODELS
NAMES = ("perplexity", "BLEU", "forward-BLEU", "backward-BLEU", "distinct-1", "distinct-2")
SAMPLES = 20


def scores_of(label: str, run: Path, given: argparse.Namespace) -> dict[str, float]:
    """Return the scores of a run; a language model samples one turn for each target."""
    scores: dict[str, float] = evaluate_dialogue(run, most=given.test, samples=SAMPLES)["scores"]
    if label not in LANGUAGE_MODELS:
        return scores
    pairs = context_pairs(load_dialogues("dailydialog", splits=["test"]).splits["test"], 5)[: given.test]
    said = Responder(run).reply([()] * len(pairs), seeds=range(len(pairs)))
    return {**scores, **answer_scores(said, [pair.target for pair in pairs])}


def orders(perplexities: dict[str, float]) -> str:
    """Return, for each of CoTK's tables, the order of the models by perplexity, here and in the table."""
    lines = []
    for title, (models, theirs) in PUBLISHED.items():
        found = sorted((perplexities[name], name) for name in models if name in perplexities)
        lines.append(f"{title}: here  " + " < ".join(f"{name} {value:.1f}" for value, name in found))
        both = [name for _, name in found if name in theirs]
        lines.append(f"{title}: CoTK  " + " < ".join(f"{name} {theirs[name]:.2f}" for name in theirs))
        if len(both) == len(theirs):
            order = "the same" if both == list(theirs) else "ANOTHER"
            lines.append(f"{title}: the models of both are in {order} order")
    return "\n".join(lines)


def main() -> None:
    """Train and score the models, and print the table after each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="for the runs, which are replaced")
    parser.add_argument("--dialogues", type=int, default=800, help="dialogues of each split to train with")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--test", type=int, default=400, help="test pairs that are scored")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    given = parser.parse_args()
    print(*(f"{name} {version(name)}" for name in ("dactnlg", "keras", "numpy")), time.strftime("%Y-%m-%d"))
    training = {"epochs": given.epochs, "batch_size": 32, "learning_rate": 0.002, "clip_norm": 1.0, "seed": given.seed}
    rows: list[tuple[str, ...]] = []
    perplexities: dict[str, float] = {}
    for label in given.models:
        started = time.perf_counter()
        run = given.folder / label
        shutil.rmtree(run, ignore_errors=True)
        model = {"dialogues": given.dialogues, "longest": 20, "most_words": 4000, "word_drop": 0.0}
        model |= MODELS[label]
        train({"corpus": {"name": "dailydialog"}, "model": model, "training": training}, run, progress=False)
        trained = time.perf_counter() - started
        scores = scores_of(label, run, given)
        perplexities[label] = scores["perplexity"]
        seconds = f"{trained:.0f} + {time.perf_counter() - started - trained:.0f}"
        rows.append((label, *(f"{scores[name]:.3f}" for name in NAMES), f"{scores['KL']:.3f}", seconds))
        print(aligned([("model", *NAMES, "KL", "seconds"), *rows]), flush=True)
    print(orders(perplexities))


if __name__ == "__main__":
    main()
