"""A thousand runs of `find_pairs` on cases made to mislead it or to break it.

No matches at all, every pair a match, one giant group, a hub, identical items, five matches, one to
three items; each in turn with one set, two sets of very different sizes and an asymmetric
similarity, with distances as well, with guides that are good, noise, zeros or missing, and with
budgets down to a single pair. Counts faults: errors, statements of a lower end above the truth,
wrong pairs, more evaluations than allowed, "exact" where it is not. Writes
docs/tables/recall-hard.md. Takes about ten minutes on one core.

    python -m benchmarks.matching.hard [--quick] [--runs N] [--only KIND] [--seed S]
"""

from __future__ import annotations

import traceback
import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

import fewpairs as fp
from benchmarks.reliability.coverage import upper_bound
from benchmarks.shared.command import arguments
from benchmarks.shared.tables import publish, table

SHAPES = ("one set", "two sets", "asymmetric")
GUIDES = ("none", "good", "noise", "zeros", "auto")
BUDGETS = (None, None, None, 1, 2, 7, 0.01, 0.1, 0.3, 0.6)
#: Threshold of all cases.
AT = 0.5
#: Below and above it.
LOW, HIGH = 0.2, 0.8


class Counted(fp.Similarity):
    """Looks similarities up, and counts them."""

    def __init__(self, matrix: np.ndarray, *, symmetric: bool) -> None:
        self.matrix, self.symmetric, self.count = matrix, symmetric, 0
        self.name, self.parameters = "counted", {}

    def block(self, left, right):
        """Look a block up."""
        self.count += len(left) * len(right)
        return self.matrix[np.ix_(np.asarray(left, int), np.asarray(right, int))]

    def pairs(self, pairs):
        """Look single entries up."""
        self.count += len(pairs)
        index = np.asarray(pairs, dtype=int)
        return self.matrix[index[:, 0], index[:, 1]]


def no_matches(_n, _m, _rng):
    return []


def every_pair(n, m, _rng):
    return [(i, j) for i in range(n) for j in range(m)]


def giant_group(n, m, rng):
    left = rng.random(n) < 0.5
    right = left if n == m else rng.random(m) < 0.5
    return np.argwhere(left[:, None] & right[None])


def hub(n, m, rng):
    one = int(rng.integers(n))
    return [(one, j) for j in range(m)]


def one_of_each(n, m, rng):
    return [(int(rng.integers(n)), j) for j in range(m)]


def five_matches(n, m, rng):
    return np.stack([rng.integers(0, n, 5), rng.integers(0, m, 5)], axis=1)


def scattered(n, m, rng):
    return np.argwhere(rng.random((n, m)) < 0.03)


def groups(n, m, rng):
    label = rng.geometric(0.1, n)
    other = label if n == m else rng.geometric(0.1, m)
    return np.argwhere(label[:, None] == other[None])


#: Which pairs match; the others have another value.
KINDS: dict[str, Any] = {
    "no matches": no_matches,
    "every pair matches": every_pair,
    "one giant group": giant_group,
    "one item matches all": hub,
    "one match of each item": one_of_each,
    "five matches": five_matches,
    "scattered matches": scattered,
    "groups of many sizes": groups,
    "one to three items": scattered,
    "constant similarity": no_matches,
    "identical texts": every_pair,
}


@dataclass
class Task:
    """What one run gets, and what is true."""

    items: Any
    others: Any
    similarity: Any
    matrix: np.ndarray
    options: dict[str, Any]
    budget: int | float | None
    square: bool

    @property
    def truth(self) -> np.ndarray:
        """Which pairs match."""
        below = "below" in self.options
        matching = self.matrix <= AT if below else self.matrix >= AT
        if self.square:
            one_order = np.triu(np.ones(matching.shape, dtype=bool), 1)
            matching = matching & (
                one_order if self.similarity.symmetric else one_order | one_order.T
            )
        return matching

    @property
    def allowed(self) -> int:
        """Evaluations that the budget allows for; twice all pairs where there is none."""
        n, m = self.matrix.shape
        # A share is that of the whole matrix, as everywhere, with its diagonal.
        pairs = n * (n + 1) // 2 if self.square and self.similarity.symmetric else n * m
        if self.budget is None:
            return 2 * pairs + 16
        return self.budget if isinstance(self.budget, int) else int(self.budget * pairs)


def task(kind: str, seed: int) -> Task:
    """One run's task: its shape, guide and budget change with the seed."""
    rng = np.random.default_rng([seed, len(kind)])
    shape = str(rng.choice(SHAPES))
    n = int(rng.integers(1, 4)) if kind == "one to three items" else int(rng.integers(4, 120))
    m = n
    if shape == "two sets":
        m = int(rng.integers(1, 8)) if rng.random() < 0.5 else int(rng.integers(150, 400))
    matrix = LOW + 0.1 * rng.random((n, m)) * (kind != "constant similarity")
    for i, j in KINDS[kind](n, m, rng):
        matrix[i, j] = HIGH + (0.1 * rng.random() if kind != "identical texts" else 0.2)
    symmetric = shape == "one set"
    if symmetric:
        matrix = np.triu(matrix) + np.triu(matrix, 1).T
    below = bool(rng.random() < 0.2)
    matrix = 1 - matrix if below else matrix
    options: dict[str, Any] = {"below" if below else "above": AT}
    guide = str(rng.choice(GUIDES))
    options["guide"] = guide if guide == "auto" else _guide(guide, matrix, shape, rng)
    items, others = range(n), (range(m) if shape == "two sets" else None)
    similarity: Any = Counted(matrix, symmetric=symmetric)
    if kind == "identical texts" and not below and shape != "asymmetric":
        similarity = fp.StringSimilarity("levenshtein")
        items, others = ["the same"] * n, (["the same"] * m if others is not None else None)
        matrix = np.ones((n, m))
    budget = BUDGETS[int(rng.integers(len(BUDGETS)))]
    if budget is not None:
        options["budget"] = budget
    options["recall"] = float(rng.choice([0.5, 0.9, 0.95, 0.95, 0.99]))
    return Task(items, others, similarity, matrix, options, budget, shape != "two sets")


