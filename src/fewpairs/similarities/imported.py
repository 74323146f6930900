"""A person's own similarity by name, for the command: ``module:function``."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from fewpairs.errors import InputError, UnknownNameError
from fewpairs.similarities.function import as_similarity, similarity
from fewpairs.similarities.protocol import KINDS, Similarity

#: Between a module and what is in it.
SEPARATOR = ":"


def imported_similarity(name: str, *, symmetric: bool) -> Similarity:
    """Make a similarity of what a module holds.

    Parameters
    ----------
    name : str
        ``module:function``, or ``package.module:object``. Modules of the current folder are found
        too, after those that are installed.
    symmetric : bool
        Whether the function's order of items does not matter. A similarity that declares it itself
        is taken as it is.

    Returns
    -------
    Similarity
        A function is one of two items. Its attribute `version`, if it has one, is its version.
    """
    home, _, attribute = name.partition(SEPARATOR)
    found: Any = _imported(home, name)
    for part in attribute.split("."):
        if not hasattr(found, part):
            public = [n for n in vars(found) if not n.startswith("_")]
            where = getattr(sys.modules[home], "__file__", None) or home
            raise UnknownNameError("function", attribute, public, where=f"in {where}")
        found = getattr(found, part)
    if any(callable(getattr(found, kind, None)) for kind in KINDS):
        return as_similarity(found)
    version = getattr(found, "version", None)
    return similarity(found, kind="pair", symmetric=symmetric, name=name, version=version)


def _imported(home: str, name: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        # Last, so that no file of this folder stands in for a module that others import.
        sys.path.append(here)
    # Written after Python has looked through the folder, a module would not be seen.
    importlib.invalidate_caches()
    try:
        return importlib.import_module(home)
    except Exception as error:  # whatever a person's module does
        raise InputError(
            f"{name!r} cannot be imported: {type(error).__name__}: {str(error).rstrip('. ')}.",
            "It names a function of two items, which is called for every pair.",
            "Write module:function, for example score:alike for the function alike in score.py of "
            "this folder.",
        ) from error
