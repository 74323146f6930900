"""Calls of a similarity's functions, with the patience that it declares."""

from __future__ import annotations

import asyncio
import threading
import time
import weakref
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from functools import partial
from math import isfinite
from typing import Any, TypeAlias

from fewpairs.errors import FewpairsError, HungCallsWarning, warn
from fewpairs.oracle import hearing
from fewpairs.oracle.elsewhere import LateError, Workers, run_async
from fewpairs.oracle.hearing import Single, Told
from fewpairs.oracle.waiting import LONGEST_WAIT, asked_for, backoff, pace_of
from fewpairs.similarities.base import Pair, Similarity, is_async
from fewpairs.similarities.patience import NO_PATIENCE, Patience

Function: TypeAlias = Callable[..., Any]

#: Calls of an async function under way at once, where nothing is declared.
_IN_FLIGHT = 8
#: With this many calls that never came back, something is wrong that waiting does not mend.
_MOST_HUNG = 64
#: What no second attempt mends: mistakes in the code, and what was refused.
_FINAL = (NameError, ImportError, SyntaxError, MemoryError, FewpairsError)
_NOTHING: Any = object()


class Gathered:
    """What came of the calls for a list of pairs.

    Attributes
    ----------
    answers : list
        In the order of the pairs; only those at `places` are there.
    failures : dict
        Place → exception, of pairs whose last attempt has failed.
    interrupt : BaseException or None
        Ctrl-C, or what else ends a program.
    """

    def __init__(self, count: int) -> None:
        self.answers: list[Any] = [_NOTHING] * count
        self.failures: dict[int, BaseException] = {}
        self.interrupt: BaseException | None = None

    @property
    def places(self) -> list[int]:
        """Places of the pairs that were answered."""
        return [k for k, answer in enumerate(self.answers) if answer is not _NOTHING]

    def tell(self, told: Told, places: Iterable[int], *, at_once: bool) -> None:
        """Tell of the answers at some places."""
        there = [k for k in places if self.answers[k] is not _NOTHING]
        if there:
            told(there, [self.answers[k] for k in there], at_once=at_once)


