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

import time
from pathlib import Path

import numpy as np

from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.kept_lines import KeptLines, place_of
from benchmarks.shared.matching_cases import CASES, Case
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
#: Seeds; of so many items others get one: what they need hardly depends on it.
SEEDS = range(3)
#: Cases once more with other guides.
OTHER_GUIDES = {"rte": ("none",), "sts634": ("none", "noise", "spoilt")}
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


def row(ways: list[np.ndarray | None]) -> list[str]:
    """One line of the table, its title aside."""
    least = np.min([way for way in ways[:-1] if way is not None], axis=0)
    ratio = " / ".join(f"{x:.2f}" for x in ways[-1] / least)
    return [*map(written, ways), ratio]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--only", nargs="+", choices=CASES, default=None)
    parser.add_argument(
        "--lines", type=Path, default=place_of("finding"), help="where lines are kept"
    )
    options = parser.parse_args()
    need_data()
    names = options.only or (["rte", "mrpc"] if options.quick else list(CASES))
    kept = KeptLines(None if options.quick else options.lines)
    for name in names:
        case = CASES[name]()
        kinds = () if options.quick else OTHER_GUIDES.get(name, ())
        for other in (case, *(case.guided(kind) for kind in kinds)):
            if (title := f"{other.name} ({len(other.truth):,})") in kept.lines:
                continue
            start = time.perf_counter()
            kept.add([title, *row(measured(other, quick=options.quick))])
            print(*kept.lines[title], f"{time.perf_counter() - start:.0f} s", sep=" | ", flush=True)
    recalls = " / ".join(f"{recall:g}" for recall in RECALLS)
    text = (
        f"Share of all pairs, in %, until the true recall is {recalls}; means of {len(SEEDS)} "
        f"seeds (of {LARGE:,} items or more, one for anchors and `approximate`). Blind pairs are "
        "not counted. Others get the best of their settings in hindsight: which of the guides, "
        f"how many anchors ({', '.join(map(str, ANCHORS))}), which budget.\n\n"
        f"{table(HEADINGS, kept.lines.values())}\n"
    )
    print("\n" + text)
    publish("finding", text, quick=options.quick)


if __name__ == "__main__":
    main()
