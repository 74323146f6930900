"""Entropic transport by Sinkhorn's iteration, with a dense cost or with a factored kernel.

Given masses a, b and costs C, find the plan P = diag(u)·K·diag(v), K = exp(−C / reg), with the
marginals a and b.

References
----------
Cuturi, *Sinkhorn distances*; Han, Avron, Shin, *Polynomial Tensor Sketch*, section 4.3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import FloatArray, is_number, is_whole
from fewpairs.errors import InputError, NegativeKernelWarning, NotConvergedWarning, warn
from fewpairs.transport.entropic import ROOM, Transport, by_kernel, by_logarithms
from fewpairs.transport.masses import balanced, common_unit, read_masses, read_numbers

#: Costs over reg beyond this leave no room for the sums of logarithms.
_LARGEST = 1e300
#: Rounding of the sums of a plan, as a share of the mass; no smaller error is a failure.
_SUMS_ROUND = 1e-12


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
        Masses, positive or zero. Their sums must agree to 1e-6 of their size; `b` is then scaled
        to the sum of `a`.
    cost : array-like of shape (n, m), or pair of arrays of shape (n, p), (m, p)
        With a factored kernel, the costs as A·Bᵀ; squared distances have p = d + 2.
    reg : float
        Strength of the blur, for a dense cost.
    kernel : FactoredMatrix or array, optional
        exp(−cost / reg), approximately: then nothing of size n × m is made.
    max_iterations : int, default=1000
    tolerance : float, default=1e-9
        Stop when the row sums are this near to `a`, as a share of the mass; a
        `NotConvergedWarning` says how far they are if the limit comes first. 0 takes exactly
        `max_iterations` steps, without a warning.

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
    supply, demand, exponent = _read(a, b)
    if not is_whole(max_iterations) or max_iterations < 1:
        raise InputError(
            f"max_iterations is {max_iterations!r}.", "It is a number of steps.", "Pass 1 or more."
        )
    if not is_number(tolerance) or tolerance < 0:
        raise InputError(
            f"tolerance is {tolerance!r}.",
            "It says how near the sums of the plan must come to the masses.",
            "Pass a number such as 1e-9.",
        )
    steps = int(max_iterations), float(tolerance)
    # What is infinite or undefined on the way is looked for at the end, and told in our own words.
    with np.errstate(all="ignore"):
        if kernel is not None:
            found, raised = by_kernel(supply, demand, kernel, cost, exponent, *steps)
        else:
            costs = _read_costs(supply, demand, cost, reg)
            found, raised = by_logarithms(supply, demand, *costs, exponent, *steps), 0
        _judge(found, raised, float(np.ldexp(supply.sum(), exponent)), *steps)
    return found


def _read(a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[FloatArray, FloatArray, int]:
    """Return masses of equal sums, in units of ``2**exponent``, and that exponent."""
    supply, demand = read_masses(a, "a"), read_masses(b, "b")
    scaled = common_unit(supply, demand)
    if not scaled[0].any():
        raise InputError(
            "all masses are 0.", "There is nothing to move.", "Pass some that are positive."
        )
    if abs(scaled[2]) > ROOM:
        return scaled[0], balanced(*scaled[:2]), scaled[2]
    return supply, balanced(supply, demand), 0


def _read_costs(
    a: FloatArray, b: FloatArray, cost: Any, reg: float | None
) -> tuple[FloatArray, float]:
    """Return the costs and reg; refuse what is not finite, not of that shape, or not positive."""
    table = read_numbers(cost, "the cost")
    if table.shape != (len(a), len(b)) or not np.isfinite(table).all():
        raise InputError(
            f"the cost has the shape {table.shape} for {len(a)} and {len(b)} masses, or "
            "is not finite.",
            "There is one cost for each pair of places.",
            "Pass a finite array of that shape, or a kernel.",
        )
    if not is_number(reg) or reg <= 0:
        raise InputError(
            f"reg is {reg!r}.", "It is the strength of the blur.", "Pass a positive number."
        )
    largest = float(np.abs(table).max(initial=0.0))
    if not largest / float(reg) < _LARGEST:
        raise InputError(
            f"reg is {reg!r}, and the largest cost {largest:.3g}.",
            "Their quotient is too large for a number, and there is no blur left.",
            "Pass a larger reg, or use fewpairs.emd, which needs none.",
        )
    return table, float(reg)


def _judge(found: Transport, raised: int, mass: float, most: int, tolerance: float) -> None:
    """Refuse a result that is no number; warn of one whose sums are not near to the masses."""
    error = found.marginal_error
    if not np.isfinite(error) or not np.isfinite(0.0 if found.cost is None else found.cost):
        raise InputError(
            f"after {found.iterations} steps the marginal error is {error:.3g} and the cost is "
            f"{found.cost}.",
            "Numbers became too large, or reg is too small for the digits of the costs.",
            "Pass a larger reg, smaller masses or costs, or use fewpairs.emd.",
        )
    off = f"the sums of the plan are off by {error:.2g} in all, for a mass of {mass:.3g}"
    if raised:
        warn(
            NegativeKernelWarning(
                f"{raised} sums of the kernel were below its own error in the last step, or not "
                f"positive; {off}. Use a better kernel."
            )
        )
    elif tolerance > 0 and error > max(1.001 * tolerance, _SUMS_ROUND) * mass:
        warn(
            NotConvergedWarning(
                f"stopped after {most} steps: {off}. Pass a larger max_iterations, reg or "
                "tolerance."
            )
        )
