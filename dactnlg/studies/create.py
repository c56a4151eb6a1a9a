"""Creation of a study: acts of a split, each system's sentences for them, and pages for raters."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from dactnlg._utils.terminal import printable
from dactnlg.data.card import SplitName
from dactnlg.data.corpus import Corpus, load_corpus
from dactnlg.studies.design import PagePlan, assign
from dactnlg.studies.sampling import distinct_acts, pick
from dactnlg.studies.sources import SystemSource, Wanted, sentences
from dactnlg.studies.study import (
    CHECKS,
    Criterion,
    Design,
    Scale,
    Study,
    StudyError,
    StudyItem,
    StudyRater,
    StudySystem,
    mistake,
)
from dactnlg.studies.words import in_words

_WORD = re.compile(r"[a-z]+")
QUESTIONS = {
    "informativeness": ("Does it say everything that it should?", "nothing of it", "all of it"),
    "naturalness": ("Could a native speaker have said it?", "certainly not", "certainly"),
    "quality": ("How good is it, all in all?", "very bad", "very good"),
    "appropriateness": ("How appropriate is it for what should be said?", "not at all", "highly"),
    "fluency": ("Is it fluent and correct?", "not at all", "perfectly"),
    "adequacy": ("Is everything in it right, and nothing added?", "all wrong", "all right"),
    "relatedness": ("Does it keep to what it is about?", "not at all", "wholly"),
    "empathy": ("Does it respond to how the other one feels?", "not at all", "very much"),
}
"""Known criteria: the question, and labels for both ends of the scale; for any other, its name is the question."""
INSTRUCTIONS = """On each page you see what an assistant was meant to say, and one or more sentences that it might use.
Judge every sentence by itself, by what it was meant to say. Some sentences are good, some are bad, and several may be
equally good.
There is no right answer but yours. You can stop at any time and go on later with the same link."""
PAIRS = """On each page you see what an assistant was meant to say, and two sentences that it might use.
For each question choose the better sentence, or say that they are equally good.
There is no right answer but yours. You can stop at any time and go on later with the same link."""
CONSENT = """I take part of my own free will and may stop at any time.
My answers are kept without my name or address, and may be published."""


@dataclass(frozen=True, kw_only=True)
class StudyOptions:
    """What is asked, and how it is divided among raters.

    Attributes:
        name: the study's name, as raters see it.
        corpora: corpora that acts are taken from.
        acts: number of acts from each corpus.
        split: split of the corpora.
        design: `likert`, `continuous` or `pairwise`.
        scale: the values that may be given; None for the design's default.
        criteria: what is asked about each sentence.
        checks: number of attention checks.
        instructions, consent: texts for raters; None for the package's own.
        plan: how the pages are divided among raters; its seed determines all random choices.
        data_dir: folder of corpora.
    """

    name: str
    corpora: Sequence[str]
    acts: int
    plan: PagePlan
    design: Design = "likert"
    split: SplitName = "test"
    scale: Scale | None = None
    criteria: Sequence[str] = ("informativeness", "naturalness", "quality")
    checks: int = 0
    instructions: str | None = None
    consent: str | None = None
    data_dir: Path | None = None


def parse_scale(text: str) -> Scale:
    """Parse `LOW-HIGH` or `LOW-HIGH:STEP`, such as `1-5` or `0-100:0.5`.

    Raises:
        StudyError: it is not a scale.
    """
    number = r"(-?\d+(?:\.\d+)?)"
    found = re.fullmatch(rf"{number}-{number}(?::{number})?", text.strip())
    try:
        if not found:
            raise ValueError("write LOW-HIGH, such as 1-5, or LOW-HIGH:STEP")
        scale = Scale(low=float(found[1]), high=float(found[2]), step=float(found[3] or 1))
        if not scale.has(scale.high):
            raise ValueError(f"no number of steps of {scale.step:g} leads from {scale.low:g} to {scale.high:g}")
        return scale
    except ValueError as error:
        reason = mistake(error) if isinstance(error, ValidationError) else error
        raise StudyError(f"--scale {text[:40]!r}: {reason}") from None


def create(options: StudyOptions, sources: Sequence[SystemSource]) -> Study:
    """Return a new study; the same options and sources give the same one.

    Raises:
        StudyError: a source has no sentence for an act, too many acts or pages are asked for, or there is nothing to
            compare.
        DactnlgError: a corpus or a run cannot be read.
    """
    names = list(dict.fromkeys(source.name for source in sources))
    if len(names) < 2 and options.design == "pairwise":
        raise StudyError("a pairwise study compares at least two systems: name them with --systems")
    if not all(name.strip() for name in options.criteria):
        raise StudyError("--criteria: the name of a quality is empty; separate names with commas")
    if not names:
        raise StudyError("name the systems with --systems: gold, run folders, files of sentences")
    items = [item for name in options.corpora for item in _items(load_corpus(name, options.data_dir), options, sources)]
    distinct = {item.id: _distinct(item.sentences) for item in items}
    scale = options.scale or _SCALES[options.design]
    checks = list(_checks(options, scale))
    shown = {check.id: tuple(check.sentences) for check in checks}
    raters = assign(distinct, shown, options.plan)
    try:
        return _study(options, scale, sources, items, checks, raters)
    except ValidationError as error:
        raise StudyError(mistake(error)) from None


_SCALES: Mapping[Design, Scale | None] = {
    "likert": Scale(low=1, high=5),
    "continuous": Scale(low=0, high=100),
    "pairwise": None,
}


def _items(corpus: Corpus, options: StudyOptions, sources: Sequence[SystemSource]) -> Iterator[StudyItem]:
    examples = corpus.split(options.split)
    acts = distinct_acts(examples)
    picked = pick(acts, options.acts, options.plan.seed)
    wanted = Wanted(corpus.name, options.split, picked, len(examples), several=len(options.corpora) > 1)
    said = sentences(wanted, sources, options.plan.seed)
    vocabulary = {word for act in acts for text in act.references for word in _WORD.findall(text.lower())}
    for place, act in enumerate(picked):
        yield StudyItem(
            id=f"{corpus.name}-{place + 1:03}",
            corpus=corpus.name,
            act=str(act.turn),
            words=in_words(act.turn, vocabulary),
            sentences={name: printable(texts[place]) for name, texts in said.items()},
            references=act.references,
        )


def _distinct(said: Mapping[str, str]) -> list[str]:
    """Return the first system with each distinct sentence."""
    first: dict[str, str] = {}
    for name, sentence in said.items():
        first.setdefault(sentence, name)
    return list(first.values())


def _checks(options: StudyOptions, scale: Scale | None) -> Iterator[StudyItem]:
    """Yield attention checks: sentences that say which answer to give."""
    generator = np.random.default_rng(options.plan.seed)
    for number in range(1, options.checks + 1):
        name, words = f"check-{number}", "Do what the sentence below asks for."
        if scale is None:
            said = (
                "This is a check: choose this sentence for every question.",
                "This is a check: choose the other sentence.",
            )
            yield StudyItem(id=name, words=words, sentences=dict(zip(CHECKS, said, strict=True)), check=1)
        else:
            value = float(generator.choice(scale.values))
            text = f"This is a check: answer every question with {value:.12g}."
            yield StudyItem(id=name, words=words, sentences={CHECKS[0]: text}, check=value)


def _study(
    options: StudyOptions,
    scale: Scale | None,
    sources: Sequence[SystemSource],
    items: Sequence[StudyItem],
    checks: Sequence[StudyItem],
    raters: Sequence[StudyRater],
) -> Study:
    where: dict[str, list[str]] = defaultdict(list)
    for source in sources:
        where[source.name].append(source.origin)
    systems = [
        StudySystem(name=name, source=", ".join(dict.fromkeys(origins)), hash=_digest(name, items))
        for name, origins in where.items()
    ]
    criteria = []
    for name in options.criteria:
        question, low, high = QUESTIONS.get(name.lower(), (f"{name.capitalize()}?", "lowest", "highest"))
        criteria.append(Criterion(name=name, question=question, low_label=low, high_label=high))
    instructions = PAIRS if scale is None else INSTRUCTIONS
    return Study(
        name=options.name,
        seed=options.plan.seed,
        design=options.design,
        scale=scale,
        criteria=tuple(criteria),
        instructions=instructions if options.instructions is None else options.instructions,
        consent=CONSENT if options.consent is None else options.consent,
        systems=tuple(systems),
        items=(*items, *checks),
        raters=tuple(raters),
    )


def _digest(name: str, items: Sequence[StudyItem]) -> str:
    lines = [f"{item.act}\t{item.sentences[name]}\n" for item in items if name in item.sentences]
    return hashlib.sha256("".join(lines).encode("utf-8")).hexdigest()
