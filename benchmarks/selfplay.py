"""Self-play: whether planted faults cost what they should, its speed, and how well hybrid scores predict ratings.

    python benchmarks/selfplay.py faults [--corpus NAME]... [--conversations 100] [--turns 10] [--runs FOLDER]
                                         [--hybrid]
    python benchmarks/selfplay.py speed [--corpus NAME]... [--runs FOLDER]
    python benchmarks/selfplay.py hybrid [--pictures FOLDER]

`faults` plays with an sc-LSTM of each corpus as it is, and with slots dropped or values swapped in 5, 10 and 20% of the
acts with a value. Goals are the same for all, and acts corrupted at 5% are also corrupted at 10%. Success is compared
with that at the previous share by McNemar's exact test, hybrid scores by a paired permutation test of the mean
difference. If a step is not significant, 1,000 conversations show how many would be needed. The hybrid score is that of
`hybrid`, fitted on all bots of ConvAI2, and so without any task.

`hybrid` computes the components of Ghandeharioun et al. 2019 on rated dialogues (ConvAI2's 2018 data, iEval), fits on
all bots but one, and correlates the scores of the bot left out with its ratings; beside it are single components and
baselines, which need no fit. As in the paper, only conversations count in which both sides say at least three things.

Runs that are not in --runs are trained there, or else in a temporary folder. Real data are found through DACTNLG_DATA,
sentence vectors are kept in --cache.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, permutation_test
from selfplay_pictures import Rated, draw
from tabulate import tabulate

from dactnlg import Generator, models
from dactnlg.data.corpus import load_corpus, search_path
from dactnlg.dialogue import hybrid
from dactnlg.dialogue.components.coherence import WordCoherence
from dactnlg.dialogue.components.emotions import learn_emotions, read_dailydialog
from dactnlg.dialogue.components.overlap import baselines
from dactnlg.dialogue.components.table import ComponentMaker, ComponentTable, with_extras
from dactnlg.dialogue.components.teachers import KeptEncoder
from dactnlg.dialogue.conversations import Conversation, read_conversations
from dactnlg.dialogue.task.corruption import FAULTS, Corruption
from dactnlg.dialogue.task.goals import draw_goals
from dactnlg.dialogue.task.play import play
from dactnlg.dialogue.task.reading import Listener, corpus_listener
from dactnlg.dialogue.task.result import MOST_CONVERSATIONS, conversations_needed, paired, task_scores
from dactnlg.dialogue.task.schema import Schema, read_schema
from dactnlg.metrics.embeddings.vectors import load_vectors
from dactnlg.metrics.sentence_encoder.encoders import load_minilm
from dactnlg.runs.config import load_config
from dactnlg.training.train import train

Array = NDArray[np.float64]
CORPORA = ("trails", "restaurants", "hotel")
SHARES = (0.0, 0.05, 0.1, 0.2)
LEVEL = 0.05
MANY = 1000
RATED = ("convai2-rated", "ieval")
LEAST = 3
HYBRIDS = ("hybrid", "with task terms")


class Player(NamedTuple):
    """The task of a corpus, and a generator that plays it."""

    corpus: str
    schema: Schema
    listener: Listener
    generator: Generator

    def play(self, conversations: int, turns: int, corruption: Corruption | None = None) -> list[Conversation]:
        """Return conversations, always with the same goals."""
        goals = draw_goals(self.schema, conversations, turns, 1)
        return play(self.generator, self.schema, goals, self.listener, turns, corruption=corruption)


def player(corpus_name: str, runs: Path) -> Player:
    """Return the player of a corpus; its run is trained if it does not exist."""
    path = runs / f"{corpus_name}-sclstm"
    if not path.exists():
        train(load_config(f"{corpus_name}-sclstm", [], models), path, progress=False)
    corpus = load_corpus(corpus_name)
    return Player(corpus_name, read_schema(corpus), corpus_listener(corpus), Generator.load(path))


def data(name: str) -> Path:
    """Return the path of a file or folder of the data."""
    return next(path for root in search_path() if (path := root / name).exists())


@cache
def maker(cache_folder: Path) -> ComponentMaker:
    """Return the maker of components, with the shipped teachers."""
    encoder = KeptEncoder(load_minilm(), cache_folder / "dialogue-vectors.npz")
    teacher = learn_emotions(encoder, read_dailydialog(data("dialogues/dailydialog-train.jsonl")))
    vectors = load_vectors(data("embeddings/glove.6B.100d.subset.txt"))
    return ComponentMaker(teacher, encoder, WordCoherence(vectors))


def rated(name: str) -> list[Conversation]:
    """Return the rated conversations in which both sides say enough."""
    talks = read_conversations(data(f"dialogues/{name}.jsonl"))
    return [talk for talk in talks if min(len(talk.texts("user")), len(talk.texts("bot"))) >= LEAST]


def quality(talk: Conversation) -> float:
    """Return the rating of a conversation."""
    return float(talk.more["score"] if "score" in talk.more else talk.more["ratings"]["Rating"])


def faults(arguments: argparse.Namespace, runs: Path) -> None:
    """Print what planted faults cost."""
    weights = weights_of(RATED[0], arguments.cache) if arguments.hybrid else None
    rows = []
    for name in arguments.corpus or CORPORA:
        who = player(name, runs)
        for fault in FAULTS:
            before: tuple[list[Conversation], list[Array]] | None = None
            for least, share in zip((0.0, *SHARES), SHARES, strict=False):
                corruption = Corruption(fault, share)
                talks = who.play(arguments.conversations, arguments.turns, corruption)
                scores = hybrids(weights, talks, arguments.cache) if weights else []
                row = row_of(name, corruption, talks)
                if before is not None:
                    row |= step(who, arguments.turns, before[0], talks, (least, corruption))
                for label, values, old in zip(HYBRIDS, scores, before[1] if before else [None, None], strict=False):
                    row[label] = f"{values.mean():.3f}"
                    if old is not None:
                        row[f"{label}: p"] = permuted(old, values)
                rows.append(row)
                before = talks, scores
    keys = list(dict.fromkeys(key for row in rows for key in row))
    table = [[row.get(key, "") for key in keys] for row in rows]
    print(tabulate(table, headers=keys, tablefmt="github", disable_numparse=True))


def weights_of(name: str, cache_folder: Path) -> hybrid.HybridWeights:
    """Return the weights fitted on all bots of rated dialogues."""
    talks = rated(name)
    table = maker(cache_folder).table(talks)
    return hybrid.fit(table.names, table.values, np.array([quality(talk) for talk in talks]))


def hybrids(weights: hybrid.HybridWeights, talks: list[Conversation], cache_folder: Path) -> list[Array]:
    """Return the hybrid scores of task conversations: the paper's, and those with task terms."""
    table = maker(cache_folder).table(talks)
    scores = weights.predict(table.values)
    return [scores, hybrid.with_task_terms(scores, with_extras(table, talks))]


