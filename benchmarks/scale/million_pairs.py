"""All matches of a million items under a ceiling of 2 GB, with a stated recall.

The items and the similarity of `benchmarks.scale.million`; the threshold is chosen, on 200 sampled
rows, so that there is about one match for each item. The vectors are their own guide, and a perfect
one: what is measured is the machinery at that size, not the search for matches. A statement takes
some 59/M of all pairs, where M match. Each size is a process of its own, with one thread, and
searches even where all pairs are cheap; seconds are processor time, "peak" is anonymous memory
(RssAnon) beside the items, the true recall that of all matches of 300 sampled items. Takes five
minutes. Writes docs/tables/million-pairs.md line by line; lines that are not run stay.

    python -m benchmarks.scale.million_pairs [--quick] [--sizes N …]
"""

from __future__ import annotations

import json
import time

import numpy as np

import fewpairs as fp
from benchmarks.shared.command import arguments
from benchmarks.shared.million import CEILING, GAMMA, Peak, growth, in_own_process, number, points
from benchmarks.shared.tables import publish, published_rows, table

SIZES, QUICK = (10_000, 100_000, 300_000, 1_000_000), (5_000,)
FOR_THRESHOLD, FOR_TRUTH = 200, 300


def rows_of(items: np.ndarray, some: np.ndarray) -> np.ndarray:
    """Whole rows of the exact matrix; an item with itself is no pair."""
    products = items[some].astype(float) @ items.T.astype(float)
    values = np.exp(-2 * GAMMA * np.maximum(1 - products, 0))
    values[np.arange(len(some)), some] = -1
    return values


def sampled(items: np.ndarray, count: int, seed: int):
    """Yield some random items, a few at a time, and their rows."""
    some = np.random.default_rng(seed).choice(len(items), count, replace=False)
    for part in np.array_split(some, max(1, count // 10)):
        yield part, rows_of(items, part)


def measure(n: int) -> dict[str, float]:
    items = points(n)
    # Each match is in two rows.
    best = [np.sort(rows, axis=None)[-1000:] for _, rows in sampled(items, FOR_THRESHOLD, 1)]
    above = float(np.sort(np.concatenate(best))[-2 * FOR_THRESHOLD])
    near = fp.VectorSimilarity("rbf", gamma=GAMMA)
    fp.find_pairs(items[:300], near, above=0.9, all_pairs=False, random_state=0)  # compiled
    peak, begun = Peak(), time.process_time()
    found = fp.find_pairs(
        items, near, above=above, all_pairs=False, random_state=0, max_memory=CEILING
    )
    seconds = time.process_time() - begun
    peak.over = True
    keys = np.sort(found.left * n + found.right)
    hit = everything = 0
    for some, rows in sampled(items, FOR_TRUTH, 2):
        k, other = np.nonzero(rows >= above)
        i, j = np.minimum(some[k], other), np.maximum(some[k], other)
        everything += len(i)
        hit += int(np.isin(i * n + j, keys).sum())
    return {
        "seconds": seconds,
        "peak": peak.most,
        "matches": len(found),
        "ranked": found.spent["ranked"],
        "landmarks": found.spent["landmarks"],
        "evaluations": found.evaluations,
        "blind": found.spent["blind"],
        "value": found.recall.value,
        "low": found.recall.low,
        "truth": hit / max(everything, 1),
        "rows": everything,
    }


def row(n: int, found: dict[str, float]) -> list[str]:
    return [
        f"{n:,}",
        f"{found['matches']:,}",
        f"{found['ranked']:,}",
        f"{found['landmarks']:,}",
        f"{found['blind']:,}",
        f"{200 * found['evaluations'] / n / (n - 1):.2g} %",
        f"{found['value']:.3f}, at least {found['low']:.3f}",
        f"{found['truth']:.3f} of {found['rows']:,}",
        f"{found['seconds']:.3g}",
        f"{found['peak'] / 1e6:,.0f} MB",
    ]


def page(rows: dict[str, list[str]]) -> str:
    order = sorted(rows, key=number)
    headings = ("items", "matches found", "ranked", "of landmarks", "drawn blindly", "of all pairs")
    headings += ("stated recall", "true, on sampled rows", "seconds", "peak")
    text = table(headings, (rows[key] for key in order))
    if len(order) > 1:
        times = [(number(key), float(rows[key][8])) for key in order]
        for first in sorted({0, len(order) - 2}):
            text += f"\n\nFrom {order[first]} to {order[-1]} items time grows with the power "
            text += f"{growth(times[first], times[-1]):.2f}."
    return text


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N")
    parser.add_argument("--one", type=int, help="measure one size here, and print it as JSON")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one)))
        return
    about = (
        "# All matches of many items under 2 GB\n\n`python -m benchmarks.scale.million_pairs`,"
        " one thread, seconds of processor time; peak is anonymous memory beside the items.\n\n"
    )
    rows = {} if options.quick else published_rows("million-pairs")
    for n in options.sizes or (QUICK if options.quick else SIZES):
        line = row(n, in_own_process("benchmarks.scale.million_pairs", "--one", str(n)))
        rows[line[0]] = line
        print(" | ".join(line), flush=True)
        publish("million-pairs", about + page(rows), quick=options.quick)
    print(page(rows))


if __name__ == "__main__":
    main()
