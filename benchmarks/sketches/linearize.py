"""Two layers of a network as one linear map of a sketch, as in the paper's Table 2.

A network of 1,024 sigmoids is trained on usps (scikit-learn's digits where the data folder is
absent), its two layers are replaced by `fp.linearize` with degree 3, and the result is trained
further. Every model is trained for 200 epochs, as in the paper, the sketches after the network.
Test errors, means and spreads of five seeds, and multiply–adds. Beside the paper's sketch is ours,
whose linear term is exact. Needs PyTorch. Writes docs/tables/linearize.md. Takes about half an
hour on one core; stopped and started again with `--keep` it goes on at the next seed.

    FEWPAIRS_DATA=… python -m benchmarks.sketches.linearize [--quick] [--keep FILE]
"""

from __future__ import annotations

import importlib.util
import sys
from functools import partial
from pathlib import Path

import numpy as np
from scipy.special import expit
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import fewpairs as fp
from benchmarks.shared.command import arguments
from benchmarks.shared.kept import Kept
from benchmarks.shared.tables import publish, table
from fewpairs import datasets

HIDDEN, DEGREE, SIZES = 1024, 3, (100, 200, 400, 800)
#: Test errors in per cent that the paper prints, by sketch size.
PRINTED = {"linear": "45.67", 100: "53.09", 200: "47.18", 400: "43.90", 800: "41.73"}
PRINTED["original"] = "39.02"


def data() -> tuple[str, list[np.ndarray]]:
    """Training inputs, test inputs, training labels, test labels."""
    try:
        with np.load(datasets.benchmark_folder() / "usps" / "data.npz") as file:
            return "usps", [file[name] for name in ("X", "X_test", "y", "y_test")]
    except datasets.DataNotFoundError:
        x, y = load_digits(return_X_y=True)
        return "digits", train_test_split(x / 8 - 1, y, test_size=0.3, random_state=0)


def trained(model, x, y, epochs: int, rate: float, seed: int):
    import torch

    torch.manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for _ in range(epochs):
        for part in torch.randperm(len(x)).split(128):
            loss = torch.nn.functional.cross_entropy(model(x[part]), y[part])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        schedule.step()
    return model


def of_seed(
    parts: list[np.ndarray], seed: int, epochs: int, sizes: tuple[int, ...]
) -> list[tuple[str, int | str, float | None, float, int]]:
    """Model, sketch size, test errors before and after training, and multiply–adds."""
    import torch

    x, x_test = (torch.tensor(part, dtype=torch.float32) for part in parts[:2])
    y, y_test = (torch.tensor(part, dtype=torch.long) for part in parts[2:])
    d, classes = x.shape[1], int(y.max()) + 1

    def error(model) -> float:
        with torch.no_grad():
            return 100 * float((model(x_test).argmax(dim=1) != y_test).float().mean())

    torch.manual_seed(seed)
    linear = trained(torch.nn.Linear(d, classes), x, y, epochs, 1e-3, seed)
    found = [("linear", "", None, error(linear), d * classes)]
    first, second = torch.nn.Linear(d, HIDDEN), torch.nn.Linear(HIDDEN, classes)
    network = torch.nn.Sequential(first, torch.nn.Sigmoid(), second)
    trained(network, x, y, epochs, 1e-3, seed)
    found.append(("original", "", None, error(network), d * HIDDEN + HIDDEN * classes))
    for title, exact in {"**fewpairs**": True, "Coreset-TS": False}.items():
        for size in sizes:
            layers = fp.linearize(
                first, second, expit, x[:2000], degree=DEGREE, sketch_size=size,
                exact_linear=exact, random_state=seed,
            )  # fmt: skip
            before = error(layers)
            trained(layers, x, y, epochs, 1e-3, seed)
            found.append((title, size, before, error(layers), layers.multiply_adds))
    print("seed", seed, flush=True)
    return found


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--keep", type=Path, help="a file for what is done, to go on from")
    options = parser.parse_args()
    if importlib.util.find_spec("torch") is None:
        sys.exit("skipped: PyTorch is not installed")
    name, parts = data()
    epochs, seeds, sizes = (3, 1, SIZES[:1]) if options.quick else (200, 5, SIZES)
    kept = Kept(options.keep, "sketches", "tasks")
    errors: dict[tuple, list[tuple[float, float]]] = {}
    costs: dict[tuple, int] = {}
    for seed in range(seeds):
        run = kept.part(f"{name}|{seed}|{epochs}", partial(of_seed, parts, seed, epochs, sizes))
        for title, size, before, after, cost in run:
            both = np.nan if before is None else before, after
            errors.setdefault((title, size), []).append(both)
            costs[title, size] = cost
    lines = []
    for key, found in errors.items():
        (before, after), spread = np.mean(found, axis=0), np.std(found, axis=0)[1]
        cells = ["" if np.isnan(before) else f"{before:.2f}", f"{after:.2f} ± {spread:.2f}"]
        ratio = f"{costs['original', ''] / costs[key]:.1f}×"
        printed = PRINTED.get(key[1] or key[0], "") if key[0] != "**fewpairs**" else ""
        lines.append([key[0], key[1], f"{costs[key]:,}", ratio, *cells, printed])
        print(*lines[-1], sep=" | ", flush=True)
    headings = ["model", "m", "multiply–adds", "fewer than original", "error before training, %"]
    headings += ["error after, %", "paper (AlexNet, CIFAR100)"]
    text = f"{name}, {seeds} seeds, {epochs} epochs.\n\n{table(headings, lines)}\n"
    print("\n" + text)
    publish("linearize", text, quick=options.quick)


if __name__ == "__main__":
    main()
