"""Where work is done, from what the user says: threads, processes, or a client."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from fewpairs.errors import InputError, UnknownNameError
from fewpairs.parallel import count_jobs
from fewpairs.workers.home import Home
from fewpairs.workers.threads import Threads

#: What `n_jobs` counts.
WorkersOption: TypeAlias = Literal["threads", "processes"]


def home_of(n_jobs: int | None, workers: WorkersOption = "threads", client: Any = None) -> Home:
    """Return the home of work.

    Parameters
    ----------
    n_jobs : int or None
        How many threads or processes; -1 for all cores.
    workers : {"threads", "processes"}, default="threads"
    client : dask.distributed.Client, optional
        Its workers, instead.
    """
    jobs = count_jobs(n_jobs)
    if workers not in ("threads", "processes"):
        raise UnknownNameError("workers", workers, ("threads", "processes"))
    if client is None:
        if workers == "threads":
            return Threads(jobs)
        from fewpairs.workers.processes import Processes  # noqa: PLC0415 - rarely needed

        return Processes(jobs)
    if workers != "threads":
        raise InputError(
            f"workers={workers!r} was given beside a client.",
            "The client's workers evaluate, in as many processes and threads as they were "
            "started with.",
            "Pass one of them.",
        )
    from fewpairs.workers.cluster import Cluster, check_client  # noqa: PLC0415

    return Cluster(check_client(client))
