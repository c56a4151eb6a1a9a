"""The component maker with the teachers that come with the package."""

from __future__ import annotations

from pathlib import Path

from dactnlg.dialogue.components.coherence import WordCoherence
from dactnlg.dialogue.components.emotions import learn_emotions, read_dailydialog
from dactnlg.dialogue.components.table import ComponentMaker, EngagementMaker, MakesComponents
from dactnlg.dialogue.components.teachers import KeptEncoder
from dactnlg.errors import UserError
from dactnlg.metrics.cache import user_cache
from dactnlg.metrics.embeddings.vectors import load_vectors
from dactnlg.metrics.sentence_encoder.encoders import load_minilm


def shipped_maker(emotions: Path | None, vectors: Path | None) -> MakesComponents:
    """Return a component maker with emotions learned from a file and MiniLM sentence vectors.

    Sentence vectors are cached in the user's cache folder.

    Args:
        emotions: dialogues with an emotion for each turn, see `emotions.read_dailydialog`; None for the components that
            need no teacher.
        vectors: word vectors, see `metrics.embeddings.vectors.load_vectors`; None if `emotions` is.

    Raises:
        UserError: only one of the files is given, or one cannot be used.
        MetricError: the sentence encoder is not installed, or the word vectors cannot be read.
    """
    if (emotions is None) != (vectors is None):
        raise UserError("components need both --emotions and --vectors, or neither: then those that need no teacher")
    if emotions is None:
        return EngagementMaker()
    turns = read_dailydialog(emotions)
    cache = user_cache()
    cache.mkdir(parents=True, exist_ok=True)
    encoder = KeptEncoder(load_minilm(), cache / "dialogue-vectors.npz")
    return ComponentMaker(learn_emotions(encoder, turns), encoder, WordCoherence(load_vectors(vectors)))
