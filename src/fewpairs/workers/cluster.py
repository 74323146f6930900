"""Work on a Dask cluster, through a client that the user has: its engine, no scheduler of ours."""

from __future__ import annotations

import asyncio
import concurrent.futures
import queue
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from fewpairs import __version__
from fewpairs.errors import FewpairsError, InputError, LostWorkersError, MissingExtraError
from fewpairs.workers.dispatch import Done, Lost
from fewpairs.workers.elsewhere import Elsewhere, HiredCrew
from fewpairs.workers.home import Work
from fewpairs.workers.processes import packed
from fewpairs.workers.threads import Threads

#: Seconds for which there may be no worker at all: a new one is started, or waits in a queue.
NOBODY = 300.0
#: Seconds between two counts of the workers.
_COUNT = 1.0
#: Seconds that the end of a run waits until all workers have forgotten it.
_TIDY = 2.0
#: Where the scheduler tells of workers that have gone.
_TOPIC = "all"
#: What comes instead of a result where nobody makes it any more; Dask's own is of the second kind.
_CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)
#: Why Dask says that it has cancelled everything after `client.restart()`.
_RESTARTED = "scheduler-restart"

#: What a worker last says of itself that is restarted, or goes because it was told to.
_LEAVING = ("closing", "closing_gracefully", "closed")


class Cluster(Elsewhere):
    """The workers of a `dask.distributed.Client`.

    Parameters
    ----------
    client : Client
        It stays the user's: it is neither closed nor restarted.
    """

    def __init__(self, client: Any) -> None:
        super().__init__()
        self.client = client

    def __reduce__(self) -> tuple[Any, ...]:
        return Threads, ()  # a connection cannot be sent: whoever goes on elsewhere goes on alone

    def _hire(self, work: Work) -> HiredCrew:
        return _DaskWorkers(self.client, packed(work))


def distributed() -> Any:
    """Import Dask, or say how to have it."""
    try:
        import distributed as library  # noqa: PLC0415 - optional, and takes a while
    except ImportError:
        raise MissingExtraError("distributed", "dask", "A cluster (client=, --scheduler)") from None
    return library


