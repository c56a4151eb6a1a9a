"""The statistics of studies, on real ratings and on simulated ones whose truth is known.

    python benchmarks/ratings.py simulate [--studies 1000]    in how many studies do 95% intervals hold the truth?
    python benchmarks/ratings.py novikova                     Novikova et al. 2017: 11 metrics beside human ratings
    python benchmarks/ratings.py e2e                          the E2E challenge: clusters of systems

The folder `ratings` is looked for in DACTNLG_DATA, else in ../shared/data; see its README.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

from simulated_coverage import coverage
from simulated_ratings import Panel, join, panel, simulate
from tqdm import tqdm

from dactnlg.studies.analysis.agreement import exceeding, kappas
from dactnlg.studies.analysis.correlation import Coefficient, MetricCorrelations, correlate
from dactnlg.studies.analysis.filtering import RULES, filter_raters
from dactnlg.studies.analysis.human import split_halves
from dactnlg.studies.analysis.intervals import METHODS, Kind
from dactnlg.studies.analysis.paired import paired

OTHERS = {"novikova": "ratings_novikova", "e2e": "ratings_e2e"}
PANELS = 10


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command that is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in OTHERS:
        commands.add_parser(name, add_help=False)
    simulated = commands.add_parser("simulate")
    simulated.add_argument("--studies", type=int, default=1000)
    simulated.add_argument("--items", type=int, default=20, help="items of each study")
    simulated.add_argument("--kind", action="append", choices=list(METHODS), help="of intervals [default: all]")
    simulated.add_argument("--rule", choices=list(RULES), default="lowest-mean", help="which raters are left out")
    simulated.add_argument("--points", type=Path, help="CSV file for the points of Figure 3")
    options, rest = parser.parse_known_args(arguments)
    if options.command in OTHERS:
        # Each prints its own help and errors.
        import_module(OTHERS[options.command]).main(rest)
        return
    if rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    one_study(options.items, options.rule, options.points)
    many_studies(options.studies, options.items, options.kind or list(METHODS), options.rule)


def one_study(items: int, rule: str, points: Path | None) -> None:
    """Print Tables 3 and 4 of Sharma et al. (2017) for one study with two corpora."""
    people = panel()
    study = join([simulate(people, items, 1, "DSTC2"), simulate(people, items, 2, "Restaurants")])
    kept = filter_raters(study.ratings, 0.1, rule)
    print(f"18 raters, {len(kept.left)} left ({kept.rule}: {RULES[kept.rule]})")
    print("Table 4\nkappa    pairs   share")
    for row in exceeding(kappas(kept.ratings)):
        print(f"> {row.threshold}  {row.pairs:3}/{row.of}  {row.share or 0:6.1%}")
    print("\nTable 3")
    found = correlate(kept.ratings, study.scores)
    truth = people.truth(kept.kept)
    print_correlations(found)
    halves = split_halves(kept.ratings)
    for human in halves.rows:
        cells = [f"{one.mean or 0:6.3f} +- {one.deviation or 0:.3f}" for one in (human.spearman, human.pearson)]
        print(f"{'human':12} {human.corpus or 'all':12} {'   '.join(cells)}   full {human.spearman.full or 0:.3f}")
    print("truth: " + ", ".join(f"{metric} {name} {value:.3f}" for (metric, name), value in truth.items()))
    if points:
        with points.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["corpus", "item", "system", "metric", "people", "value"])
            for part in paired(kept.ratings, study.scores):
                for metric, column in part.metrics.items() if part.corpus else ():
                    writer.writerows(
                        [*one, metric, *cells] for one, *cells in zip(part.sentences, part.people, column, strict=True)
                    )


def many_studies(studies: int, items: int, kinds: Sequence[Kind], rule: str) -> None:
    """Print in how many studies the intervals hold the truth."""
    start = time.monotonic()
    print(f"\n{studies} studies of {items} items, {PANELS} panels of 18 raters; the truth: infinitely many items, the "
          "same raters and systems")  # fmt: skip
    found = coverage(tqdm(list(_panels(studies)), disable=None), items=items, kinds=tuple(kinds), rule=rule)
    for row in found.rows:
        print(f"{row.kind:11} {row.metric:10} {row.coefficient:9} {row.held:5}/{row.studies}  {row.share or 0:6.1%}")
    for kind in kinds:
        print(f"{kind:11} {found.share(kind) or 0:6.1%}   {METHODS[kind]}")
    print(f"{time.monotonic() - start:.0f} s")


def print_correlations(found: MetricCorrelations) -> None:
    """Print a row for each metric, criterion and corpus."""
    print(f"{'metric':12} {'corpus':12} {'criterion':16} Spearman, Pearson, Kendall with 95% intervals; sentences")
    for row in found.rows:
        cells = "  ".join(map(_cell, (row.spearman, row.pearson, row.kendall)))
        print(f"{row.metric:12} {row.corpus or 'all':12} {row.criterion:16} {cells}  {row.sentences}")
    print(found.method)


def _cell(one: Coefficient) -> str:
    if one.value is None:
        return "undefined"
    ends = "" if one.interval is None else f"[{one.interval[0]:6.3f}, {one.interval[1]:6.3f}]"
    return f"{one.value:6.3f} {ends:16}"


def _panels(studies: int) -> Iterator[tuple[Panel, int]]:
    people = [panel(seed=seed) for seed in range(1, PANELS + 1)]
    for study in range(studies):
        yield people[study % PANELS], study


if __name__ == "__main__":
    main()
