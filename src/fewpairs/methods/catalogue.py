"""The methods by name, and their options checked by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from fewpairs.errors import AsymmetryError, InputError, UnknownNameError
from fewpairs.methods.base import Method
from fewpairs.methods.cur import SiCUR, Skeleton, StaCUR
from fewpairs.methods.fitted.recipe import Fitted
from fewpairs.methods.nystrom import Nystrom, RescaledSMSNystrom, SMSNystrom
from fewpairs.methods.optimal import Optimal
from fewpairs.methods.options import KNOWN, check_option, checks_of, defaults_of, options_of

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
#: What ``method="auto"`` means.
DEFAULT = "fitted"


class Chosen(NamedTuple):
    """A method with its options, whether evaluated entries are put back, and a title for people."""

    method: Method
    put_back: bool
    title: str


def find_method(
    name: str | Method,
    options: Mapping[str, Any],
    *,
    symmetric: bool,
    square: bool = True,
    also: Iterable[str] = (),
) -> Chosen:
    """Look a method up and check its options.

    Parameters
    ----------
    name : str or Method
        One of `METHODS`, or "auto", which is "fitted"; or a method of your own, with its options.
    options : mapping
        Fields of the method, and ``known``.
    symmetric : bool
        Whether the similarity is.
    square : bool, default=True
        Whether rows and columns are the same items.
    also : iterable of str
        Names of options that others look after, to be suggested for a misspelt one.

    Returns
    -------
    Chosen
    """
    kind, title = _kind(name)
    checks = checks_of(kind)
    for option in options:
        if option not in checks and option != "known":
            every = {*checks, "known", *also}
            raise UnknownNameError("option", option, every, where=f'of the method "{title}"')
    given = dict(options)
    if isinstance(name, Method):
        if set(given) - {"known"}:
            raise InputError(
                f"the options {', '.join(given)} were given beside a method of your own.",
                "It has its options already.",
                "Make the method with them.",
            )
        given = options_of(name) | given
    # One option for all: a method that has it too is told, for what is not put back need not be
    # evaluated.
    known = given.pop("known", "exact" if kind.puts_back else None)
    check_option("known", known, KNOWN)
    for option, value in given.items():
        check_option(option, value, checks[option])
    told = given | {"known": known} if "known" in checks else given
    method: Method = kind(**told) if not isinstance(name, Method) else name
    if isinstance(name, Method) and told:
        method = replace(name, **told)  # type: ignore[type-var]
    _refuse(method, title, symmetric=symmetric, square=square)
    put_back = known == "exact"
    defaults = defaults_of(kind)
    shown = {k: v for k, v in given.items() if not isinstance(name, Method) or v != defaults.get(k)}
    if put_back != kind.puts_back:
        shown["known"] = known
    title += "".join(f", {k}={v}" for k, v in sorted(shown.items()))
    return Chosen(method, put_back, title)


def _kind(name: str | Method) -> tuple[type[Method], str]:
    if isinstance(name, Method):
        return type(name), type(name).__name__
    if isinstance(name, type) and issubclass(name, Method):
        raise InputError(
            f"method is the class {name.__name__}.",
            "A method has its options with it.",
            f"Pass an instance: method={name.__name__}().",
        )
    name = DEFAULT if name == "auto" else name
    if not isinstance(name, str) or name not in METHODS:
        raise UnknownNameError("method", name, ["auto", *METHODS])
    return METHODS[name], name


def _refuse(method: Method, title: str, *, symmetric: bool, square: bool) -> None:
    if method.needs_square and not square:
        raise InputError(
            f'the method "{title}" was asked for a matrix between two different sets of items.',
            "It reads the rows and the columns of the same landmarks.",
            f'Leave method out, or pass method="{DEFAULT}".',
        )
    if method.needs_symmetric and not symmetric:
        raise AsymmetryError(
            f'the method "{title}" needs a symmetric similarity, and this one is not.',
            "It reads columns only, and would silently use them as rows.",
            'Pass similarity.symmetrized(), or method="sicur", "skeleton" or "stacur".',
        )
