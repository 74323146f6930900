"""Geometric Build-up against stochastic gradients on synthetic points: the paper's Tables 1 and 2.

Points are drawn from a normal distribution, and noise is put on their inner products (the paper's
Algorithm 3); the score is the mean squared misfit of its equation 13. Where PyTorch is installed,
Adam runs beside it, as in the paper for at most 1,000 epochs or to a score of 1e-3. Means of ten
runs, of Adam too unless `--adam` says otherwise. Writes docs/tables/build-up-study.md. Takes about
ten minutes on one core for each run of Adam.

    python -m benchmarks.word_vectors.build_up_study [--quick] [--adam 1]
"""

from __future__ import annotations

import time
from math import ceil

import numpy as np

from benchmarks.shared.command import arguments
from benchmarks.shared.tables import publish, table
from fewpairs.text.distance_geometry import BuildUp

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


def build_up(g: np.ndarray, dimensions: int, m: int) -> np.ndarray:
    model = BuildUp(g[:m, :m], dimensions, np.random.default_rng(0))
    return np.vstack([model.references, model.place(g[m:, :m])])


def by_gradients(g: np.ndarray, dimensions: int, m: int) -> np.ndarray:
    import torch

    torch.manual_seed(0)
    target = torch.tensor(g[:, :m])
    weight = torch.ones_like(target)
    weight[:m] = torch.triu(weight[:m])
    points = torch.randn(len(g), dimensions, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([points], lr=0.05)
    for _ in range(1000):
        optimizer.zero_grad()
        loss = (weight * (points @ points[:m].T - target) ** 2).sum() / weight.sum()
        if loss.item() < 1e-3:
            break
        loss.backward()
        optimizer.step()
    return points.detach().numpy()


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--adam", type=int, default=10, help="runs of Adam")
    options = parser.parse_args()
    runs, of_adam = (2, 1) if options.quick else (10, options.adam)
    methods = {"build-up": build_up}
    try:
        import torch  # noqa: F401

        methods["Adam"] = by_gradients
    except ImportError:
        print("left out: Adam, for PyTorch is not installed")
    rows = []
    for (n, dimensions, noise, rule), printed in PRINTED.items():
        if options.quick and dimensions > 50:
            continue
        m = dimensions + 1 if rule == "K + 1" else ceil(1.5 * dimensions)
        cells = []
        for method in methods.values():
            scores, seconds = [], []
            for seed in range(runs if method is build_up else of_adam):
                g = gram(n, dimensions, noise, seed)
                start = time.perf_counter()
                points = method(g, dimensions, m)
                seconds.append(time.perf_counter() - start)
                scores.append(score(points, g, m))
            cells += [f"{np.mean(scores):.1e}", f"{1e3 * np.mean(seconds):.1f}"]
        rows.append([str(n), str(dimensions), rule, f"{noise}", *cells, printed])
        print(*rows[-1], sep=" | ", flush=True)
    headings = ["n", "K", "references", "noise"]
    headings += [f"{name} {what}" for name in methods for what in ("score", "ms")]
    text = f"Runs of build-up: {runs}, of Adam: {of_adam}.\n\n"
    text += table([*headings, "paper: build-up, SGD"], rows)
    publish("build-up-study", text, quick=options.quick)


if __name__ == "__main__":
    main()
