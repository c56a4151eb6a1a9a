"""The human ratings of the E2E challenge: clusters of the 21 systems, beside a mixed-effects model of the same ratings.

    python benchmarks/ratings_e2e.py            about a minute
    python benchmarks/ratings_e2e.py --runs N   N tournaments for each criterion instead of 1000

The ratings are looked for in DACTNLG_DATA, else in ../shared/data. Of the published clusters (Dušek, Novikova and
Rieser 2020, section 5.2) it is known that Slug is first in quality, and Sheffield's second system in naturalness.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from common import DATA
from scipy.stats import kendalltau

from dactnlg.studies.analysis.comparisons import compare_systems
from dactnlg.studies.analysis.mixed import MixedModel, mixed_model
from dactnlg.studies.analysis.normalization import normalize, scale_notes
from dactnlg.studies.analysis.ranking import Ranking, rank_systems
from dactnlg.studies.analysis.systems import HeadToHead, head_to_head
from dactnlg.studies.ratings import Ratings

FIRST = {"quality": "slug", "naturalness": "sheff2"}


def clusters(found: Ranking, model: MixedModel) -> None:
    """Print a ranking, and each system's place in the mixed-effects model."""
    places = {row.system: place for place, row in enumerate(model.effects, 1)}
    print("| cluster | system | TrueSkill | ranks | comparisons | place in the mixed model |")
    print("|---|---|---|---|---|---|")
    for row in found.rows:
        ranks = f"{row.best}-{row.worst}"
        place = places[row.system]
        print(f"| {row.cluster} | {row.system} | {row.skill:+.3f} | {ranks} | {row.comparisons} | {place} |")
    orders = [[row.system for row in rows] for rows in (found.rows, model.effects)]
    tau = kendalltau(range(len(orders[0])), [orders[1].index(name) for name in orders[0]]).statistic
    print(f"\nMethod: {found.method}.")
    print(f"Comparisons: {found.comparisons:,}, of which ties: {found.ties / found.comparisons:.1%}.")
    print(f"Kendall's tau with the order of the mixed model of ranks: {tau:.2f}.")


def published(ratings: Ratings, found: Ranking) -> None:
    """Print whether the published winner is first here and, if others share its cluster, how it fared against them."""
    wanted = FIRST[found.criterion]
    first = found.clusters[0]
    if first == (wanted,):
        print(f"Published first: {wanted}. Equal: it is alone in the first cluster.")
        return
    print(f"Published first: {wanted}. Here the first cluster is {', '.join(first)}: {wanted} is not alone in it.")
    part = ratings.where(criterion=found.criterion)
    table: list[HeadToHead] = [row for row in head_to_head(part, wanted).rows if row.first in first]
    for row in table:
        counts = f"{row.win.count} won, {row.loss.count} lost, {row.tie.count} tied"
        print(f"{row.first} against {wanted} on one page: {counts}.")
        own = part.where(system=row.first)
        pages = {line["page"] for line in own.rows}
        shown = compare_systems(Ratings([line for line in part.rows if line["page"] in pages]))
        others = len(shown.systems) - 1
        print(
            f"{row.first} stands on {len(pages)} pages of {len(own.names('item'))} acts, which show {others} other "
            f"systems; {wanted} on {len({line['page'] for line in part.where(system=wanted).rows})}."
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the clusters of each criterion and the mixed models."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000, help="tournaments for each criterion")
    runs = parser.parse_args(arguments).runs
    ratings = Ratings.read(DATA / "ratings" / "e2e2017.csv")
    raters = len(ratings.names("rater"))
    print(f"{len(ratings.rows):,} ratings of {raters} raters, {len(ratings.names('system'))} systems\n")
    for note in scale_notes(ratings):
        print(f"Warning: {note}.")
    ranks = normalize(ratings, "rank")
    print(f"Mixed models are of ranks. {' '.join(ranks.notes)}")
    for criterion in ratings.names("criterion"):
        began = time.perf_counter()
        found = rank_systems(ratings, criterion, runs)
        ranked = time.perf_counter()
        model = mixed_model(ranks.ratings, criterion)
        fitted = time.perf_counter()
        print(f"\n## {criterion}\n")
        clusters(found, model)
        published(ratings, found)
        different = sum(row.p_holm < 0.05 for row in model.contrasts)
        # By ranks all raters have the same mean: they have no variance to print.
        print(
            f"Mixed model of ranks: variance of acts {model.item_variance:.4f}, residual "
            f"{model.residual_variance:.4f}; {different} of {len(model.contrasts)} pairs differ (Holm, .05)."
        )
        print(f"TrueSkill {ranked - began:.1f} s, mixed model {fitted - ranked:.1f} s.")


if __name__ == "__main__":
    main()
