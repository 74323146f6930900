"""What a run takes on many workers: time, memory, traffic, money, before anything is started."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

from fewpairs.arrays import is_number, is_whole
from fewpairs.errors import InputError
from fewpairs.methods.catalogue import find_method
from fewpairs.oracle.planner import DEFAULT_BLOCK, Planner
from fewpairs.parallel import format_bytes
from fewpairs.run.pricing import MOST_ERROR_PAIRS, peak_memory
from fewpairs.run.timing import format_seconds
from fewpairs.workers.dispatch import HELD
from fewpairs.workers.loads import MOST_NUMBERS, seconds_worth

#: A trip to a worker takes so many seconds of the coordinator's and the scheduler's time, a run so
#: many before the first, and results come in at so many bytes a second: measured with Dask on one
#: machine (docs/scale.md).
_EACH_TRIP, _START, _BYTES_A_SECOND = 0.008, 2.0, 150e6
#: Products of tall arrays, in floating-point operations a second of one core; the default method
#: makes about so many passes of 2·n·s² over its columns.
_FLOPS, _PASSES = 1e10, 12
_NUMBER = 8
#: Columns of a block, beside which a row's position is sent once: a guess, on the small side.
_ACROSS = 8


@dataclass(frozen=True)
class ClusterPlan:
    """What a run takes on a number of workers; prints as a few lines.

    Attributes
    ----------
    evaluations, workers : int
    seconds : float
        From the start to the result.
    evaluating, moving, computing : float
        Seconds of the workers; of the coordinator to send and receive, beside them; and to compute
        the factors, afterwards.
    coordinator_memory, worker_memory, traffic : float
        Bytes; traffic is what goes in and out of the coordinator.
    price : float or None
        Of all workers for all the time.
    """

    evaluations: int
    workers: int
    evaluating: float
    moving: float
    computing: float
    coordinator_memory: float
    worker_memory: float
    traffic: float
    price: float | None = None

    @property
    def seconds(self) -> float:
        """Workers and coordinator work at the same time: the slower one counts."""
        return _START + max(self.evaluating, self.moving) + self.computing

    def __str__(self) -> str:
        waits = "the workers" if self.evaluating >= self.moving else "the coordinator"
        evaluating, moving, after = map(
            format_seconds, (self.evaluating, self.moving, self.computing)
        )
        here, there = map(format_bytes, (self.coordinator_memory, self.worker_memory))
        lines = [
            f"{self.workers:,} workers: {self.evaluations:,} evaluations",
            f"  wall time    about {format_seconds(self.seconds)}, waiting for {waits}",
            f"  of which     evaluating {evaluating}, moving {moving} beside it, computing {after}",
            f"  memory       {here} on the coordinator, {there} in each process",
            f"  network      {format_bytes(self.traffic)} in and out of the coordinator",
        ]
        if self.price is not None:
            lines.append(f"  money        {self.price:,.2f} for the workers")
        return "\n".join(lines)


def plan_cluster(
    n: int,
    *,
    workers: int,
    seconds_per_pair: float,
    threads_per_process: int = 1,
    landmarks: int = 100,
    evaluations: int | None = None,
    memory: float | None = None,
    item_bytes: float = 200.0,
    model_bytes: float = 0.0,
    per_second: float | None = None,
    price_per_hour: float | None = None,
) -> ClusterPlan:
    """Say what a run of many items takes on many workers; nothing is evaluated.

    Parameters
    ----------
    n : int
        Items.
    workers : int
        Threads that evaluate, over all processes; or GPUs.
    seconds_per_pair : float
        That one evaluation takes on one of them.
    threads_per_process : int, default=1
        Items and model are sent to each process once.
    landmarks : int, default=100
    evaluations : int, optional
        By default the most that the default method makes of a symmetric similarity: columns, the
        pairs it is tuned on, near-duplicates, 2,000 pairs for the error.
    memory : float, optional
        Bytes of the coordinator at its peak, beside the items; by default those of the same run.
    item_bytes, model_bytes : float
        Of one item on average, and of what a similarity loads in each process.
    per_second : float, optional
        The most evaluations that a service allows in one second.
    price_per_hour : float, optional
        Of one worker.

    Returns
    -------
    ClusterPlan

    Examples
    --------
    >>> import fewpairs as fp
    >>> print(fp.plan_cluster(100_000, workers=16, seconds_per_pair=0.004, landmarks=200))
    16 workers: 26,783,200 evaluations
      wall time    about 1.9 h, waiting for the workers
      of which     evaluating 1.9 h, moving 45 min beside it, computing 9.6 s
      memory       607 MB on the coordinator, 20 MB in each process
      network      561 MB in and out of the coordinator
    """
    counts = {"n": n, "workers": workers, "landmarks": landmarks}
    for name, value in (counts | {"threads_per_process": threads_per_process}).items():
        if not is_whole(value) or value < 1:
            raise InputError(f"{name} is {value!r}.", "It is a number.", "Pass a positive integer.")
    rates = {"seconds_per_pair": seconds_per_pair, "per_second": per_second}
    for name, given in (rates | {"price_per_hour": price_per_hour}).items():
        if given is not None and (not is_number(given) or given <= 0):
            raise InputError(f"{name} is {given!r}.", "It is a rate.", "Pass a positive number.")
    s = min(landmarks, n)
    if evaluations is None or memory is None:
        most, peak = _of_default_method(int(n), int(s))
        evaluations = most if evaluations is None else evaluations
        memory = peak if memory is None else memory
    evaluating = evaluations * seconds_per_pair / workers
    if per_second is not None:
        evaluating = max(evaluating, evaluations / per_second)
    worth = int(seconds_worth(workers) / seconds_per_pair)
    in_a_trip = max(1, min(MOST_NUMBERS, evaluations, worth))
    trips = ceil(evaluations / in_a_trip)
    items = n * item_bytes
    # A number comes back for each pair, and positions go out, one for each row of a block.
    traffic = ceil(workers / threads_per_process) * items + _NUMBER * evaluations * (
        1 + 1 / min(s, _ACROSS)
    )
    moving = trips * _EACH_TRIP + traffic / _BYTES_A_SECOND
    computing = _PASSES * 2.0 * n * s * s / _FLOPS
    held = HELD * workers * in_a_trip * _NUMBER
    planned = ClusterPlan(
        evaluations=int(evaluations),
        workers=int(workers),
        evaluating=evaluating,
        moving=moving,
        computing=computing,
        coordinator_memory=memory + items + held,
        worker_memory=items + model_bytes + 2 * threads_per_process * in_a_trip * _NUMBER,
        traffic=traffic,
    )
    if price_per_hour is None:
        return planned
    return replace(planned, price=price_per_hour * workers * planned.seconds / 3600)


def _of_default_method(n: int, landmarks: int) -> tuple[int, int]:
    """Return the most that it evaluates, the pairs for the error included, and its peak memory."""
    method = find_method("auto", {}, symmetric=True).method
    planner = Planner(
        n=n,
        m=n,
        square=True,
        symmetric=True,
        block_size=DEFAULT_BLOCK["pairs"],
        by_block_only=False,
        by_pairs_only=True,
        diagonal_known=False,
    )
    spent = method.price(planner, landmarks)
    judging = min(MOST_ERROR_PAIRS, spent // 10)
    most = min(spent + judging, planner.price_of_everything)
    return most, peak_memory(method, planner, landmarks, judged=True)
