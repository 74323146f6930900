"""A linear support vector machine for many rows, classes and costs: LIBLINEAR's, by products.

One against the rest, squared hinge loss, as in scikit-learn's `LinearSVC`, which the tests compare
it with. All classes are solved at once by L-BFGS, in coordinates in which the problem is well
conditioned, so that C = 3e5 takes no longer than C = 1.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

#: Costs, for features that are centred and of mean squared length one.
COSTS = (0.1, 1.0, 10.0, 100.0, 1e3, 1e4)


class LinearSVM:
    """Centred features of training rows, in the basis of their principal axes."""

    def __init__(self, rows: np.ndarray, labels: np.ndarray) -> None:
        self.names, codes = np.unique(labels, return_inverse=True)
        self.mean = rows.mean(axis=0)
        centred = rows - self.mean
        self.scale = float(np.sqrt((centred**2).sum(axis=1).mean())) or 1.0
        centred /= self.scale
        values, self.axes = np.linalg.eigh(centred.T @ centred)
        self.spectrum = np.maximum(values, 0.0)
        self.rows = self._turned(centred)
        self.signs = np.where(codes[:, None] == np.arange(len(self.names)), 1.0, -1.0)
        self.signs = self.signs.astype(np.float32)

    def _turned(self, centred: np.ndarray) -> np.ndarray:
        """Add a column of ones: its weight is the intercept."""
        ones = np.ones((len(centred), 1), dtype=np.float32)
        return np.hstack([(centred @ self.axes).astype(np.float32), ones])

    def fit(self, cost: float, start: np.ndarray | None = None) -> np.ndarray:
        """Weights of all classes for C = cost, one column for each."""
        # In units of the square root of the Hessian's inverse where every row counts.
        widths = np.append(self.spectrum, len(self.rows))
        unit = (1 / np.sqrt(1 + 2 * cost * widths)).astype(np.float32)[:, None]
        shape = len(unit), len(self.names)

        def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
            weights = unit * flat.reshape(shape).astype(np.float32)
            slack = np.maximum(1 - self.signs * (self.rows @ weights), 0)
            gradient = weights - 2 * cost * (self.rows.T @ (self.signs * slack))
            value = 0.5 * float((weights.astype(float) ** 2).sum())
            value += cost * float((slack.astype(float) ** 2).sum())
            return value, (unit * gradient).astype(float).ravel()

        first = np.zeros(shape) if start is None else start / unit
        options = {"maxiter": 60, "ftol": 1e-5, "gtol": 0.0, "maxcor": 6}
        found = minimize(loss, first.ravel(), jac=True, method="L-BFGS-B", options=options)
        return unit * found.x.reshape(shape).astype(np.float32)

    def score(self, weights: np.ndarray, rows: np.ndarray, labels: np.ndarray) -> float:
        """Share of rows whose class is found."""
        margins = self._turned((rows - self.mean) / self.scale) @ weights
        return float((self.names[margins.argmax(axis=1)] == labels).mean())


def best_cost(rows: np.ndarray, labels: np.ndarray, costs=COSTS) -> tuple[float, float]:
    """The cost that does best on a quarter of the training rows, and how well it does there."""
    held = np.arange(len(rows)) % 4 == 0
    machine, weights, found = LinearSVM(rows[~held], labels[~held]), None, {}
    for cost in costs:
        weights = machine.fit(cost, weights)
        found[cost] = machine.score(weights, rows[held], labels[held])
        if found[cost] < max(found.values()) - 0.02:
            break  # beyond the best: larger costs only fit the rows that are trained on
    best = max(found, key=found.get)
    return best, found[best]


def accuracies(train: np.ndarray, labels: np.ndarray, test: np.ndarray, truth: np.ndarray):
    """Per cent right of test and of training rows, and the cost, chosen on training rows alone."""
    cost, _ = best_cost(train, labels)
    machine = LinearSVM(train, labels)
    weights = machine.fit(cost)
    right = [machine.score(weights, *part) for part in ((test, truth), (train, labels))]
    return 100 * right[0], 100 * right[1], cost
