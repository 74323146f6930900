"""What it takes to find 90, 95 and 99 % of all matches, by several ways of looking for them.

Share of all pairs that are evaluated until the true recall is reached; pairs that are drawn blindly
for a statement are not counted, see stated.py. The guide alone in global order, and the best m of
each item; ANNCUR-like anchors and the matrix of `approximate`, whose predictions are evaluated from
the top; `find_pairs`. Others get the best of their settings in hindsight. Lines are kept in a file,
and a run that was stopped goes on after the last one: remove the file to begin anew. Writes
docs/tables/finding.md. Takes about an hour on one core.

    python -m benchmarks.matching.finding [--quick] [--only CASE …] [--lines FILE]
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from benchmarks.shared.case_lines import SEEDS, lines_of_cases, sizes
from benchmarks.shared.matching_cases import Case
from benchmarks.shared.matching_orders import (
    RECALLS,
    Pairs,
    Shares,
    anchors,
    guides_of,
    matrix,
    places_of_each,
)
from benchmarks.shared.matching_runs import kept_run, watched
from benchmarks.shared.tables import publish, table

#: Anchors, and shares of all pairs, of which the best counts.
ANCHORS = (10, 30, 100, 300)
BUDGETS = (0.01, 0.03, 0.1, 0.2)
#: Of fewer items the smallest budget buys next to nothing; of more the largest has always lost.
SMALL, LARGE = 1000, 3000
HEADINGS = (
    "case (matches)",
    "guide, global order",
    "guide, top m of each",
    "anchors",
    "`approximate`",
    "`find_pairs`",
    "ratio to the best of the others",
)


def best(tried: list[list[Shares]]) -> np.ndarray:
    """The setting that is best on average at the middle recall, its mean over seeds."""
    means = [np.mean(seeds, axis=0) for seeds in tried]
    return min(means, key=lambda shares: shares[1])


def measured(case: Case, *, quick: bool) -> list[np.ndarray | None]:
    """Shares until each recall, for every way."""
    pairs, looks = Pairs(case), guides_of(case)
    n, square = min(case.shape), case.others is None
    seeds = SEEDS[:1] if quick else SEEDS
    # Of many items others get one seed: what they need hardly depends on it.
    few = seeds[:1] if n >= LARGE else seeds
    alone = each = None
    if looks:
        alone = best([[pairs.until(look)] for look in looks])
        each = best([[pairs.until(places_of_each(look, square=square))] for look in looks])
    some = best([[anchors(pairs, s, seed) for seed in few] for s in ANCHORS if 3 * s <= n])
    budgets = BUDGETS[n < SMALL : 3 if n >= LARGE else 4]
    predicted = best([[matrix(pairs, b, seed) for seed in few] for b in budgets])
    run = watched if quick else kept_run
    mine = np.mean([run(case, seed)["shares"] for seed in seeds], axis=0)
    return [alone, each, some, predicted, mine]


def written(shares: np.ndarray | None) -> str:
    """Three shares in per cent."""
    return "–" if shares is None else " / ".join(f"{100 * share:.2g}" for share in shares)


def row(case: Case, *, quick: bool) -> list[str]:
    """One line of the table, its title aside."""
    ways = measured(case, quick=quick)
    least = np.min([way for way in ways[:-1] if way is not None], axis=0)
    ratio = " / ".join(f"{x:.2f}" for x in ways[-1] / least)
    return [*map(written, ways), ratio]


def caption(titles: Iterable[str]) -> str:
    """What the table shows."""
    recalls = " / ".join(f"{recall:g}" for recall in RECALLS)
    budgets = ", ".join(f"{100 * budget:g}" for budget in BUDGETS)
    return (
        f"Share of all pairs, in %, until the true recall is {recalls}; means of {len(SEEDS)} "
        f"seeds (of {LARGE:,} items or more, one for anchors and `approximate`). Blind pairs are "
        f"not counted. Others get that one of their settings which is best at {RECALLS[1]:g}, in "
        f"hindsight: which of the guides, how many anchors ({', '.join(map(str, ANCHORS))}; a "
        f"third of the items at most), which budget of `approximate` ({budgets} % of all pairs; "
        f"of fewer than {SMALL:,} items not the first, of {LARGE:,} or more not the last). "
        f"{sizes(titles)}"
    )


def main() -> None:
    lines, quick = lines_of_cases(__doc__, "finding", row)
    text = f"{caption(line[0] for line in lines)}\n\n{table(HEADINGS, lines)}\n"
    print("\n" + text)
    publish("finding", text, quick=quick)


if __name__ == "__main__":
    main()
