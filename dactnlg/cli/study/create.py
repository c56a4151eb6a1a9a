"""`dactnlg study create`: acts, sentences and pages for raters."""

from __future__ import annotations

from pathlib import Path

import click

from dactnlg.cli import options, streams
from dactnlg.cli.options import Split
from dactnlg.errors import UserError


@click.command()
@click.option(
    "--corpus",
    "corpora",
    multiple=True,
    required=True,
    metavar="NAME",
    help="A corpus to take acts from; may be repeated.",
)
@click.option(
    "--systems",
    "--system",
    "systems",
    multiple=True,
    required=True,
    metavar="SYSTEM",
    help="gold (the corpus's own sentences), a run folder, a file of sentences, or NAME= followed by one of these; "
    "several may be given in a row.",
)
@click.argument("more", nargs=-1, metavar="[SYSTEM]...", help="Further systems.")
@click.option("--acts", type=click.IntRange(min=1), default=20, metavar="N", help="Number of acts from each corpus.")
@click.option("--split", type=options.SPLIT, default="test", help="The split to take acts from.")
@click.option(
    "--design",
    type=click.Choice(["likert", "continuous", "pairwise"]),
    default="likert",
    help="A value for each sentence, on a scale of few or of many values; or the better of two sentences, or neither.",
)
@click.option("--scale", metavar="LOW-HIGH", help="The scale's values. [default: 1-5; 0-100 for continuous]")
@click.option(
    "--criteria",
    default="informativeness,naturalness,quality",
    metavar="NAME,...",
    help="What is asked about every sentence.",
)
@click.option("--raters", type=click.IntRange(1, 10_000), default=18, metavar="N", help="Number of raters.")
@click.option(
    "--acts-per-rater", type=click.IntRange(min=1), metavar="N", help="Acts that each rater sees. [default: all]"
)
@click.option(
    "--systems-per-page",
    type=click.IntRange(min=1),
    metavar="N",
    help="Sentences on a page. [default: all; 2 if pairwise]",
)
@click.option(
    "--pages-per-act",
    type=click.IntRange(min=1),
    metavar="N",
    help="Pages that each rater sees for an act. [default: 1; all pairs if pairwise]",
)
@click.option("--checks", type=click.IntRange(0, 50), default=0, metavar="N", help="Attention checks for each rater.")
@click.option("--name", metavar="TEXT", help="The study's name, as shown to raters. [default: the corpora's names]")
@click.option(
    "--instructions", type=options.PATH, metavar="FILE", help="The text that raters read first, instead of ours."
)
@click.option("--consent", type=options.PATH, metavar="FILE", help="The text that raters consent to, instead of ours.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, metavar="N", help="Seed that decides acts, pages and orders."
)
@click.option(
    "--output", type=options.PLACE, required=True, metavar="STUDY", help="The study's folder; it must be new."
)
@options.data_dir
def create(
    *,
    corpora: tuple[str, ...],
    systems: tuple[str, ...],
    more: tuple[str, ...],
    acts: int,
    split: Split,
    design: str,
    scale: str | None,
    criteria: str,
    raters: int,
    acts_per_rater: int | None,
    systems_per_page: int | None,
    pages_per_act: int | None,
    checks: int,
    name: str | None,
    instructions: Path | None,
    consent: Path | None,
    seed: int,
    output: Path,
    data_dir: Path | None,
) -> None:
    """Create a study: choose acts, let every system say them, and decide who sees what in which order.

    Acts are chosen in the split's proportions of act types and numbers of slots. Each rater sees the sentences in an
    individual order, without the names of systems; acts are seen equally often, to within one, and so are the sentences
    of one act. Equal sentences are shown once, and their rating counts for every system that produced them (for pairs,
    for every such pair of systems: these copies are one judgement). One seed decides everything: the same command makes
    the same study.

    With several corpora, name a system once for each: --systems lstm=runs/dstc2-lstm lstm=runs/restaurants-lstm.

    \b
    dactnlg study create --corpus trails --acts 20 --systems gold runs/trails-sclstm --raters 18 --output study
    dactnlg study create --corpus trails --systems old=old.txt new=runs/trails-sclstm --design pairwise
      --criteria quality,fluency --output pairs
    dactnlg study create --corpus trails --systems gold runs/trails-lstm runs/trails-sclstm --raters 60
      --acts-per-rater 10 --systems-per-page 2 --checks 2 --output blocks
    """
    from dactnlg._utils.reading import read_text
    from dactnlg.studies.create import StudyOptions, parse_scale
    from dactnlg.studies.create import create as make
    from dactnlg.studies.design import PagePlan
    from dactnlg.studies.sources import parse_source
    from dactnlg.studies.study import FILE

    if (output / FILE).exists():
        raise UserError(f"{output} holds a study already, perhaps with ratings; name another folder with --output")
    if design == "pairwise" and (scale or systems_per_page):
        raise UserError(
            "a pairwise study has two sentences on a page and no scale: leave out --scale, --systems-per-page"
        )
    plan = PagePlan(
        raters=raters,
        acts_per_rater=acts_per_rater,
        systems_per_page=systems_per_page,
        pairwise=design == "pairwise",
        pages_per_act=pages_per_act,
        seed=seed,
    )
    wanted = StudyOptions(
        name=name or ", ".join(corpora),
        corpora=list(dict.fromkeys(corpora)),
        acts=acts,
        plan=plan,
        design=design,  # type: ignore[arg-type]
        split=split,
        scale=parse_scale(scale) if scale else None,
        criteria=[part.strip() for part in criteria.split(",")],
        checks=checks,
        instructions=read_text(instructions) if instructions else None,
        consent=read_text(consent) if consent else None,
        data_dir=data_dir,
    )
    found = make(wanted, [parse_source(text) for text in (*systems, *more)])
    found.save(output)
    pages = [len(rater.pages) for rater in found.raters]
    shared = sum(len(item.sentences) - len(set(item.sentences.values())) for item in found.items)
    fate = "and are not compared with it" if design == "pairwise" else "whose rating they share"
    streams.tell(
        f"{output}: {len(found.items) - checks} acts, {len(found.systems)} systems, {raters} raters with {min(pages)}"
        f"{f' to {max(pages)}' if max(pages) > min(pages) else ''} pages each"
        f"{f'; {shared} sentences equal another one, {fate}' if shared else ''}"
    )
