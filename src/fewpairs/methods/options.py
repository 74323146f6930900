"""Options of methods: each field of a method says how its value is checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, field, fields, is_dataclass
from typing import Any, NamedTuple

import numpy as np

from fewpairs.arrays import is_number, is_whole
from fewpairs.errors import InputError


class Check(NamedTuple):
    """A test of a value, and what to say when it fails."""

    passes: Callable[[Any], bool]
    wanted: str


FLAG = Check(lambda value: isinstance(value, (bool, np.bool_)), "True or False")
NUMBER = Check(lambda value: is_number(value) and value >= 0, "a number, 0 or more")
FACTOR = Check(lambda value: is_number(value) and value >= 1, "a number of at least 1")
COUNT = Check(lambda value: is_whole(value) and value >= 1, "a whole number of at least 1")
SHARE = Check(lambda value: is_number(value) and 0 <= value < 1, "a share: 0 or more, and below 1")
KNOWN = Check(
    lambda value: value in (None, "exact"), 'known="exact", or None for the factors alone'
)


def option(default: Any, check: Check) -> Any:
    """Make a field of a method: its default, and how a user's value is checked."""
    return field(default=default, metadata={"check": check})


def checks_of(method: type) -> dict[str, Check]:
    """Return the options of a method by name; a method that is no dataclass has none."""
    return {f.name: f.metadata["check"] for f in _fields(method)}


def options_of(method: object) -> dict[str, Any]:
    """Return the values of a method's options."""
    return {f.name: getattr(method, f.name) for f in _fields(type(method))}


def defaults_of(method: type) -> dict[str, Any]:
    """Return the defaults of a method's options."""
    return {f.name: f.default for f in _fields(method)}


def _fields(method: type) -> list[Field[Any]]:
    every = fields(method) if is_dataclass(method) else ()
    return [f for f in every if "check" in f.metadata]


def check_option(name: str, value: Any, check: Check) -> None:
    """Refuse a value before the first evaluation is bought."""
    if not check.passes(value):
        raise InputError(
            f"the option {name} is {value!r}.",
            "Options are checked before the first evaluation is bought.",
            f"Pass {check.wanted}.",
        )
