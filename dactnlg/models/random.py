"""The random baseline (Sharma et al. 2017, section 4.1): a training sentence of the same kind of act, drawn by chance.

It has no weights, so it is no `NeuralModel`: what it generates is drawn from the preprocessor's templates
(`generation.reranking`), and its section holds no key but the name.
"""

from __future__ import annotations

from dactnlg.models.sections import RandomSection


class RandomBaseline:
    """The name and the configuration of the baseline."""

    Section = RandomSection
