"""Entropic transport between the colours of two photographs, as in the paper's Figure 2.

Pixels of scikit-learn's two sample photographs, K = exp(−γ|x − y|²), ten iterations, 61 columns.
The seconds of one iteration come from the best of three runs of ten and of thirty iterations; those
of everything before are beside them. The ratio is the transport cost over that of the exact kernel,
both after ten iterations, in five draws. Where the exact kernel does not fit into memory, its time
is extrapolated by n² and there is no ratio. Rivals are POT's `sinkhorn`, its Nyström kernel with
`sinkhorn_low_rank_kernel`, and `lowrank_sinkhorn`, which solves another problem (plans of rank 10,
without the blur) and runs until it stops. Writes docs/tables/sinkhorn.md and draws
docs/figures/colour-transfer.png. Takes about ten minutes on one core.

    python -m benchmarks.sketches.sinkhorn [--quick]
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np
import ot
from sklearn.datasets import load_sample_images
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.command import arguments
from benchmarks.shared.fourier_features import fourier_features
from benchmarks.shared.tables import FIGURES, publish, table

ITERATIONS, COLUMNS, DRAWS, REPEATS, MOST_DENSE = 10, 61, 5, 3, 10_000
PAPER = {"coefficients": "coreset", "exact_terms": False, "degree": 3, "sketch_size": 20}


def pixels() -> list[np.ndarray]:
    """Colours of the two photographs, in [0, 1]."""
    return [image.reshape(-1, 3) / 255 for image in load_sample_images().images]


def costs(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Factors A and B with |x − y|² = A·Bᵀ."""
    a, b = (x**2).sum(axis=1, keepdims=True), (y**2).sum(axis=1, keepdims=True)
    return np.hstack([a, np.ones_like(a), -2 * x]), np.hstack([np.ones_like(b), b, y])


def fourier(x: np.ndarray, y: np.ndarray, gamma: float, seed: int) -> fp.FactoredMatrix:
    left, right = (fourier_features(z, COLUMNS, gamma, seed) for z in (x, y))
    return fp.FactoredMatrix(left, np.eye(left.shape[1]), right)


def nystroem(x: np.ndarray, y: np.ndarray, gamma: float, seed: int) -> fp.FactoredMatrix:
    left, right = ot.lowrank.kernel_nystroem(
        x, y, anchors=COLUMNS, sigma=1 / np.sqrt(2 * gamma), random_state=seed
    )
    return fp.FactoredMatrix(left, np.eye(left.shape[1]), right)


KERNELS: dict[str, Callable[..., fp.FactoredMatrix]] = {
    "**fewpairs**": lambda x, y, g, k: fp.rbf_kernel(
        x, y, gamma=g, degree=15, sketch_size=4, error_pairs=1000, random_state=k
    ),
    "Coreset-TS": lambda x, y, g, k: fp.rbf_kernel(
        x, y, gamma=g, error_pairs=0, random_state=k, **PAPER
    ),
    "RFF": fourier,
    "POT, Nyström": nystroem,
}


def timed(solve: Callable[[int], object]) -> tuple[float, float]:
    """Seconds of all that is not iterations, and of one iteration."""
    seconds = []
    for count in (ITERATIONS, 3 * ITERATIONS):
        taken = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            solve(count)
            taken.append(time.perf_counter() - start)
        seconds.append(min(taken))
    each = max(seconds[1] - seconds[0], 1e-9) / (2 * ITERATIONS)
    return max(0.0, seconds[0] - ITERATIONS * each), each


def factored(title: str, x, y, gamma: float, seed: int) -> tuple[float, float, float, bool]:
    """Seconds before iterating and of an iteration, the cost, and whether there was a warning.

    A warning tells that sums of the approximate kernel were not positive, or below its error.
    """
    a, b = np.full(len(x), 1 / len(x)), np.full(len(y), 1 / len(y))
    start = time.perf_counter()
    kernel = KERNELS[title](x, y, gamma, seed)
    before = time.perf_counter() - start

    def by_pot(count: int):
        return ot.lowrank.sinkhorn_low_rank_kernel(
            kernel.left, kernel.right, a, b, numItermax=count, stopThr=0, warn=False
        )

    def by_us(count: int, **costs):
        return fp.sinkhorn(a, b, kernel=kernel, max_iterations=count, tolerance=0, **costs)

    pot = title.startswith("POT")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rest, each = timed(by_pot if pot else by_us)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if pot:
            left, right = costs(x, y)
            cost = float((left * (kernel.scaled(*by_pot(ITERATIONS)) @ right)).sum())
        else:
            cost = by_us(ITERATIONS, cost=costs(x, y)).cost
    return before + rest, each, cost, bool(caught)


def dense(x: np.ndarray, y: np.ndarray, gamma: float) -> tuple[float, float, float]:
    """The same with POT's own iteration on the exact kernel."""
    a, b = np.full(len(x), 1 / len(x)), np.full(len(y), 1 / len(y))
    start = time.perf_counter()
    table_of_costs = ot.dist(x, y)
    before = time.perf_counter() - start

    def solve(count: int) -> np.ndarray:
        return ot.sinkhorn(a, b, table_of_costs, 1 / gamma, numItermax=count, stopThr=0, warn=False)

    rest, each = timed(solve)
    return before + rest, each, float((solve(ITERATIONS) * table_of_costs).sum())


