"""Calls in threads of ours that may be left behind: with a time-out, or on an event loop.

A thread cannot be ended from outside. One that takes too long is left to itself, and replaced; all
of them are daemons, so that none keeps the interpreter from ending.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import queue
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any

#: A loop is asked for a sign of life this often, in seconds, and given up when it is late by more.
_SIGN_OF_LIFE = 1.0


class LateError(Exception):
    """A call has not come back in time, and goes on by itself."""


class Worker:
    """A thread that makes one call at a time for somebody who waits for it."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="fewpairs-call", daemon=True).start()

    def call(self, function: Callable[..., Any], args: tuple[Any, ...], timeout: float) -> _Job:
        """Make a call, and return after it, or after `timeout` seconds."""
        job = _Job(function, args)
        self._jobs.put(job)
        job.done.wait(timeout)
        return job

    def leave(self) -> None:
        """Let the thread end when it has nothing to do."""
        self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job.carry_out()


class _Job:
    """A call and what became of it."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self._function, self._args = function, args
        self.done = threading.Event()
        self.answer: Any = None
        self.error: BaseException | None = None

    def carry_out(self) -> None:
        try:
            self.answer = self._function(*self._args)
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            self.error = error
        self.done.set()


class Workers:
    """Threads that are used again, and replaced when a call does not come back."""

    def __init__(self) -> None:
        self._idle: list[Worker] = []
        self._hung: list[_Job] = []
        self._lock = threading.Lock()

    @property
    def hung(self) -> int:
        """Number of calls that were left behind and are still under way."""
        with self._lock:
            self._hung = [job for job in self._hung if not job.done.is_set()]
            return len(self._hung)

    def call(self, function: Callable[..., Any], args: tuple[Any, ...], timeout: float) -> Any:
        """Return what a call gives, or raise LateError; the call itself goes on."""
        with self._lock:
            worker = self._idle.pop() if self._idle else Worker()
        kept = False
        try:
            job = worker.call(function, args, timeout)
            kept = job.done.is_set()
        finally:  # also on Ctrl-C while it is waited for
            with self._lock:
                if kept:
                    self._idle.append(worker)
                else:
                    worker.leave()
        if not kept:
            with self._lock:
                self._hung.append(job)
            raise LateError
        if job.error is not None:
            raise job.error
        return job.answer

    def close(self) -> None:
        """Let idle threads end."""
        with self._lock:
            for worker in self._idle:
                worker.leave()
            self._idle.clear()


class _Loop:
    """An event loop that runs in a thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.process = os.getpid()
        threading.Thread(target=self._run, name="fewpairs-async", daemon=True).start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()


_current: _Loop | None = None
_making = threading.Lock()


def _running_loop() -> _Loop:
    """Return the one loop of this process: what a client has opened on it stays of use."""
    global _current  # noqa: PLW0603 - one for all
    with _making:
        if _current is None or _current.process != os.getpid():  # threads do not survive a fork
            _current = _Loop()
        return _current


def _give_up(hung: _Loop) -> None:
    global _current  # noqa: PLW0603
    with _making:
        if _current is hung:
            _current = None


def run_async(work: Coroutine[Any, Any, Any], timeout: float | None) -> Any:
    """Run a coroutine on the event loop and wait for it.

    Parameters
    ----------
    work : coroutine
    timeout : float or None
        A call that keeps the loop from everything else for longer is given up, with the loop.

    Returns
    -------
    object
    """
    home = _running_loop()
    future = asyncio.run_coroutine_threadsafe(work, home.loop)
    alive, asked = threading.Event(), time.monotonic()
    home.loop.call_soon_threadsafe(alive.set)
    try:
        while not concurrent.futures.wait([future], _SIGN_OF_LIFE).done:
            if alive.is_set():
                alive, asked = threading.Event(), time.monotonic()
                home.loop.call_soon_threadsafe(alive.set)
            elif timeout is not None and time.monotonic() - asked > timeout + _SIGN_OF_LIFE:
                _give_up(home)
                raise LateError  # noqa: TRY301 - the future is cancelled below
        return future.result()
    except BaseException:
        future.cancel()
        raise
