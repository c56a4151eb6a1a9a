"""A study's Human Evaluation Datasheet: the questions of HEDS 2.0 (Shimorina and Belz 2022) as Markdown, with the
answers that can be derived from the study.

The numbers are those of HEDS 2.0; the short titles are our own, so keep the original datasheet at hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dactnlg import __version__
from dactnlg._utils.markdown import escape, fenced
from dactnlg.studies.ratings import Ratings
from dactnlg.studies.sources import CORPUS_ITSELF
from dactnlg.studies.study import Criterion, Study

VERSION = "2.0"
OPEN = "TO BE FILLED IN"
_PROPERTIES = {
    "informativeness": ("correctness", "content of output", "relative to the input"),
    "adequacy": ("correctness", "content of output", "relative to the input"),
    "naturalness": ("goodness", "both form and content of output", "in its own right"),
    "fluency": ("goodness", "form of output", "in its own right"),
    "quality": ("goodness", "both form and content of output", "relative to the input"),
    "appropriateness": ("goodness", "both form and content of output", "relative to the input"),
}
"""Answers to questions 4.1.1 to 4.1.3 for criteria whose question is ours; only their author can answer for others."""


class Entry(NamedTuple):
    """A question: its number, a short title, what is known (lines of Markdown), and what is left to fill in."""

    number: str
    title: str
    known: tuple[str, ...] = ()
    left: str = ""


def datasheet(study: Study, ratings: Ratings | None = None) -> str:
    """Return the datasheet as Markdown; what cannot be derived from the study is marked TO BE FILLED IN.

    Args:
        study: the study.
        ratings: its ratings, used to count the raters; None if there are none yet.
    """
    sections = [
        ("1. Paper and resources", _paper()),
        ("2. Systems", _systems(study)),
        ("3.1 Sample of outputs", _sample(study)),
        ("3.2 Evaluators", _evaluators(study, ratings)),
        ("3.3 Experimental design", _design(study)),
        *(
            (f"4. Quality criterion {number}: {escape(criterion.name)}", _criterion(study, criterion))
            for number, criterion in enumerate(study.criteria, 1)
        ),
        ("5. Ethics", _ethics()),
    ]
    lines = [
        f"# Human Evaluation Datasheet: {escape(study.name)}",
        "",
        f"Questions by their numbers in HEDS {VERSION} (Shimorina and Belz 2022), in short titles; answered by dactnlg "
        f"{__version__} as far as study.json goes. Search for `{OPEN}` to find what is left.",
    ]
    for title, answers in sections:
        lines += ["", f"## {title}"]
        for answer in answers:
            lines += ["", f"### {answer.number} {answer.title}", "", *answer.known]
            if answer.left or not answer.known:
                lines += [""] * bool(answer.known) + [f"**{OPEN}**{f': {answer.left}' if answer.left else ''}"]
    return "\n".join(lines) + "\n"


def _paper() -> Iterator[Entry]:
    yield Entry("1.1", "Paper or preregistration", left="a link, and which experiment of it this is")
    yield Entry("1.2", "Resources", left="where study.json, the ratings and the systems can be had")
    yield Entry("1.3", "Who fills this in, and whom to ask")


def _systems(study: Study) -> Iterator[Entry]:
    # A system with several sources, for several corpora, names them all.
    human = any(CORPUS_ITSELF in system.source.split(", ") for system in study.systems)
    yield Entry("2.1", "Type of input", ("Structured data: dialogue acts.",))
    yield Entry(
        "2.2",
        "Type of output",
        ("Text: one or more sentences, a dialogue turn.", *["Also sentences that people wrote."] * human),
    )
    rows = [f"- {escape(system.name)}: {escape(system.source)}" for system in study.systems]
    yield Entry("2.3", "Task", ("Dialogue turn generation (data-to-text). The systems:", "", *rows))
    yield Entry("2.4", "Languages of the input", ("Not applicable: acts; their values are in the output's language.",))
    yield Entry("2.5", "Languages of the output", left="the language of the corpus")


def _sample(study: Study) -> Iterator[Entry]:
    items = study.judged
    counts = [sum(system.name in item.sentences for item in items) for system in study.systems]
    said = f"{counts[0]}" if len(set(counts)) == 1 else ", ".join(map(str, counts)) + " (by system, in their order)"
    shared = sum(len(item.sentences) - len(set(item.sentences.values())) for item in items)
    equal = (
        f"{shared} sentences equal another system's for the same act; such a sentence is shown once." if shared else ""
    )
    yield Entry("3.1.1", "Outputs of each system", (f"{said}.", *[equal] * bool(equal)))
    corpora = ", ".join(escape(name) for name in dict.fromkeys(item.corpus for item in items) if name)
    yield Entry(
        "3.1.2",
        "How outputs were selected",
        (
            "By an automatic random process with stratified sampling: distinct acts, in the proportions of act type "
            f"and number of slots (largest remainder), seed {study.seed}; corpora: {corpora or 'not named'}.",
        ),
    )
    yield Entry("3.1.3", "Statistical power", left="what `dactnlg study power` gives for a pilot's ratings")


def _evaluators(study: Study, ratings: Ratings | None) -> Iterator[Entry]:
    told = f"{len(ratings.names('rater'))} have rated; " if ratings is not None and ratings.rows else ""
    yield Entry("3.2.1", "Number of evaluators", (f"{told}{len(study.raters)} were planned.",))
    yield Entry("3.2.2", "Kind of evaluators", left="experts or not, paid or not, known to the authors or not, authors")
    yield Entry("3.2.3", "Recruitment")
    yield Entry(
        "3.2.4",
        "Training and practice",
        ("No practice. What they read first:", "", *_quoted(study.instructions)),
        left="anything beside these instructions",
    )
    yield Entry("3.2.5", "Other characteristics", left="such as native language; the study itself collects none")


def _design(study: Study) -> Iterator[Entry]:
    checks = len(study.items) - len(study.judged)
    yield Entry("3.3.1", "Preregistration", left="yes, with registry and link, or no")
    yield Entry(
        "3.3.2", "How responses were collected", ("On web pages of `dactnlg study serve`, a link for each rater.",)
    )
    if checks:
        known = f"Automatic checks: {checks} sentences among the others that say which answer to give."
        yield Entry("3.3.3", "Quality assurance", (known,), left="what was done with raters who failed them")
    else:
        yield Entry("3.3.3", "Quality assurance", ("No attention checks.",), left="other methods, or none")
    places = sorted({len(page.systems) for rater in study.raters for page in rater.pages})
    shown = f"{places[0]}" if len(places) == 1 else f"{places[0]} to {places[-1]}" if places else "no"
    yield Entry(
        "3.3.4",
        "What evaluators see",
        (
            f"The act in plain words and {shown} sentence(s) on a page, without names of systems; systems take turns "
            "in all positions, and every rater has an order of acts of their own.",
        ),
        left="screenshots",
    )
    yield Entry("3.3.5", "Freedom of time", ("Neither timed nor in one sitting: the link goes on where one left.",))
    yield Entry("3.3.6", "Questions and feedback", left="whether and how evaluators could ask or comment")
    yield Entry("3.3.7", "Conditions", left="at a place of their own choosing, in a laboratory, or another")
    yield Entry("3.3.8", "Range of conditions", left="not applicable if at a place of their own choosing")


def _criterion(study: Study, criterion: Criterion) -> Iterator[Entry]:
    scale = study.scale
    kinds = _PROPERTIES.get(criterion.name.lower())
    for at, title in enumerate(("Type of quality", "Aspect of the output", "Frame of reference")):
        known = (f"{kinds[at].capitalize()}.",) if kinds else ()
        yield Entry(f"4.1.{at + 1}", title, known)
    several = any(len(page.systems) > 1 for rater in study.raters for page in rater.pages)
    yield Entry("4.2.1", "Objective or subjective", ("Subjective.",))
    yield Entry("4.2.2", "Absolute or relative", ("Relative." if several else "Absolute.",))
    yield Entry("4.2.3", "Intrinsic or extrinsic", ("Intrinsic.",))
    yield Entry("4.3.1", "Name shown to evaluators", (f"{escape(criterion.name)}.",))
    yield Entry("4.3.2", "Definition given", ("None beside the question of 4.3.7.",))
    size = len(scale.values) if scale else 3
    yield Entry("4.3.3", "Size of the rating instrument", (f"{size}.",))
    values = "first better, second better, neither"
    if scale:
        values = f"{scale.low:g} to {scale.high:g} in steps of {scale.step:g}"
        if criterion.low_label or criterion.high_label:
            values += f" ({escape(criterion.low_label)} ... {escape(criterion.high_label)})"
    yield Entry("4.3.4", "Its values", (f"{values}.",))
    form = "Multiple-choice options." if study.offers_choices else "Another: a number to enter."
    yield Entry("4.3.5", "How it is presented", (form,))
    yield Entry("4.3.6", "Task without a rating instrument", ("Not applicable.",))
    question = criterion.question or criterion.name
    yield Entry("4.3.7", "Verbatim question", tuple(_quoted(question)))
    elicited = "Relative quality estimation." if scale is None else "Direct quality estimation."
    yield Entry("4.3.8", "Form of response elicitation", (elicited,))
    yield Entry("4.3.9", "Aggregation of responses", left="as the report of `dactnlg study analyse` names it")
    yield Entry("4.3.10", "Effect size and significance", left="the methods that the report names")
    yield Entry("4.3.11", "Agreement between and within raters", left="kappa, alpha, ICC of the report")


def _ethics() -> Iterator[Entry]:
    yield Entry("5.1", "Approval by an ethics committee", left="which one, or no")
    yield Entry(
        "5.2",
        "Personal data",
        ("The server stores neither names nor addresses of raters, only answers and the hash of each link's token.",),
        left="personal data in the sentences themselves, or collected elsewhere",
    )
    yield Entry("5.3", "Special categories of data", left="in sentences or answers, or none")
    yield Entry("5.4", "Impact assessments", left="which, or none")


def _quoted(text: str) -> list[str]:
    return fenced(text.strip()) if text.strip() else ["(nothing)"]