def row_of(name: str, corruption: Corruption, talks: list[Conversation]) -> dict[str, str]:
    """Return the scores of one generator."""
    found = task_scores(talks)
    return {
        "corpus": name,
        "fault": corruption.name,
        "success": f"{found.success:.3f} [{found.interval[0]:.3f}, {found.interval[1]:.3f}]",
        "turns": f"{found.turns:.2f}",
        "SER": f"{found.slot_error_rate:.4f}",
    }


def step(
    who: Player, turns: int, before: list[Conversation], talks: list[Conversation], shares: tuple[float, Corruption]
) -> dict[str, str]:
    """Return whether success differs from that at the previous share, or how many conversations that would need."""
    found = paired(before, talks)
    told = {"lost, won": f"{found.lost}, {found.won}", "p of the step": f"{found.p_value:.4f}"}
    if found.p_value < LEVEL:
        return told
    least, corruption = shares
    many = paired(who.play(MANY, turns, Corruption(corruption.fault, least)), who.play(MANY, turns, corruption))
    needed = conversations_needed(many.lost / MANY, many.won / MANY)
    shown_needed = f"over {MOST_CONVERSATIONS:,}" if needed is None else f"{needed:,}"
    return {**told, "needed": f"{shown_needed} (power .8; {many.lost}, {many.won} of {MANY})"}


def permuted(before: Array, after: Array) -> str:
    """Return the p-value of a paired two-sided permutation test and, unless significant, how many would be needed."""
    result = permutation_test(
        (before, after), lambda a, b, axis: (a - b).mean(axis=axis), permutation_type="samples", n_resamples=9999, rng=1
    )
    if result.pvalue < LEVEL:
        return f"{result.pvalue:.4f}"
    change = after - before
    # By a paired t test of level .05 and power .8, if the difference and its spread are the observed ones.
    needed = ((norm.ppf(1 - LEVEL / 2) + norm.ppf(0.8)) * change.std(ddof=1) / change.mean()) ** 2
    return f"{result.pvalue:.4f} ({needed:.0f} needed)"


