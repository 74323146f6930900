"""Asking the similarity: every answer counted, checked and kept before a fault is raised."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain

import numpy as np

from fewpairs.arrays import FloatArray
from fewpairs.errors import (
    AsymmetryError,
    FewpairsError,
    LostWorkersError,
    NonFiniteError,
    SimilarityError,
    StoppedError,
    UnwritableError,
)
from fewpairs.oracle.execution import answers
from fewpairs.oracle.memory import Memory
from fewpairs.oracle.outcome import Outcome
from fewpairs.oracle.progress import Progress, ProgressOption
from fewpairs.oracle.recorded import Recorded
from fewpairs.oracle.requests import Request
from fewpairs.oracle.symmetry import square_asymmetry

#: More skipped pairs than these, and than this share of all that were asked for, are an outage.
_FEW_SKIPPED, _MOST_SKIPPED = 20, 0.25
_KEPT = (
    "The {:,} evaluations answered so far are kept in error.oracle, and the same call with it in "
    "place of the items goes on from there; a mended function may be passed beside it."
)
_JOURNALLED = (
    "What was evaluated is in the journal {!r}: the same call goes on from there, also in another "
    "process."
)
_CALL_AGAIN = "Mend the function or the item, and call again; the matrix is as it was."


@dataclass
class _Ended:
    """What has ended a series of requests, if anything has."""

    fault: BaseException | None = None
    stopped: bool = False


class Asking(Recorded):
    """Lets requests through to the similarity; the gate says of which items, and in which run."""

    progress: ProgressOption
    _resumable: bool
    _tolerant: bool
    _watching: Progress | None

    @property
    def evaluations(self) -> int:
        """Number of entries that the similarity was asked for, times what each costs."""
        return self._ledger.evaluations

    @property
    def spent(self) -> int:
        """The same for the present run, as if nothing had been bought before it."""
        return self._ledger.spent

    @property
    def seconds(self) -> float:
        """What all these evaluations have taken."""
        return self._ledger.seconds

    @property
    def retried(self) -> int:
        """Number of calls that were made again after one that had failed."""
        return self._caller.retried

    @property
    def _memory(self) -> Memory:
        return self._ledger.memory

    # ------------------------------------------------------------------ progress

    def tell(self, line: str) -> None:
        """Say something beside the bar of the present run, where one is drawn."""
        if self._watching is not None:
            self._watching.tell(line)

    def replan(self, planned: int) -> None:
        """Say anew how many evaluations the present run will take, where that is found out."""
        if self._watching is not None:
            self._watching.planned = planned

    @contextmanager
    def _watch(self, planned: int) -> Iterator[None]:
        """Report the progress of several calls as one run of `planned` further evaluations."""
        if self._watching is not None:
            yield
            return
        with Progress(self.spent + planned, self.progress, self.planner.cost) as progress:
            self._watching = progress
            try:
                yield
            finally:
                self._watching = None

    # ------------------------------------------------------------------ answers

    def _ask(self, requests: Iterable[Request], planned: int) -> None:
        """Answer requests; store every answer before any fault or stop is raised."""
        if self._ledger.refused is not None and not self._tolerant:
            raise self._ledger.refused
        ended, hung = _Ended(), self._caller.hung
        with self.home.held(), self._writing() as outermost, self._watch(planned):
            begun = time.perf_counter()  # the journal is open by now, whatever that took
            asked = (self._ledger.to_evaluate(request, self.planner) for request in requests)
            self._answer(chain.from_iterable(asked), ended, own=True)
            self._answer(self._ledger.owed(self.planner), ended, own=False)
            self._ledger.settle(self.planner)
            self._ledger.seconds += time.perf_counter() - begun
            unwritten = self._written_out() if outermost else None
            ended.fault = ended.fault or unwritten
        if ended.fault is not None:
            if self._resumable and not isinstance(ended.fault, Exception):  # Ctrl-C
                self._hand_over(ended.fault)
            self._fail(ended.fault)
        self._caller.warn_of_hung(hung)
        if ended.stopped:
            stop = StoppedError(
                f"the progress callback stopped the run after {self.evaluations:,} evaluations.",
                "What was evaluated is kept in error.oracle.",
                "Go on with the same call and error.oracle in place of the items.",
            )
            stop.oracle = self._base or self
            stop.oracle.progress = None  # whoever goes on must not be stopped by the same callback
            raise stop

    def _hand_over(self, error: BaseException) -> None:
        """Give what ends a call everything that was paid for, unless it has it already."""
        if getattr(error, "oracle", None) is None:
            error.oracle = self._base or self  # type: ignore[attr-defined]
            error.add_note(self._kept())

    def _answer(self, requests: Iterable[Request], ended: _Ended, *, own: bool) -> None:
        """Evaluate requests until they end, or a fault or a callback ends them."""

        def needed() -> Iterator[Request]:
            for request in requests:
                if ended.fault is not None or ended.stopped:
                    return
                yield request

        found = answers(
            self._expected(needed()),
            self._evaluation,
            self.home,
            self._hearing,
            lambda: ended.fault is not None or ended.stopped,
        )
        try:
            self._keep_all(found, ended, own=own)
        except LostWorkersError as lost:  # what had come by then is kept, as after any fault
            ended.fault = ended.fault or lost

    def _keep_all(
        self, answered: Iterator[tuple[Request, Outcome]], ended: _Ended, *, own: bool
    ) -> None:
        """Keep answers as they come, and learn what ends them."""
        assert self._watching is not None  # noqa: S101 - the caller has begun it
        for request, outcome in answered:
            kept = False
            while not kept:
                try:
                    found = self._keep(request, outcome, own=own)
                    kept = True
                    ended.stopped = not self._watching.update(self.spent) or ended.stopped
                    ended.fault = outcome.interrupt or ended.fault or found
                except KeyboardInterrupt as ctrl_c:
                    # Not in the similarity but here: what is under way must not be lost.
                    ended.fault = ctrl_c

    def _keep(self, request: Request, outcome: Outcome, *, own: bool) -> FewpairsError | None:
        """Keep an answer, count what it has cost, and return the fault in it that matters.

        What is not asked for by the run itself but owed to it is kept beside its memory.
        """
        values, found = outcome.values, outcome.error
        uneven: AsymmetryError | None = None
        if self.symmetric:
            uneven, values = square_asymmetry(self.items, request, values)
            found = found or uneven
            # One triangle stands for both from now on, and would hide what was seen here.
            self._ledger.refused = self._ledger.refused or uneven
        values, unwritten = self._written_down(request, values, repeatable=uneven is None)
        memory = self._memory if own else self._ledger.earlier(self._lasting_memory())
        memory.store(request, values)
        answered = min(int(np.count_nonzero(~np.isnan(outcome.values))), outcome.asked)
        each = self.planner.per_entry
        self._ledger.count(outcome.asked * each, answered=answered * each, spent=own)
        tolerated = self._tolerant and isinstance(found, (NonFiniteError, AsymmetryError))
        skips = isinstance(found, NonFiniteError) and self._caller.patience.on_nonfinite == "skip"
        why = found if skips else outcome.skipped
        if not tolerated and why is not None and (skips or found is None):
            return self._skip(request, values, why) or unwritten
        return unwritten if tolerated or found is None else found

    def _skip(
        self, request: Request, values: FloatArray, why: SimilarityError
    ) -> SimilarityError | None:
        """Go on without the pairs that have no value, unless they are too many."""
        self._memory.note_holes(request, values)
        skipped, asked = len(self._memory.holes), self.spent // self.planner.per_entry
        if skipped < _FEW_SKIPPED or skipped <= _MOST_SKIPPED * asked:
            return None
        fault = SimilarityError(
            f"{skipped:,} of the first {asked:,} pairs have no value; of the last of them, "
            f"{str(why).splitlines()[0]}",
            "To skip a few pairs is harmless; so many say that something else is wrong.",
            "Mend the function or the items, or wait until the service is back.",
        )
        fault.__cause__ = why.__cause__
        return fault

    # ------------------------------------------------------------------ what ends a run early

    def _kept(self) -> str:
        """Say where everything is that was paid for."""
        if self.journal is None:
            return _KEPT.format(self._ledger.answered)
        return _JOURNALLED.format(str(self.journal.folder))

    def _fail(self, fault: BaseException) -> None:
        """Raise what went wrong, and say with it what is kept."""
        if isinstance(fault, UnwritableError):
            fault.oracle = self._base or self  # type: ignore[attr-defined]
            fault.add_note(_KEPT.format(self._ledger.answered))
        if not isinstance(fault, SimilarityError):
            raise fault
        if isinstance(fault, AsymmetryError):
            # What it has answered already must not hide it the next time.
            self._ledger.refused = fault
        fault.oracle = self._base or self
        fault.add_note(self._kept() if self._resumable else _CALL_AGAIN)
        raise fault