def _guide(kind: str, matrix: np.ndarray, shape: str, rng) -> Any:
    n, m = matrix.shape
    if kind == "none":
        return None
    tables = {
        "zeros": (np.zeros((n, 3)), np.zeros((m, 3))),
        "noise": (rng.normal(size=(n, 5)), rng.normal(size=(m, 5))),
        "good": (matrix, np.eye(m)),
    }
    left, right = tables[kind]
    if shape == "two sets":
        return left, right
    return left if kind != "good" else matrix + 0.1 * rng.normal(size=matrix.shape)


def faults(made: Task, seed: int) -> list[str]:
    """What is wrong with one run; nothing, most of the time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = fp.find_pairs(
                made.items,
                made.similarity,
                others=made.others,
                all_pairs=False,
                random_state=seed,
                **made.options,
            )
        except Exception:  # noqa: BLE001 - any of them is a finding
            lines = traceback.format_exc().strip().splitlines()
            return [f"error: {next(x for x in lines[1:] if not x.startswith(' '))}"]
    truth = made.truth
    correct = int(truth[found.left, found.right].sum())
    different = {*zip(found.left, found.right, strict=True)}
    scores = made.matrix[found.left, found.right]
    spent = getattr(made.similarity, "count", found.evaluations)
    wrong = {
        "a pair that is no match": correct != len(found),
        "a pair twice": len(different) != len(found),
        "a score that is not exact": not np.array_equal(found.similarities, scores),
        "more than the budget": spent > made.allowed,
        "evaluations miscounted": spent != found.evaluations,
    }
    true = correct / truth.sum() if truth.any() else 1.0
    wrong |= false_statements(found.recall, true, made.options["recall"])
    return [what for what, is_so in wrong.items() if is_so]


def false_statements(stated: fp.Recall, true: float, target: float) -> dict[str, bool]:
    """What is stated wrongly of a recall."""
    return {
        LOW_ABOVE: stated.low > true + 1e-12,
        HIGH_BELOW: stated.high < true - 1e-12,
        CLAIMED: stated.reached and true < target,
        "exact, and it is not": stated.complete and abs(stated.low - true) > 1e-12,
        "value outside of the interval": not stated.low <= stated.value <= stated.high,
        "a sentence that does not read": "nan" in str(stated),
    }


#: What may happen in 5 % of the runs.
LOW_ABOVE, HIGH_BELOW, CLAIMED = "low above the truth", "high below the truth", "claimed falsely"


def row(kind: str, runs: list[list[str]]) -> list[str]:
    """One line of the table."""
    met = Counter(fault.split(":")[0] for run in runs for fault in run)
    count = len(runs)
    fails = " fails" if upper_bound(count - met[LOW_ABOVE], count) < 0.95 else ""
    others = [what for what in met if what not in (LOW_ABOVE, HIGH_BELOW, CLAIMED)]
    return [
        kind,
        f"{count}",
        f"{met[LOW_ABOVE]}{fails}",
        f"{met[CLAIMED]}",
        f"{met[HIGH_BELOW]}",
        ", ".join(f"{what}: {met[what]}" for what in others) or "none",
    ]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--runs", type=int, default=None, help="of each kind; default 100")
    parser.add_argument("--only", choices=KINDS, default=None)
    parser.add_argument("--seed", type=int, default=None, help="one run, and what is wrong with it")
    options = parser.parse_args()
    count = options.runs or (10 if options.quick else 100)
    seeds = range(count) if options.seed is None else [options.seed]
    rows = []
    for kind in KINDS if options.only is None else [options.only]:
        runs = []
        for seed in seeds:
            runs.append(faults(task(kind, seed), seed))
            for fault in runs[-1]:
                print(f"{kind}, seed {seed}: {fault}", flush=True)
        rows.append(row(kind, runs))
        print(*rows[-1], sep=" | ", flush=True)
    headings = ("case", "runs", LOW_ABOVE, CLAIMED, HIGH_BELOW, "other faults")
    text = (
        "Runs on hard cases, each kind with one set, two sets and an asymmetric similarity, "
        "similarities and distances, five kinds of guides, and budgets from one pair to none. The "
        "lower end may lie above the truth in 5 % of the runs; a case fails where the 99 % upper "
        f"bound says that it does more often.\n\n{table(headings, rows)}\n"
    )
    print("\n" + text)
    whole = options.only is None and options.seed is None
    publish("recall-hard", text, quick=options.quick or not whole)


if __name__ == "__main__":
    main()
