"""Journal: where evaluations are written down, and how."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fewpairs.arrays import is_number, is_whole
from fewpairs.errors import InputError
from fewpairs.oracle.journal.folder import DTYPES, Folder

#: What the argument `journal` takes.
JournalOption = Any


@dataclass(frozen=True, eq=False)
class Journal:
    """A folder in which everything that is evaluated is written down, and found again.

    Wherever ``journal=`` is taken, the name of the folder alone will do; this class is for what
    else can be said.

    Parameters
    ----------
    folder : str or Path
        Made if it does not exist. One folder may serve many similarities and many sets of items.
    dtype : {"float64", "float32"}, optional
        How values are written: by default float64, or as the journal has them. float32 takes half
        the room; values are rounded before they are first used, so that a run that is stopped and
        goes on is still the same run.
    key : callable or sequence, optional
        What items are known by, where they have no content that can be told: a function from an
        item to a text, or one text for each item (for two sets of items, a pair of sequences).
    wait : float, default=0.0
        Seconds to wait for another process that writes to the same journal; then it is refused.
    check : int, default=3
        How many of the stored values that concern a run are evaluated again, and compared, before
        they are used.

    Examples
    --------
    >>> import fewpairs as fp, tempfile
    >>> words = ["ape", "apes", "bee", "bees", "cat", "cats"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = fp.Journal(folder, check=0)
    ...     first = fp.Oracle(words, fp.StringSimilarity(), journal=journal)
    ...     column = first.columns([0])
    ...     again = fp.Oracle(words[::-1], fp.StringSimilarity(), journal=journal)
    ...     same = again.columns([5])[::-1] == column
    >>> bool(same.all()), first.evaluations, again.evaluations
    (True, 5, 0)
    """

    folder: str | Path
    dtype: str | None = None
    key: Any = None
    wait: float = 0.0
    check: int = 3

    def __post_init__(self) -> None:
        """Check what was said."""
        named = isinstance(self.folder, (str, os.PathLike)) and "\0" not in str(self.folder)
        if not named or not str(self.folder):
            raise InputError(
                f"the folder of the journal is {self.folder!r}.",
                "Evaluations are written to files in it.",
                "Pass the name of a folder.",
            )
        if self.dtype not in (None, *DTYPES):
            raise InputError(
                f"dtype is {self.dtype!r}.",
                "It is the type in which values are written.",
                f"Pass {' or '.join(map(repr, DTYPES))}, or leave it out.",
            )
        if not is_whole(self.check) or self.check < 0:
            raise InputError(
                f"check is {self.check!r}.",
                "It is the number of stored values that are evaluated again and compared.",
                "Pass a whole number; 0 checks nothing.",
            )
        if self.wait != np.inf and (not is_number(self.wait) or self.wait < 0):
            raise InputError(
                f"wait is {self.wait!r}.",
                "It is how long to wait for another process that writes to the journal.",
                "Pass a number of seconds.",
            )

    @property
    def path(self) -> Path:
        """The folder."""
        return Path(self.folder)

    def at(self) -> Folder:
        """Return the folder on disk."""
        return Folder(self.path)


def as_journal(given: JournalOption) -> Journal | None:
    """Make a journal of what the user passed: None, a folder, or a `Journal`."""
    return given if given is None or isinstance(given, Journal) else Journal(given)
