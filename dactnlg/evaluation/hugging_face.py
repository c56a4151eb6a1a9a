"""The scores as a metric for Hugging Face's `evaluate`; needs the extra `evaluate`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dactnlg.errors import MetricError
from dactnlg.evaluation.pairs import make_pairs
from dactnlg.evaluation.scoring import DEFAULT_PRESET, check_metrics, score_pairs
from dactnlg.metrics.registry import NOTHING

try:
    import evaluate
    from datasets import Features, Value
    from datasets import Sequence as Several
except ModuleNotFoundError:
    raise MetricError("Hugging Face's evaluate is not installed: pip install 'dactnlg[evaluate]'") from None
if not hasattr(evaluate, "Metric"):
    raise MetricError(
        f"Hugging Face's evaluate is hidden by {evaluate.__file__}, which Python finds first: run from another folder"
    )


class HuggingFaceMetric(evaluate.Metric):  # type: ignore[misc]  # the library has no types
    """One or more scores under a preset, with the methods `compute`, `add` and `add_batch` of `evaluate`.

    The references of a prediction are a text or a list of texts. `compute` also takes `acts` (a list, in any notation),
    for SER and PARENT. It returns the value of each score by name (None where undefined), "signatures", "hashes" and
    "warnings". Nothing is downloaded.

    Args:
        metrics: names as on the command line (`BLEU-4`, `BLEU`, `embedding`), one or several; by default the preset's.
        preset: the evaluation protocol; by default `nlg-eval`.
        **options: those of `evaluate.Metric`, such as `cache_dir`, `num_process` and `experiment_id`.

    Raises:
        UnknownNameError: no such preset or metric.
        MetricError: the data of a metric are not installed.
    """

    def __init__(self, metrics: str | Sequence[str] | None = None, preset: str | None = None, **options: Any) -> None:
        self._names = [metrics] if isinstance(metrics, str) else metrics and list(metrics)
        self._preset = preset or DEFAULT_PRESET
        check_metrics(self._preset, self._names, NOTHING)
        # Only a metric computed by several processes needs files.
        options.setdefault("keep_in_memory", options.get("num_process", 1) == 1)
        super().__init__(self._preset, **options)

    def _info(self) -> Any:
        text = Value("string")
        return evaluate.MetricInfo(
            description=f"Scores of dactnlg under the preset {self._preset}.",
            citation="",
            inputs_description="predictions: texts; references: texts, or lists of texts; acts: of each, if known.",
            features=Features({"predictions": text, "references": Several(text)}),
        )

    def add(self, *, prediction: Any = None, reference: Any = None, **more: Any) -> None:
        """Add a prediction and its references; as in `evaluate.Metric`."""
        super().add(prediction=prediction, reference=_several(reference), **more)

    def add_batch(self, *, predictions: Any = None, references: Any = None, **more: Any) -> None:
        """Add predictions and the references of each; as in `evaluate.Metric`, whose `compute` calls it."""
        # The library takes the format of all from the first: others became `"['a text']"`, or a list of characters.
        given = references if references is None or isinstance(references, str) else list(map(_several, references))
        super().add_batch(predictions=predictions, references=given, **more)

    def _compute(
        self,
        *,
        predictions: Sequence[str],
        references: Sequence[str | Sequence[str]],
        acts: Sequence[str] | None = None,
    ) -> dict[str, Any]:
        """Return the scores; `evaluate` calls this with everything that was added."""
        # They arrive as columns of a table.
        given = list(predictions), list(references)
        found = score_pairs(make_pairs(*given, acts), self._names, self._preset, keep=False)
        scores = found.all_scores
        return {
            **{name: score.value for name, score in scores.items()},
            "signatures": {name: score.signature for name, score in scores.items()},
            "hashes": {name: score.hash for name, score in scores.items()},
            "warnings": [
                *found.warnings,
                *(f"{score.name} {score.reason}" for score in scores.values() if score.reason),
            ],
        }


def _several(reference: Any) -> Any:
    return [reference] if isinstance(reference, str) else reference


Metric = HuggingFaceMetric
"""The public name; within the package, `Metric` is another class."""
