"""A study as stored in `study.json`: what is asked about which sentences, and who sees what in which order."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from dactnlg._utils.files import written
from dactnlg._utils.reading import parse_json, regular_file, short
from dactnlg.errors import UserError

Design = Literal["likert", "continuous", "pairwise"]
FILE = "study.json"
CHECKS = ("check", "check-other")
"""System names of an attention check's sentences; in the pairwise design the first should win."""
MOST_STEPS = 1_000
MOST_CHOICES = 11
"""Largest scale whose values are shown as choices; on a longer one, raters type a number."""
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
Text = Annotated[str, Field(max_length=20_000)]
Number = Annotated[float, Field(allow_inf_nan=False)]


class StudyError(UserError):
    """A study that cannot be created, read or served."""


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StudyFile(_Record):
    """The definition of a study of any kind, stored as a file in its folder.

    Attributes:
        file_name: the file's name.
        kind: what messages call such a study.
        maker: the command that creates one.
    """

    file_name: ClassVar[str]
    kind: ClassVar[str]
    maker: ClassVar[str]

    def save(self, folder: Path) -> None:
        """Write the file into a folder, which is created if it is missing."""
        folder.mkdir(parents=True, exist_ok=True)
        with written(folder / self.file_name) as file:
            json.dump(self.model_dump(mode="json"), file, ensure_ascii=False, indent=1)
            file.write("\n")

    @classmethod
    def folder(cls, path: Path) -> Path:
        """Return the folder of a study that is given by its file; any other path unchanged."""
        return path.parent if path.name == cls.file_name else path

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read the study in a folder.

        Raises:
            StudyError: there is no such file, or it is not a study; the message names the file and the place in it.
        """
        path = folder / cls.file_name
        if not path.is_file():
            raise StudyError(f"{folder} is no {cls.kind}: there is no {cls.file_name} in it ({cls.maker} makes one)")
        try:
            return cls.model_validate(parse_json(regular_file(path).read_text(encoding="utf-8")))
        except UnicodeDecodeError:
            raise StudyError(f"{path}: it is not text in UTF-8") from None
        except json.JSONDecodeError as error:
            raise StudyError(f"{path}, line {error.lineno}: it is not JSON: {error.msg}") from None
        except ValidationError as error:
            raise StudyError(f"{path}: {mistake(error)}") from None


class Scale(_Record):
    """The values that a rater may give: `low`, `low + step`, and so on to `high`."""

    low: Number
    high: Number
    step: Annotated[Number, Field(gt=0)] = 1.0

    @model_validator(mode="after")
    def _is_a_scale(self) -> Scale:
        if not self.low < self.high:
            raise ValueError(f"a scale rises: its low end, {self.low:g}, is not below its high end, {self.high:g}")
        if (self.high - self.low) / self.step > MOST_STEPS:
            raise ValueError(f"a scale has at most {MOST_STEPS} steps")
        return self

    @property
    def values(self) -> tuple[float, ...]:
        """Every value, the lowest first."""
        steps = math.floor((self.high - self.low) / self.step + 1e-9)
        # Three steps of .1 are .30000000000000004, which no rater would enter.
        return tuple(float(f"{self.low + at * self.step:.12g}") for at in range(steps + 1))

    def has(self, value: float) -> bool:
        """Whether the value is on the scale, up to rounding error."""
        steps = (value - self.low) / self.step
        most = len(self.values) - 1
        return math.isfinite(steps) and 0 <= round(steps) <= most and abs(steps - round(steps)) <= 1e-9


class Criterion(_Record):
    """A quality that is asked about: its name in the ratings, the question, and labels for the scale's ends."""

    name: Name
    question: Text = ""
    low_label: Text = ""
    high_label: Text = ""


class StudySystem(_Record):
    """A system: its name in the ratings, the source of its sentences, and the SHA-256 of those in the study."""

    name: Name
    source: Text = ""
    hash: str = ""


class StudyItem(_Record):
    """An act and the systems' sentences for it.

    Attributes:
        id: its name in the ratings.
        corpus: the corpus of the act.
        act: the act in Cambridge notation; empty for an attention check.
        words: the act in plain words for raters, on several lines.
        sentences: system -> sentence. Equal sentences are shown once, and the rating counts for all (see
            `Study.shared`).
        references: the corpus's sentences for the act, used by metrics.
        check: the value that an attention check asks for; None for an item that is judged.
    """

    id: Name
    corpus: str = ""
    act: Text = ""
    words: Text = ""
    sentences: dict[Name, Text]
    references: tuple[Text, ...] = ()
    check: Number | None = None


class StudyPage(_Record):
    """What a rater sees on one page: an item, and the systems whose sentences are shown, in that order."""

    id: Name
    item: Name
    systems: tuple[Name, ...] = Field(min_length=1)


class StudyRater(_Record):
    """A rater, named `r001` and so on, and the pages in this rater's order."""

    id: Name
    pages: tuple[StudyPage, ...]


