"""Arithmetic with a thousand landmarks and more: the default method beside published ones.

CPU seconds of one thread, less those inside the similarity; stated errors included, as a user has
them. `tanh` are inner products of random vectors; its entries are computed when they are asked for.
`TWITTER` are exact Word Mover's Distances between all tweets (exp(−distance/5)), computed before.
`one way` is tanh times a number for each row, so that it is not symmetric: Nyström and SMS-Nyström
take no such matrix, and SiCUR stands beside the default. A rival is run twice: with as many
landmarks, and with as many evaluations as the default has spent. Of matrices that are not symmetric
the default is run again with five nuggets in place of three. True errors on 300 rows, all columns.
Writes docs/tables/many-landmarks.md. TWITTER has 1,500 and 2,000 landmarks, too. Takes about five
minutes on one core; stopped and started again with `--keep` it goes on.

    FEWPAIRS_DATA=… python -m benchmarks.matrix.many_landmarks [--quick]
        [--items N …] [--sizes S …] [--repeat N] [--keep FILE]
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import threadpoolctl

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.kept import Kept
from benchmarks.shared.matrices import tweets
from benchmarks.shared.tables import publish, table
from benchmarks.shared.time_by_part import time_by_part
from fewpairs import datasets
from fewpairs.errors import ErrorEstimateWarning
from fewpairs.methods.fitted import cores, recipe, stage

#: Of TWITTER; the others have the first alone.
SIZES = (1000, 1500, 2000)
ROWS = 300
HEADINGS = [
    "matrix", "n", "s", "rival", "default, CPU s", "its evaluations, %", "rival's, %",
    "time: default / rival", "at equal evaluations", "error: default", "rival",
    "rival, equal evaluations",
]  # fmt: skip
NUGGET_HEADINGS = ["matrix", "n", "s", "three: CPU s", "five", "three: error", "five"]
#: What the default is timed by, where a matrix is not symmetric; what is in none of it is reading
#: the lines and judging the result, which other methods do as well.
PARTS = {
    "decompositions": [(cores, "_decomposed")],
    "candidates": [(cores.Cores, n) for n in ("pair_predictions", "block_sums", "_sum_of")],
    "profiles": [(stage, "profiles")],
    "near-duplicates": [(recipe, "buy_near_pairs")],
    "tuning pairs": [(stage.Stage, "draw_tuning")],
    "the rest of the fit": [(recipe.Fitted, "fit")],
}
OUTSIDE = "reading and judging"
TEXT = """\
CPU seconds of one thread beside the similarity, shortest of {repeat}. "Rival" is a published
method with as many landmarks s, Nyström and SMS-Nyström or, where the matrix is not symmetric,
SiCUR; at equal evaluations it has as many landmarks as what the default has spent pays for.
Evaluations in per cent of all pairs; relative errors on 300 rows. TWITTER is exp(−WMD/5) of 2,830
different tweets with two known words or more; tanh and one way (not symmetric) are made from random
vectors; STS-B large are scores of a cross-encoder in both orders of every two sentences.

{table}

Not symmetric: the default with three nuggets, as it has them from 1,000 landmarks on, and with
five, as it has them below.

{nuggets}

Not symmetric: where the default's time goes, in per cent.

