"""The gate: what is asked of a similarity, run by run, counted, checked and kept."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Self

import numpy as np

from fewpairs.arrays import FloatArray, IntArray, RandomState, generator, is_whole
from fewpairs.errors import (
    AsymmetryError,
    FewpairsError,
    InputError,
    NonFiniteError,
    SimilarityError,
    StoppedError,
    UnwritableError,
)
from fewpairs.items.items import Items, as_items
from fewpairs.oracle.calls import Caller
from fewpairs.oracle.evaluation import Outcome, declared_diagonal, evaluate
from fewpairs.oracle.execution import run as answer_all
from fewpairs.oracle.journal.journal import JournalOption, as_journal
from fewpairs.oracle.known import Known
from fewpairs.oracle.ledger import Ledger
from fewpairs.oracle.memory import Memory
from fewpairs.oracle.progress import Progress, ProgressOption
from fewpairs.oracle.recorded import Recorded
from fewpairs.oracle.requests import Planner, Request
from fewpairs.oracle.scale import Scale
from fewpairs.oracle.symmetry import square_asymmetry
from fewpairs.parallel import count_jobs
from fewpairs.similarities.base import as_similarity, declared

_KEPT = (
    "The {:,} evaluations made so far are kept in error.oracle, and the same call with it in place "
    "of the items goes on from there, as in fewpairs.approximate(error.oracle, …); a mended "
    "function may be passed beside it."
)
#: More skipped pairs than these, and than this share of all that were asked for, are an outage.
_FEW_SKIPPED, _MOST_SKIPPED = 20, 0.25
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


class Gate(Recorded):
    """Holds items, similarity and memory, and lets requests through to the similarity.

    `Oracle` adds what is read through it, and documents the parameters.
    """

    def __init__(
        self,
        items: Any,
        similarity: Any,
        *,
        others: Any = None,
        n_jobs: int | None = 1,
        progress: ProgressOption = None,
        resumable: bool = True,
        journal: JournalOption = None,
    ) -> None:
        self.similarity = as_similarity(similarity)
        self._caller = self._new_caller(resumable=resumable)
        records = bool(self.similarity.takes_records)
        self.items = as_items(items, records=records)
        self.others = self.items if others is None else as_items(others, records=records)
        self.square = others is None
        self.n_jobs = count_jobs(n_jobs)
        self.progress = progress
        self._resumable = resumable
        self._base: Self | None = None
        self._assumed = False
        self._scale: Scale | None = None
        self._left = self._prepared(self.items)
        self._right = self._left if self.square else self._prepared(self.others)
        self._diagonal = declared_diagonal(self.similarity, self._left) if self.square else None
        self.symmetric = self.square and bool(self.similarity.symmetric)
        self.planner = Planner.of(
            self.similarity,
            self.shape,
            square=self.square,
            symmetric=self.symmetric,
            diagonal_known=self._diagonal is not None,
        )
        self._ledger = Ledger(self._empty_memory())
        self._attach(as_journal(journal))
        self._tolerant = False
        self._watching: Progress | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the whole matrix."""
        return len(self.items), len(self.others)

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

    def tell(self, line: str) -> None:
        """Say something beside the bar of the present run, where one is drawn."""
        if self._watching is not None:
            self._watching.tell(line)

    def replan(self, planned: int) -> None:
        """Say anew how many evaluations the present run will take, where that is found out."""
        if self._watching is not None:
            self._watching.planned = planned

    @property
    def _memory(self) -> Memory:
        return self._ledger.memory

    def mend(self, similarity: Any) -> None:
        """Go on with a mended similarity, whose earlier answers were right."""
        mended = as_similarity(similarity)
        same = mended.fingerprint == self.similarity.fingerprint
        if not same or bool(mended.symmetric) != bool(self.similarity.symmetric):
            raise InputError(
                f"{mended!r} was given beside an oracle of {self.similarity!r}.",
                "What the oracle remembers belongs to its own similarity.",
                "Pass the oracle alone, or a mended form with the same name and parameters.",
            )
        self.similarity = mended
        self._caller = self._new_caller(resumable=self._resumable)
        self._left = self._prepared(self.items)
        self._right = self._left if self.square else self._prepared(self.others)

    def declare(self, **facts: Any) -> None:
        """Go on with patience, or a cost, that a run declares beside the similarity."""
        given = declared(self.similarity, **facts)
        if given is self.similarity:
            return
        self.similarity = given
        self._caller = self._new_caller(resumable=self._resumable)
        self.planner = replace(self.planner, cost=self.similarity.cost)

    # ------------------------------------------------------------------ one run

    def generator(self, random_state: RandomState, call: str = "") -> np.random.Generator:
        """Make the generator of a run.

        Without a seed, or with the same generator object, a run that follows an interrupted one
        draws what that one would have drawn, and so pays only for the rest. With a journal, and
        without a seed, the same call draws the same for the same items, in any process.
        """
        if random_state is None and self._recorder is not None:
            return generator(self._recorder.seed(call))
        again = random_state is None or random_state is self._ledger.drawn_from
        if self._ledger.unfinished is None or not again or is_whole(random_state):
            self._ledger.drawn_from = random_state
            return generator(random_state)
        if isinstance(random_state, np.random.Generator):
            random_state.bit_generator.state = self._ledger.unfinished
            return random_state
        bits = getattr(np.random, self._ledger.unfinished["bit_generator"])()
        bits.state = self._ledger.unfinished
        return np.random.Generator(bits)

    @contextmanager
    def run(self, planned: int, rng: np.random.Generator) -> Iterator[None]:
        """Begin a run of `planned` evaluations that knows nothing yet."""
        self._ledger.unfinished = copy.deepcopy(dict(rng.bit_generator.state))
        self._ledger.begin(self._empty_memory())
        with self._writing():
            try:
                with self._watch(planned):
                    yield
                unwritten = self._written_out()
                if unwritten is not None:
                    self._fail(unwritten)
            except BaseException as error:
                # Whatever it is, also Ctrl-C or a fault of a method: nothing that was paid for is
                # lost.
                self._written_out()
                if getattr(error, "oracle", None) is None:
                    error.oracle = self._base or self  # type: ignore[attr-defined]
                    error.add_note(self._kept())
                raise
        self._ledger.unfinished = None

    def declaring(self, diagonal: float | None) -> Self:
        """Return the same oracle for a run that takes every self-similarity as known.

        Both share what was paid for; what is declared is not part of it.
        """
        if diagonal is None or not self.square:
            return self
        view = copy.copy(self)
        view._base = self  # noqa: SLF001 - its own
        view._assumed = True  # noqa: SLF001
        view.similarity = self.similarity.with_diagonal(diagonal)
        view._diagonal = np.full(self.shape[0], diagonal)  # noqa: SLF001
        view.planner = replace(self.planner, diagonal_known=True)
        return view

    def scaled(self, scale: Scale) -> Self:
        """Return the same oracle for a run that reads values multiplied by a power of two.

        Both share what was paid for, which is kept as the similarity has answered it.
        """
        view = copy.copy(self)
        view._base = self._base or self  # noqa: SLF001 - its own
        view._scale = scale  # noqa: SLF001
        return view

    @contextmanager
    def tolerant(self) -> Iterator[None]:
        """Within this context return NaN for what is not finite, and let asymmetry pass."""
        self._tolerant = True
        try:
            yield
        finally:
            self._tolerant = False

    # ------------------------------------------------------------------ what was paid for

    def bought(self) -> tuple[Known, tuple[IntArray, FloatArray]]:
        """Return everything that was paid for, and the pairs whose order is on record."""
        memory = self._ledger.bought(self._empty_memory())
        return memory.known(reserved=True), memory.ordered.all()

    def endow(self, known: Known, ordered: tuple[IntArray, FloatArray], evaluations: int) -> None:
        """Begin with what was paid for elsewhere: runs look it up instead of evaluating it."""
        memory = self._empty_memory()
        memory.take(known, ordered)
        self._ledger.endow(memory, evaluations)

    # ------------------------------------------------------------------ asking

    def _ask(self, requests: Iterable[Request], planned: int) -> None:
        """Answer requests; store every answer before any fault or stop is raised."""
        if self._ledger.refused is not None and not self._tolerant:
            raise self._ledger.refused
        ended, hung = _Ended(), self._caller.hung
        begun = time.perf_counter()
        with self._writing() as outermost, self._watch(planned):
            asked = (self._ledger.to_evaluate(request, self.planner) for request in requests)
            self._answer(chain.from_iterable(asked), ended, own=True)
            self._answer(self._ledger.owed(self.planner), ended, own=False)
            self._ledger.settle(self.planner)
            unwritten = self._written_out() if outermost else None
            ended.fault = ended.fault or unwritten
        self._ledger.seconds += time.perf_counter() - begun
        if ended.fault is not None:
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

    def _answer(self, requests: Iterable[Request], ended: _Ended, *, own: bool) -> None:
        """Evaluate requests until they end, or a fault or a callback ends them."""

        def needed() -> Iterator[Request]:
            for request in requests:
                if ended.fault is not None or ended.stopped:
                    return
                yield request

        assert self._watching is not None  # noqa: S101 - the caller has begun it
        caller = self._caller
        work = partial(evaluate, self._asked, self._left, self._right, caller=caller)
        threads = caller.threads(self._asked, self.n_jobs)
        for request, outcome in answer_all(needed(), work, threads):
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
        if own:
            self._ledger.keep(request, values)
        else:
            self._ledger.earlier(self._lasting_memory()).store(request, values)
        self._ledger.count(outcome.asked * self.planner.per_entry, spent=own)
        tolerated = self._tolerant and isinstance(found, (NonFiniteError, AsymmetryError))
        skips = isinstance(found, NonFiniteError) and self._caller.patience.on_nonfinite == "skip"
        if not tolerated and (skips or (found is None and outcome.skipped)):
            return self._skip(request, values) or unwritten
        return unwritten if tolerated or found is None else found

    def _skip(self, request: Request, values: FloatArray) -> SimilarityError | None:
        """Go on without the pairs that have no value, unless they are too many."""
        self._memory.note_holes(request, values)
        skipped, asked = len(self._memory.holes), self.spent // self.planner.per_entry
        if skipped < _FEW_SKIPPED or skipped <= _MOST_SKIPPED * asked:
            return None
        return SimilarityError(
            f"{skipped:,} of the first {asked:,} pairs have no value.",
            "To skip a few pairs is harmless; so many say that something else is wrong.",
            "Mend the function or the items, or wait until the service is back.",
        )

    @property
    def skipped(self) -> IntArray:
        """Pairs of the present run that have no value, as rows of two positions."""
        holes, width = self._memory.holes, self.shape[1]
        return np.stack([holes // width, holes % width], axis=1)

    # ------------------------------------------------------------------ small things

    def _new_caller(self, *, resumable: bool) -> Caller:
        """Make what calls the similarity; what is asked of a finished matrix needs every pair."""
        patience = self.similarity.patience
        return Caller(patience if resumable else patience.strict)

    @property
    def retried(self) -> int:
        """Number of calls that were made again after one that had failed."""
        return self._caller.retried

    def _prepared(self, items: Items) -> Items:
        prepared: Any = self.similarity.prepare(items)
        return prepared if isinstance(prepared, Items) else Items(prepared)

    def _empty_memory(self) -> Memory:
        return Memory(
            *self.shape,
            square=self.square,
            symmetric=self.symmetric,
            diagonal=self._diagonal,
            assumed=self._assumed,
        )

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

    def _kept(self) -> str:
        """Say where everything is that was paid for."""
        if self.journal is None:
            return _KEPT.format(self.evaluations)
        return _JOURNALLED.format(str(self.journal.folder))

    def _fail(self, fault: BaseException) -> None:
        if isinstance(fault, UnwritableError):
            fault.oracle = self._base or self  # type: ignore[attr-defined]
            fault.add_note(_KEPT.format(self.evaluations))
        if not isinstance(fault, SimilarityError):
            raise fault  # Ctrl-C: whoever began the run says what is kept
        if isinstance(fault, AsymmetryError):
            # What it has answered already must not hide it the next time.
            self._ledger.refused = fault
        fault.oracle = self._base or self
        fault.add_note(self._kept() if self._resumable else _CALL_AGAIN)
        raise fault
