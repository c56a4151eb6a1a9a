"""Tuning: how a run searches for sentences, chosen on validation data by the score that people read.

The model stays as it is. One key of the decoding section after the other takes the value with the best score, the
others staying as they are, until none changes any more. A setting is eligible only if it is as faithful as any that was
tried.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from dactnlg._utils.tables import aligned
from dactnlg.data.corpus import Corpus, load_corpus
from dactnlg.errors import CorpusError, RunError, UserError
from dactnlg.evaluation.evaluate import score_generations
from dactnlg.evaluation.scores import LOWER_IS_BETTER, shown
from dactnlg.evaluation.scoring import check_metrics
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.metrics.presets import leading_preset
from dactnlg.metrics.registry import single_score
from dactnlg.runs.config import DecodingConfig
from dactnlg.runs.retuning import write_decoding
from dactnlg.runs.run import Run
from dactnlg.text.example import Example

SPLIT = "valid"
"""Never the test split: what is chosen on it would not carry over."""
TRIED: dict[str, tuple[Any, ...]] = {
    "length_normalization": (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0),
    "constraint": ("rerank", "hard"),
    "beam_width": (1, 5, 10, 20),
    "slot_error_weight": (1.0, 3.0, 10.0, 100.0),
}
"""The keys that are tuned, in this order, and the values that each may take beside the run's own."""
LEEWAY = 0.001
"""Share of sentences with a slot fault that a setting may have beyond the fewest."""
ACTS = 1000
"""Acts that are generated with every setting, at most."""
ROUNDS = 3
"""How often each key is tuned, at most."""


class Setting(NamedTuple):
    """Values of the keys in `TRIED`, in their order."""

    length_normalization: float
    constraint: str
    beam_width: int
    slot_error_weight: float


@dataclass(frozen=True, slots=True)
class TriedSetting:
    """What a setting gave.

    Attributes:
        setting: the setting.
        score: by the metric; None where it is undefined.
        ser: slot error rate of the values.
        faults: sentences with a slot fault.
        speed: acts a second; equal searches of earlier settings are not repeated, so that first ones look slower.
    """

    setting: Setting
    score: float | None
    ser: float
    faults: int
    speed: float


@dataclass(frozen=True, slots=True)
class TuningResult:
    """The settings that were tried, in this order, and the one that was chosen.

    Attributes:
        preset, metric: what decided.
        acts: how many acts were generated with each.
        before: the run's own setting.
        chosen: the best.
        tried: all of them.
    """

    preset: str
    metric: str
    acts: int
    before: TriedSetting
    chosen: TriedSetting
    tried: list[TriedSetting]

    def facts(self) -> dict[str, Any]:
        """Return what the manifest says of it."""
        return {
            "split": SPLIT,
            "acts": self.acts,
            "preset": self.preset,
            "metric": self.metric,
            "before": _to_json(self.before),
            "chosen": _to_json(self.chosen),
        }

    def to_json(self) -> dict[str, Any]:
        """Return the facts and all settings as JSON data."""
        return {**self.facts(), "tried": [_to_json(each) for each in self.tried]}

    def table(self, width: int | None = None) -> str:
        """Return the settings as a table of text, the best first; `>` marks the chosen one, `*` the run's own."""
        rows = [["", self.metric, "SER", "faults", *Setting._fields]]
        sign = _sign(self.metric)
        for each in sorted(self.tried, key=lambda each: (each.score is None, sign * (each.score or 0.0))):
            mark = (">" if each is self.chosen else "") + ("*" if each is self.before else "")
            numbers = [shown(each.score), f"{each.ser:.4f}", str(each.faults)]
            rows.append([mark, *numbers, *(str(value) for value in each.setting)])
        head = f"{self.metric} ({self.preset}) of {self.acts} acts of the validation split; > chosen, * before"
        return "\n".join([head, "", aligned(rows, width=width)])


