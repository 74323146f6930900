"""Entropic transport by Sinkhorn's iteration, with a dense cost or with a factored kernel.

Given masses a, b and costs C, find the plan P = diag(u)·K·diag(v), K = exp(−C / reg), with the
marginals a and b. Each step is two products with K: n·m operations, or of order n + m where K is
factored.

References
----------
Cuturi, *Sinkhorn distances*; Han, Avron, Shin, *Polynomial Tensor Sketch*, section 4.3.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from fewpairs.arrays import FloatArray, is_number
from fewpairs.errors import InputError, NegativeKernelWarning, warn
from fewpairs.numerics import parts
from fewpairs.transport.masses import read_masses, refuse_unequal

#: Sums of a kernel below this share of the largest are raised to it. A factored kernel may be
#: negative where it should be tiny, and dividing by such a sum would move everything there. It is
#: far below what a kernel approximated to 1e-3 or 1e-6 can resolve, and far above rounding.
_FLOOR = 1e-12
#: Rows of a plan that are computed together: their entries exist only for that moment.
_STRIP = 256


class Transport(NamedTuple):
    """An entropic plan diag(left)·K·diag(right).

    Attributes
    ----------
    left, right : ndarray
        The scalings u and v; of a dense cost their logarithms, because they may be very large.
    plan : FactoredMatrix or ndarray
        What moves from each place to each: factored, where the kernel is.
    cost : float or None
        Σ Pᵢⱼ·Cᵢⱼ; None where a factored kernel came without costs.
    iterations : int
    marginal_error : float
        Σ |row sums − a| at the end. Where sums of the kernel had to be raised, Σ |column sums − b|
        is added, which is zero otherwise.
    """

    left: FloatArray
    right: FloatArray
    plan: Any
    cost: float | None
    iterations: int
    marginal_error: float


def sinkhorn(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    cost: Any = None,
    *,
    reg: float | None = None,
    kernel: Any = None,
    max_iterations: int = 1000,
    tolerance: float = 1e-9,
) -> Transport:
    """Move masses at a small cost, blurred by entropy.

    Parameters
    ----------
    a, b : array-like of shape (n,), (m,)
        Masses, positive or zero, equal in sum.
    cost : array-like of shape (n, m), or pair of arrays of shape (n, p), (m, p)
        With a factored kernel, the costs as A·Bᵀ; squared distances have p = d + 2.
    reg : float
        Strength of the blur, for a dense cost.
    kernel : FactoredMatrix or array, optional
        exp(−cost / reg), approximately: then nothing of size n × m is made.
    max_iterations : int, default=1000
    tolerance : float, default=1e-9
        Stop when the row sums are this near to `a`, as a share of the mass.

    Returns
    -------
    Transport
        `left` and `right` are logarithms for a dense cost, plain scalings for a kernel.

    Examples
    --------
    >>> found = sinkhorn([0.5, 0.5], [0.5, 0.5], [[0.0, 1.0], [1.0, 0.0]], reg=0.1)
    >>> round(found.cost, 4)
    0.0
    """
    supply, demand = read_masses(a, "a"), read_masses(b, "b")
    if not supply.sum() > 0:
        raise InputError(
            "all masses are 0.", "There is nothing to move.", "Pass some that are positive."
        )
    refuse_unequal(supply, demand)
    if kernel is not None:
        return _by_kernel(supply, demand, kernel, cost, max_iterations, tolerance)
    table = np.asarray(cost, dtype=np.float64)
    if table.shape != (len(supply), len(demand)) or not np.isfinite(table).all():
        raise InputError(
            f"the cost has the shape {table.shape} for {len(supply)} and {len(demand)} masses, or "
            "is not finite.",
            "There is one cost for each pair of places.",
            "Pass a finite array of that shape, or a kernel.",
        )
    if not is_number(reg) or reg <= 0:
        raise InputError(
            f"reg is {reg!r}.", "It is the strength of the blur.", "Pass a positive number."
        )
    return _by_logarithms(supply, demand, table, float(reg), max_iterations, tolerance)


def _by_logarithms(
    a: FloatArray, b: FloatArray, cost: FloatArray, reg: float, most: int, tolerance: float
) -> Transport:
    """Iterate on logarithms: no kernel underflows, however small reg is."""
    with np.errstate(divide="ignore"):  # the logarithm of no mass is −∞, and stays so
        log_a, log_b = np.log(a), np.log(b)
    scaled = cost / reg
    f, g = np.zeros(len(a)), np.zeros(len(b))
    error, done = np.inf, 0
    sums = logsumexp(g - scaled, axis=1)
    for done in range(1, most + 1):  # noqa: B007 - told afterwards
        f = log_a - sums
        g = log_b - logsumexp(f[:, None] - scaled, axis=0)
        sums = logsumexp(g - scaled, axis=1)  # for the error now, and for the next step
        error = float(np.abs(np.exp(f + sums) - a).sum())
        if error <= tolerance * a.sum():
            break
    plan = np.exp(f[:, None] + g - scaled)
    return Transport(f, g, plan, float((plan * cost).sum()), done, error)


def _by_kernel(
    a: FloatArray, b: FloatArray, kernel: Any, cost: Any, most: int, tolerance: float
) -> Transport:
    """Iterate on the scalings themselves: products with the kernel are all that is needed."""
    if tuple(kernel.shape) != (len(a), len(b)):
        raise InputError(
            f"the kernel has the shape {tuple(kernel.shape)} for {len(a)} and {len(b)} masses.",
            "There is one entry for each pair of places.",
            "Pass a kernel between the places of a and those of b.",
        )
    u, v = np.ones(len(a)), np.ones(len(b))
    noise = _entry_error(kernel)
    raised, error, done = 0, np.inf, 0
    rows = _finite(kernel @ v)
    for done in range(1, most + 1):  # noqa: B007 - told afterwards
        # Independent errors of the entries add up to noise·‖v‖ in a sum weighted by v.
        rows, n_rows_raised = _raised(rows, noise * float(np.linalg.norm(v)))
        u = a / rows
        columns = _finite(u @ kernel)
        columns, n_columns_raised = _raised(columns, noise * float(np.linalg.norm(u)))
        v = b / columns
        raised = n_rows_raised + n_columns_raised
        # u·t and v/t give the same plan: choose t so that neither over- nor underflows.
        ratio = np.sqrt(max(u.max(), 1e-300) / max(v.max(), 1e-300))
        u, v = u / ratio, v * ratio
        rows = _finite(kernel @ v)  # for the error now, and for the next step
        error = float(np.abs(u * rows - a).sum())
        if error <= tolerance * a.sum():
            break
    if raised:  # then the column sums are not those of b
        error += float(np.abs(v * _finite(u @ kernel) - b).sum())
        warn(
            NegativeKernelWarning(
                f"{raised} sums of the kernel were below its own error in the last step, or not "
                "positive; the plan is only near to the masses there. Use a better kernel."
            )
        )
    plan = kernel.scaled(u, v) if hasattr(kernel, "scaled") else u[:, None] * kernel * v
    return Transport(u, v, plan, _cost(plan, cost), done, error)


def _finite(sums: Any) -> FloatArray:
    """Return sums of the kernel; refuse what is not finite."""
    array = np.asarray(sums, dtype=np.float64)
    if not np.isfinite(array).all():
        raise InputError(
            "a sum of the kernel is not finite.",
            "Scalings are masses over such sums.",
            "Pass a kernel of finite numbers.",
        )
    return array


def _raised(sums: FloatArray, noise: float) -> tuple[FloatArray, int]:
    """Raise sums that are below the kernel's own error, or nearly zero; say how many there were."""
    floor = max(noise, _FLOOR * float(np.abs(sums).max(initial=1e-300)))
    low = sums < floor
    return np.where(low, floor, sums), int(low.sum())