def low_rank(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Seconds in all, and the cost, of POT's low-rank solver."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        q, r, g = ot.lowrank.lowrank_sinkhorn(x, y, rank=10, numItermax=100)
    seconds = time.perf_counter() - start
    left, right = costs(x, y)
    return seconds, float(((q.T @ left) * ((r / g).T @ right)).sum())


def lines(n: int, gamma: float, images: list[np.ndarray], reference: dict) -> list[list[str]]:
    """The table's lines for one size and γ; `reference` keeps the exact seconds by size."""
    rng = np.random.default_rng(0)
    x, y = (image[rng.permutation(len(image))[:n]] for image in images)
    exact = None
    if n <= MOST_DENSE:
        before, each, exact = dense(x, y, gamma)
        reference[n] = each
        first = [f"{before:.2g}", f"{each:.2g}", "1", "1", ""]
    else:
        largest = max(reference)
        each = reference[largest] * (n / largest) ** 2
        first = ["", f"{each:.2g} (extrapolated)", "1", "", ""]
    found = [[f"{n:,}", f"{gamma:g}", "POT, sinkhorn", *first]]
    for title in KERNELS:
        draws = [factored(title, x, y, gamma, seed) for seed in range(DRAWS)]
        start, step = np.median([draw[:2] for draw in draws], axis=0)
        ratio = ""
        if exact is not None:
            off = np.array([draw[2] / exact for draw in draws])
            sane = np.abs(off - 1) < 0.5
            ratio = f"{off[sane].mean():.6f} ± {off[sane].std():.1g}" if sane.any() else "none"
            if not sane.all():
                ratio += f" ({(~sane).sum()} draws of {DRAWS} beyond 50 %)"
        warned = sum(draw[3] for draw in draws)
        found.append([
            f"{n:,}", f"{gamma:g}", title, f"{start:.2g}", f"{step:.2g}", f"{each / step:.0f}×",
            ratio, f"{warned} of {DRAWS}",
        ])  # fmt: skip
    if n <= MOST_DENSE:
        seconds, cost = low_rank(x, y)
        found.append([f"{n:,}", f"{gamma:g}", "POT, lowrank_sinkhorn (rank 10)",
            f"{seconds:.2g} in all", "", "", f"{cost / exact:.3f}", ""])  # fmt: skip
    return found


def blurred(x: np.ndarray, y: np.ndarray, gamma: float) -> tuple[np.ndarray, str]:
    """Where each colour of x goes, the mean of colours of y, and how good the plan is in words."""
    a, b = np.full(len(x), 1 / len(x)), np.full(len(y), 1 / len(y))
    kernel = fp.rbf_kernel(x, y, gamma=gamma, degree=15, sketch_size=8, random_state=0, n_jobs=2)
    found = fp.sinkhorn(a, b, kernel=kernel, max_iterations=100, tolerance=1e-3)
    went = found.plan @ y / (found.plan @ np.ones(len(y)))[:, None]
    told = f"{kernel.error}; {found.iterations} iterations, marginal error"
    return went, f"{told} {found.marginal_error:.0e}"


def transfer(images: list[np.ndarray], gamma: float = 5.0) -> None:
    """Give each photograph the colours of the other: all pixels of both.

    A blurred plan sends colours near to their mean. The same blur moves a photograph to itself, and
    what that changes is taken off.
    """
    import matplotlib.pyplot as plt

    x, y = images
    start = time.perf_counter()
    moved = {name: blurred(*pair, gamma) for name, pair in
        {"there": (x, y), "back": (y, x), "x": (x, x), "y": (y, y)}.items()}  # fmt: skip
    seconds = time.perf_counter() - start
    print(f"colour transfer, 4 plans of {len(x):,} × {len(y):,} pixels: {seconds:.1f} s")
    print(*(f"{name}: {told}" for name, (_, told) in moved.items()), sep="\n")
    there = x + moved["there"][0] - moved["x"][0]
    back = y + moved["back"][0] - moved["y"][0]
    shape = load_sample_images().images[0].shape
    titles = ["one", "the other", "one, in the colours of the other", "the other, in those of one"]
    figure, axes = plt.subplots(2, 2, figsize=(9, 6.2))
    for axis, title, image in zip(axes.ravel(), titles, (x, y, there, back), strict=True):
        axis.imshow(np.clip(image.reshape(shape), 0, 1))
        axis.set_title(title)
        axis.axis("off")
    figure.tight_layout()
    figure.savefig(FIGURES / "colour-transfer.png", dpi=80)
    plt.close(figure)


def main() -> None:
    options = arguments(__doc__).parse_args()
    images = pixels()
    rows, reference = [], {}
    with threadpool_limits(1):
        for n in (1000,) if options.quick else (1000, 10_000, 100_000):
            for gamma in (1.0, 3.0, 10.0):
                for line in lines(n, gamma, images, reference):
                    rows.append(line)
                    print(*line, sep=" | ", flush=True)
    headings = ["n", "γ", "method", "before, s", "an iteration, s", "speed-up", "cost, ratio"]
    headings.append("draws that warned")
    text = f"One thread, {DRAWS} draws.\n\n{table(headings, rows)}"
    publish("sinkhorn", text, quick=options.quick)
    if not options.quick:
        transfer(images)


if __name__ == "__main__":
    main()
