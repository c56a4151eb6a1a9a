"""Selects the best epoch by multi-reference BLEU of sentences generated for validation acts.

The validation loss counts every word of every reference, but people read one sentence per act. After each epoch a
limited number of acts is generated with a narrow beam, and scored under the corpus's own protocol (`leading_preset`).
The share of sentences with a slot fault, or taken from a template, is subtracted from the score, so that an epoch does
not win by omissions or by falling back to templates (training sentences, on which an untrained model relies entirely).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from dactnlg.data.corpus import Corpus
from dactnlg.generation.decoders.decoder import Decoder
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.metrics import bleu
from dactnlg.metrics.base import Segment
from dactnlg.metrics.presets import get_preset, leading_preset, references_for
from dactnlg.runs.config import Config
from dactnlg.text.example import Example
from dactnlg.text.preprocessor import Preprocessor

ACTS = 200
"""How many acts are generated after an epoch at most, evenly spread over the split."""
WIDTH = 3
"""Beam width."""


class Said(NamedTuple):
    """The quality of an epoch's sentences.

    Attributes:
        bleu: multi-reference BLEU-4.
        faulty: share of sentences with a slot fault, or taken from a template.
    """

    bleu: float
    faulty: float

    @property
    def score(self) -> float:
        """The score by which epochs are compared."""
        return self.bleu - self.faulty


class BleuSelection:
    """Scores the sentences of a model in training.

    Args:
        config: the experiment.
        preprocessor: of the training pairs.
        corpus: the corpus whose validation split is generated, or whose training split if it has none.
        make_decoder: returns a decoder with the current weights.
    """

    def __init__(
        self, config: Config, preprocessor: Preprocessor, corpus: Corpus, make_decoder: Callable[[], Decoder]
    ) -> None:
        self._preprocessor, self._decoding, self._make_decoder = preprocessor, config.decoding, make_decoder
        examples = corpus.split("valid" if "valid" in corpus.splits else "train")
        preset = get_preset(leading_preset(corpus.name, corpus.card.format, config.corpus.targets, examples))
        references, self._normalize = references_for(preset.name, examples)
        chosen = spread(examples, ACTS)
        self._turns, self._references = [examples[p].turn for p in chosen], [references[p] for p in chosen]
        self._contexts = [examples[p].context for p in chosen]
        self._bleu = bleu.create(preset.bleu, lowercase=preset.mteval)

    def __call__(self) -> Said:
        """Generate the acts with the current weights, and score the sentences."""
        generator = Generator(self._preprocessor, self._make_decoder(), self._decoding)
        options = GenerationOptions(beam_width=WIDTH, sample=False)
        generations = generator.generate(self._turns, options, strict=False, context=self._contexts)
        pairs = zip(generations, self._references, strict=True)
        segments = [Segment(self._normalize(generation.raw), refs) for generation, refs in pairs]
        value = float(self._bleu.score(self._bleu.statistics(segments).sum(axis=0))[-1])
        faulty = sum(not g.slots_ok or g.origin == "template" for g in generations)
        return Said(value, faulty / len(generations))


def spread(examples: Sequence[Example], most: int) -> list[int]:
    """Return the indices of at most `most` different acts, evenly spread over a split."""
    first = {str(example.turn): place for place, example in reversed(list(enumerate(examples)))}
    places, count = sorted(first.values()), min(most, len(first))
    return [places[number * len(places) // count] for number in range(count)]