def _entry_error(kernel: Any) -> float:
    """Return the root mean square error of an entry, where the kernel states its error."""
    stated = getattr(kernel, "error", None)
    if stated is None:
        return 0.0
    # ‖L·C·Rᵀ‖² is the trace of (LᵀL)·C·(RᵀR)·Cᵀ.
    inner = (kernel.left.T @ kernel.left) @ kernel.core @ (kernel.right.T @ kernel.right)
    square = float((inner * kernel.core).sum())
    return float(stated.value * np.sqrt(max(square, 0.0) / (kernel.shape[0] * kernel.shape[1])))


def _cost(plan: Any, cost: Any) -> float | None:
    """Return Σ Pᵢⱼ·Cᵢⱼ; with C = A·Bᵀ, one product with P for all columns of B."""
    if cost is None:
        return None
    if isinstance(cost, tuple):
        left, right = (np.asarray(part, dtype=np.float64) for part in cost)
        return float((left * np.asarray(plan @ right)).sum())
    table = np.asarray(cost, dtype=np.float64)
    if table.shape != tuple(plan.shape):
        raise InputError(
            f"the cost has the shape {table.shape}, the plan {tuple(plan.shape)}.",
            "There is one cost for each pair of places.",
            "Pass an array of that shape, or a pair of factors.",
        )
    return float(sum((table[rows] * plan[rows]).sum() for rows in parts(len(table), _STRIP)))
