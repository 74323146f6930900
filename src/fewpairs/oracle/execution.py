"""Where a request is answered: in threads, in processes, on a cluster; always in order."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fewpairs.errors import LostWorkersError, SimilarityError
from fewpairs.items.items import Items
from fewpairs.oracle.calls import Caller
from fewpairs.oracle.evaluation import evaluate
from fewpairs.oracle.hearing import Heard
from fewpairs.oracle.outcome import Outcome
from fewpairs.oracle.requests import Request
from fewpairs.similarities.base import Similarity
from fewpairs.workers.home import Home, Killed
from fewpairs.workers.threads import Threads, in_threads

#: Of what was raised elsewhere this much is told, in characters: the end, where it happened.
_TOLD = 3000


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What answers requests: here, or wherever it is sent, once, with items and similarity.

    Parameters
    ----------
    similarity : Similarity
    left, right : Items
        Prepared items of the rows and of the columns.
    caller : Caller
    """

    similarity: Similarity
    left: Items
    right: Items
    caller: Caller

    @property
    def repeatable(self) -> bool:
        """Whether a block may be evaluated a second time because a worker is slow."""
        return self.similarity.cost is None

    def here(self, request: Request, heard: Heard | None = None) -> Outcome:
        """Answer a request in this process."""
        return evaluate(self.similarity, self.left, self.right, request, self.caller, heard=heard)

    def __call__(self, request: Request) -> tuple[Outcome, int, int]:
        """Answer a request that came from another process, to which the answer is sent.

        Returns
        -------
        outcome : Outcome
        retried, hung : int
            What the caller has counted since it was last asked.
        """
        outcome = self.here(request)
        fault = outcome.error or outcome.interrupt
        if fault is not None:
            outcome = _that_can_be_sent(outcome, fault)
        return outcome, *self.caller.counted()


def answers(
    requests: Iterable[Request],
    evaluation: Evaluation,
    home: Home,
    hearing: Callable[[Request], Heard | None],
    stopped: Callable[[], bool],
) -> Iterator[tuple[Request, Outcome]]:
    """Answer requests; they may end early to stop the run, and what is under way is kept.

    Parameters
    ----------
    requests : iterable of Request
        Drawn as workers become free, so that only a few answers are in memory at a time.
    evaluation : Evaluation
        Never raises for a fault of the similarity.
    home : Home
    hearing : callable
        Returns what is told of the answers to a request as they come.
    stopped : callable
        Whether what was drawn and not begun is to be dropped.

    Yields
    ------
    request, outcome
    """
    if isinstance(home, Threads):
        threads = evaluation.caller.threads(evaluation.similarity, home.n_jobs)
        yield from in_threads(
            requests, lambda request: evaluation.here(request, hearing(request)), threads
        )
        return

    def arrived(request: Request, answer: Any) -> None:
        heard = hearing(request)
        if heard is not None:
            heard(request, answer[0].values, at_once=True)

    for request, answer in home.run(requests, evaluation, arrived, stopped):
        if isinstance(answer, Killed):
            yield request, _killed(evaluation, request, answer)
            continue
        outcome, retried, hung = answer
        evaluation.caller.count(retried, hung)
        yield request, outcome


def _killed(evaluation: Evaluation, request: Request, killed: Killed) -> Outcome:
    """Return what stands for a block that ends every process by which it is evaluated."""
    i, j = int(request.rows[0]), int(request.columns[0])
    left, right = evaluation.left.describe(i), evaluation.right.describe(j)
    fault = LostWorkersError(
        f"{killed.deaths} processes have died while they evaluated a block of {request.size:,} "
        f"pairs, the first of them items {left} and {right}; the last was {killed.where}, which "
        "had nothing else to do.",
        "It may need more memory than there is, or crash the code that it runs: error.block has "
        "the positions of its items.",
        "Look at these items, give the workers more memory, or declare a smaller block_size.",
        pair=(i, j) if request.size == 1 else None,
    )
    fault.block = request.rows, request.columns
    return Outcome(np.full(request.shape, np.nan), request.size, fault)


def _that_can_be_sent(outcome: Outcome, fault: BaseException) -> Outcome:
    """Return an outcome whose fault survives pickling, and says what it was raised from."""
    if fault.__cause__ is not None:  # which pickling would drop
        told = "".join(traceback.format_exception(fault.__cause__))
        fault.add_note(f"Where it was evaluated:\n{told[-_TOLD:]}")
    try:
        pickle.loads(pickle.dumps(fault))  # noqa: S301 - our own
    except Exception:  # noqa: BLE001 - whatever a user's exception does when it is pickled
        if outcome.error is None:
            return replace(outcome, interrupt=KeyboardInterrupt(str(fault)))
        plain = SimilarityError(str(fault), pair=outcome.error.pair)
        return replace(outcome, error=plain)
    return outcome