class Caller:
    """Makes calls: again after a failure, not too fast, with an end, async ones side by side.

    Parameters
    ----------
    patience : Patience
    similarity : str, default=""
        Its fingerprint: callers of the same one keep its pace together.

    Attributes
    ----------
    retried : int
        Attempts that followed another one.
    hung : int
        Calls that took too long, and were left to themselves.
    """

    def __init__(self, patience: Patience = NO_PATIENCE, similarity: str = "") -> None:
        self.patience, self._similarity = patience, similarity
        self.retried = self.hung = 0
        self._pace = pace_of(similarity, patience.per_second)
        self._workers = Workers()
        self._lock = threading.Lock()
        weakref.finalize(self, self._workers.close)

    def __reduce__(self) -> tuple[Any, ...]:
        # Threads cannot be sent to another process, and what is declared is enough to begin anew.
        return Caller, (self.patience, self._similarity)

    def counted(self) -> tuple[int, int]:
        """Return how many calls were made again, and how many hang, and count from 0 again."""
        with self._lock:
            found = self.retried, self.hung
            self.retried = self.hung = 0
        return found

    def count(self, retried: int, hung: int) -> None:
        """Count what has happened in another process."""
        with self._lock:
            self.retried += retried
            self.hung += hung

    def threads(self, similarity: Similarity, n_jobs: int) -> int:
        """Return how many requests should be under way at once."""
        kinds = (similarity.block, similarity.aligned, similarity.pairs, similarity.pair)
        asynchronous = [is_async(function) for function in kinds if function is not None]
        if not any(asynchronous):
            return n_jobs
        # Pairs of one request are in flight together; of other kinds, requests are.
        return 1 if similarity.kinds == ("pair",) else self._in_flight

    @property
    def _in_flight(self) -> int:
        return self.patience.max_in_flight or _IN_FLIGHT

    # ------------------------------------------------------------------ one call, many pairs

    def call(self, function: Function, *args: Any, patient: bool = True) -> Any:
        """Make one call, as often as it takes; raise what the last attempt has raised.

        Without `patient` there is one attempt only.
        """
        if is_async(function):
            once = partial(self._in_time, function, args)
            work = self._attempts(once, asyncio.sleep, patient=patient)
            try:
                return run_async(work, self.patience.timeout)
            except LateError:
                raise self._too_long() from None
        if self.patience is NO_PATIENCE:
            return _called(function, args)
        once = partial(self._now, function, args)
        return _at_once(self._attempts(once, _sleep, patient=patient))

    def each(self, function: Function, pairs: list[Pair], told: Told | None = None) -> Gathered:
        """Call a function of two items for every pair; end at the first failure, or skip it.

        Of answers `told` is told as they come: their places, what they are, and whether they took
        so long that they should be safe before the next.
        """
        gathered = Gathered(len(pairs))
        try:
            if is_async(function):
                work = self._side_by_side(function, pairs, gathered, told)
                run_async(work, self.patience.timeout)
            else:
                self._one_by_one(function, pairs, gathered, told)
        except LateError:  # the loop itself hangs, whichever of the pairs under way did it
            first = next(k for k, answer in enumerate(gathered.answers) if answer is _NOTHING)
            gathered.failures[first] = self._too_long()
        except BaseException as error:  # noqa: BLE001 - Ctrl-C: what was answered is kept
            gathered.interrupt = error
        return gathered

    def _one_by_one(
        self, function: Function, pairs: list[Pair], gathered: Gathered, told: Told | None
    ) -> None:
        untold, told_at = 0, time.perf_counter()
        answered_at = told_at
        single: Single | None = None
        for k, (a, b) in enumerate(pairs):
            answer = _NOTHING
            try:
                answer = gathered.answers[k] = self.call(function, a, b)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it raises
                gathered.failures[k] = error
                if self.patience.on_error != "skip" or isinstance(error, SystemExit):
                    break
            if told is None:
                continue
            now = time.perf_counter()
            if now - answered_at >= hearing.SLOW or now - told_at >= hearing.OFTEN:
                if untold == k and isinstance(answer, float) and isfinite(answer):
                    single = single or told.singly()
                    single(k, answer)
                else:
                    gathered.tell(told, range(untold, k + 1), at_once=True)
                untold, told_at = k + 1, now
            answered_at = now
        if told is not None:
            gathered.tell(told, range(untold, len(pairs)), at_once=False)

    async def _side_by_side(
        self, function: Function, pairs: list[Pair], gathered: Gathered, told: Told | None
    ) -> None:
        """Have a few calls under way at a time; after a failure begin no others."""
        waiting = iter(range(len(pairs)))
        stopped = False

        async def one_after_the_other() -> None:
            nonlocal stopped
            for k in waiting:
                if stopped:
                    return
                once = partial(self._in_time, function, pairs[k])
                try:
                    gathered.answers[k] = await self._attempts(once, asyncio.sleep, patient=True)
                except Exception as error:  # noqa: BLE001 - whatever the function raises
                    gathered.failures[k] = error
                    stopped = stopped or self.patience.on_error != "skip"
                if told is not None:  # they come together, and the next may take its time
                    gathered.tell(told, (k,), at_once=True)

        few = min(self._in_flight, len(pairs))
        await asyncio.gather(*(one_after_the_other() for _ in range(few)))

    # ------------------------------------------------------------------ attempts

    async def _attempts(
        self,
        once: Callable[[], Awaitable[Any]],
        sleep: Callable[[float], Awaitable[None]],
        *,
        patient: bool,
    ) -> Any:
        """Try until it works; written once for functions that are async and those that are not."""
        retry = self.patience.retry if patient else 0
        for attempt in range(retry + 1):
            if (wait := self._pace.turn()) > 0:
                await sleep(wait)
            try:
                return await once()
            except Exception as error:
                asked = asked_for(error)
                if asked:
                    self._pace.rest(min(asked, LONGEST_WAIT))
                last = attempt == retry or isinstance(error, _FINAL) or asked > LONGEST_WAIT
                if last:
                    _explain(error, attempt + 1, asked)
                    raise
                with self._lock:
                    self.retried += 1
                await sleep(max(asked, backoff(self.patience.backoff, attempt)))
        raise AssertionError  # pragma: no cover - the last attempt returns or raises

    async def _now(self, function: Function, args: tuple[Any, ...]) -> Any:
        """Call a plain function, in a thread if it may take too long."""
        timeout = self.patience.timeout
        if timeout is None:
            return _called(function, args)
        if self._workers.hung >= _MOST_HUNG:
            message = f"{_MOST_HUNG} earlier calls have not come back yet; no further one is made."
            raise FewpairsError(message)
        try:
            return self._workers.call(_called, (function, args), timeout)
        except LateError:
            raise self._too_long() from None

    async def _in_time(self, function: Function, args: tuple[Any, ...]) -> Any:
        timeout = self.patience.timeout
        if timeout is None:
            return await _survived(function, args)
        task = asyncio.ensure_future(_survived(function, args))
        # Not `wait_for`, which waits for a task that will not be cancelled.
        done, _ = await asyncio.wait([task], timeout=timeout)
        if done:
            return task.result()
        task.cancel()
        raise self._too_long()

    def warn_of_hung(self, before: int) -> None:
        """Warn of calls that were left to themselves, if there are more than `before`."""
        if self.hung > before:
            warn(
                HungCallsWarning(
                    f"{self.hung - before:,} calls of the similarity took longer than "
                    f"{self.patience.timeout:g} s, and were left to themselves in threads."
                )
            )

    def _too_long(self) -> TimeoutError:
        with self._lock:
            self.hung += 1
        return TimeoutError(
            f"the call did not end within {self.patience.timeout:g} s, and was left to itself"
        )


async def _survived(function: Function, args: tuple[Any, ...]) -> Any:
    try:
        return await function(*args)
    except (SystemExit, KeyboardInterrupt) as error:  # would end the loop for everybody
        raise _failure(error) from error
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():  # by us, and not within the function
            raise
        raise _failure(error) from error


def _called(function: Function, args: tuple[Any, ...]) -> Any:
    try:
        return function(*args)
    except asyncio.CancelledError as error:  # of a loop of its own: no sign to end the program
        raise _failure(error) from error


def _failure(error: BaseException) -> RuntimeError:
    """Return what stands for an exception that would mean something else to us."""
    return RuntimeError(f"the function has raised {type(error).__name__}")


def _explain(error: Exception, attempts: int, asked: float) -> None:
    if asked > LONGEST_WAIT:
        error.add_note(f"It asks to wait for {asked:,.0f} s, which is left to you.")
    elif attempts > 1:
        error.add_note(f"It was tried {attempts} times.")


async def _sleep(seconds: float) -> None:
    time.sleep(seconds)  # noqa: ASYNC251 - of `_at_once`, where nothing else waits


def _at_once(work: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine that never waits for anything else: no event loop is needed."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value
    message = "a plain function was awaited"
    raise AssertionError(message)
