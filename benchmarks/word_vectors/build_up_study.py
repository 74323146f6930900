"""Geometric Build-up against stochastic gradients on synthetic points: the paper's Tables 1 and 2.

Points are drawn from a normal distribution, and noise is put on their inner products (the paper's
Algorithm 3); the score is the mean squared misfit of its equation 13. Where PyTorch is installed,
Adam runs beside it, as in the paper for at most 1,000 epochs or to a score of 1e-3, in PyTorch's
own float32. Means of ten runs, with the smallest and the largest score; times are processor time.
Writes docs/tables/build-up-study.md. Takes about four minutes on one core; with --keep, what is
done is kept in a file, and a run that was stopped goes on there.

    python -m benchmarks.word_vectors.build_up_study [--quick] [--keep FILE]
"""

from __future__ import annotations

import time
from math import ceil
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.shared.command import arguments
from benchmarks.shared.kept import Kept
from benchmarks.shared.tables import publish, table
from fewpairs.text.distance_geometry import BuildUp

RUNS, EPOCHS, GOOD_ENOUGH = 10, 1000, 1e-3
#: Score of build-up, then of SGD, as printed; * where the paper's solver failed.
PRINTED = {
    (500, 3, 0.0, "K + 1"): "4e-32, 1e-3", (500, 50, 0.0, "K + 1"): "2e-28, 1e-2",
    (500, 200, 0.0, "K + 1"): "7e-29, 1e-2", (500, 3, 0.01, "K + 1"): "7e-7, 2e-3",
    (500, 50, 0.01, "K + 1"): "1e-5, 1e-2", (500, 200, 0.01, "K + 1"): "*, 1e-2",
    (500, 3, 0.02, "K + 1"): "4e-6, 1e-3", (500, 50, 0.02, "K + 1"): "6e-6, 1e-2",
    (500, 200, 0.02, "K + 1"): "*, 1e-2", (1000, 3, 0.0, "K + 1"): "2e-32, 1e-3",
    (1000, 50, 0.0, "K + 1"): "5e-30, 1e-2", (1000, 200, 0.0, "K + 1"): "7e-29, 3e-2",
    (1000, 3, 0.01, "K + 1"): "3e-7, 1e-3", (1000, 50, 0.01, "K + 1"): "5e-6, 1e-2",
    (1000, 200, 0.01, "K + 1"): "*, 3e-2", (1000, 3, 0.02, "K + 1"): "2e-6, 1e-3",
    (1000, 50, 0.02, "K + 1"): "*, 1e-2", (1000, 200, 0.02, "K + 1"): "*, 3e-2",
    (500, 3, 0.02, "1.5 K"): "4e-6, 1e-3", (500, 50, 0.02, "1.5 K"): "5e-4, 1e-2",
    (500, 200, 0.02, "1.5 K"): "6e-3, 2e-2", (1000, 3, 0.02, "1.5 K"): "2e-6, 1e-3",
    (1000, 50, 0.02, "1.5 K"): "6e-4, 2e-2", (1000, 200, 0.02, "1.5 K"): "8e-3, 4e-2",
}  # fmt: skip


def gram(n: int, dimensions: int, noise: float, seed: int) -> np.ndarray:
    """Algorithm 3, with the noise as a standard deviation relative to the entry."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, dimensions))
    points -= points.mean(axis=0)
    true = points @ points.T
    drawn = np.triu(rng.normal(size=(n, n)) * noise * np.abs(true))
    noisy = true + drawn + np.triu(drawn, 1).T
    np.fill_diagonal(noisy, np.maximum(0, np.diag(noisy)))
    return noisy


def score(points: np.ndarray, g: np.ndarray, m: int) -> float:
    """Equation 13: the mean over pairs of references, each once, and of others with references."""
    misfit = (points @ points[:m].T - g[:, :m]) ** 2
    n = len(g)
    total = np.triu(misfit[:m]).sum() + misfit[m:].sum()
    return float(total / (m * (m + 1) / 2 + m * (n - m)))


def build_up(g: np.ndarray, dimensions: int, m: int, seed: int) -> np.ndarray:
    model = BuildUp(g[:m, :m], dimensions, np.random.default_rng(seed))
    return np.vstack([model.references, model.place(g[m:, :m])])


def by_gradients(g: np.ndarray, dimensions: int, m: int, seed: int) -> np.ndarray:
    import torch

    torch.manual_seed(seed)
    target = torch.tensor(g[:, :m], dtype=torch.float32)
    weight = torch.ones_like(target)
    weight[:m] = torch.triu(weight[:m])
    weight /= weight.sum()
    points = torch.randn(len(g), dimensions, requires_grad=True)
    points.grad = torch.zeros_like(points)
    optimizer = torch.optim.Adam([points], lr=0.05)
    with torch.no_grad():  # the gradient is written out: two products
        for _ in range(EPOCHS):
            misfit = torch.addmm(target, points, points[:m].T, beta=-1)
            weighted = weight * misfit
            if torch.dot(weighted.view(-1), misfit.view(-1)).item() < GOOD_ENOUGH:
                break
            torch.mm(weighted, points[:m], out=points.grad)
            points.grad[:m] += weighted.T @ points
            points.grad *= 2
            optimizer.step()
    return points.detach().numpy().astype(np.float64)


METHODS = {"build-up": build_up, "Adam": by_gradients}


def one_cell(method: str, n: int, dimensions: int, noise: float, m: int, runs: int) -> list:
    """Scores of all runs, and the mean processor time of one in seconds."""
    scores, seconds = [], []
    for seed in range(runs):
        g = gram(n, dimensions, noise, seed)
        start = time.process_time()
        points = METHODS[method](g, dimensions, m, seed)
        seconds.append(time.process_time() - start)
        scores.append(score(points, g, m))
    return [scores, float(np.mean(seconds))]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--keep", type=Path, help="a file for what is done")
    options = parser.parse_args()
    runs = 2 if options.quick else RUNS
    methods = list(METHODS)
    try:
        import torch

        torch.optim.Adam([torch.zeros(1)]).step()  # loads what no run should be charged with
    except ImportError:
        methods.remove("Adam")
        print("left out: Adam, for PyTorch is not installed")
    kept = Kept(None if options.quick else options.keep, "text")
    rows = []
    for (n, dimensions, noise, rule), printed in PRINTED.items():
        if options.quick and dimensions > 50:
            continue
        m = dimensions + 1 if rule == "K + 1" else ceil(1.5 * dimensions)
        cells = []
        for method in methods:
            part = f"{method} {n} {dimensions} {noise} {m} {runs}"
            if part not in kept:
                with threadpool_limits(1):
                    kept.add(part, one_cell(method, n, dimensions, noise, m, runs))
            scores, seconds = kept[part]
            spread = f"{np.mean(scores):.1e} ({min(scores):.1e}–{max(scores):.1e})"
            cells += [spread, f"{1e3 * seconds:.1f}"]
        rows.append([str(n), str(dimensions), rule, f"{noise}", *cells, printed])
        print(*rows[-1], sep=" | ", flush=True)
    headings = ["n", "K", "references", "noise"]
    headings += [f"{name} {what}" for name in methods for what in ("score", "CPU ms")]
    text = f"Means of {runs} runs (smallest–largest).\n\n"
    text += table([*headings, "paper: build-up, SGD"], rows)
    print("\n" + text)
    publish("build-up-study", text, quick=options.quick)


if __name__ == "__main__":
    main()
