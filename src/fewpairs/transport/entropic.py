"""Sinkhorn's iteration: on logarithms with a dense cost, on the scalings with a kernel.

The plan is diag(u)·K·diag(v). Each step is two products with K: n·m operations, or of order n + m
where K is factored.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from fewpairs.arrays import FloatArray
from fewpairs.errors import InputError
from fewpairs.numerics import parts
from fewpairs.transport.masses import read_numbers

#: Sums of a kernel below this share of the largest are raised to it. A factored kernel may be
#: negative where it should be tiny, and dividing by such a sum would move everything there. It is
#: far below what a kernel approximated to 1e-3 or 1e-6 can resolve, and far above rounding.
_FLOOR = 1e-12
#: Masses and kernels beyond 2^±400 are scaled by a power of two, so that sums and quotients of them
#: are numbers.
ROOM = 400
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
        Σ |row sums − a| + Σ |column sums − b| at the end. The second is zero but for rounding,
        unless sums of the kernel had to be raised.
    """

    left: FloatArray
    right: FloatArray
    plan: Any
    cost: float | None
    iterations: int
    marginal_error: float


def by_logarithms(
    a: FloatArray,
    b: FloatArray,
    cost: FloatArray,
    reg: float,
    exponent: int,
    most: int,
    tolerance: float,
) -> Transport:
    """Iterate on logarithms: no kernel underflows, however small reg is."""
    log_a, log_b = np.log(a), np.log(b)  # the logarithm of no mass is −∞, and stays so
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
    # Where reg is far below the costs, sums of logarithms round away what the plan needs.
    error = float(np.abs(plan.sum(axis=1) - a).sum() + np.abs(plan.sum(axis=0) - b).sum())
    if exponent:
        f = f + exponent * np.log(2)
        plan, error = np.ldexp(plan, exponent), float(np.ldexp(error, exponent))
    return Transport(f, g, plan, float((plan * cost).sum()), done, error)


def by_kernel(
    a: FloatArray,
    b: FloatArray,
    kernel: Any,
    cost: Any,
    exponent: int,
    most: int,
    tolerance: float,
) -> tuple[Transport, int]:
    """Iterate on the scalings themselves: products with the kernel are all that is needed.

    Also returns how many sums of the kernel had to be raised in the last step.
    """
    kernel, kernel_exponent = _read_kernel(kernel, len(a), len(b))
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
    u, error = np.ldexp(u, exponent), float(np.ldexp(error, exponent))
    plan = kernel.scaled(u, v) if hasattr(kernel, "scaled") else u[:, None] * kernel * v
    v = np.ldexp(v, -kernel_exponent)
    return Transport(u, v, plan, _cost(plan, cost), done, error), raised


def _read_kernel(kernel: Any, n: int, m: int) -> tuple[Any, int]:
    """Return the kernel, an array in units of ``2**exponent``, and that exponent."""
    factored = hasattr(kernel, "scaled")
    kernel = kernel if factored else read_numbers(kernel, "the kernel")
    if tuple(kernel.shape) != (n, m):
        raise InputError(
            f"the kernel has the shape {tuple(kernel.shape)} for {n} and {m} masses.",
            "There is one entry for each pair of places.",
            "Pass a kernel between the places of a and those of b.",
        )
    if factored:
        return kernel, 0
    exponent = int(np.frexp(np.abs(_finite(kernel)).max(initial=0.0))[1])
    return (np.ldexp(kernel, -exponent), exponent) if abs(exponent) > ROOM else (kernel, 0)


def _finite(sums: Any) -> FloatArray:
    """Return sums of the kernel; refuse what is not finite."""
    array = np.asarray(sums, dtype=np.float64)
    if not np.isfinite(array).all():
        raise InputError(
            "an entry or a sum of the kernel is not finite.",
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
        left, right = (read_numbers(part, "a factor of the cost") for part in cost)
        return float((left * np.asarray(plan @ right)).sum())
    table = read_numbers(cost, "the cost")
    if table.shape != tuple(plan.shape):
        raise InputError(
            f"the cost has the shape {table.shape}, the plan {tuple(plan.shape)}.",
            "There is one cost for each pair of places.",
            "Pass an array of that shape, or a pair of factors.",
        )
    return float(sum((table[rows] * plan[rows]).sum() for rows in parts(len(table), _STRIP)))
