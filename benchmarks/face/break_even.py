"""When all pairs are quicker: what an evaluation must cost before a run saves processor time.

The run's own processor seconds (its total less what the similarity took), over the evaluations
that it spares. Where one evaluation costs less than that, all pairs are quicker, as far as n² of
them can be held. `approximate` buys 5 % of all pairs; `find_pairs` searches to a stated recall of
0.95. Items are made names, a quarter of them there twice with a typing error. One thread. Writes
docs/tables/break-even.md; about two minutes.

    python -m benchmarks.face.break_even [--quick]
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import JaroWinkler
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.command import arguments
from benchmarks.shared.tables import publish, table

SIZES = (500, 1_000, 2_000, 5_000)


def made_names(n: int) -> list[str]:
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnopqrst"))
    names = ["".join(rng.choice(letters, 10)) for _ in range(n - n // 5)]
    return names + [name[:4] + "x" + name[5:] for name in names[: n // 5]]


class Timed:
    """A similarity that adds up the processor time of its own calls."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.similarity = fp.similarity(
            self.block, kind="block", symmetric=True, diagonal=1.0, name="timed"
        )

    def block(self, left: list[str], right: list[str]) -> Any:
        """Score all pairs of two lists of names."""
        start = time.process_time()
        answer = process.cdist(left, right, scorer=JaroWinkler.similarity, dtype=np.float64)
        self.seconds += time.process_time() - start
        return answer


def measured(run: Callable[[Any], Any]) -> tuple[int, float]:
    timed = Timed()
    start = time.process_time()
    result = run(timed.similarity)
    own = time.process_time() - start - timed.seconds
    return result.evaluations, own


def main() -> None:
    options = arguments(__doc__).parse_args()
    rows = []
    for n in SIZES[:2] if options.quick else SIZES:
        names, pairs = made_names(n), n * (n - 1) // 2
        runs = {
            "`approximate`, 5 %": lambda s, x=names: fp.approximate(
                x, s, budget=0.05, random_state=0
            ),
            "`find_pairs`": lambda s, x=names: fp.find_pairs(
                x, s, above=0.95, random_state=0, all_pairs=False
            ),
        }
        for name, run in runs.items():
            if n == SIZES[0]:
                measured(run)  # compiles what is compiled once
            spent, own = min((measured(run) for _ in range(2)), key=lambda pair: pair[1])
            spared = pairs - spent
            even = f"{own / spared * 1e6:.2g}" if spared > 0.02 * pairs else "never"
            rows.append([f"{n:,}", name, f"{pairs:,}", f"{spent / pairs:.1%}", f"{own:.2f}", even])
            print(*rows[-1], flush=True)
    heads = ["items", "run", "all pairs", "evaluated", "own CPU s", "break-even, µs an evaluation"]
    text = "One thread; the better of two runs; processor time, not wall time.\n\n"
    publish("break-even", text + table(heads, rows), quick=options.quick)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
