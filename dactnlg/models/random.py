"""The random baseline (Sharma et al. 2017, section 4.1): a random training sentence of the same kind of act.

It has no weights, so it is not a `NeuralModel`: its sentences are drawn from the preprocessor's templates
(`generation.candidate_search`), and its section has no key but the name.
"""

from __future__ import annotations

from dactnlg.models.sections import RandomSection


class RandomBaseline:
    """The name and the configuration of the baseline."""

    Section = RandomSection
