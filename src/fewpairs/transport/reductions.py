"""Small loops that the compiler turns into vector instructions.

LLVM does not vectorise a minimum written with ``min`` or ``if``, because NaN and the sign of zero
must then be treated exactly. Its own `minnum`, marked as free of both, does vectorise: eight times
faster on a row of seventy numbers. Where the minimum stands is then found by a second pass, over
integers, which vectorises as it is.
"""

# mypy: disable-error-code="untyped-decorator,no-untyped-call,call-arg"
# ruff: noqa: ARG001 - numba fixes the arguments of an intrinsic

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from fewpairs.arrays import FloatArray
from fewpairs.parallel import COMPILED

#: Larger than any cost, and small enough that the sum of two does not overflow.
INFINITE = 1e300
#: For code that never meets NaN or infinity: the compiler need not care for them, nor for the sign
#: of zero, and a division does not check for zero. Sums keep their order.
FINITE_ONLY = COMPILED | {"fastmath": {"nnan", "nsz", "ninf"}, "error_model": "numpy"}
#: For the pieces of the solver: a call would hand over each array as seven numbers.
INLINED = FINITE_ONLY | {"forceinline": True}
#: Larger than any place in an array of costs.
_NOWHERE = 1 << 30


@intrinsic
def smaller(typing_context: Any, x: Any, y: Any) -> Any:
    """Return the smaller of two numbers, in a way that vectorises inside a loop."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        double = ir.DoubleType()
        kind = ir.FunctionType(double, [double, double])
        function = builder.module.declare_intrinsic("llvm.minnum", [double], kind)
        return builder.call(function, arguments, fastmath=("nnan", "nsz"))

    return types.float64(types.float64, types.float64), generate


@intrinsic
def lowest_bit(typing_context: Any, bits: Any) -> Any:
    """Return the place of the lowest set bit of a word that is not zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


@intrinsic
def uncounted(typing_context: Any, array: Any) -> Any:
    """Return the array as a plain view, for which no references are counted.

    Counting is an atomic operation, and every name given to an array inside a loop counts. The
    array must outlive the view: use this on arguments of a function only, which its caller holds.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.return_type)(context, builder, arguments[0])
        view.meminfo = cgutils.get_null_value(view.meminfo.type)
        view.parent = cgutils.get_null_value(view.parent.type)
        return view._getvalue()  # noqa: SLF001 - the way in numba

    return array(array), generate


@njit(**INLINED)
def least(values: FloatArray, count: int) -> float:
    """Return the minimum of the first `count` values."""
    low = INFINITE
    for k in range(count):
        low = smaller(values[k], low)
    return low


@njit(**INLINED)
def place_of(values: FloatArray, wanted: float, count: int) -> int:
    """Return the first place of a value that is known to be there."""
    place = _NOWHERE
    for k in range(count):
        place = min(place, k if values[k] == wanted else _NOWHERE)
    return place


@njit(**INLINED)
def least_difference(costs: FloatArray, duals: FloatArray, count: int) -> float:
    """Return the minimum of ``costs - duals``."""
    low = INFINITE
    for k in range(count):
        low = smaller(costs[k] - duals[k], low)
    return low


@njit(**INLINED)
def place_of_difference(costs: FloatArray, duals: FloatArray, wanted: float, count: int) -> int:
    """Return the first place where ``costs - duals`` has a value that is known to be there."""
    place = _NOWHERE
    for k in range(count):
        place = min(place, k if costs[k] - duals[k] == wanted else _NOWHERE)
    return place
