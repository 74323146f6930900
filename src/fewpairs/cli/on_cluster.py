"""What a plan takes on the workers of a cluster."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from fewpairs.cli import options as o
from fewpairs.errors import InputError

if TYPE_CHECKING:
    from fewpairs.oracle.oracle import Oracle
    from fewpairs.run.plan import Plan
    from fewpairs.run.scaling import ClusterPlan


#: Seconds of a pair that took none that a clock could see: every plan takes some time.
_UNMEASURED = 1e-6
#: Items whose mean size stands for that of all, and the bytes of one that does not tell its own.
_WEIGHED, _OBJECT = 1000, 50


@dataclass(frozen=True)
class OnCluster:
    """How many workers there are, how fast they are, and what they cost."""

    workers: o.WorkersOption = None
    seconds_per_pair: o.SecondsOption = None
    price_per_hour: o.HourOption = None

    def __post_init__(self) -> None:
        beside = (self.seconds_per_pair, self.price_per_hour)
        if self.workers is None and any(given is not None for given in beside):
            raise InputError(
                "--seconds-per-pair or --price-per-hour was given without --workers.",
                "They say what a run takes on the workers of a cluster.",
                "Pass for example --workers 16.",
            )

    def timed(self, asked: bool | None) -> bool | None:
        """Return whether a few evaluations are timed here: not where their time is known."""
        return False if asked is None and self.seconds_per_pair is not None else asked

    def plan(self, settled: Plan, oracle: Oracle) -> ClusterPlan | None:
        """Return what a plan takes there; without a time for a pair, by the timed sample."""
        if self.workers is None:
            return None
        from fewpairs.run.scaling import plan_cluster  # noqa: PLC0415 - --help is instant

        each = self.seconds_per_pair
        if each is None and settled.seconds is None:
            raise InputError(
                "--workers was given, and no pair was timed.",
                "What workers take depends on the time of one pair.",
                "Pass for example --seconds-per-pair 0.004, or --timed, which evaluates a few "
                "pairs here.",
            )
        if each is None:
            each = (settled.seconds or 0.0) * oracle.n_jobs / max(settled.evaluations, 1)
            each = each or _UNMEASURED
        items = oracle.items
        some = items.take(list(range(0, len(items), max(1, len(items) // _WEIGHED))))
        return plan_cluster(
            settled.n_items + (settled.n_others or 0),
            workers=self.workers,
            seconds_per_pair=each,
            landmarks=settled.n_landmarks,
            evaluations=settled.evaluations,
            memory=settled.memory,
            item_bytes=sum(map(_bytes, some)) / len(some),
            price_per_hour=self.price_per_hour,
        )


def _bytes(item: Any) -> int:
    return len(item) if isinstance(item, str) else int(getattr(item, "nbytes", _OBJECT))


def facts_of(planned: ClusterPlan | None) -> dict[str, Any]:
    """Return the same for --json."""
    return {} if planned is None else {"cluster": asdict(planned)}