def check_client(client: Any) -> Any:
    """Return a client that can be used, or say what is wrong with it."""
    library = distributed()
    if not isinstance(client, library.Client) or client.asynchronous:
        kind = "an asynchronous client" if isinstance(client, library.Client) else repr(client)
        raise InputError(
            f"client is {kind:.200}.",
            "Blocks of pairs are sent to the workers of a Dask cluster through it.",
            "Pass dask.distributed.Client(address), or Client(n_workers=4) for this machine.",
        )
    if client.status != "running":
        raise InputError(
            f"the client is {client.status}.",
            "Blocks of pairs are sent to the workers of a Dask cluster through it.",
            "Connect a new one: dask.distributed.Client(address).",
        )
    return client


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """Connect to a scheduler for a while; without an address there is no client."""
    if address is None:
        yield None
        return
    library = distributed()
    try:
        library.comm.get_address_host_port(address)  # a client that has none is slow to go away
        client = library.Client(address, timeout=20, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(
            f"no scheduler answers at {address!r}: {str(error).rstrip('. ')}.",
            "Blocks of pairs are sent to the workers of a Dask cluster through it.",
            "Start one with `dask scheduler`, and pass the address that it prints: "
            "tcp://host:8786.",
        ) from error
    with client:
        yield client


def _last_worker(killed: Any) -> str:
    return str(getattr(killed.last_worker, "address", killed.last_worker))


class _Listener:
    """A handler of ours, which a later one need not pass anything on to."""

    def __init__(self, told: Callable[[Any], None]) -> None:
        self._told = told

    def __call__(self, event: Any) -> None:
        self._told(event)


class _DaskWorkers(HiredCrew):
    """Workers of a cluster, each of which has the work; results are fetched as they finish."""

    def __init__(self, client: Any, work: bytes) -> None:
        super().__init__()
        from fewpairs.workers.resident import Resident, carry_out_there  # noqa: PLC0415

        self._client, self._trip = client, carry_out_there
        self._name = f"fewpairs-{uuid.uuid4().hex}"
        self._futures: dict[int, Any] = {}
        self._back: queue.SimpleQueue[tuple[int, Any, Any]] = queue.SimpleQueue()
        self._gone: queue.SimpleQueue[tuple[set[str], str, bool]] = queue.SimpleQueue()
        self._workers: dict[str, int] = {}
        self._seen = time.monotonic()
        self._closed, self._tidied = False, threading.Event()
        # A client has one handler for each topic, and keeps it when it no longer listens.
        before = getattr(client, "_event_handlers", {}).get(_TOPIC)
        self._said_before = None if isinstance(before, _Listener) else before
        try:
            client.register_plugin(Resident(self._name, work, __version__), name=self._name)
            self._workers = dict(client.nthreads())
        except Exception as error:
            raise LostWorkersError(
                f"the workers could not be sent what they need: {type(error).__name__}: {error}",
                "The similarity and the items are sent once to each worker.",
                "Install the same versions of fewpairs and of what the similarity needs there.",
            ) from error
        client.subscribe_topic(_TOPIC, _Listener(self._told))
        client.loop.add_callback(self._count)

    @property
    def size(self) -> int:
        return sum(self._workers.values())

    # ------------------------------------------------------------------ trips

    def send(self, tasks: list[Any]) -> int:
        key = self._next_key()
        try:
            future = self._client.submit(
                self._trip, self._name, tasks, key=f"{self._name}-{key}", pure=False
            )
        except Exception as error:
            raise self._away(error) from error
        self._futures[key] = future
        self._client.loop.add_callback(self._fetch, key, future)
        return key

    async def _fetch(self, key: int, future: Any) -> None:
        """Wait for a result on the client's own loop, and bring it here."""
        try:
            found = await self._client.gather([future], asynchronous=True)
            self._back.put((key, future, found[0]))
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - told where it is read
            self._back.put((key, future, error))

    def recall(self, key: int) -> None:
        future = self._futures.pop(key, None)
        if future is not None and self._client.status == "running":
            with suppress(Exception):  # it is only tidy
                future.cancel()

    # ------------------------------------------------------------------ news

    def news(self, timeout: float) -> list[Done | Lost]:
        found: list[Done | Lost] = []
        deadline = time.monotonic() + timeout
        while not (found or self._fault) or not self._back.empty():
            found.extend(self._deaths())
            wait = 0.0 if found else max(0.0, deadline - time.monotonic())
            try:
                key, future, answer = self._back.get(timeout=wait)
            except queue.Empty:
                break
            if self._futures.get(key) is not future:
                continue  # recalled
            with self._noting_faults():
                found.append(self._read(key, answer))
        if self._workers:
            self._seen = time.monotonic()
        if not found:
            self._tell_fault()
            self._look_for_workers()
        return found

    def _deaths(self) -> list[Lost]:
        """Return which trips were with workers that have died; Dask makes them again by itself."""
        found = []
        while not self._gone.empty():
            keys, where, asked = self._gone.get()
            mine = tuple(key for key in self._futures if f"{self._name}-{key}" in keys)
            if mine:
                found.append(Lost(mine, f"the worker {where}", again=True, asked=asked))
        return found

    def _read(self, key: int, answer: Any) -> Done | Lost:
        if not isinstance(answer, BaseException):
            del self._futures[key]
            return Done(key, *answer)
        if type(answer).__name__ == "KilledWorker":  # a scheduler with less patience than we have
            return Lost((key,), f"the worker {_last_worker(answer)}")
        if isinstance(answer, _CANCELLED):
            if getattr(answer, "reason", None) == _RESTARTED:
                where = "one of the workers, all of which were restarted"
                return Lost((key,), where, asked=True)
            raise self._away(answer)
        if isinstance(answer, FewpairsError):  # other items than here, for example
            raise LostWorkersError(f"a worker could not begin. {answer}") from answer
        raise LostWorkersError(
            f"a worker could not work: {type(answer).__name__}: {answer}",
            "It could not read what it was sent, or send back what it had found.",
            "Install the same versions of fewpairs and of what the similarity needs there.",
        ) from answer

    def _look_for_workers(self) -> None:
        if self._client.status != "running":
            raise self._away(None)
        if time.monotonic() - self._seen > NOBODY:
            raise LostWorkersError(
                f"the cluster has had no worker for {NOBODY:g} s.",
                "Nobody is there to evaluate.",
                "Start workers, and call again: what was evaluated is kept.",
            )

    def _away(self, error: BaseException | None) -> LostWorkersError:
        because = "" if error is None else f": {str(error).rstrip('. ')}"
        return LostWorkersError(
            f"the scheduler of the cluster has gone, or has cancelled the run{because}.",
            "What was under way on its workers is lost.",
            "Go on with a new client, or without one: the factors will be the same.",
        )

    def _told(self, event: Any) -> None:
        """Hear, on the client's loop, of workers that have gone; and pass all on."""
        message = event[1] if isinstance(event, (tuple, list)) else event
        if isinstance(message, dict) and message.get("action") == "remove-worker":
            self._workers = {w: n for w, n in self._workers.items() if w != message.get("worker")}
            if not message.get("expected"):
                keys = {str(key) for key in message.get("processing-tasks", ())}
                self._client.loop.add_callback(self._inquire, keys, str(message.get("worker")))
        if self._said_before is not None:
            self._said_before(event)

    async def _inquire(self, keys: set[str], where: str) -> None:
        """Ask whether a worker that has gone had said so: then nothing has killed it."""
        asked = False
        with suppress(Exception):  # of a scheduler that is gone as well
            for _, event in await self._client.scheduler.events(topic=where) or ():
                if isinstance(event, dict) and event.get("action") == "worker-status-change":
                    asked = str(event.get("status")) in _LEAVING
        self._gone.put((keys, where, asked))

    async def _count(self) -> None:
        """Count the workers now and then, until the end."""
        while not self._closed and self._client.status == "running":
            with suppress(Exception):  # a scheduler that is busy, or gone: told elsewhere
                self._workers = dict(await self._client.nthreads(asynchronous=True))
            await asyncio.sleep(_COUNT)

    def close(self) -> None:
        self._closed = True
        for key in list(self._futures):
            self.recall(key)
        if self._client.status != "running":
            return
        with suppress(Exception):  # the scheduler may be gone: there is nothing to tidy then
            if self._said_before is None:
                self._client.unsubscribe_topic(_TOPIC)
            else:
                self._client.subscribe_topic(_TOPIC, self._said_before)
            self._client.loop.add_callback(self._tidy)
            self._tidied.wait(_TIDY)

    async def _tidy(self) -> None:
        """Let all workers forget the work; one that is cut off hears of it when it is back."""
        with suppress(Exception):
            await self._client.unregister_worker_plugin(self._name)
        self._tidied.set()