{parts}
"""


class Tanh(fp.VectorSimilarity):
    """Tanh of inner products, times a number for each row where that is wanted; knows its time."""

    def __init__(self, *, one_way: bool) -> None:
        super().__init__("sigmoid", gamma=0.1, coef0=-0.5)
        self.symmetric = not one_way
        self.seconds = 0.0

    def block(self, left: Any, right: Any) -> np.ndarray:
        """Return all similarities of some items with others."""
        start = time.process_time()
        values = super().block(left, right)
        if not self.symmetric:
            values = values * (1 + 0.1 * np.sin(np.asarray(left)[:, :1]))
        self.seconds += time.process_time() - start
        return values


class Stored(fp.Precomputed):
    """A matrix, with the seconds that looking it up takes."""

    seconds = 0.0

    def block(self, left: Any, right: Any) -> np.ndarray:
        """Return all similarities of some items with others."""
        start = time.process_time()
        values = super().block(left, right)
        self.seconds += time.process_time() - start
        return values


class Run(NamedTuple):
    """CPU seconds beside the similarity, evaluations, and the relative error on some rows."""

    seconds: float
    evaluations: int
    error: float


def measured(items: Any, similarity: Any, method: str, repeat: int, **spent: int) -> Run:
    """The shortest time of several, of one result."""
    seconds = []
    for _ in range(repeat):
        similarity.seconds = 0.0
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ErrorEstimateWarning)
            found = fp.approximate(items, similarity, method=method, random_state=0, **spent)
        seconds.append(time.process_time() - start - similarity.seconds)
    some = np.random.default_rng(1).permutation(len(items))[:ROWS]
    exact = similarity.block(np.asarray(items)[some], np.asarray(items))
    error = np.linalg.norm(found[some, :] - exact) / np.linalg.norm(exact)
    return Run(min(seconds), found.evaluations, float(error))


class Case(NamedTuple):
    """A matrix: its name, how many items it has, and what makes them and their similarity."""

    name: str
    n: int
    made: Callable[[], tuple[Any, Any]]

    def key(self, size: int, repeat: int) -> str:
        """Name the part of the run with so many landmarks."""
        return f"{self.name}|{self.n}|{size}|{repeat}"


def vectors(n: int, *, one_way: bool) -> tuple[Any, Any]:
    return np.random.default_rng(n).normal(size=(n, 20)), Tanh(one_way=one_way)


@cache
def of_tweets() -> tuple[Any, Any]:
    distances = fp.wmd(tweets(10**6)[0])
    return range(len(distances)), Stored(np.exp(-distances / 5), symmetric=True)


def both_orders() -> tuple[Any, Any]:
    scores = np.asarray(datasets.read_matrix("stsb-dev-large-crossattn"), dtype=np.float64)
    return range(len(scores)), Stored(scores, symmetric=False)


def cases(numbers: Sequence[int], size: int) -> Iterator[tuple[Case, int]]:
    """Matrices with a number of landmarks."""
    for n in numbers:
        yield Case("one way", n, partial(vectors, n, one_way=True)), size
        yield Case("tanh", n, partial(vectors, n, one_way=False)), size


def stored_cases(sizes: Sequence[int]) -> Iterator[tuple[Case, int]]:
    """Matrices of texts, with numbers of landmarks."""
    yield Case("STS-B large", 1494, both_orders), sizes[0]
    for size in sizes:
        yield Case("TWITTER", 2830, of_tweets), size


def done(case: Case, size: int, repeat: int) -> dict[str, Run]:
    """The default and its rivals, with as many landmarks and with as many evaluations."""
    items, similarity = case.made()
    ours = measured(items, similarity, "fitted", repeat, landmarks=size)
    found = {"default": ours}
    for rival in ("nystrom", "sms") if similarity.symmetric else ("sicur",):
        found[rival] = measured(items, similarity, rival, repeat, landmarks=size)
        found[f"{rival}, fair"] = measured(
            items, similarity, rival, repeat, budget=ours.evaluations
        )
    if not similarity.symmetric:
        with mock.patch.object(cores, "FEW_NUGGETS", cores.NUGGETS):
            found["five"] = measured(items, similarity, "fitted", repeat, landmarks=size)
    return found


def shares(case: Case, size: int) -> list[str]:
    """What each part of the default takes, in per cent."""
    items, similarity = case.made()

    def run() -> None:
        fp.approximate(items, similarity, method="fitted", landmarks=size, random_state=0)

    seconds = time_by_part(run, PARTS, OUTSIDE)
    total = sum(seconds.values())
    return [f"{100 * part / total:.0f}" for part in seconds.values()]


def lines(case: Case, size: int, found: dict[str, Run]) -> Iterator[list[str]]:
    """The lines of the table, one for each rival."""
    ours = found["default"]
    share = 100 / similarity_pairs(case.n, symmetric="five" not in found)
    for rival in (name for name in found if f"{name}, fair" in found):
        alike, fair = found[rival], found[f"{rival}, fair"]
        cells = [case.name, f"{case.n:,}", f"{size:,}", rival, f"{ours.seconds:.1f}"]
        cells += [f"{share * run.evaluations:.0f}" for run in (ours, alike)]
        cells += [f"{ours.seconds / run.seconds:.1f} ×" for run in (alike, fair)]
        yield [*cells, *(f"{run.error:.4f}" for run in (ours, alike, fair))]


def of_nuggets(case: Case, size: int, found: dict[str, Run]) -> list[str]:
    """The line that compares three nuggets with five."""
    both = found["default"], found["five"]
    cells = [case.name, f"{case.n:,}", f"{size:,}", *(f"{run.seconds:.1f}" for run in both)]
    return [*cells, *(f"{run.error:.4f}" for run in both)]


def told(wanted: list[tuple[Case, int]], kept: Kept, repeat: int) -> str:
    """The tables of what is done."""
    rows, nuggets, parts = [], [], []
    for case, size in wanted:
        key = case.key(size, repeat)
        if key in kept:
            found = {name: Run(*run) for name, run in kept[key].items()}
            rows += lines(case, size, found)
            if "five" in found:
                nuggets.append(of_nuggets(case, size, found))
        if f"{key}|parts" in kept:
            parts.append([case.name, f"{case.n:,}", f"{size:,}", *kept[f"{key}|parts"]])
    return TEXT.format(
        table=table(HEADINGS, rows),
        nuggets=table(NUGGET_HEADINGS, nuggets),
        parts=table(["matrix", "n", "s", *PARTS, OUTSIDE], parts),
        repeat=repeat,
    )


def similarity_pairs(n: int, *, symmetric: bool) -> int:
    """Number of entries that all pairs take."""
    return n * (n - 1) // 2 if symmetric else n * n


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--items", type=int, nargs="+", default=[3000, 10_000])
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="landmarks")
    parser.add_argument("--repeat", type=int, default=1, help="times, of which the shortest counts")
    parser.add_argument("--keep", type=Path, help="a file for what is done, to go on from")
    options = parser.parse_args()
    if options.quick:
        wanted = list(cases([2000], SIZES[0]))
    else:
        need_data()
        wanted = [*stored_cases(options.sizes), *cases(options.items, options.sizes[0])]
    kept = Kept(options.keep)
    fp.approximate(np.eye(100), Tanh(one_way=False), landmarks=15)  # compiles
    with threadpoolctl.threadpool_limits(1):
        for case, size in wanted:
            key = case.key(size, options.repeat)
            if key not in kept:
                kept.add(key, done(case, size, options.repeat))
                print(key, flush=True)
            if "five" in kept[key]:
                kept.part(f"{key}|parts", partial(shares, case, size))
            text = told(wanted, kept, options.repeat)
            publish("many-landmarks", text, quick=options.quick)
    print(text)


if __name__ == "__main__":
    main()