class Study(StudyFile):
    """A study in which raters judge sentences.

    Each page asks about every criterion for each of its sentences; in the pairwise design a page has two sentences, and
    the answer under each criterion is the first, the second, or neither.

    Attributes:
        format_version: version of the file format.
        name: the study's name, as raters see it.
        seed: the seed that acts, orders and pages were drawn with.
        design: `likert`, `continuous` or `pairwise`.
        scale: the values; None for pairs.
        criteria: what is asked.
        instructions: what raters read before they begin.
        consent: what they agree to.
        systems: the systems, whose names raters never see.
        items: the acts with their sentences, and the attention checks.
        raters: who sees what.
    """

    file_name, kind, maker = FILE, "study", "dactnlg study create"

    format_version: Literal[1] = 1
    name: Name
    seed: int = Field(ge=0)
    design: Design
    scale: Scale | None = None
    criteria: tuple[Criterion, ...] = Field(min_length=1)
    instructions: Text = ""
    consent: Text = ""
    systems: tuple[StudySystem, ...]
    items: tuple[StudyItem, ...]
    raters: tuple[StudyRater, ...]

    @model_validator(mode="after")
    def _fits_together(self) -> Study:
        if (self.scale is None) != (self.design == "pairwise"):
            raise ValueError("a scale belongs to every design but the pairwise one")
        for what, names in (
            ("criteria", [criterion.name for criterion in self.criteria]),
            ("systems", [system.name for system in self.systems]),
            ("items", [item.id for item in self.items]),
            ("raters", [rater.id for rater in self.raters]),
            ("pages", [page.id for rater in self.raters for page in rater.pages]),
        ):
            if twice := next((name for name, count in Counter(names).items() if count > 1), None):
                raise ValueError(f"two {what} are called {twice!r}")
        known = {system.name for system in self.systems} | set(CHECKS)
        items = {item.id: item for item in self.items}
        for item in self.items:
            if unknown := sorted(item.sentences.keys() - known):
                raise ValueError(f"item {item.id!r} has a sentence of {unknown[0]!r}, which is no system of the study")
            if item.check is not None and self.scale and not self.scale.has(item.check):
                raise ValueError(f"item {item.id!r} asks for {item.check:g}, which is not on the scale")
        for page in (page for rater in self.raters for page in rater.pages):
            if page.item not in items:
                raise ValueError(f"page {page.id!r} shows an item {page.item!r} that the study does not have")
            self._check_page(page, items[page.item])
        return self

    def _check_page(self, page: StudyPage, item: StudyItem) -> None:
        if missing := [name for name in page.systems if name not in item.sentences]:
            raise ValueError(f"page {page.id!r}: item {item.id!r} has no sentence of {missing[0]!r}")
        if len({item.sentences[name] for name in page.systems}) < len(page.systems):
            # Its ratings count for all systems with this sentence, and would count twice.
            raise ValueError(f"page {page.id!r} shows a sentence twice")
        if self.design == "pairwise" and len(page.systems) != 2:
            raise ValueError(f"page {page.id!r} of a pairwise study must show two sentences")

    @property
    def judged(self) -> tuple[StudyItem, ...]:
        """The items without the attention checks."""
        return tuple(item for item in self.items if item.check is None)

    @property
    def offers_choices(self) -> bool:
        """Whether raters choose an answer; on a longer or a continuous scale, they type a number."""
        return self.scale is None or (self.design == "likert" and len(self.scale.values) <= MOST_CHOICES)

    @cached_property
    def item_by_id(self) -> dict[str, StudyItem]:
        """The items by `id`."""
        return {item.id: item for item in self.items}

    @cached_property
    def rater_by_id(self) -> dict[str, StudyRater]:
        """The raters by `id`."""
        return {rater.id: rater for rater in self.raters}

    @property
    def digest(self) -> str:
        """The SHA-256 of what is asked of whom, by which ratings are matched to their study.

        It excludes the name, questions, labels, instructions and consent, so that these can be corrected later.
        """
        names = [criterion.name for criterion in self.criteria]
        asked = self.model_dump_json(include={"seed", "design", "scale", "items", "raters"})
        return hashlib.sha256(f"{json.dumps(names)}{asked}".encode()).hexdigest()

    def shared(self, page: StudyPage, system: str) -> tuple[str, ...]:
        """Return the systems that the rating of a system's sentence on a page counts for, that system first.

        These are all systems with exactly the same sentence for the item, even those that were not chosen for the page:
        raters could not tell them apart.
        """
        sentences = self.item_by_id[page.item].sentences
        return (system, *(name for name in sentences if name != system and sentences[name] == sentences[system]))


def mistake(error: ValidationError) -> str:
    """Return a line about the first error in a study: where it is, what is wrong, and the offending value."""
    first = error.errors()[0]
    place = ".".join(str(part)[:60] for part in first["loc"])
    told = first["msg"].removeprefix("Value error, ")
    more = f" (and {error.error_count() - 1} more mistakes)" if error.error_count() > 1 else ""
    return f"{place}: {told} (got {short(first['input'])}){more}" if place else told + more
