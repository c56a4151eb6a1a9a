"""Arrays of the shipped teachers: emotions learned from DailyDialog's labels, and MiniLM sentence vectors."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from dactnlg.data.dialogues import load_dialogues
from dactnlg.data.teacher_arrays import TeacherArrays
from dactnlg.dialogue.components.emotions import EMOTIONS, LabelledTurns, learn_emotions
from dactnlg.dialogue.components.teachers import EmotionTeacher, KeptEncoder
from dactnlg.metrics.sentence_encoder.encoders import Encoder, load_minilm


def teach(texts: Iterable[str], emotions: EmotionTeacher, encoder: Encoder) -> TeacherArrays:
    """Return the emotions and vectors of texts, each distinct text once."""
    different = list(dict.fromkeys(texts))
    vectors = np.asarray(encoder.encode(different), np.float32)
    found = np.asarray(emotions.probabilities(different), np.float32)
    return TeacherArrays(f"{emotions.name}+{encoder.name}", different, found, vectors)


def teach_corpus(
    name: str, output: Path, *, data_dir: Path | None = None, dialogues: int | None = None, progress: bool = True
) -> TeacherArrays:
    """Write the shipped teachers' arrays for all turns of a corpus with emotion labels.

    Emotions are learned from the training turns only.

    Args:
        name: the corpus, such as dailydialog.
        output: the `.npz` file to write.
        data_dir: a folder to search first for the corpus.
        dialogues: use only this many dialogues per split, from the start; None for all.
        progress: show a progress bar on standard error.

    Raises:
        CorpusError: the corpus is missing or damaged.
        UserError: it has no emotion labels.
    """
    splits = load_dialogues(name, data_dir).splits
    kept = {split: found[:dialogues] for split, found in splits.items()}
    places = {label: place for place, label in enumerate(EMOTIONS)}
    known = [
        (text, places[label])
        for each in kept["train"]
        for text, label in zip(each.turns, each.emotions, strict=False)
        if label in places
    ]
    encoder = KeptEncoder(load_minilm(), progress=progress)
    texts = [text for split in ("train", "valid", "test") for each in kept[split] for text in each.turns]
    turns = LabelledTurns([text for text, _ in known], [label for _, label in known])
    encoder.encode(list(dict.fromkeys(texts)))
    arrays = teach(texts, learn_emotions(encoder, turns), encoder)
    arrays.save(output)
    return arrays
