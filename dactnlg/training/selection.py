"""Which epoch's weights are kept: by multi-reference BLEU of what the model says for validation acts.

The validation loss counts every word of every reference; people read one sentence an act. After each epoch a bounded
number of acts is generated with a narrow beam, and scored under the corpus's own protocol (`leading_preset`). The share
of sentences with a slot fault, or taken from a template, is taken off the score, so that an epoch does not win by what
it leaves out or cannot say (an untrained model leaves all to templates, which are training sentences).
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
"""Acts that are generated after an epoch, at most, evenly spread over the split."""
WIDTH = 3
"""Beam width."""


class Said(NamedTuple):
    """How good an epoch's sentences are.

    Attributes:
        bleu: multi-reference BLEU-4.
        faulty: share of sentences with a slot fault, or that no model chose.
    """

    bleu: float
    faulty: float

    @property
    def score(self) -> float:
        """What epochs are compared by."""
        return self.bleu - self.faulty


class BleuSelection:
    """Scores the sentences of a model that is being trained.

    Args:
        config: the experiment.
        preprocessor: of the training pairs.
        corpus: whose validation split is generated, or the training split without one.
        make_decoder: gives a decoder with the weights of this moment.
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
        """Generate the acts with the weights of this moment, and score them."""
        generator = Generator(self._preprocessor, self._make_decoder(), self._decoding)
        options = GenerationOptions(beam_width=WIDTH, sample=False)
        generations = generator.generate(self._turns, options, strict=False, context=self._contexts)
        pairs = zip(generations, self._references, strict=True)
        segments = [Segment(self._normalize(generation.raw), refs) for generation, refs in pairs]
        value = float(self._bleu.score(self._bleu.statistics(segments).sum(axis=0))[-1])
        faulty = sum(not g.slots_ok or g.origin == "template" for g in generations)
        return Said(value, faulty / len(generations))


def spread(examples: Sequence[Example], most: int) -> list[int]:
    """Return the places of so many different acts at most, evenly spread over a split."""
    first = {str(example.turn): place for place, example in reversed(list(enumerate(examples)))}
    places, count = sorted(first.values()), min(most, len(first))
    return [places[number * len(places) // count] for number in range(count)]