def tune(
    run: str | Path | Run,
    *,
    preset: str | None = None,
    metric: str = "BLEU-4",
    acts: int = ACTS,
    data_dir: str | Path | None = None,
    backend: str = "auto",
    write: bool = True,
) -> TuningResult:
    """Find the best decoding settings of a run, and write them into it.

    Args:
        run: the run, or its folder.
        preset: the evaluation protocol; by default that of the corpus and the sentences that the run has learned.
        metric: the score that decides.
        acts: how many validation acts are generated with each setting, at most, evenly spread over the split.
        data_dir: where to look for corpus files first.
        backend: what runs the model, as `Generator.load` takes it.
        write: whether the run's configuration gets what was found.

    Raises:
        RunError: no usable run, or one whose training goes on.
        CorpusError: the corpus is missing, or has no validation split.
        UnknownNameError: no such preset or metric.
        MetricError: the metric stands for several scores, or its data are missing.
        UserError: the run has no search: it is the random baseline, or set to sample.
    """
    folder = run if isinstance(run, Run) else Run(run)
    config = folder.check()
    if not folder.manifest_path.exists():
        raise RunError(f"{folder.path} cannot be tuned: its training has not ended")
    metric = single_score(metric)
    check_metrics(preset or "single", [metric])
    generator = Generator.load(folder.path, backend)
    if generator.decoder is None or config.decoding.sample:
        what = "the random baseline" if generator.decoder is None else "set to sample"
        raise UserError(f"{folder.path} has no search to be tuned: it is {what}")
    corpus = load_corpus(config.corpus.name, data_dir or config.corpus.data_dir)
    examples = _examples(corpus, acts)
    chosen = preset or leading_preset(corpus.name, corpus.card.format, config.corpus.targets, examples)
    result = _Tuner(generator, corpus, examples, chosen, metric).tune(config.decoding)
    if write:
        decoding = config.decoding.model_copy(update=result.chosen.setting._asdict())
        write_decoding(folder, config.model_copy(update={"decoding": decoding}), result.facts())
    return result


class _Tuner:
    """Tries settings, each once."""

    def __init__(
        self, generator: Generator, corpus: Corpus, examples: Sequence[Example], preset: str, metric: str
    ) -> None:
        self._generator, self._corpus, self._examples = generator, corpus, examples
        self._preset, self._metric = preset, metric
        self._tried: dict[Setting, TriedSetting] = {}

    def tune(self, defaults: DecodingConfig) -> TuningResult:
        """Tune from a decoding section on."""
        setting = Setting(*(getattr(defaults, name) for name in Setting._fields))
        with tqdm(desc="tuning", unit=" settings", delay=2, leave=False, disable=None) as bar:
            before = self._try(setting)
            for _ in range(ROUNDS):
                start = setting
                for name, values in TRIED.items():
                    for value in dict.fromkeys((getattr(setting, name), *values)):
                        self._try(setting._replace(**{name: value}))
                        bar.update(len(self._tried) - bar.n)
                    setting = self._best().setting
                if setting == start:
                    break
        tried = list(self._tried.values())
        return TuningResult(self._preset, self._metric, len(self._examples), before, self._best(), tried)

    def _try(self, setting: Setting) -> TriedSetting:
        if setting not in self._tried:
            options = GenerationOptions(**setting._asdict(), sample=False)
            turns, contexts = ([getattr(e, name) for e in self._examples] for name in ("turn", "context"))
            started = time.perf_counter()
            generations = self._generator.generate(turns, options, strict=False, context=contexts)
            speed = len(turns) / (time.perf_counter() - started)
            wanted = list(dict.fromkeys([self._metric, "SER"]))
            (scores,) = score_generations(self._corpus, self._examples, generations, [self._preset], wanted)
            found = {name: scores.all_scores[name].value for name in wanted}
            faults = sum(not generation.slots_ok for generation in generations)
            tried = TriedSetting(setting, found[self._metric], found["SER"] or 0.0, faults, round(speed, 1))
            self._tried[setting] = tried
        return self._tried[setting]

    def _best(self) -> TriedSetting:
        """Return the best of the faithful settings; of equal ones the first that was tried."""
        tried = list(self._tried.values())
        ser, faults = min(each.ser for each in tried), min(each.faults for each in tried)
        most = faults + LEEWAY * len(self._examples)
        faithful = [each for each in tried if each.ser <= ser and each.faults <= most]
        # No setting need have the fewest of both: values come first.
        faithful = faithful or [each for each in tried if each.ser <= ser]
        sign = _sign(self._metric)
        return min(faithful, key=lambda each: (each.score is None, sign * (each.score or 0.0)))


def _examples(corpus: Corpus, acts: int) -> list[Example]:
    """Return examples of the validation split, evenly spread over it."""
    examples = corpus.split(SPLIT) if SPLIT in corpus.splits else []
    if not examples:
        raise CorpusError(f"corpus '{corpus.name}' has no validation split to tune on")
    count = min(acts, len(examples))
    return [examples[place * len(examples) // count] for place in range(count)]


def _sign(metric: str) -> int:
    return 1 if metric in LOWER_IS_BETTER else -1


def _to_json(tried: TriedSetting) -> dict[str, Any]:
    numbers = {"score": tried.score, "SER": tried.ser, "faults": tried.faults, "acts_per_second": tried.speed}
    return {**tried.setting._asdict(), **numbers}
