"""Tuning: choosing a run's decoding settings on validation data, by a score of generated sentences.

The model is not changed. The keys of the decoding section are optimised one at a time, the others staying fixed, until
none changes any more. A setting is eligible only if it is as faithful as any that was tried.
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
from dactnlg.errors import CorpusError, MetricError, RunError, UserError
from dactnlg.evaluation.evaluate import score_generations
from dactnlg.evaluation.scores import LOWER_IS_BETTER, shown
from dactnlg.evaluation.scoring import check_metrics
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.metrics.presets import leading_preset
from dactnlg.metrics.registry import ranking_score
from dactnlg.runs.config import DecodingConfig
from dactnlg.runs.retuning import write_decoding
from dactnlg.runs.run import Run
from dactnlg.text.example import Example

SPLIT = "valid"
"""Never the test split, whose scores would then no longer be unbiased."""
TRIED: dict[str, tuple[Any, ...]] = {
    "length_normalization": (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0),
    "constraint": ("rerank", "hard"),
    "beam_width": (1, 5, 10, 20),
    "slot_error_weight": (1.0, 3.0, 10.0, 100.0),
}
"""The keys that are tuned, in this order, and the values to try in addition to the run's own."""
LEEWAY = 0.001
"""An eligible setting has at most this share more sentences with a slot fault than the setting with the fewest."""
ACTS = 1000
"""The most acts that are generated with each setting."""
ROUNDS = 3
"""The most times that each key is tuned."""


class Setting(NamedTuple):
    """Values of the keys in `TRIED`, in their order."""

    length_normalization: float
    constraint: str
    beam_width: int
    slot_error_weight: float


@dataclass(frozen=True, slots=True)
class TriedSetting:
    """The results of a setting.

    Attributes:
        setting: the setting.
        score: by the metric; None if undefined.
        ser: slot error rate of the values.
        faults: number of sentences with a slot fault.
        speed: acts per second; searches already run for earlier settings are reused, so the first settings look slower.
    """

    setting: Setting
    score: float | None
    ser: float
    faults: int
    speed: float


@dataclass(frozen=True, slots=True)
class TuningResult:
    """The settings that were tried, and the one that was chosen.

    Attributes:
        preset, metric: the protocol and the score that decided.
        acts: how many acts were generated with each setting.
        before: the run's own setting.
        chosen: the best eligible setting.
        tried: all settings, in the order tried.
    """

    preset: str
    metric: str
    acts: int
    before: TriedSetting
    chosen: TriedSetting
    tried: list[TriedSetting]

    def facts(self) -> dict[str, Any]:
        """Return the manifest's record of the tuning."""
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
        """Return the settings as a text table, by score; `>` marks the chosen one, `*` the run's own."""
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
    """Find the best decoding settings of a run, and write them to its configuration.

    Args:
        run: the run, or its folder.
        preset: the evaluation protocol; by default that of the corpus and of the run's training targets.
        metric: the score that decides.
        acts: the most validation acts to generate with each setting, evenly spread over the split.
        data_dir: where to look for corpus files first.
        backend: of the model; see `Generator.load`.
        write: whether to write the chosen settings to the run's configuration.

    Raises:
        RunError: the run is not usable, or its training has not ended.
        CorpusError: the corpus is missing, or has no validation split.
        UnknownNameError: there is no such preset or metric.
        MetricError: the metric stands for several scores, ranks nothing, or is undefined, or its data are missing.
        UserError: the run uses no search: it is the random baseline, or configured to sample.
    """
    folder = run if isinstance(run, Run) else Run(run)
    config = folder.check()
    if not folder.manifest_path.exists():
        raise RunError(f"{folder.path} cannot be tuned: its training has not ended")
    metric = ranking_score(metric)
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
        """Tune, starting from the settings of a decoding section."""
        setting = Setting(*(getattr(defaults, name) for name in Setting._fields))
        with tqdm(desc="tuning", unit=" settings", delay=2, leave=False, disable=None) as bar:
            before = self._try(setting)
            if before.score is None:
                raise MetricError(f"{self._metric} is undefined here, so no setting is better than another")
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
        """Return the best of the faithful settings; of equally good ones the first tried."""
        tried = list(self._tried.values())
        ser, faults = min(each.ser for each in tried), min(each.faults for each in tried)
        most = faults + LEEWAY * len(self._examples)
        faithful = [each for each in tried if each.ser <= ser and each.faults <= most]
        # Possibly no setting is best in both; then only the error rate of values counts.
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
