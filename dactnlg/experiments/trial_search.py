"""What draws the settings of a sweep's trials; imports Ray."""

from __future__ import annotations

from typing import Any, ClassVar

from ray.tune.search import BasicVariantGenerator


class TrialSearch(BasicVariantGenerator):  # type: ignore[misc]
    """Ray Tune's own, whose limit on concurrent trials can be changed for a resumed sweep.

    Ray Tune saves the search with its limit, and has no way to replace either.

    Attributes:
        jobs: the limit in this process; None for the one that it was made with.
    """

    jobs: ClassVar[int | None] = None

    def next_trial(self) -> Any:
        """Return the next trial, or None if there is none, or as many as the limit run already."""
        if self.jobs is not None:
            self.max_concurrent = self.jobs
        return super().next_trial()
