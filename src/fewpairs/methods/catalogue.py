"""The methods by name, and their options checked by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from fewpairs.arrays import is_number, is_whole
from fewpairs.errors import AsymmetryError, InputError, UnknownNameError
from fewpairs.methods.base import KnownOption, Method
from fewpairs.methods.cur import SiCUR, Skeleton, StaCUR
from fewpairs.methods.fitted import Fitted
from fewpairs.methods.nystrom import Nystrom, RescaledSMSNystrom, SMSNystrom
from fewpairs.methods.optimal import Optimal

METHODS: dict[str, type[Any]] = {
    "fitted": Fitted,
    "nystrom": Nystrom,
    "sms": SMSNystrom,
    "sms-rescaled": RescaledSMSNystrom,
    "skeleton": Skeleton,
    "sicur": SiCUR,
    "stacur": StaCUR,
    "optimal": Optimal,
}


def find_method(
    name: str, options: Mapping[str, Any], *, symmetric: bool, square: bool = True
) -> tuple[Method, KnownOption, str]:
    """Look a method up and check its options.

    Parameters
    ----------
    name : str
        One of `METHODS`, or "auto", which is "fitted".
    options : mapping
        Fields of the method, and ``known``.
    symmetric : bool
        Whether the similarity is.
    square : bool, default=True
        Whether rows and columns are the same items.

    Returns
    -------
    method : Method
    known : {"exact", None}
    title : str
    """
    given = dict(options)
    name = "fitted" if name == "auto" else name
    if name not in METHODS:
        raise UnknownNameError("method", name, ["auto", *METHODS])
    known = given.pop("known", "exact" if name == "fitted" else None)
    if known not in (None, "exact"):
        raise InputError(
            f"known is {known!r}.",
            "It says whether evaluated entries are put back into the result.",
            'Pass known="exact", or None for the factors alone.',
        )
    kind = METHODS[name]
    allowed = {field.name: field.type for field in fields(kind) if field.name != "known"}
    for option, value in given.items():
        if option not in allowed:
            raise UnknownNameError(
                "option", option, [*allowed, "known"], where=f'of the method "{name}"'
            )
        _check(option, value, str(allowed[option]))
    shown = dict(given)
    if name == "fitted":
        given["known"] = known  # what is not put back need not be evaluated
    method: Method = kind(**given)
    if method.needs_square and not square:
        raise InputError(
            f'the method "{name}" was asked for a matrix between two different sets of items.',
            "It reads the rows and the columns of the same landmarks.",
            'Leave method out, or pass method="fitted".',
        )
    if method.needs_symmetric and not symmetric:
        raise AsymmetryError(
            f'the method "{name}" needs a symmetric similarity, and this one is not.',
            "It reads columns only, and would silently use them as rows.",
            'Pass similarity.symmetrized(), or method="sicur", "skeleton" or "stacur".',
        )
    if known != ("exact" if name == "fitted" else None):
        shown["known"] = known
    title = name + "".join(f", {k}={v}" for k, v in sorted(shown.items()))
    return method, known, title


def _check(option: str, value: Any, kind: str) -> None:
    """Check one option by its annotation; shares lie below 1, counts and factors from 1 on."""
    number = is_number(value) and value >= 0
    if kind == "bool":
        good, wanted = isinstance(value, (bool, np.bool_)), "True or False"
    elif kind.startswith("Diagonal"):
        good = value is None or value == "evaluate" or number
        wanted = '"evaluate", the number that every item has, or None'
    elif kind == "int" or option == "oversampling":
        whole = kind != "int" or is_whole(value)
        good, wanted = number and whole and value >= 1, "a number of at least 1"
    elif option in ("near", "tuning"):
        good, wanted = number and value < 1, "a share: 0 or more, and below 1"
    else:
        good, wanted = number, "a number, 0 or more"
    if not good:
        raise InputError(
            f"the option {option} is {value!r}.",
            "Options are checked before the first evaluation is bought.",
            f"Pass {wanted}.",
        )
