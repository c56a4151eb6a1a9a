"""Training: from a configuration to a run folder.

The run folder holds everything that generation needs, and after every epoch a checkpoint with the optimizer's state,
so that a broken run goes on where it was and ends with the same weights as an unbroken one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dactnlg import __version__
from dactnlg._utils.hashing import digest
from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.data.corpus import Corpus, Example, load_corpus
from dactnlg.errors import CorpusError, WorkerError
from dactnlg.runs.config import Config, CorpusConfig
from dactnlg.runs.run import Run
from dactnlg.text.casing import Casing
from dactnlg.text.delexicalization import Delexicalized
from dactnlg.text.encoding import features
from dactnlg.text.placeholders import Required
from dactnlg.text.preprocessor import Codec, Pair, Style
from dactnlg.text.surface import realize
from dactnlg.training.workers import Cluster

_HOLE = re.compile(r"(?<=\S)  (?=\S)")
_LOST = "lostvalue"

Report = Callable[[Mapping[str, Any]], bool]
"""Told of an epoch; says whether to go on."""


def train(
    config: Config,
    output: Path,
    resume: bool = False,
    progress: bool = True,
    report: Report | None = None,
    cluster: Cluster | None = None,
) -> Path:
    """Train a model and write its run folder.

    Args:
        config: the experiment.
        output: the run folder; made if it is not there.
        resume: go on from the last finished epoch, if there is one.
        progress: show a progress bar on standard error.
        report: gets each epoch's row of the history, of a resumed run the last one's first; training ends, with the
            best weights so far, where it returns False.
        cluster: the devices and worker processes that train together; each process calls this with the same
            arguments, its own number apart. Only the chief writes, and shows progress.

    Returns:
        The run folder.

    Raises:
        WorkerError: the cluster is not to be had, or its processes do not agree.
        RunError: the folder holds another run, or another configuration is to be resumed.
        CorpusError: the corpus is missing, damaged or empty.
    """
    corpus = load_corpus(config.corpus.name, config.corpus.data_dir)
    others = [load_corpus(name, config.corpus.data_dir) for name in config.corpus.also]
    run = Run(output)
    if cluster is not None and cluster.parts > 1:
        return _train_together(config, cluster, corpus, others, run, resume, progress)
    if config.training.backend == "keras" and config.model.name != "random":
        from dactnlg.models.backend import check_trains

        check_trains()
    run.begin(config, [corpus, *others], resume)
    # The random baseline draws from every training sentence, whatever it leaves out (Sharma et al. 2017, 4.1).
    codec, pairs = build_codec(config.corpus, corpus, others, whole=config.model.name != "random")
    codec.save(run.codec_path)
    if config.model.name == "random":
        run.finish({})
        return output
    # Keras is slow to import: not before all that can go wrong without it has been checked.
    from dactnlg.training.loop import fit

    held_out = validation_pairs(config.corpus, corpus, codec)
    summary = fit(config, codec, pairs, held_out, run, progress, report=report)
    run.finish(summary)
    return output


def _train_together(
    config: Config,
    cluster: Cluster,
    corpus: Corpus,
    others: Sequence[Corpus],
    run: Run,
    resume: bool,
    progress: bool,
) -> Path:
    """Train on several devices or in several processes; see `train`."""
    if config.training.backend != "keras" or config.model.name == "random":
        raise WorkerError("only neural models train on several devices or workers, with training.backend=keras")
    codec, pairs = build_codec(config.corpus, corpus, others)
    held_out = validation_pairs(config.corpus, corpus, codec)

    def begin() -> None:
        run.begin(config, [corpus, *others], resume)
        codec.save(run.codec_path)

    from dactnlg.training.loop import fit
    from dactnlg.training.team import gather

    with gather(cluster) as team:
        team.compare(_fingerprint(config, [*pairs, *held_out]), "configuration, corpus or version")
        team.chiefly(begin)
        summary = fit(config, codec, pairs, held_out, run, progress and team.chief, team)
        team.chiefly(lambda: run.finish(summary))
    return run.path


def _fingerprint(config: Config, pairs: Sequence[Pair]) -> str:
    """Return the hash of what has to be the same in all processes; where the corpora lie may differ."""
    options = config.model_dump()
    options["corpus"].pop("data_dir")
    return digest([__version__, options, [[str(pair.turn), pair.corpus, list(pair.tokens)] for pair in pairs]])


def build_codec(
    config: CorpusConfig, corpus: Corpus, others: Sequence[Corpus] = (), whole: bool = True
) -> tuple[Codec, list[Pair]]:
    """Delexicalise the training split, and those of further corpora, and collect what the models need from it.

    Args:
        config: which sentences are targets.
        corpus: the corpus to speak like.
        others: further corpora to learn from.
        whole: leave out sentences that do not say all their slots (see `_complete`).

    Returns:
        The codec, and the training pairs.

    Raises:
        CorpusError: there is nothing to learn from.
    """
    style = Style.from_card(corpus.card)
    named = corpus.name if others else None
    found = list(_delexicalized(corpus, "train", config.targets, style))
    pairs = _complete(found, named) if whole else [Pair(turn, named, _lower(s)) for turn, _, s in found if s.tokens]
    if not pairs:
        raise CorpusError(f"corpus '{corpus.name}' has no training pairs")
    casing = Casing.learn((required, sentence) for _, required, sentence in found)
    for other in others:
        theirs = Style.from_card(other.card)
        rows = _delexicalized(other, "train", "human", theirs, spoken=theirs.spaced and not style.spaced)
        pairs += _complete(list(rows), other.name)
    return Codec.build(pairs, named, casing, style, config.min_count), pairs


def validation_pairs(config: CorpusConfig, corpus: Corpus, codec: Codec) -> list[Pair]:
    """Return the pairs that decide when training stops: the validation split, or the training split without one."""
    split = "valid" if "valid" in corpus.splits else "train"
    rows = sentences(corpus, split, config.targets, codec.style)
    return [Pair(turn, codec.encoder.corpus, tokens) for turn, tokens in rows]


def sentences(corpus: Corpus, split: str, targets: str, style: Style) -> list[tuple[Turn, tuple[str, ...]]]:
    """Return the turns of a split with the tokens that a model should say: delexicalised, in lower case."""
    return [(turn, _lower(sentence)) for turn, _, sentence in _delexicalized(corpus, split, targets, style)]


def _delexicalized(
    corpus: Corpus, split: str, targets: str, style: Style, spoken: bool = False
) -> Iterable[tuple[Turn, Sequence[Required], Delexicalized]]:
    delexicalizer = style.delexicalizer()
    for example in corpus.split(split):
        for sentence in _targets(example, targets):
            turn, text = example.turn, sentence
            if corpus.card.hole and split == "train":
                turn, text = _fill_hole(turn, text, corpus.card.hole)
            # A corpus of split morphemes joins one of plain text in the form that its sentences have when read.
            text = realize(text) if spoken else text
            turn = delexicalizer.split(turn)
            yield turn, delexicalizer.required(turn), delexicalizer.delexicalize(turn, text)


def _fill_hole(turn: Turn, sentence: str, hole: str) -> tuple[Turn, str]:
    """Put a stand-in for a lost value into act and sentence, so that the placeholder's place is learned."""
    act_type, _, name = hole.rpartition(".")
    if not _HOLE.search(sentence) or any(slot.name == name for _, slot in turn.slots()):
        return turn, sentence
    act = DialogueAct(act_type, (Slot(name, _LOST),))
    return Turn((*turn.acts, act)), _HOLE.sub(f" {_LOST} ", sentence, count=1)


def _targets(example: Example, targets: str) -> tuple[str, ...]:
    if targets == "human":
        return example.references
    if targets == "handcrafted":
        return example.handcrafted or example.references
    return (*example.references, *example.handcrafted)


def _complete(rows: Sequence[tuple[Turn, Sequence[Required], Delexicalized]], corpus: str | None) -> list[Pair]:
    """Leave out sentences that do not say all their slots, except where their kind of turn has no other sentence.

    What such a sentence says instead ("a low-cost pub" for pricerange=cheap) would teach a delexicalised model to
    make values up.
    """
    whole = {frozenset(features(turn)) for turn, _, sentence in rows if not sentence.missing}
    return [
        Pair(turn, corpus, _lower(sentence))
        for turn, _, sentence in rows
        if sentence.tokens and (not sentence.missing or frozenset(features(turn)) not in whole)
    ]


def _lower(sentence: Delexicalized) -> tuple[str, ...]:
    # Placeholders are the only tokens with capitals.
    return tuple(token if "SLOT_" in token else token.lower() for token in sentence.tokens)
