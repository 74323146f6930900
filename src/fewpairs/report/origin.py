"""Where a result comes from, for its page."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from fewpairs import __version__
from fewpairs.oracle.provenance import Provenance
from fewpairs.report.contents import Fact
from fewpairs.run.timing import format_seconds


def origin_of(made: Provenance, more: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return names and values; what is not known is left out."""
    seed = "none was given" if made.seed is None else str(made.seed)
    written = datetime.now(UTC).isoformat(" ", "minutes").removesuffix("+00:00")
    rows = [
        *more,
        ("seed", seed if made.version else ""),
        ("made by", f"fewpairs {made.version}" if made.version else ""),
        ("made at", made.date),
        ("page written", f"{written} UTC by fewpairs {__version__}"),
    ]
    return [(name, value) for name, value in rows if value]


def time_fact(made: Provenance) -> list[Fact]:
    """Return what the run took, where that is known."""
    return [] if made.seconds is None else [Fact("time", format_seconds(made.seconds))]
