"""What each part of the default method is worth: the error without it, at equal evaluations.

A part is left out by an option, or by putting something simpler in place of the one function or
constant that it is. Seeds and budgets are the same with it and without it. A figure is the ratio of
mean errors over the seeds, without the part to with it, for one matrix at one budget. Writes
docs/tables/ablation.md. Takes about an hour on one core.

    FEWPAIRS_DATA=… python -m benchmarks.matrix.ablation [--quick]
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.budgets import cost_of_columns
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.matrices import ONE_ON_THE_DIAGONAL, all_matrices, sigmoid, stored_matrix
from benchmarks.shared.measures import relative
from benchmarks.shared.tables import publish, table
from fewpairs import datasets
from fewpairs.error import sampling
from fewpairs.methods.fitted import choice, cores, guards, near_pairs, stage, weights


@dataclass(frozen=True)
class Part:
    """How to leave a part out: options, and (module or class, name, replacement) of pieces."""

    options: dict[str, Any] = field(default_factory=dict)
    pieces: list[tuple[Any, str, Any]] = field(default_factory=list)

    @contextmanager
    def left_out(self) -> Iterator[None]:
        """Run without the part."""
        with ExitStack() as stack:
            for where, name, other in self.pieces:
                stack.enter_context(patch.object(where, name, other))
            yield


def best_single(grid, tuning, sane, rng):  # noqa: ARG001 - the signature of `weigh`
    """One candidate instead of a weighted sum: the best on the same pairs."""
    normal = tuning.normal(np.arange(grid.count))
    loss = np.diag(normal.gram) - 2 * normal.target
    chosen = np.zeros(grid.count)
    chosen[int(loss.argmin())] = 1.0
    return chosen


def plain_profiles(columns, rows):
    """Centred columns of length one, not whitened."""
    block = columns[rows] - columns[rows].mean(axis=0)
    lengths = np.linalg.norm(block, axis=1)
    return (block / np.maximum(lengths, 1e-300)[:, None]).astype(np.float32)


def unblended(self, other, share):  # noqa: ARG001 - the signature of `blended`
    """Tuning pairs alone, without the landmark folds."""
    return self


def folds_alone(self, other, share):  # noqa: ARG001 - the signature of `blended`
    """Landmark folds alone, without the tuning pairs."""
    return other


def keep_start(tuning, chosen, start, rng):  # noqa: ARG001 - the signature of `refined`
    """Weights as they are before negative ones are allowed."""
    return start


PARTS: dict[str, Part] = {
    "evaluated entries put back": Part({"known": None}),
    "diagonal evaluated": Part({"diagonal": None}),
    "near-duplicates": Part({"near": 0.0}),
    "near-duplicates' stop rule": Part(pieces=[(near_pairs, "gain_of_a_column", lambda *_: 0.0)]),
    "whitened profiles": Part(pieces=[(stage, "profiles", plain_profiles)]),
    "nuggets": Part(pieces=[(cores, "NUGGETS", (0.0,))]),
    "five nuggets, not three": Part(pieces=[(cores, "NUGGETS", (0.0, 0.5, 1.0))]),
    "fourteen ridges, not seven": Part(pieces=[(cores, "RIDGES", cores.RIDGES[1::2])]),
    "tiny ridges (below 1e-4)": Part(pieces=[(cores, "RIDGES", cores.RIDGES[5:])]),
    "a stack, not the best candidate": Part(pieces=[(choice, "weigh", best_single)]),
    "negative weights": Part(pieces=[(weights, "refined", keep_start)]),
    "importance-drawn tuning pairs": Part(pieces=[(sampling, "MIXTURE", (1.0, 0.0, 0.0))]),
    "landmark folds beside pairs": Part(pieces=[(weights.Normal, "blended", unblended)]),
    "tuning pairs beside folds": Part(pieces=[(weights.Normal, "blended", folds_alone)]),
    "sanity check": Part(pieces=[(guards.SanityCheck, "passes", lambda *_: True)]),
    "trust in a few pairs": Part(pieces=[(weights, "_trust", lambda *_: 1.0)]),
}
#: Parts that guard against what seldom happens.
GUARDS = ("sanity check", "trust in a few pairs", "negative weights", "landmark folds beside pairs")
#: Errors below this are rounding, whose ratios say nothing: they count as this much.
_EXACT = 1e-6


def extra_matrices() -> Iterator[tuple[str, np.ndarray]]:
    """What the guards are for: labels instead of scores, and a matrix of low rank."""
    labels = (sigmoid(datasets.read_matrix("mrpc-dev-crossattn")) > 0.5).astype(float)
    yield "MRPC labels", (labels + labels.T) / 2
    u, sizes, vt = np.linalg.svd(stored_matrix("STS-B cross-attention"))
    low = (u[:, :20] * sizes[:20]) @ vt[:20]
    yield "STS-B cross-attention, rank 20", (low + low.T) / 2


def errors_of(matrix, title: str, share: float, seeds: range) -> dict[str, float]:
    """Mean errors, by the part left out; the whole method is under ""."""
    n = len(matrix)
    s = round(share * n)
    own = {"diagonal": 1.0} if title.startswith(ONE_ON_THE_DIAGONAL) else {}

    def run(part: Part, seed: int) -> float:
        with part.left_out():
            found = fp.approximate(
                range(n),
                fp.Precomputed(matrix),
                budget=cost_of_columns(n, s),
                error_pairs=0,
                random_state=seed,
                **(own | part.options),
            )
        return max(relative(found.to_dense(), matrix), _EXACT)

    with threadpool_limits(1):
        every: dict[str, Part] = {"": Part(), **PARTS}
        return {name: float(np.mean([run(p, k) for k in seeds])) for name, p in every.items()}


def hard_matrix(rng: np.random.Generator) -> np.ndarray:
    """A small matrix: of a random spectrum, or sparse with noughts and ones."""
    n = int(rng.integers(8, 120))
    if rng.random() < 0.5:
        links = (rng.random((n, n)) < rng.uniform(0.5, 3) / n).astype(float)
        return (links + links.T) / 2 + np.diag((rng.random(n) < rng.random()).astype(float))
    basis = np.linalg.qr(rng.normal(size=(n, n)))[0]
    signs = np.where(rng.random(n) < rng.random(), 1.0, -1.0)
    matrix = (basis * (signs / np.arange(1, n + 1) ** rng.uniform(0, 3))) @ basis.T
    return (matrix + matrix.T) / 2


def hard_case(seed: int) -> dict[str, float]:
    """Errors relative to predicting 0 for all unknown pairs, by the part left out.

    The seed decides which of three modes is tried.
    """
    rng = np.random.default_rng(seed)
    matrix = hard_matrix(rng)
    n = len(matrix)
    budget = max(3 * n, int(rng.uniform(0.1, 0.9) * n * (n + 1) / 2))
    mode: dict[str, Any] = [{}, {"diagonal": None}, {"known": None}][seed % 3]
    ratios = {}
    for name in ("", *GUARDS):
        with PARTS.get(name, Part()).left_out(), threadpool_limits(1):
            found = fp.approximate(
                range(n),
                fp.Precomputed(matrix),
                budget=budget,
                error_pairs=0,
                random_state=seed,
                **mode,
            )
        unseen = np.isnan(found.known.find(*np.divmod(np.arange(n * n), n)))
        floor = float(np.linalg.norm(matrix.ravel()[unseen]))
        off = float(np.linalg.norm(found.to_dense() - matrix))
        ratios[name] = off / floor if floor > _EXACT else 0.0
    return ratios


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    need_data()
    seeds = range(1 if options.quick else options.seeds)
    matrices = [*all_matrices(quick=True), *extra_matrices()]
    cells = [(title, share, matrix) for title, matrix in matrices for share in (0.05, 0.2, 0.5)]
    results = Parallel(n_jobs=2)(
        delayed(errors_of)(matrix, title, share, seeds) for title, share, matrix in cells
    )
    rows = []
    for part in PARTS:
        ratios = np.array([r[part] / r[""] for r in results])
        best, worst = int(ratios.argmax()), int(ratios.argmin())
        rows.append(
            [
                part,
                f"{np.exp(np.log(ratios).mean()):.3f}×",
                _cell(ratios[best], *cells[best][:2]),
                _cell(ratios[worst], *cells[worst][:2]),
                f"{(ratios >= 1.02).sum()} / {(ratios <= 0.98).sum()} of {len(ratios)}",
            ]
        )
    headings = ["part", "error without / with", "worth most", "worth least", "≥ 2 % better / worse"]
    print(table(headings, rows), flush=True)
    cases = 100 if options.quick else 1000
    hard = Parallel(n_jobs=2)(delayed(hard_case)(seed) for seed in range(cases))
    guard_rows = []
    for name in ("", *GUARDS):
        ratios = np.sort([r[name] for r in hard])[::-1]
        shown = [f"{ratios[0]:.3g}", f"{ratios[cases // 100]:.2f}", int((ratios > 1.3).sum())]
        guard_rows.append([name or "nothing", *shown])
    text = (
        table(headings, rows)
        + f"\n\n{cases} small matrices (n = 8 to 119, 10 to 90 % of pairs), of random spectra or "
        "of sparse noughts and ones, in three modes (default, `diagonal=None`, `known=None`); "
        "error against predicting 0 for every pair that is not known.\n\n"
        + table(["left out", "largest", "99 % are below", "above 1.3"], guard_rows)
    )
    print(text)
    publish("ablation", text, quick=options.quick)


def _cell(ratio: float, title: str, share: float) -> str:
    shown = f"{ratio:.2f}×" if ratio < 100 else f"{ratio:.1e}×"
    return f"{shown} ({title}, {share})"


if __name__ == "__main__":
    main()
