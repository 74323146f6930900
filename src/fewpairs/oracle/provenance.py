"""Where a result comes from: which version made it, with which seed, when, and in what time."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import NamedTuple

from fewpairs.arrays import RandomState, is_whole


class Provenance(NamedTuple):
    """What is known of the run that made a result.

    Attributes
    ----------
    version : str
        Of fewpairs.
    seed : int or None
        None where no integer was given.
    seconds : float or None
        What the run took. Files do not hold it, nor the date: the same call writes the same file.
    date : str
        Of the end of the run, in UTC.
    """

    version: str = ""
    seed: int | None = None
    seconds: float | None = None
    date: str = ""

    @classmethod
    def since(cls, begun: float, random_state: RandomState) -> Provenance:
        """Describe a run that began when `time.perf_counter` said so, and is over now."""
        from fewpairs import __version__  # noqa: PLC0415 - the package imports nothing by itself

        seed = int(random_state) if is_whole(random_state) else None
        date = datetime.now(UTC).isoformat(" ", "minutes").removesuffix("+00:00")
        return cls(__version__, seed, time.perf_counter() - begun, f"{date} UTC")


#: Of a result that nobody has told where it comes from.
UNKNOWN = Provenance()
