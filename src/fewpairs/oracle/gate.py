"""The gate: items and a similarity, the runs that ask about them, and what these have paid for."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self

import numpy as np

from fewpairs.arrays import FloatArray, IntArray, RandomState, generator, is_whole
from fewpairs.errors import InputError
from fewpairs.items.items import Items, as_items
from fewpairs.oracle.asking import Asking
from fewpairs.oracle.calls import Caller
from fewpairs.oracle.journal.journal import JournalOption, as_journal
from fewpairs.oracle.known import Known
from fewpairs.oracle.ledger import Ledger
from fewpairs.oracle.memory import Memory
from fewpairs.oracle.outcome import declared_diagonal
from fewpairs.oracle.planner import Planner
from fewpairs.oracle.progress import ProgressOption
from fewpairs.oracle.scale import Scale
from fewpairs.parallel import count_jobs
from fewpairs.similarities.base import as_similarity, declared
from fewpairs.workers.choice import WorkersOption, home_of
from fewpairs.workers.home import Home


class Gate(Asking):
    """Holds items, similarity and memory, and begins, ends and resumes the runs on them.

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
        skips: bool | None = None,
        journal: JournalOption = None,
        workers: WorkersOption = "threads",
        client: Any = None,
    ) -> None:
        self.similarity = as_similarity(similarity)
        self._evaluating = self._evaluated_as = None
        self._skips = resumable if skips is None else skips
        self._caller = self._new_caller()
        records = bool(self.similarity.takes_records)
        self.items = as_items(items, records=records)
        self.others = self.items if others is None else as_items(others, records=records)
        self.square = others is None
        self.work_in(n_jobs, workers, client)
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
        self._watching = None

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the whole matrix."""
        return len(self.items), len(self.others)

    def work_in(
        self, n_jobs: int | None, workers: WorkersOption = "threads", client: Any = None
    ) -> None:
        """Choose where the similarity is evaluated from now on."""
        home = home_of(n_jobs, workers, client)
        pace = self.similarity.patience.per_second
        if home.elsewhere and pace is not None:
            raise InputError(
                f"per_second={pace:g} was declared of a similarity that other processes call.",
                "Each of them would keep that pace by itself, and all together exceed it.",
                "Leave client= and workers= out: what is called at a pace waits, and threads "
                "(n_jobs=…) or an async function are enough to wait.",
            )
        self.home: Home = home
        #: Threads for what is computed here, whoever evaluates.
        self.n_jobs = count_jobs(n_jobs)

    def incomparable_pair(self) -> tuple[int, int] | None:
        """Return the positions of two items with nothing to compare; see `Similarity`."""
        right = None if self.square else self._right
        return self.similarity.incomparable_pair(self._left, right)

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
        self._caller = self._new_caller()
        self._left = self._prepared(self.items)
        self._right = self._left if self.square else self._prepared(self.others)

    def declare(self, **facts: Any) -> None:
        """Go on with patience, or a cost, that a run declares beside the similarity."""
        given = declared(self.similarity, **facts)
        if given is self.similarity:
            return
        self.similarity = given
        self._caller = self._new_caller()
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
        with self.home.held(), self._writing():
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
                self._hand_over(error)
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

    @property
    def skipped(self) -> IntArray:
        """Pairs of the present run that have no value, as rows of two positions."""
        holes, width = self._memory.holes, self.shape[1]
        return np.stack([holes // width, holes % width], axis=1)

    # ------------------------------------------------------------------ small things

    def _new_caller(self) -> Caller:
        """Make what calls the similarity; what is asked of a finished matrix needs every pair."""
        patience = self.similarity.patience
        # Fingerprints of some similarities take their time, and few have a pace to keep.
        name = "" if patience.per_second is None else self.similarity.fingerprint
        return Caller(patience if self._skips else patience.strict, name)

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
