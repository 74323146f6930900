"""What of the gate has to do with a journal: held, looked up, written to as answers come."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Self

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.errors import FewpairsError, SimilarityError, UnwritableError
from fewpairs.items.items import Items
from fewpairs.oracle.calls import Caller
from fewpairs.oracle.execution import Evaluation, answers
from fewpairs.oracle.hearing import Heard, Single
from fewpairs.oracle.journal.identity import recorder_of
from fewpairs.oracle.journal.journal import Journal, JournalOption, as_journal
from fewpairs.oracle.journal.recorder import Recorder
from fewpairs.oracle.ledger import Ledger
from fewpairs.oracle.memory import Memory
from fewpairs.oracle.outcome import Outcome
from fewpairs.oracle.planner import Planner
from fewpairs.oracle.requests import Request, Scattered
from fewpairs.oracle.symmetry import square_asymmetry
from fewpairs.similarities.base import Similarity
from fewpairs.workers.home import Home


@dataclass(frozen=True, slots=True)
class _Hearing:
    """Hears the answers to one request, for a journal; `symmetric` are items that should be so."""

    recorder: Recorder
    request: Request
    symmetric: Items | None

    def __call__(self, part: Request, values: FloatArray, *, at_once: bool) -> None:
        """Take the answer to a part of the request."""
        if self.symmetric is not None:
            uneven, values = square_asymmetry(self.symmetric, part, values)
            if uneven is not None:
                return  # must not be found again
        self.recorder.hear(self.request, part, values, at_once=at_once)

    def singly(self, kind: type[Scattered], rows: IntArray, columns: IntArray) -> Single:
        """Return what takes answers one by one."""
        return self.recorder.hear_singly(self.request, kind, rows, columns)


class Recorded:
    """Lets the gate evaluate with a journal, or without one; the gate has all the rest."""

    similarity: Similarity
    items: Items
    others: Items
    square: bool
    symmetric: bool
    planner: Planner
    _left: Items
    _right: Items
    _base: Self | None
    _ledger: Ledger
    _recorder: Recorder | None
    _caller: Caller
    _evaluating: Evaluation | None
    _evaluated_as: Similarity | None
    home: Home

    @property
    def journal(self) -> Journal | None:
        """Where evaluations are written down, if they are."""
        return None if self._recorder is None else self._recorder.journal

    def writes_to(self, journal: JournalOption) -> bool:
        """Say whether that is the journal of this oracle."""
        mine, other = self.journal, as_journal(journal)
        return mine is not None and other is not None and mine.path == other.path

    def _attach(self, journal: Journal | None) -> None:
        """Take a journal; all that it needs of items and similarity is checked now."""
        self._recorder = None
        if journal is not None:
            sides = [(self.items, self._left), (self.others, self._right)][: 2 - self.square]
            self._recorder = recorder_of(journal, self.similarity.underlying, sides)
            self._ledger.twins = self._recorder.twins

    @property
    def _asked(self) -> Similarity:
        """The similarity that is evaluated: with a journal, what the values there are of."""
        return self.similarity if self._recorder is None else self.similarity.underlying

    @property
    def _evaluation(self) -> Evaluation:
        """What evaluates; the same object for as long as it may, for it may have to be sent."""
        last = self._evaluating
        same = last is not None and (
            last.caller is self._caller
            and last.left is self._left
            and last.right is self._right
            and self._evaluated_as is self.similarity
        )
        if last is None or not same:
            last = Evaluation(self._asked, self._left, self._right, self._caller)
            self._evaluating, self._evaluated_as = last, self.similarity
        return last

    def _evaluated(self, request: Request) -> Outcome:
        """Evaluate one request by itself, whatever is known of it; nothing is kept of it."""
        found = answers([request], self._evaluation, self.home, lambda _: None, lambda: False)
        [(_, outcome)] = list(found)
        if self._recorder is None:
            return outcome
        return replace(outcome, values=self.similarity.from_underlying(outcome.values))

    @contextmanager
    def _writing(self) -> Iterator[bool]:
        """Hold the journal, and look up what it has; say whether it was not held before."""
        if self._recorder is None:
            yield False
            return
        with self._recorder.writing() as outermost:
            if outermost and self._recorder.unread:
                finish = self.similarity.from_underlying
                self._recorder.look_up(self._ledger, self._lasting_memory(), finish, self._again)
            yield outermost

    def _again(self, request: Request) -> FloatArray:
        """Evaluate what a journal has told already; it counts, but not as the run's."""
        outcome = self._evaluated(request)
        self._ledger.count(outcome.asked * self.planner.per_entry, spent=False)
        fault = outcome.interrupt or outcome.error
        if fault is not None:
            self._fail(fault)
        return outcome.values

    def _expected(self, requests: Iterator[Request]) -> Iterator[Request]:
        """Tell the journal of requests in their order, before they are evaluated."""
        for request in requests:
            if self._recorder is not None:
                self._recorder.expect(request)
            yield request

    def _hearing(self, request: Request) -> Heard | None:
        """Return what is told of answers to a request as they come."""
        if self._recorder is None:
            return None
        return _Hearing(self._recorder, request, self.items if self.symmetric else None)

    def _written_down(
        self, request: Request, values: FloatArray, *, repeatable: bool
    ) -> tuple[FloatArray, FewpairsError | None]:
        """Write an answer down, unless it must not be found again.

        Returns
        -------
        values : ndarray
            Similarities, as they will be found again.
        fault : FewpairsError or None
            What stood in the way.
        """
        if self._recorder is None:
            return values, None
        fault: FewpairsError | None = None
        try:
            values = self._recorder.rounded(values)
            if self._recorder.twins is not None:
                values = self._recorder.twins.alike(request, values)
            if repeatable:
                self._recorder.add(request, values)
        except (UnwritableError, SimilarityError) as error:
            fault = error
        self._recorder.forget(request)
        return self.similarity.from_underlying(values), fault

    def _written_out(self) -> UnwritableError | None:
        """Write what is waiting to the journal; return what stood in the way."""
        try:
            if self._recorder is not None:
                self._recorder.flush()
        except UnwritableError as error:
            return error
        return None

    def _lasting_memory(self) -> Memory:
        """Return an empty memory in which nothing is assumed for one run."""
        return (self._base or self)._empty_memory()  # noqa: SLF001 - its own

    @abstractmethod
    def _empty_memory(self) -> Memory: ...

    @abstractmethod
    def _fail(self, fault: BaseException) -> None: ...