def speed(arguments: argparse.Namespace, runs: Path) -> None:
    """Print how long 100 conversations of ten turns take."""
    rows = []
    for name in arguments.corpus or CORPORA:
        who = player(name, runs)
        start = time.perf_counter()
        goals = draw_goals(who.schema, 100, 10, 1)
        drawn = time.perf_counter()
        fresh = Generator.load(runs / f"{name}-sclstm")
        loaded = time.perf_counter()
        talks = play(fresh, who.schema, goals, who.listener, 10)
        played = time.perf_counter()
        said = sum(turn.speaker == "bot" for talk in talks for turn in talk.turns)
        times = [drawn - start, loaded - drawn, played - loaded, played - start]
        rows.append([name, len(talks), said, *(f"{seconds:.2f}" for seconds in times)])
    header = ["corpus", "conversations", "sentences", "goals, s", "loading, s", "playing, s", "together, s"]
    print(tabulate(rows, headers=header, tablefmt="github", disable_numparse=True))


def shown(found: hybrid.Correlation) -> str:
    """Return a correlation with its interval."""
    if np.isnan(found.value):
        return "undefined"
    interval = "" if np.isnan(found.low) else f" [{found.low:.2f}, {found.high:.2f}]"
    return f"{found.value:.3f}{interval}"


def hybrid_scores(arguments: argparse.Namespace) -> None:
    """Print how well the hybrid and other scores predict ratings."""
    print(f"teachers: {maker(arguments.cache).signature}")
    for name in RATED:
        talks = rated(name)
        bots, ratings = [talk.bot for talk in talks], np.array([quality(talk) for talk in talks])
        table = maker(arguments.cache).table(talks)
        left = hybrid.leave_bot_out(table, ratings, bots)
        people = hybrid.by_bot(ratings, bots)
        print(f"\n{name}: {len(talks)} conversations, {len(people)} bots; hash of components {table.hash[:8]}\n")
        columns = dict(columns_of(table, baselines(talks), left.predictions))
        (other,) = {*RATED} - {name}
        columns["hybrid, fitted on the other data"] = weights_of(other, arguments.cache).predict(table.values)
        rows = []
        for label, values in columns.items():
            means = hybrid.by_bot(values, bots)
            found = hybrid.pearson(means, people), hybrid.spearman(means, people), hybrid.pearson(values, ratings)
            rows.append([label, *map(shown, found)])
        header = ["", f"bots: Pearson (n = {len(people)})", "bots: Spearman"]
        print(tabulate(rows, headers=[*header, f"conversations: Pearson (n = {len(talks)})"], tablefmt="github",
                       disable_numparse=True))  # fmt: skip
        middle, low, high = left.coefficient_interval()
        print(f"\ncoefficients over {len(left.folds)} folds, mean with 90% interval:")
        for label, *ends in zip(table.names, middle, low, high, strict=True):
            print(f"  {label:26s} {ends[0]:+.3f} [{ends[1]:+.3f}, {ends[2]:+.3f}]")
        if arguments.pictures:
            series = maker(arguments.cache).series(talks)
            draw(arguments.pictures, name, columns, left, Rated(bots, ratings, talks, series))


def columns_of(table: ComponentTable, base: ComponentTable, predictions: Array) -> Iterator[tuple[str, Array]]:
    """Yield what is correlated with ratings, by name."""
    yield "hybrid, leave-bot-out", predictions
    for each in (table, base):
        for name in each.names:
            yield name, each.column(name)


def main() -> None:
    """Run the measurement that is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("faults", "speed", "hybrid"))
    parser.add_argument("--corpus", action="append", help=f"may be repeated [default: {', '.join(CORPORA)}]")
    parser.add_argument("--conversations", type=int, default=100, help="faults: for each corpus, fault and share")
    parser.add_argument("--turns", type=int, default=10, help="faults: at most so many utterances in a conversation")
    parser.add_argument("--runs", type=Path, help="the folder of the runs CORPUS-sclstm [default: a temporary one]")
    parser.add_argument(
        "--cache", type=Path, default=Path(tempfile.gettempdir()), help="the folder of sentence vectors"
    )
    parser.add_argument("--hybrid", action="store_true", help="faults: hybrid scores as well")
    parser.add_argument("--pictures", type=Path, help="hybrid: draw the figures into this folder")
    arguments = parser.parse_args()
    if arguments.what == "hybrid":
        hybrid_scores(arguments)
        return
    with tempfile.TemporaryDirectory() as temporary:
        (faults if arguments.what == "faults" else speed)(arguments, arguments.runs or Path(temporary))


if __name__ == "__main__":
    main()
