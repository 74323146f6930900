"""Small loops that the compiler turns into vector instructions.

LLVM does not vectorise a minimum written with ``min`` or ``if``, for it must mind NaN and the sign
of zero. It does vectorise its own `minnum` marked as free of both, eight times faster on a row of
seventy. The place of the minimum is then found by a second pass over integers, which vectorises as
it is.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg"
# ruff: noqa: ANN001, ANN201, ANN202, ARG001

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

#: Larger than any cost, smaller than what overflows when two are added.
INFINITE = 1e300
#: One set of flags for the whole kernel: no bounds are checked, NaN and infinity never occur.
COMPILED: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "fastmath": {"nnan", "nsz", "ninf"},
    "boundscheck": False,
    "error_model": "numpy",
}
#: For the pieces of the kernel: a call would hand over each array as seven numbers.
INLINED = COMPILED | {"forceinline": True}
_NOWHERE = 1 << 30


@intrinsic
def smaller(typing_context, x, y):
    """Return the smaller of two numbers, in a way that vectorises inside a loop."""

    def generate(context, builder, signature, arguments):
        double = ir.DoubleType()
        kind = ir.FunctionType(double, [double, double])
        function = builder.module.declare_intrinsic("llvm.minnum", [double], kind)
        return builder.call(function, arguments, fastmath=("nnan", "nsz"))

    return types.float64(types.float64, types.float64), generate


@intrinsic
def lowest_bit(typing_context, bits):
    """Return the place of the lowest set bit of a word that is not zero."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


@intrinsic
def uncounted(typing_context, array):
    """Return the array as a plain view, for which no references are counted.

    Counting is atomic, and a name given to an array inside a loop counts. The owner must live
    longer: take this of a function's arguments only, which the caller holds.
    """

    def generate(context, builder, signature, arguments):
        view = context.make_array(signature.return_type)(context, builder, arguments[0])
        view.meminfo = cgutils.get_null_value(view.meminfo.type)
        view.parent = cgutils.get_null_value(view.parent.type)
        return view._getvalue()  # noqa: SLF001 - the way in numba

    return array(array), generate


@njit(**INLINED)
def least(values, count):
    """Return the minimum of the first `count` values."""
    low = INFINITE
    for k in range(count):
        low = smaller(values[k], low)
    return low


@njit(**INLINED)
def place_of(values, wanted, count):
    """Return the first place of a value that is known to be there."""
    place = _NOWHERE
    for k in range(count):
        place = min(place, k if values[k] == wanted else _NOWHERE)
    return place


@njit(**INLINED)
def least_difference(costs, duals, count):
    """Return the minimum of ``costs - duals``."""
    low = INFINITE
    for k in range(count):
        low = smaller(costs[k] - duals[k], low)
    return low


@njit(**INLINED)
def place_of_difference(costs, duals, wanted, count):
    """Return the first place where ``costs - duals`` has a value that is known to be there."""
    place = _NOWHERE
    for k in range(count):
        place = min(place, k if costs[k] - duals[k] == wanted else _NOWHERE)
    return place
